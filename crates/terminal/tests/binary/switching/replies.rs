//! A reply that waits while the person switches: the switch is the answer.

use serde_json::json;

use super::{changes, head, mode, text};
use crate::attempts::keyboard::Keyboard;
use crate::support::{Place, calls, says, turns};

fn which() -> serde_json::Value {
    calls(&[
        ("plan_mode_respond", json!({"response": "Patch or rewrite?"})),
        ("read_file", json!({"path": "README.md"})),
    ])
}

fn write() -> serde_json::Value {
    calls(&[("write_to_file", json!({"path": "NOTE.md", "content": "patched\n"}))])
}

#[test]
fn switching_to_the_mode_it_is_in_does_nothing_at_all() {
    let place = Place::new();
    let model = place.script("waits", &turns(&[which(), says("never asked for")]));
    assert_eq!(place.stance(&["mode", "plan"]).code, 0);
    let (code, report) = place.run(&model, &["--approvals", "wait", "which way?"]);
    assert_eq!(code, 7);
    let space = text(&report, "space_id");
    let before = head(&place);
    for line in [
        &["space", "mode", space, "plan", "--model", &model][..],
        &["mode", "plan", "--model", &model],
    ] {
        let said = place.stance(line);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(
            said.out.contains(&format!("Space {space} is in Plan already.")),
            "{}",
            said.out
        );
    }
    assert_eq!(head(&place), before);
    assert_eq!(
        place.stance(&["inbox", "--json"]).report().as_array().unwrap().len(),
        1,
        "the reply still waits"
    );
}

#[test]
fn a_switch_answers_the_reply_that_waits_and_goes_on_in_the_new_mode() {
    let place = Place::new();
    let model = place.script(
        "switched",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [which(), says("never asked for")]},
            {"match": {"mode": "agent"}, "expect": {"contains": "The person switched to Agent.", "tools_exclude": ["submit_plan"]},
             "turns": [write(), says("patched")]},
        ]}),
    );
    let (_, report) = place.run(&model, &["--mode", "plan", "--approvals", "wait", "which way?"]);
    let (space, run, thread) = (
        text(&report, "space_id"),
        text(&report, "run_id"),
        text(&report, "thread_id"),
    );
    let said = place.stance(&["space", "mode", space, "agent", "--model", &model]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(
        said.out.contains(&format!("Space {space} is in Agent now.")),
        "{}",
        said.out
    );
    assert_eq!(place.read("NOTE.md"), "patched\n");

    // The run that waited is over by the switch: one result, no further request.
    let ended = place.happened(&format!("run/{run}"), "run_ended");
    let conclusion =
        json!({"outcome": "switched", "status": "completed", "liveness": "completed", "error_family": null});
    assert_eq!(
        (ended.len(), &ended[0]["conclusion"], text(&ended[0], "summary")),
        (1, &conclusion, "Switched to Agent.")
    );
    assert_eq!(
        place.results(run, "plan_mode_respond"),
        [(false, "The person switched to Agent.".to_owned())]
    );
    assert_eq!(place.modes_requested(run), ["plan"]);
    let next = text(&ended[0], "follow_up");
    assert_eq!(place.modes_requested(next), ["chat", "chat"]);
    let started = &place.happened(&format!("run/{next}"), "run_started")[0];
    assert_eq!(
        (text(started, "thread"), &started["recipe"]["chain"]),
        (thread, &json!([])),
        "a person's act begins a chain"
    );
    assert_eq!(changes(&place, space), [("plan".to_owned(), "chat".to_owned())]);
    assert!(
        place
            .stance(&["inbox", "--json"])
            .report()
            .as_array()
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        place.stance(&["run", "--resume", run, "--model", &model]).code,
        2,
        "it cannot be gone on with"
    );
}

