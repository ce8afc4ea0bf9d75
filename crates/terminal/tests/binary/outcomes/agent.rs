//! The rows of Agent mode: done, checked, denied, spent, stopped.

use serde_json::{Value, json};

use super::{assert_row, run_of};
use crate::support::{Place, calls, says, turns};

fn write(path: &str) -> Value {
    calls(&[("write_to_file", json!({"path": path, "content": "new\n"}))])
}

fn complete() -> Value {
    calls(&[("attempt_completion", json!({"result": "Everything is done."}))])
}

/// A call that a person has to allow.
fn secret() -> Value {
    calls(&[("read_file", json!({"path": ".env"}))])
}

#[test]
fn an_agent_delivers_by_stopping_or_by_saying_so() {
    let place = Place::new();
    for (name, last) in [("stops", says("Everything is done.")), ("says", complete())] {
        let model = place.script(name, &turns(&[write(&format!("{name}.md")), last, write("late.md")]));
        let (code, report) = place.run(&model, &["do it"]);
        assert_row(&report, "delivered", "completed", "completed", None);
        assert_eq!((code, report["summary"].as_str()), (0, Some("Delivered the result.")));
        assert_eq!(report["files_changed"], json!([format!("{name}.md")]));
    }
    assert!(!place.repo().join("late.md").exists());
}

/// No door opens a review yet, so the stored word is set where it stands.
#[test]
fn a_review_delivers_by_stopping_and_writes_nothing() {
    let place = Place::new();
    let model = place.script("review", &turns(&[write("r.md"), says("I found nothing.")]));
    let (_, first) = place.run(&place.script("first", &turns(&[says("hello")])), &["hello"]);
    let space = first["space_id"].as_str().unwrap();
    place.corrupt_mode(space, "review");
    let before = place.world();
    let (code, report) = place.run(&model, &["--space", space, "look at it"]);
    assert_row(&report, "delivered", "completed", "completed", None);
    assert_eq!((code, &report["mode"]), (0, &json!("review")), "{report:#}");
    assert_eq!(report["denials"][0]["tool"], "write_to_file");
    assert_eq!(place.world(), before);
}

#[test]
fn a_check_decides_what_was_delivered() {
    let place = Place::new();
    let model = place.script("checked", &turns(&[write("a.md"), complete()]));
    let (code, report) = place.run(&model, &["--check", "test -f a.md && ! touch /elsewhere", "do it"]);
    assert_row(&report, "delivered", "completed", "completed", None);
    assert_eq!((code, &report["checks"][0]["exit"]), (0, &json!(0)));
    let (code, report) = place.run(&model, &["--check", "exit 9", "do it"]);
    assert_row(&report, "empty", "completed", "empty", None);
    assert_eq!(
        (code, report["summary"].as_str()),
        (3, Some("The check failed: exit 9"))
    );
    assert_eq!(report["checks"], json!([{"command": "exit 9", "exit": 9}]));
}

#[test]
fn changes_that_were_expected_must_be_there() {
    let place = Place::new();
    let idle = place.script("idle", &turns(&[complete()]));
    let (code, report) = place.run(&idle, &["--expect-changes", "do it"]);
    assert_row(&report, "empty", "completed", "empty", None);
    assert_eq!((code, report["summary"].as_str()), (3, Some("No file changed.")));
    let busy = place.script("busy", &turns(&[write("b.md"), complete()]));
    let (code, report) = place.run(&busy, &["--expect-changes", "do it"]);
    assert_eq!((code, &report["files_changed"]), (0, &json!(["b.md"])), "{report:#}");
}

