//! What a run comes to, row by row of the outcome table, and the calls that lead there: outcome,
//! record, exit code and the words a person reads.

mod agent;
mod calls;
mod exits;
mod faults;
mod nobody;
mod plan;
mod revisions;
mod unresolved;
mod waiting;

use serde_json::{Value, json};

/// Says that a report has this row: outcome, status, liveness, error family.
#[track_caller]
fn assert_row(report: &Value, outcome: &str, status: &str, liveness: &str, family: Option<&str>) {
    let details = json!({"status": status, "liveness": liveness, "error_family": family});
    assert_eq!(
        (&report["outcome"], &report["details"]),
        (&json!(outcome), &details),
        "{report:#}"
    );
}

/// The run of a report.
fn run_of(report: &Value) -> &str {
    report["run_id"].as_str().unwrap()
}

/// The one thing of a kind that waits, in the words a decision names it: `ID@DIGEST`.
#[track_caller]
fn waiting(report: &Value, kind: &str) -> (String, String) {
    let pending: Vec<&Value> = report["pending"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["kind"] == kind)
        .collect();
    assert_eq!(pending.len(), 1, "{report:#}");
    let id = pending[0]["id"].as_str().unwrap();
    (
        id.to_owned(),
        format!("{id}@{}", pending[0]["digest"].as_str().unwrap()),
    )
}
