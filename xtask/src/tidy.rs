//! The house rules that no compiler checks. Each check is a function from what is read once here to sentences, one a
//! violation; nothing is mended here.

mod arrows;
mod attributes;
mod faults;
mod files;
mod guides;
mod judge;
mod libraries;
mod places;
mod plants;
mod settings;

use anyhow::{Context, bail};

use self::settings::Settings;
use crate::checkout::Checkout;
use crate::workspace::Workspace;
use crate::{codegen, conformance, program};

/// Runs every check, cheap ones first, and fails when one of them found something.
pub(crate) fn run(checkout: &Checkout) -> anyhow::Result<()> {
    let workspace = Workspace::read(checkout)?;
    let problems = [read(checkout, &workspace)?, execute(checkout, &workspace)?].concat();
    for problem in &problems {
        println!("tidy: {problem}");
    }
    if problems.is_empty() {
        println!("tidy: nothing to mend");
        Ok(())
    } else {
        bail!("tidy found {} to mend", counted(problems.len()))
    }
}

/// What can be seen by reading.
fn read(checkout: &Checkout, workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let pages = checkout.pages()?;
    let settings = Settings::read(checkout)?;
    let architecture =
        std::fs::read_to_string(checkout.at("docs/ARCHITECTURE.md")).context("cannot read docs/ARCHITECTURE.md")?;
    for note in files::notes(&pages, &settings) {
        println!("note: {note}");
    }
    let stale = codegen::stale_paths(checkout)?;
    Ok([
        arrows::check(workspace),
        faults::check(workspace),
        libraries::check(workspace, &architecture),
        files::check(&pages, &settings),
        attributes::check(&pages, &settings),
        judge::check(&pages),
        guides::check(&pages),
        conformance::check(&pages, env!("CARGO_PKG_VERSION")),
        places::check(&pages, checkout.root()),
        stale
            .into_iter()
            .map(|path| format!("{path} is stale: run `cargo xtask codegen`"))
            .collect(),
    ]
    .concat())
}

/// What needs a compiler. Clippy reads the code twice: as people get it, and with what only test builds have.
fn execute(checkout: &Checkout, workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let mut problems = plants::check(checkout)?;
    let cargo = |arguments: &[&str]| program::show(program::cargo().args(arguments).current_dir(checkout.root()));
    let clippy = |features: &str| {
        let targets = [
            "clippy",
            "--quiet",
            "--workspace",
            "--all-targets",
            "--features",
            features,
        ];
        cargo(&[&targets[..], &["--", "--deny", "warnings"]].concat())
    };
    let results = [
        cargo(&["fmt", "--all", "--check"]),
        clippy(""),
        clippy(&workspace.faults().join(",")),
    ];
    problems.extend(
        results
            .into_iter()
            .filter_map(Result::err)
            .map(|error| format!("{error:#}")),
    );
    Ok(problems)
}

fn counted(things: usize) -> String {
    if things == 1 {
        "one thing".to_owned()
    } else {
        format!("{things} things")
    }
}
