//! The matrix of what each mode holds, measured by the binary itself and written into the manual with
//! its date and version. It knows the shape of the measurement and nothing of how it is made.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use serde::Deserialize;

use crate::checkout::{Checkout, Page};
use crate::{program, setup};

/// The page written.
const PAGE: &str = "docs/conformance.md";
/// The list of attempts.
const LIST: &str = "crates/terminal/conformance/attempts.json";
/// What may come of an attempt, as the measurement names it, and the heading of its column.
const OUTCOMES: [(&str, &str); 7] = [
    ("not_offered", "not offered"),
    ("refused", "refused"),
    ("contained", "contained"),
    ("policy", "allowed by policy"),
    ("leaked", "leaked"),
    ("read_ok", "reads that work"),
    ("read_refused", "reads refused"),
];

#[derive(Deserialize)]
struct Measurement {
    mode: String,
    version: String,
    date: String,
    walls: String,
    attempts: Vec<Measured>,
}

#[derive(Deserialize)]
struct Measured {
    group: String,
    outcome: String,
}

/// Builds the binary, measures, and writes the page. Fails on a leak.
pub(crate) fn write(checkout: &Checkout) -> anyhow::Result<()> {
    let standing = setup::run();
    standing.print();
    if let [unmet, ..] = standing.unmet("git,bwrap").as_slice() {
        bail!("what the modes hold is measured with the walls up: {unmet}");
    }
    program::show(
        program::cargo()
            .args(["build", "--package", "stance-terminal", "--bin", "stance"])
            .current_dir(checkout.root()),
    )?;
    let home = tempfile::tempdir().context("no folder for a home can be made")?;
    let measured = program::text(
        Command::new(checkout.at("target/debug/stance"))
            .args(["conformance", "builtin", "--json"])
            .env_clear()
            .env("HOME", home.path())
            .current_dir(home.path()),
    )?;
    let measurements: Vec<Measurement> = serde_json::from_str(&measured).context("the measurement cannot be read")?;
    let page = render(&measurements)?;
    std::fs::write(checkout.at(PAGE), page).with_context(|| format!("cannot write {PAGE}"))?;
    println!("measured and written: {PAGE}");
    Ok(())
}

/// Sentences about a page that speaks of another list or another version than the checkout's.
pub(crate) fn check(pages: &[Page], version: &str) -> Vec<String> {
    let text = |path: &str| {
        let found = pages.iter().find(|page| Path::new(&page.path) == Path::new(path));
        found.map(|page| page.text.as_str())
    };
    let (Some(page), Some(list)) = (text(PAGE), text(LIST)) else {
        return vec![format!("{PAGE} or {LIST} is missing")];
    };
    let listed = list.matches("\"id\":").count();
    [format!("version {version}"), format!("{listed} attempts")]
        .into_iter()
        .filter(|fact| !page.contains(fact.as_str()))
        .map(|fact| format!("{PAGE} does not speak of {fact}: run `cargo xtask conformance`"))
        .collect()
}

fn render(measurements: &[Measurement]) -> anyhow::Result<String> {
    let first = measurements.first().context("nothing was measured")?;
    let most = measurements
        .iter()
        .map(|mode| mode.attempts.len())
        .max()
        .unwrap_or_default();
    let mut page = format!(
        "# What the modes hold, measured\n\n\
         Written by `cargo xtask conformance` from `stance conformance builtin`, which you can run yourself. Measured on\n\
         {} with version {}, walls {}, from a list of {most} attempts. Agent mode may write the files of the worktree,\n\
         so it is measured with the attempts that reach beyond them.\n",
        first.date, first.version, first.walls
    );
    for measurement in measurements {
        let name = if measurement.mode == "chat" {
            "agent"
        } else {
            &measurement.mode
        };
        let mut groups: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for attempt in &measurement.attempts {
            *groups
                .entry(&attempt.group)
                .or_default()
                .entry(&attempt.outcome)
                .or_default() += 1;
        }
        let headings: Vec<&str> = OUTCOMES.iter().map(|(_, heading)| *heading).collect();
        write!(
            page,
            "\n## {name}\n\n| attempts | {} |\n| --- |{}\n",
            headings.join(" | "),
            " --- |".repeat(OUTCOMES.len())
        )?;
        for (group, outcomes) in groups {
            let cells: Vec<String> = OUTCOMES
                .iter()
                .map(|(outcome, _)| outcomes.get(outcome).copied().unwrap_or_default().to_string())
                .collect();
            writeln!(page, "| {group} | {} |", cells.join(" | "))?;
        }
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkout::page;

    #[test]
    fn the_page_counts_by_mode_group_and_outcome() {
        let measured = r#"[{"mode": "chat", "version": "9.9.9", "date": "2026-01-31", "walls": "proven", "attempts": [
            {"group": "shell", "outcome": "contained"}, {"group": "shell", "outcome": "leaked"}]}]"#;
        let text = render(&serde_json::from_str::<Vec<Measurement>>(measured).unwrap()).unwrap();
        assert!(text.contains("## agent\n"), "{text}");
        assert!(text.contains("| shell | 0 | 0 | 1 | 0 | 1 | 0 | 0 |"), "{text}");
        assert!(
            text.contains("2026-01-31 with version 9.9.9, walls proven, from a list of 2 attempts"),
            "{text}"
        );
    }

    #[test]
    fn a_page_of_another_version_or_list_is_stale() {
        let list = page(LIST, r#"{"id": "a"}, {"id": "b"}"#);
        let text = "version 1.0.0, a list of 2 attempts";
        assert_eq!(check(&[page(PAGE, text), list], "1.0.0"), Vec::<String>::new());
        let list = page(LIST, r#"{"id": "a"}"#);
        assert_eq!(check(&[page(PAGE, text), list], "1.0.1").len(), 2);
        assert_eq!(check(&[], "1").len(), 1);
    }
}
