//! The rows about leaving plan mode without a plan: asked, granted, refused.

use serde_json::{Value, json};

use super::{assert_row, run_of, waiting};
use crate::support::{Place, calls, says, turns};

fn exit() -> Value {
    calls(&[("exit_plan_mode", json!({"summary": "One line; a plan adds nothing."}))])
}

fn write() -> Value {
    calls(&[("write_to_file", json!({"path": "NOTE.md", "content": "done\n"}))])
}

#[test]
fn an_undecided_exit_waits_without_a_reminder_whoever_is_there() {
    for approvals in ["deny", "wait"] {
        let place = Place::new();
        let before = place.world();
        // A second call of the same stay is the same request.
        let model = place.script("asks", &turns(&[exit(), exit(), write(), says("I wait for you.")]));
        let (code, report) = place.run(&model, &["--mode", "plan", "--approvals", approvals, "just do it"]);
        assert_row(&report, "waiting", "waiting", "blocked", None);
        assert_eq!((code, &report["mode"]), (7, &json!("plan")));
        let (id, _) = waiting(&report, "plan_exit");
        let results = place.results(run_of(&report), "exit_plan_mode");
        let pending = json!({"status": "pending", "approval_id": id}).to_string();
        assert_eq!(results, [(false, pending.clone()), (false, pending)]);
        assert!(place.happened(&format!("run/{}", run_of(&report)), "nudged").is_empty());
        assert_eq!(report["denials"][0]["layer"], "surface", "it is still plan mode");
        assert_eq!(place.world(), before);
    }
}

#[test]
fn a_granted_exit_is_consumed_and_an_agent_run_goes_on_in_the_same_thread() {
    let place = Place::new();
    let model = place.script(
        "granted",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [exit(), says("I wait."), exit(), says("never asked for")]},
            {"match": {"mode": "agent"}, "turns": [write(), calls(&[("attempt_completion", json!({"result": "Written."}))])]},
        ]}),
    );
    let (_, asked) = place.run(&model, &["--mode", "plan", "just do it"]);
    let (_, exact) = waiting(&asked, "plan_exit");
    let said = place.stance(&["inbox", "approve", &exact, "--resume", "--json", "--model", &model]);
    let report = said.report();
    assert_eq!((said.code, &report["run_id"]), (0, &asked["run_id"]), "{}", said.err);
    assert_row(&report, "exited", "completed", "completed", None);
    assert_eq!(report["summary"], "Left the mode, as granted.");
    let next = &report["follow_up"];
    assert_row(next, "delivered", "completed", "completed", None);
    assert_eq!(
        (&next["thread_id"], &next["mode"]),
        (&report["thread_id"], &json!("chat"))
    );
    assert_eq!(next["files_changed"], json!(["NOTE.md"]));
    assert_eq!(place.modes_requested(run_of(&report)), ["plan", "plan", "plan"]);
    assert_eq!(place.modes_requested(run_of(next)), ["chat", "chat"]);
    let space = format!("space/{}", report["space_id"].as_str().unwrap());
    let changes = place.happened(&space, "mode_changed");
    assert_eq!(changes.len(), 1);
    assert_eq!(
        (&changes[0]["from"], &changes[0]["to"]),
        (&json!("plan"), &json!("chat"))
    );
}

#[test]
fn a_granted_exit_is_no_delivery_until_it_is_taken() {
    let place = Place::new();
    let model = place.script(
        "untaken",
        &turns(&[exit(), says("I wait."), says("fine"), says("fine")]),
    );
    let (_, asked) = place.run(&model, &["--mode", "plan", "just do it"]);
    let (_, exact) = waiting(&asked, "plan_exit");
    let said = place.stance(&["inbox", "approve", &exact, "--resume", "--json", "--model", &model]);
    let report = said.report();
    assert_eq!(said.code, 3, "{report:#}");
    assert_row(&report, "empty", "completed", "empty", Some("silent_run"));
    assert_eq!((&report["mode"], &report["follow_up"]), (&json!("plan"), &json!(null)));
}

#[test]
fn after_a_no_the_run_stays_and_a_later_request_is_a_fresh_one() {
    let place = Place::new();
    let model = place.script(
        "refused",
        &turns(&[
            exit(),
            says("I wait."),
            json!({"tool_calls": [{"name": "exit_plan_mode", "arguments": {}}],
                   "expect": {"mode": "plan", "contains": "They said: a plan, please"}}),
            says("I wait again."),
        ]),
    );
    let (_, asked) = place.run(&model, &["--mode", "plan", "just do it"]);
    let (first, exact) = waiting(&asked, "plan_exit");
    let said = place.stance(&[
        "inbox",
        "deny",
        &exact,
        "--because",
        "a plan, please",
        "--resume",
        "--json",
        "--model",
        &model,
    ]);
    let report = said.report();
    assert_eq!((said.code, &report["mode"]), (7, &json!("plan")), "{}", said.err);
    let (second, again) = waiting(&report, "plan_exit");
    assert_ne!(first, second);
    // Yesterday's no is not today's yes: the first request cannot be granted any more.
    let late = place.stance(&["inbox", "approve", &exact]);
    assert_eq!(late.code, 2, "{}", late.err);
    // Leaving plan mode in another way voids what was asked in it.
    let space = report["space_id"].as_str().unwrap();
    assert_eq!(place.stance(&["space", "mode", space, "agent"]).code, 0);
    let void = place.stance(&["inbox", "approve", &again]);
    assert_eq!(void.code, 2, "{}", void.err);
}