#[test]
fn a_denial_for_want_of_a_person_counts_only_when_nothing_else_succeeded() {
    let place = Place::new();
    place.write(".env", "TOKEN=1\n");
    let stops = place.script("stops", &turns(&[secret(), says("I could not.")]));
    let (code, report) = place.run(&stops, &["read it"]);
    assert_row(&report, "denied", "completed", "blocked", None);
    assert_eq!(code, 4);
    assert_eq!(
        report["summary"],
        "Nothing was delivered: a call was denied because nobody could be asked."
    );
    assert_eq!(
        (&report["denials"][0]["layer"], &report["denials"][0]["tool"]),
        (&json!("no_approver"), &json!("read_file"))
    );
    assert!(
        report["denials"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("--allow 'read(.env)'"),
        "{report:#}"
    );

    // The verb succeeded, or the check: the work is there all the same.
    let says_so = place.script("says_so", &turns(&[secret(), complete()]));
    for (model, flags) in [(&says_so, &["read it"][..]), (&stops, &["--check", "true", "read it"])] {
        let (code, report) = place.run(model, flags);
        assert_eq!((code, &report["outcome"]), (0, &json!("delivered")), "{report:#}");
    }
    // A check that fails is told before a denial.
    let (code, report) = place.run(&stops, &["--check", "false", "read it"]);
    assert_eq!((code, &report["outcome"]), (3, &json!("empty")), "{report:#}");
    // With the rule it named it goes through.
    let (code, report) = place.run(&stops, &["--allow", "read(.env)", "read it"]);
    assert_eq!(
        (code, &report["outcome"], &report["denials"]),
        (0, &json!("delivered"), &json!([]))
    );
}

#[test]
fn a_refusal_by_a_mode_or_a_rule_is_no_want_of_a_person() {
    let place = Place::new();
    let model = place.script("ruled", &turns(&[write("a.md"), says("I could not.")]));
    let (code, report) = place.run(&model, &["--deny", "edit(**)", "do it"]);
    assert_eq!(
        (code, &report["denials"][0]["layer"]),
        (0, &json!("deny_rule")),
        "{report:#}"
    );
    let (code, report) = place.run(&model, &["--read-only", "do it"]);
    assert_eq!(
        (code, &report["denials"][0]["layer"]),
        (0, &json!("surface")),
        "{report:#}"
    );
    assert!(!place.repo().join("a.md").exists());
}

#[test]
fn a_spent_budget_ends_the_run_before_its_next_request() {
    let place = Place::new();
    let costly = |call: Value| {
        let mut turn = call;
        turn["usage"] = json!({"input": 900, "output": 200});
        turn
    };
    let model = place.script("costly", &turns(&[costly(write("a.md")), write("b.md"), complete()]));
    let (code, report) = place.run(&model, &["--budget", "1k", "do it"]);
    assert_row(&report, "over_budget", "error", "failed", Some("budget_exceeded"));
    assert_eq!((code, report["summary"].as_str()), (5, Some("The budget is spent.")));
    assert_eq!(report["files_changed"], json!(["a.md"]), "what was done before is kept");
    assert_eq!(place.modes_requested(run_of(&report)).len(), 1);
    // What nobody watches is limited, and says how before it begins.
    let said = place.stance(&[
        "run", "--json", "--budget", "1k", "--budget", "5min", "--model", &model, "do it",
    ]);
    assert_eq!(said.code, 5, "{}", said.err);
    assert!(
        said.err
            .starts_with("· nobody is here to stop it: at most 1000 tokens and 5 minutes\n"),
        "{}",
        said.err
    );
}

#[test]
fn three_responses_without_one_good_call_are_the_limit() {
    let place = Place::new();
    let bad = || {
        calls(&[
            ("read_file", json!({"path": "missing.md"})),
            ("no_such_tool", json!({})),
        ])
    };
    let mixed = || {
        calls(&[
            ("read_file", json!({"path": "missing.md"})),
            ("read_file", json!({"path": "README.md"})),
        ])
    };
    let model = place.script(
        "lost",
        &turns(&[bad(), bad(), mixed(), bad(), bad(), bad(), complete()]),
    );
    let (code, report) = place.run(&model, &["do it"]);
    assert_row(&report, "stopped", "error", "failed", Some("unknown"));
    assert_eq!(code, 6);
    // Mistakes count by response, and one good call begins the count anew.
    assert_eq!(place.modes_requested(run_of(&report)).len(), 6);
    assert_eq!(
        report["summary"],
        "Stopped after 3 responses in a row without one good call."
    );

    place.settings("[limits]\nmistakes = \"off\"\n");
    let (code, report) = place.run(&model, &["do it"]);
    assert_eq!((code, &report["outcome"]), (0, &json!("delivered")), "{report:#}");
}