#[test]
fn a_message_typed_with_the_switch_is_delivered_once() {
    let place = Place::new();
    let draft = "patch it, and keep the old name";
    let model = place.script(
        "draft",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [which()]},
            {"match": {"mode": "agent"}, "turns": [
                json!({"text": "patching", "expect": {"contains": draft}, "tool_calls": write()["tool_calls"]}), says("patched")]},
        ]}),
    );
    assert_eq!(place.stance(&["mode", "plan"]).code, 0);
    let (code, report) = place.run(&model, &["--approvals", "wait", "which way?"]);
    assert_eq!(code, 7);
    // The reply waits over the end of the process; the person comes back and types.
    let mut keyboard = Keyboard::start(&place, &["--model", &model]);
    keyboard
        .until("1 waiting for you")
        .until("[Plan")
        .types(format!("/agent {draft}"));
    keyboard
        .until("is in Agent now")
        .until("patched")
        .until("[Agent")
        .types("/quit");
    let (code, shown) = keyboard.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(place.read("NOTE.md"), "patched\n");

    let (run, thread) = (text(&report, "run_id"), text(&report, "thread_id"));
    assert_eq!(
        place.results(run, "plan_mode_respond"),
        [(false, "The person switched to Agent; their message follows.".to_owned())]
    );
    let entered: Vec<String> = place
        .journal()
        .iter()
        .filter(|event| event.kind == "entered")
        .map(|event| text(&event.details, "text").to_owned())
        .collect();
    assert_eq!(entered, ["which way?", draft]);
    let next = &place.happened(&format!("run/{run}"), "run_ended")[0]["follow_up"];
    let started = &place.happened(&format!("run/{}", next.as_str().unwrap()), "run_started")[0];
    assert_eq!(text(started, "thread"), thread);
    assert_eq!(mode(&place, text(&report, "space_id")), "chat");
}

#[test]
fn a_person_who_is_asked_can_switch_instead_of_answering() {
    let place = Place::new();
    let model = place.script(
        "instead",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [which()]},
            {"match": {"mode": "agent"}, "turns": [
                json!({"expect": {"contains": "just patch it"}, "tool_calls": write()["tool_calls"]}), says("patched")]},
        ]}),
    );
    assert_eq!(place.stance(&["mode", "plan"]).code, 0);
    let mut keyboard = Keyboard::start(&place, &["--model", &model]);
    keyboard
        .until("[Plan")
        .types("which way?")
        .until("Patch or rewrite?")
        .until("answer > ")
        .types("/agent just patch it");
    keyboard
        .until("is in Agent now")
        .until("patched")
        .until("[Agent")
        .types("/quit");
    let (code, shown) = keyboard.end();
    assert_eq!((code, place.read("NOTE.md").as_str()), (0, "patched\n"), "{shown}");
    let answers: Vec<String> = place
        .journal()
        .iter()
        .filter(|event| event.kind == "question_answered")
        .map(|event| text(&event.details, "answer").to_owned())
        .collect();
    assert_eq!(answers, ["The person switched to Agent; their message follows."]);
}

#[test]
fn autonomy_of_a_planning_run_ends_with_it() {
    let place = Place::new();
    place.write(".env", "TOKEN=1\n");
    let model = place.script(
        "yolo",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [calls(&[("exit_plan_mode", json!({}))]), says("I wait."), calls(&[("exit_plan_mode", json!({}))])]},
            {"match": {"mode": "agent"}, "turns": [calls(&[("read_file", json!({"path": ".env"}))]), says("read")]},
        ]}),
    );
    let (_, report) = place.run(&model, &["--mode", "plan", "--yolo", "do it"]);
    let exit = &report["pending"][0];
    let exact = format!("{}@{}", text(exit, "id"), text(exit, "digest"));
    let said = place.stance(&["inbox", "approve", &exact, "--resume", "--json", "--model", &model]);
    let next = &said.report()["follow_up"];
    // Once out of plan mode it asks again, as it did before.
    assert_eq!(
        (said.code, text(next, "outcome"), text(&next["pending"][0], "kind")),
        (7, "waiting", "permission"),
        "{next:#}"
    );
}
