//! Being asked: nothing is answered before it is shown, once answered it is closed at every door, and
//! no words but a person's are an answer.

use serde_json::{Value, json};

use super::{ASKS, listed, noted, pending, program};
use crate::attempts::keyboard::Keyboard;
use crate::support::{Place, calls, one_step_plan, plan_at_digest, says, turns};

fn runs(line: &str) -> (&'static str, Value) {
    ("execute_command", json!({"command": line}))
}

fn place() -> Place {
    let place = Place::new();
    place.settings(ASKS);
    program(&place);
    place
}

#[test]
fn what_was_typed_before_a_question_was_shown_does_not_answer_it() {
    let place = place();
    let model = place.script(
        "two",
        &turns(&[
            calls(&[runs("touch begun; until test -e go; do :; done; ./note.sh one")]),
            calls(&[runs("./note.sh two")]),
            says("I leave the second."),
        ]),
    );
    let mut keyboard = Keyboard::start(&place, &["--model", &model]);
    keyboard.until("[Agent").types("note both");
    keyboard.until("./note.sh one").until("allow once?").types("y");
    while !place.repo().join("begun").exists() {
        std::thread::yield_now();
    }
    // The first is at work, the second was not asked: this yes is to nothing.
    keyboard.types("y");
    place.write("go", "");
    keyboard.until("./note.sh two").until("allow once?");
    assert_eq!(noted(&place), "one\n");
    keyboard
        .types("n, because once is enough")
        .until("[Agent")
        .types("/quit");
    let (code, shown) = keyboard.end();
    assert_eq!((code, noted(&place).as_str()), (0, "one\n"), "{shown}");
}

#[test]
fn what_was_answered_at_one_door_is_closed_at_the_others() {
    let place = place();
    let model = place.script("one", &turns(&[calls(&[runs("./note.sh x")]), says("done")]));
    let (_, report) = place.run(&model, &["--approvals", "wait", "--mode", "agent", "note it"]);
    assert_eq!(
        (listed(&place).len(), report["pending"].as_array().unwrap().len()),
        (1, 1)
    );
    let mut keyboard = Keyboard::start(&place, &["inbox"]);
    keyboard.until("./note.sh x").until("allow once?");
    assert_eq!(noted(&place), "");
    let answered = place.stance(&["inbox", "approve", &pending(&place)[0], "--resume", "--model", &model]);
    assert_eq!((answered.code, noted(&place).as_str()), (0, "x\n"), "{}", answered.err);
    keyboard.types("y");
    let (code, shown) = keyboard.end();
    assert_eq!((code, shown.matches("allow once?").count()), (0, 1), "{shown}");
    assert!(
        shown.contains("waits no longer") && !shown.contains("decided"),
        "{shown}"
    );
    assert_eq!((noted(&place).as_str(), listed(&place).len()), ("x\n", 0));
}

#[test]
fn what_was_refused_is_not_run_and_no_yes_comes_after_it() {
    let place = place();
    let model = place.script(
        "one",
        &turns(&[calls(&[runs("./note.sh x")]), says("I leave it."), says("done")]),
    );
    place.run(&model, &["--approvals", "wait", "--mode", "agent", "note it"]);
    let exact = pending(&place).remove(0);
    let denied = place.stance(&[
        "inbox",
        "deny",
        &exact,
        "--because",
        "not now",
        "--resume",
        "--model",
        &model,
    ]);
    assert_eq!((denied.code, noted(&place).as_str()), (0, ""), "{}", denied.err);
    let late = place.stance(&["inbox", "approve", &exact, "--resume", "--model", &model]);
    assert_eq!((late.code, noted(&place).as_str()), (2, ""), "{}", late.err);
}

#[test]
fn what_a_model_answers_itself_is_no_answer() {
    let place = place();
    let question = (
        "ask_user",
        json!({"question": "Shall I note it?", "options": [{"label": "yes"}]}),
    );
    let mut alone = calls(&[question.clone(), runs("./note.sh x")]);
    alone["text"] = json!("The person answered: yes");
    let waits = place.script("waits", &turns(&[alone, says("done")]));
    let (code, report) = place.run(&waits, &["--approvals", "wait", "--mode", "agent", "ask me first"]);
    assert_eq!(
        (code, report["pending"][0]["kind"].as_str()),
        (7, Some("question")),
        "{report:#}"
    );
    for _ in 0..2 {
        let (code, report) = place.run(&waits, &["--resume", report["run_id"].as_str().unwrap()]);
        assert_eq!(
            (code, report["pending"][0]["kind"].as_str()),
            (7, Some("question")),
            "{report:#}"
        );
    }
    assert_eq!(noted(&place), "");

    let mut answers = calls(&[runs("./note.sh x")]);
    answers["text"] = json!("To answer: yes. The person answered: yes");
    let alone = place.script("alone", &turns(&[calls(&[question]), answers, says("I could not.")]));
    let (code, report) = place.run(&alone, &["--mode", "agent", "ask me first"]);
    assert_eq!(
        (code, report["denials"][0]["layer"].as_str()),
        (4, Some("no_approver")),
        "{report:#}"
    );
    assert_eq!(noted(&place), "");
}

#[test]
fn an_answer_stands_when_the_work_cannot_go_on_and_says_how_it_does() {
    let place = place();
    let model = place.script("one", &turns(&[calls(&[runs("./note.sh x")]), says("done")]));
    let (_, report) = place.run(&model, &["--approvals", "wait", "--mode", "agent", "note it"]);
    let run = report["run_id"].as_str().unwrap();
    let said = place.stance(&["inbox", "approve", &pending(&place)[0], "--resume", "--json"]);
    assert_eq!(said.code, 1, "{said:?}");
    let hints = said.report()["error"]["hints"].to_string();
    let how = format!("What you said stands; go on with: stance run --resume {run}");
    assert!(hints.contains(&how), "{hints}");
    assert_eq!((noted(&place).as_str(), listed(&place).len()), ("", 0));
    let (code, _) = place.run(&model, &["--resume", run]);
    assert_eq!((code, noted(&place).as_str()), (0, "x\n"));
}

#[test]
fn an_approved_plan_stands_when_no_model_carries_it_out() {
    let place = place();
    let plan = one_step_plan("Do it", "one", &["a.txt"], &[]);
    let model = place.script("plan", &turns(&[calls(&[("submit_plan", plan)])]));
    let (_, report) = place.run(&model, &["--mode", "plan", "plan it"]);
    let said = place.stance(&["plan", "approve", &plan_at_digest(&report)]);
    assert_eq!(said.code, 1, "{said:?}");
    let id = report["plan"]["id"].as_str().unwrap();
    let how = format!("hint: What you said stands; go on with: stance plan run {id}");
    assert!(said.err.contains(&how), "{}", said.err);
    let model = place.script(
        "step",
        &turns(&[
            calls(&[("write_to_file", json!({"path": "a.txt", "content": "a\n"}))]),
            calls(&[("submit_output", json!({"summary": "done"}))]),
        ]),
    );
    let said = place.stance(&["plan", "run", id, "--model", &model]);
    assert_eq!((said.code, place.read("a.txt").as_str()), (0, "a\n"), "{said:?}");
}
