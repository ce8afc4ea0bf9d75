//! The proof that the bans bite: one violation of each is planted in a small copy of every room, under that room's own
//! `clippy.toml` and the lint levels of this workspace, and clippy has to fail at each of them and nowhere else.

mod garden;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;

use self::garden::Plant;
use crate::bans::ROOMS;
use crate::checkout::Checkout;
use crate::codegen::folder;
use crate::program;

/// A sentence for each ban that does not bite where it should, or bites where it should not.
pub(crate) fn check(checkout: &Checkout) -> anyhow::Result<Vec<String>> {
    let copy = tempfile::tempdir().context("cannot make a folder for the plants")?;
    let plants = garden::plants();
    let levels = lint_levels(checkout)?;
    garden::lay_out(copy.path(), &levels, &plants)?;
    for room in ROOMS {
        let file = folder(room).join("clippy.toml");
        fs::copy(checkout.at(&file), copy.path().join(room).join("clippy.toml"))
            .with_context(|| format!("cannot copy {}; run `cargo xtask codegen`", file.display()))?;
    }
    let seen = refused(copy.path())?;
    Ok(ROOMS.iter().flat_map(|room| compare(room, &plants, &seen)).collect())
}

/// The table `[workspace.lints]` as it stands in the root manifest, as text.
fn lint_levels(checkout: &Checkout) -> anyhow::Result<String> {
    let text = fs::read_to_string(checkout.at("Cargo.toml")).context("cannot read Cargo.toml")?;
    let mut manifest: toml::Table = toml::from_str(&text).context("cannot read Cargo.toml")?;
    manifest
        .get_mut("workspace")
        .and_then(toml::Value::as_table_mut)
        .context("Cargo.toml has no [workspace]")?
        .retain(|key, _| key == "lints");
    manifest.retain(|key, _| key == "workspace");
    Ok(toml::to_string(&manifest)?)
}

/// A place where clippy made an error of a plant: room, line.
type Seen = BTreeSet<(String, usize)>;

fn refused(copy: &Path) -> anyhow::Result<Seen> {
    let output = program::output(
        program::cargo()
            .args([
                "clippy",
                "--workspace",
                "--keep-going",
                "--offline",
                "--quiet",
                "--message-format",
                "json",
            ])
            .arg("--target-dir")
            .arg(copy.join("target"))
            .env_remove("CLIPPY_CONF_DIR")
            .env_remove("RUSTFLAGS")
            .current_dir(copy),
    )?;
    let text = String::from_utf8(output.stdout).context("clippy did not write UTF-8")?;
    let mut seen = Seen::new();
    for line in text.lines() {
        let Ok(Report {
            target: Some(target),
            message: Some(message),
        }) = serde_json::from_str(line)
        else {
            continue;
        };
        let lint = message.code.map(|code| code.code).unwrap_or_default();
        if message.level == "error" && garden::LINTS.contains(&lint.as_str()) {
            seen.extend(message.spans.iter().map(|span| (target.name.clone(), span.line_start)));
        }
    }
    anyhow::ensure!(
        !seen.is_empty(),
        "clippy saw no plant: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(seen)
}

fn compare(room: &str, plants: &[Plant], seen: &Seen) -> Vec<String> {
    let problem = |plant: &Plant| {
        let bitten = seen.contains(&(garden::package(room), plant.line));
        match (plant.binds(room), bitten) {
            (true, false) => Some(format!("{room}: clippy lets `{}` pass", plant.what)),
            (false, true) => Some(format!("{room}: clippy refuses `{}`, which it may use", plant.what)),
            _ => None,
        }
    };
    plants.iter().filter_map(problem).collect()
}

#[derive(Deserialize)]
struct Report {
    target: Option<Target>,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Message {
    code: Option<Code>,
    level: String,
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    line_start: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ban_of_this_house_bites() {
        assert_eq!(check(&Checkout::find().unwrap()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_ban_that_does_not_bite_is_told() {
        let plants = garden::plants();
        let process = plants
            .iter()
            .find(|plant| plant.what == "std::process::Command")
            .unwrap();
        let only = std::slice::from_ref(process);
        assert_eq!(
            compare("engine", only, &Seen::new()),
            ["engine: clippy lets `std::process::Command` pass"]
        );
        let everywhere: Seen = ROOMS.iter().map(|room| (garden::package(room), process.line)).collect();
        assert_eq!(compare("engine", only, &everywhere), Vec::<String>::new());
        assert_eq!(
            compare("sandbox", only, &everywhere),
            ["sandbox: clippy refuses `std::process::Command`, which it may use"]
        );
    }
}
