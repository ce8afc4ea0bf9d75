//! Everything that can fail, in one task: what is needed, the house rules, the proofs in the documentation, the tests.
//! The test runner goes last, so that its closing lines are the last ones.

use anyhow::bail;

use crate::checkout::Checkout;
use crate::workspace::Workspace;
use crate::{program, setup, tidy};

/// Runs all of it, also after a failure, and fails when any part did.
pub(crate) fn run(checkout: &Checkout) -> anyhow::Result<()> {
    let standing = setup::run();
    standing.print();
    let required = std::env::var("STANCE_TEST_REQUIRE").unwrap_or_default();
    let unmet = standing.unmet(&required);
    if !unmet.is_empty() {
        bail!("{}", unmet.join("; "));
    }

    let features = Workspace::read(checkout)?.faults().join(",");
    let cargo = |arguments: &[&str]| {
        program::show(
            program::cargo()
                .args(arguments)
                .args(["--workspace", "--features", &features])
                .current_dir(checkout.root()),
        )
    };
    let runner: &[&str] = if standing.has("nextest") {
        &["nextest", "run"]
    } else {
        &["test", "--lib", "--bins", "--tests"]
    };
    let results = [tidy::run(checkout), cargo(&["test", "--quiet", "--doc"]), cargo(runner)];
    let failures: Vec<String> = results
        .into_iter()
        .filter_map(Result::err)
        .map(|error| format!("{error:#}"))
        .collect();
    if failures.is_empty() {
        Ok(())
    } else {
        bail!("{}", failures.join("\n       "))
    }
}
