//! Calls that cannot stand: behind a call that ends the response, of no tool, with arguments that
//! are none. Each gets one result, and the run goes on.

use serde_json::{Value, json};

use super::{assert_row, run_of, waiting};
use crate::support::{Place, calls, one_step_plan, says, turns};

fn how(place: &Place, run: &str) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let finished = place.happened(&format!("run/{run}"), "tool_finished");
    finished
        .iter()
        .map(|result| (word(&result["tool"]), word(&result["how"])))
        .collect()
}

fn words(pairs: &[(String, String)]) -> Vec<(&str, &str)> {
    pairs.iter().map(|(tool, how)| (tool.as_str(), how.as_str())).collect()
}

#[test]
fn what_stands_behind_a_delivery_is_not_started() {
    let place = Place::new();
    let read = ("read_file", json!({"path": "README.md"}));
    let first = one_step_plan("First", "a", &["A.md"], &[]);
    let second = one_step_plan("Second", "a", &["A.md"], &[]);
    let model = place.script(
        "greedy",
        &turns(&[calls(&[
            read.clone(),
            ("submit_plan", first),
            read.clone(),
            ("submit_plan", second),
            ("exit_plan_mode", json!({})),
        ])]),
    );
    let (code, report) = place.run(&model, &["--mode", "plan", "plan"]);
    assert_eq!(code, 0);
    assert_row(&report, "delivered", "completed", "completed", None);
    assert_eq!(
        (&report["plan"]["revision"], report["pending"].as_array().unwrap().len()),
        (&json!(1), 1)
    );
    assert_eq!(report["pending"][0]["title"], "First");
    assert_eq!(
        words(&how(&place, run_of(&report))),
        [
            ("read_file", "performed"),
            ("submit_plan", "performed"),
            ("read_file", "not_started"),
            ("submit_plan", "not_started"),
            ("exit_plan_mode", "not_started"),
        ]
    );
    assert_eq!(report["denials"], json!([]), "what was not started was not denied");
}

#[test]
fn what_stands_behind_a_completion_or_a_typed_no_is_not_started() {
    let place = Place::new();
    let write = || ("write_to_file", json!({"path": "late.md", "content": "late\n"}));
    let model = place.script(
        "done",
        &turns(&[calls(&[("attempt_completion", json!({"result": "Done."})), write()])]),
    );
    let (code, report) = place.run(&model, &["do it"]);
    assert_eq!(
        (code, &report["outcome"], &report["files_changed"]),
        (0, &json!("delivered"), &json!([]))
    );
    let plan = one_step_plan("Late", "late", &["late.md"], &[]);
    let no = json!({"response": "One letter.", "no_plan_needed": true});
    let model = place.script(
        "no",
        &turns(&[calls(&[("plan_mode_respond", no), ("submit_plan", plan)])]),
    );
    let (code, report) = place.run(&model, &["--mode", "plan", "plan"]);
    assert_eq!(
        (code, &report["outcome"], &report["plan"]),
        (0, &json!("declined"), &json!(null))
    );
    assert!(!place.repo().join("late.md").exists());
}

#[test]
fn what_stands_behind_a_request_to_leave_is_not_started() {
    let place = Place::new();
    let read = || ("read_file", json!({"path": "README.md"}));
    let model = place.script(
        "leaves",
        &turns(&[calls(&[read(), ("exit_plan_mode", json!({})), read()]), says("I wait.")]),
    );
    let (code, report) = place.run(&model, &["--mode", "plan", "do it"]);
    assert_eq!((code, report["outcome"].as_str()), (7, Some("waiting")), "{report:#}");
    assert_eq!(
        words(&how(&place, run_of(&report))),
        [
            ("read_file", "performed"),
            ("exit_plan_mode", "performed"),
            ("read_file", "not_started")
        ]
    );
}

#[test]
fn what_stands_behind_a_question_is_not_started_and_every_call_gets_one_result() {
    let place = Place::new();
    let write = ("write_to_file", json!({"path": "guess.md", "content": "guess\n"}));
    let model = place.script(
        "asks",
        &turns(&[
            calls(&[("ask_user", json!({"question": "Which name?"})), write]),
            json!({"text": "Thank you.", "expect": {"contains": "The person answered: Ada"}}),
        ]),
    );
    let (code, report) = place.run(&model, &["--approvals", "wait", "name it"]);
    assert_eq!((code, report["outcome"].as_str()), (7, Some("waiting")), "{report:#}");
    let (id, _) = waiting(&report, "question");
    let said = place.stance(&["inbox", "answer", &id, "Ada", "--resume", "--json", "--model", &model]);
    assert_eq!(
        (said.code, said.report()["text"].as_str()),
        (0, Some("Thank you.")),
        "{}",
        said.err
    );
    let mut results = how(&place, run_of(&report));
    results.sort();
    assert_eq!(
        words(&results),
        [("ask_user", "answered"), ("write_to_file", "not_started")]
    );
    assert!(!place.repo().join("guess.md").exists());
}

