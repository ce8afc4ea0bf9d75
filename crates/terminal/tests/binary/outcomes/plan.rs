//! The rows of plan mode: a plan, an honest no, a reply that waits, silence.

use serde_json::json;

use super::{assert_row, run_of, waiting};
use crate::support::{Place, calls, one_step_plan, says, turns};

const UNMET: &str = "Ended without submitting a plan (no `submit_plan` call).";

fn plan() -> serde_json::Value {
    one_step_plan("Tidy", "tidy", &["README.md"], &[])
}

fn no_plan(why: &str) -> serde_json::Value {
    calls(&[("plan_mode_respond", json!({"response": why, "no_plan_needed": true}))])
}

#[test]
fn a_submitted_plan_is_delivered_and_waits_for_its_approval() {
    let place = Place::new();
    let model = place.script("plan", &turns(&[calls(&[("submit_plan", plan())])]));
    let (code, report) = place.run(&model, &["--mode", "plan", "tidy up"]);
    assert_row(&report, "delivered", "completed", "completed", None);
    assert_eq!((code, report["summary"].as_str()), (0, Some("Delivered the plan.")));
    assert_eq!(
        (&report["mode"], &report["plan"]["revision"]),
        (&json!("plan"), &json!(1))
    );
    assert_eq!(report["plan"]["status"], "proposed");
    assert_eq!(
        waiting(&report, "plan").1.split_once('@').unwrap().1,
        report["plan"]["digest"]
    );
    assert!(place.happened(&format!("run/{}", run_of(&report)), "nudged").is_empty());
}

#[test]
fn a_typed_no_is_a_declined_run_with_or_without_the_reminder() {
    let place = Place::new();
    let at_once = place.script("at_once", &turns(&[no_plan("The typo is one letter.")]));
    let reminded = place.script(
        "reminded",
        &turns(&[says("It is one letter."), no_plan("It is one letter.")]),
    );
    for (model, reminders) in [(at_once, 0), (reminded, 1)] {
        let (code, report) = place.run(&model, &["--mode", "plan", "fix the typo"]);
        assert_row(&report, "declined", "completed", "completed", None);
        assert_eq!(
            (code, &report["plan"], &report["pending"]),
            (0, &json!(null), &json!([]))
        );
        assert_eq!(report["summary"], "Ended without a delivery: none is needed.");
        let run = format!("run/{}", run_of(&report));
        assert_eq!(place.happened(&run, "nudged").len(), reminders);
        assert_eq!(place.happened(&run, "noted").len(), 1, "the reason is kept");
    }
}

#[test]
fn prose_alone_is_reminded_exactly_once_and_then_ends_as_silent() {
    let place = Place::new();
    let model = place.script(
        "prose",
        &turns(&[
            says("I would rewrite it all."),
            json!({"text": "As I said: rewrite it.", "expect": {"contains": "no_plan_needed: true"}}),
            calls(&[("submit_plan", plan())]),
        ]),
    );
    let (code, events, report) = place.stream(&model, &["--mode", "plan", "what would you do?"]);
    assert_row(&report, "empty", "completed", "empty", Some("silent_run"));
    assert_eq!((code, report["summary"].as_str()), (3, Some(UNMET)));
    assert_eq!(
        report["text"], "As I said: rewrite it.",
        "what was written before is kept"
    );
    assert_eq!(report["plan"], json!(null), "no third request was made");
    let kinds: Vec<&str> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "nudged").count(), 1);
    assert_eq!(kinds.iter().filter(|kind| **kind == "requested").count(), 2);

    // A person reads the same line, as one of ours.
    let again = place.stance(&["run", "--mode", "plan", "--model", &model, "again"]);
    assert_eq!(again.code, 3);
    assert!(again.out.contains(&format!("✗ {UNMET}\n")), "{}", again.out);
    assert!(again.out.contains("│ As I said: rewrite it.\n"), "{}", again.out);
}

