//! A space whose stored mode is none of the four words is unresolved: nothing is started in it, by
//! any command, until a person says what it is.

use serde_json::{Value, json};

use super::run_of;
use crate::support::{Place, Said, calls, one_step_plan, plan_at_digest, says, turns};

fn write() -> Value {
    calls(&[("write_to_file", json!({"path": "X.md", "content": "x\n"}))])
}

#[track_caller]
fn assert_unresolved(said: &Said, space: &str, word: &str) {
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    for part in [
        space,
        &format!("{word:?}"),
        "mode unresolved",
        &format!("stance space mode {space} "),
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
}

/// A plan that waits for its approval, and the model that would carry it out.
fn planned(place: &Place) -> (String, Value) {
    let plan = one_step_plan("Write X", "x", &["X.md"], &[]);
    let model = place.script(
        "plans",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [calls(&[("submit_plan", plan)])]},
            {"match": {"mode": "agent"}, "turns": [write(), says("written")]},
        ]}),
    );
    let (_, report) = place.run(&model, &["--mode", "plan", "plan it"]);
    (model, report)
}

#[test]
fn only_the_four_words_as_they_are_stored_are_modes() {
    let place = Place::new();
    let (model, report) = planned(&place);
    let space = report["space_id"].as_str().unwrap();
    for word in ["PLAN", "plan ", "", "agent", "autopilot"] {
        place.corrupt_mode(space, word);
        assert_unresolved(
            &place.stance(&["run", "--space", space, "--model", &model, "go"]),
            space,
            word,
        );
    }
}

#[test]
fn nothing_is_started_until_a_person_sets_the_mode() {
    let place = Place::new();
    let (model, report) = planned(&place);
    let (space, thread) = (
        report["space_id"].as_str().unwrap(),
        report["thread_id"].as_str().unwrap(),
    );
    place.corrupt_mode(space, "PLAN");
    let head = place.stance(&["audit", "head"]).out;
    for line in [
        &["run", "--resume", thread, "go"][..],
        &["run", "--resume", space, "go"],
        &["run", "--resume", run_of(&report), "--yolo", "go"],
        &["run", "--space", space, "--dry-run", "go"],
        &["plan", "approve", &plan_at_digest(&report)],
    ] {
        let mut line = line.to_vec();
        line.extend(["--model", &model]);
        assert_unresolved(&place.stance(&line), space, "PLAN");
    }
    assert_eq!(place.stance(&["audit", "head"]).out, head, "nothing happened");
    assert!(!place.repo().join("X.md").exists());

    // Whoever looks is told, with the way out.
    assert_unresolved(
        &place.stance(&["explain", "write_to_file", "--space", space]),
        space,
        "PLAN",
    );
    let listed = place.stance(&["space", "list", "--json"]).report();
    assert_eq!(
        (&listed[0]["mode"], &listed[0]["unresolved"]),
        (&json!("PLAN"), &json!(true)),
        "{listed:#}"
    );
    let doctor = place.stance(&["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(
        doctor
            .out
            .contains(&format!("space {space}: mode unresolved: the stored value \"PLAN\"")),
        "{}",
        doctor.out
    );
    assert!(
        doctor.out.contains(&format!("stance space mode {space} ")),
        "{}",
        doctor.out
    );

    assert_eq!(
        place.stance(&["space", "mode", space, "plan", "--model", &model]).code,
        0
    );
    let (code, after) = place.run(&model, &["--resume", thread, "go"]);
    assert_eq!((code, &after["mode"]), (3, &json!("plan")), "{after:#}");
    assert!(!place.stance(&["doctor"]).out.contains("mode unresolved"));
}

#[test]
fn the_current_space_of_a_checkout_is_no_exception() {
    let place = Place::new();
    let model = place.script("writes", &turns(&[write(), says("written")]));
    assert_eq!(place.stance(&["mode", "plan"]).code, 0);
    let space = place.stance(&["mode", "--json"]).report();
    let space = space["id"].as_str().unwrap();
    place.corrupt_mode(space, "PLAN");
    assert_unresolved(&place.stance(&["run", "--model", &model, "go"]), space, "PLAN");
    let shown = place.stance(&["mode"]);
    assert_eq!(shown.code, 1);
    assert!(
        shown.out.contains("mode unresolved") && shown.out.contains(&format!("stance space mode {space} ")),
        "{}",
        shown.out
    );
    assert!(!place.repo().join("X.md").exists());
    // A fresh space is a space of its own.
    let (code, report) = place.run(&model, &["--mode", "agent", "go"]);
    assert_eq!((code, &report["files_changed"]), (0, &json!(["X.md"])), "{report:#}");
    // `stance mode` sets the current one.
    assert_eq!(place.stance(&["mode", "agent"]).code, 0);
    assert_eq!(place.stance(&["mode", "--json"]).report()["mode"], "chat");
}

#[test]
fn a_run_that_waits_in_such_a_space_does_not_go_on() {
    let place = Place::new();
    let model = place.script(
        "asks",
        &turns(&[
            calls(&[("ask_user", json!({"question": "Which?"}))]),
            write(),
            says("written"),
        ]),
    );
    let (_, report) = place.run(&model, &["--approvals", "wait", "go"]);
    let space = report["space_id"].as_str().unwrap();
    let (id, _) = super::waiting(&report, "question");
    place.corrupt_mode(space, "CHAT");
    assert_unresolved(
        &place.stance(&["inbox", "answer", &id, "this", "--resume", "--model", &model]),
        space,
        "CHAT",
    );
    assert_unresolved(
        &place.stance(&["run", "--resume", run_of(&report), "--model", &model]),
        space,
        "CHAT",
    );
    assert!(!place.repo().join("X.md").exists());
    assert_eq!(place.stance(&["space", "mode", space, "agent"]).code, 0);
    let said = place.stance(&["run", "--resume", run_of(&report), "--json", "--model", &model]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(place.read("X.md"), "x\n");
}
