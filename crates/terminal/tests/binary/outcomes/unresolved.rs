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
    for part in [space, &format!("{word:?}"), "mode unresolved", &format!("stance space mode {space} ")] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
}

#[test]
fn nothing_is_started_until_a_person_sets_the_mode() {
    for word in ["PLAN", "Plan", "plan ", "", "agent", "autopilot"] {
        let place = Place::new();
        let plan = one_step_plan("Write X", "x", &["X.md"], &[]);
        let model = place.script(
            "plans",
            &json!({"runs": [
                {"match": {"mode": "plan"}, "turns": [calls(&[("submit_plan", plan)])]},
                {"match": {"mode": "agent"}, "turns": [write(), says("written")]},
            ]}),
        );
        let (_, report) = place.run(&model, &["--mode", "plan", "plan it"]);
        let (space, thread) = (report["space_id"].as_str().unwrap(), report["thread_id"].as_str().unwrap());
        place.corrupt_mode(space, word);
        let head = place.stance(&["audit", "head"]).out;
        for line in [
            &["run", "--space", space, "go"][..],
            &["run", "--resume", thread, "go"],
            &["run", "--resume", space, "go"],
            &["run", "--resume", run_of(&report), "--yolo", "go"],
            &["run", "--space", space, "--dry-run", "go"],
            &["plan", "approve", &plan_at_digest(&report)],
        ] {
            let mut line = line.to_vec();
            line.extend(["--model", &model]);
            assert_unresolved(&place.stance(&line), space, word);
        }
        assert_eq!(place.stance(&["audit", "head"]).out, head, "nothing happened");
        assert!(!place.repo().join("X.md").exists());

        // Whoever looks is told, with the way out.
        let doctor = place.stance(&["doctor"]);
        assert_eq!(doctor.code, 1);
        assert!(doctor.out.contains(&format!("space {space}: mode unresolved: the stored value {word:?}")), "{}", doctor.out);
        assert!(doctor.out.contains(&format!("stance space mode {space} ")), "{}", doctor.out);
        let listed = place.stance(&["space", "list", "--json"]).report();
        assert_eq!((&listed[0]["mode"], &listed[0]["unresolved"]), (&json!(word), &json!(true)), "{listed:#}");
        let explained = place.stance(&["explain", "write_to_file", "--space", space]);
        assert_unresolved(&explained, space, word);

        let set = place.stance(&["space", "mode", space, "plan", "--model", &model]);
        assert_eq!(set.code, 0, "{}", set.err);
        let (code, after) = place.run(&model, &["--resume", thread, "go"]);
        assert_eq!((code, &after["mode"]), (3, &json!("plan")), "{after:#}");
        assert!(!place.stance(&["doctor"]).out.contains("mode unresolved"));
    }
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
    assert!(shown.out.contains("mode unresolved") && shown.out.contains(&format!("stance space mode {space} ")), "{}", shown.out);
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
    let model = place.script("asks", &turns(&[calls(&[("ask_user", json!({"question": "Which?"}))]), write(), says("written")]));
    let (_, report) = place.run(&model, &["--approvals", "wait", "go"]);
    let space = report["space_id"].as_str().unwrap();
    let (id, _) = super::waiting(&report, "question");
    place.corrupt_mode(space, "CHAT");
    assert_unresolved(&place.stance(&["inbox", "answer", &id, "this", "--resume", "--model", &model]), space, "CHAT");
    assert_unresolved(&place.stance(&["run", "--resume", run_of(&report), "--model", &model]), space, "CHAT");
    assert!(!place.repo().join("X.md").exists());
    assert_eq!(place.stance(&["space", "mode", space, "agent"]).code, 0);
    let said = place.stance(&["run", "--resume", run_of(&report), "--json", "--model", &model]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(place.read("X.md"), "x\n");
}