#[test]
fn a_model_cannot_write_the_line_that_says_a_plan_is_missing() {
    let place = Place::new();
    let model = place.script(
        "forged",
        &turns(&[json!({"text": format!("✗ {UNMET}"), "tool_calls": [
        {"name": "submit_plan", "arguments": plan()}]})]),
    );
    let said = place.stance(&["run", "--mode", "plan", "--model", &model, "plan"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.out
            .lines()
            .filter(|line| line.contains(UNMET))
            .all(|line| line.starts_with("│ ")),
        "{}",
        said.out
    );
}

#[test]
fn a_rejected_submission_delivers_nothing() {
    let place = Place::new();
    let hollow = json!({"goal": "Nothing", "nodes": []});
    let model = place.script(
        "hollow",
        &turns(&[calls(&[("submit_plan", hollow)]), says("done"), says("done")]),
    );
    let (code, report) = place.run(&model, &["--mode", "plan", "plan"]);
    assert_row(&report, "empty", "completed", "empty", Some("silent_run"));
    assert_eq!(
        (code, &report["plan"], &report["pending"]),
        (3, &json!(null), &json!([]))
    );
    let results = place.results(run_of(&report), "submit_plan");
    assert!(
        matches!(results.as_slice(), [(true, words)] if words.contains("nothing was submitted")),
        "{results:?}"
    );
}

#[test]
fn a_reply_waits_for_the_person_and_their_answer_goes_on() {
    let place = Place::new();
    let model = place.script(
        "reply",
        &turns(&[
            calls(&[(
                "plan_mode_respond",
                json!({"response": "Patch or rewrite?", "options": ["Patch", "Rewrite"]}),
            )]),
            json!({"tool_calls": [{"name": "submit_plan", "arguments": plan()}],
                   "expect": {"contains": "The person answered: Rewrite"}}),
        ]),
    );
    let (code, report) = place.run(&model, &["--mode", "plan", "--approvals", "wait", "which way?"]);
    assert_row(&report, "waiting", "waiting", "blocked", None);
    assert_eq!((code, report["summary"].as_str()), (7, Some("Waiting for you.")));
    let (id, _) = waiting(&report, "reply");
    // The number of an option is the option.
    let said = place.stance(&["inbox", "answer", &id, "2", "--resume", "--json", "--model", &model]);
    let after = said.report();
    assert_eq!((said.code, &after["run_id"]), (0, &report["run_id"]), "{}", said.err);
    assert_row(&after, "delivered", "completed", "completed", None);
    assert_eq!(place.results(run_of(&report), "plan_mode_respond").len(), 1);
}

#[test]
fn where_nobody_will_answer_a_reply_is_shown_and_says_so() {
    let place = Place::new();
    let model = place.script(
        "nobody",
        &turns(&[
            calls(&[("plan_mode_respond", json!({"response": "Patch or rewrite?"}))]),
            calls(&[("submit_plan", plan())]),
        ]),
    );
    let (code, report) = place.run(&model, &["--mode", "plan", "which way?"]);
    assert_row(&report, "delivered", "completed", "completed", None);
    let results = place.results(run_of(&report), "plan_mode_respond");
    assert!(
        matches!(results.as_slice(), [(false, words)] if words.contains("Nobody will answer")),
        "{results:?}"
    );
    assert_eq!(
        (code, report["pending"].as_array().unwrap().len()),
        (0, 1),
        "only the plan waits"
    );
}

#[test]
fn a_reply_that_only_tells_is_not_waited_for() {
    let place = Place::new();
    let model = place.script(
        "tells",
        &turns(&[
            calls(&[(
                "plan_mode_respond",
                json!({"response": "Two callers found.", "needs_more_exploration": true}),
            )]),
            calls(&[("submit_plan", plan())]),
        ]),
    );
    let (code, report) = place.run(&model, &["--mode", "plan", "--approvals", "wait", "look first"]);
    assert_eq!(code, 0);
    assert_row(&report, "delivered", "completed", "completed", None);
    let notes = place.happened(&format!("run/{}", run_of(&report)), "noted");
    assert_eq!(notes[0]["text"], "Two callers found.");
}

#[test]
fn a_mode_whose_verb_is_not_there_starts_no_run() {
    let place = Place::new();
    let model = place.script("team", &turns(&[says("never asked for")]));
    let said = place.stance(&["run", "--mode", "orchestrate", "--json", "--model", &model, "split it"]);
    assert_eq!(
        (said.code, said.report()["error"]["kind"].as_str()),
        (1, Some("refused"))
    );
    assert!(said.out.contains("propose_orchestration"), "{}", said.out);
    assert!(
        place
            .stance(&["space", "list", "--json"])
            .report()
            .as_array()
            .unwrap()
            .is_empty(),
        "no room was opened for it"
    );
}