#[test]
fn a_call_that_cannot_be_read_gets_one_error_and_does_nothing() {
    let place = Place::new();
    let before = place.world();
    let faulty = [
        ("no_such_tool", json!({}), "unknown tool \"no_such_tool\""),
        ("Write", json!({"path": "x.md"}), "unknown tool \"Write\""),
        ("submit_plan", json!({"goal": "g"}), "it belongs to Plan"),
        (
            "write_to_file",
            json!("{\"path\": \"x.md\", \"content\": "),
            "cannot be read as JSON",
        ),
        (
            "write_to_file",
            json!("{\"path\": \"x.md\", \"path\": \"y.md\", \"content\": \"\"}"),
            "stands twice",
        ),
        (
            "execute_command",
            json!("{\"command\": \"ls\", \"command\": \"touch x.md\"}"),
            "stands twice",
        ),
        ("write_to_file", json!("[\"x.md\"]"), "must be one JSON object"),
        (
            "write_to_file",
            json!("{\"path\": \"x.md\", \"content\": \"\"} {}"),
            "cannot be read as JSON",
        ),
        (
            "write_to_file",
            json!({"path": "x.md", "content": "", "mode": "0777"}),
            "mode",
        ),
        ("write_to_file", json!({"path": "x.md"}), "content"),
        ("write_to_file", json!({"path": 7, "content": ""}), "path"),
    ];
    let together: Vec<(&str, Value)> = faulty
        .iter()
        .map(|(tool, arguments, _)| (*tool, arguments.clone()))
        .collect();
    let model = place.script("faulty", &turns(&[calls(&together), says("I see.")]));
    let (code, report) = place.run(&model, &["try it"]);
    assert_eq!((code, report["text"].as_str()), (0, Some("I see.")), "{report:#}");
    let results = place.happened(&format!("run/{}", run_of(&report)), "tool_finished");
    assert_eq!(results.len(), faulty.len());
    for ((tool, _, wanted), finished) in faulty.iter().zip(&results) {
        assert_eq!(
            (finished["tool"].as_str(), &finished["result"]["is_error"]),
            (Some(*tool), &json!(true))
        );
        let said = finished["result"]["content"][0]["text"].as_str().unwrap();
        assert!(said.contains(wanted), "{tool}: {said}");
    }
    let decisions = place.happened(&format!("run/{}", run_of(&report)), "decided");
    assert_eq!(decisions.len(), faulty.len(), "each has its decision in the journal");
    assert!(
        place
            .happened(&format!("run/{}", run_of(&report)), "tool_started")
            .is_empty()
    );
    assert_eq!(place.world(), before);
}

#[test]
fn a_second_progress_note_in_a_row_is_an_error() {
    let place = Place::new();
    let note = |text: &str| calls(&[("act_mode_respond", json!({"response": text}))]);
    let model = place.script(
        "chatty",
        &turns(&[
            note("One."),
            note("Two."),
            note("Three."),
            calls(&[("list_files", json!({"path": "."}))]),
            note("Four."),
            says("end"),
        ]),
    );
    let (code, report) = place.run(&model, &["do it"]);
    assert_eq!((code, report["outcome"].as_str()), (0, Some("delivered")), "{report:#}");
    let results = place.results(run_of(&report), "act_mode_respond");
    assert_eq!(
        results.iter().map(|(error, _)| *error).collect::<Vec<_>>(),
        [false, true, true, false]
    );
    assert!(results[1].1.contains("two progress notes in a row"), "{results:?}");
    let shown = place.happened(&format!("run/{}", run_of(&report)), "noted");
    assert_eq!(
        shown
            .iter()
            .map(|note| note["text"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ["One.", "Four."]
    );
}

#[test]
fn two_progress_notes_in_one_response_are_in_a_row_too() {
    let place = Place::new();
    let note = |text: &str| ("act_mode_respond", json!({"response": text}));
    let model = place.script("double", &turns(&[calls(&[note("One."), note("Two.")]), says("end")]));
    let (_, report) = place.run(&model, &["do it"]);
    let results = place.results(run_of(&report), "act_mode_respond");
    assert_eq!(
        results.iter().map(|(error, _)| *error).collect::<Vec<_>>(),
        [false, true],
        "{results:?}"
    );
}
