//! What waits for a person over the end of the process: a question, a permission. Each is answered
//! once, about exactly what was shown, and the run goes on from there.

use serde_json::{Value, json};

use super::{assert_row, run_of, waiting};
use crate::support::{Place, calls, says, turns};

const ASKS: &str = "[permissions]\nask = [\"effect(process_spawn)\", \"edit(src/**)\", \"edit(log.txt)\"]\n";

fn append() -> Value {
    calls(&[("execute_command", json!({"command": "echo ran >> log.txt"}))])
}

fn edit() -> Value {
    calls(&[("write_to_file", json!({"path": "src/new.js", "content": "let y;\n"}))])
}

#[test]
fn where_nobody_is_a_question_is_answered_by_an_assumption() {
    let place = Place::new();
    for mode in ["agent", "plan"] {
        let plan = crate::support::one_step_plan("Tabs", "tabs", &["src/app.js"], &[]);
        let last = if mode == "plan" {
            calls(&[("submit_plan", plan)])
        } else {
            says("I took tabs.")
        };
        let model = place.script(
            mode,
            &turns(&[calls(&[("ask_user", json!({"question": "Tabs?"}))]), last]),
        );
        let (code, report) = place.run(&model, &["--mode", mode, "format it"]);
        assert_eq!((code, report["outcome"].as_str()), (0, Some("delivered")), "{report:#}");
        let results = place.results(run_of(&report), "ask_user");
        assert!(
            matches!(results.as_slice(), [(false, words)] if words.contains("State the assumption you make")),
            "{results:?}"
        );
        assert!(
            report["pending"]
                .as_array()
                .unwrap()
                .iter()
                .all(|one| one["kind"] != "question")
        );
    }
}

#[test]
fn a_question_outlives_the_process_and_is_answered_once() {
    let place = Place::new();
    let options = json!({"question": "Keep the old name?", "options": [{"label": "Keep"}, {"label": "Drop"}]});
    let model = place.script(
        "asks",
        &turns(&[
            calls(&[("ask_user", options)]),
            json!({"text": "Dropped.", "expect": {"contains": "The person answered: Drop"}}),
        ]),
    );
    let (code, report) = place.run(&model, &["--approvals", "wait", "rename it"]);
    assert_row(&report, "waiting", "waiting", "blocked", None);
    assert_eq!(code, 7);
    let (id, _) = waiting(&report, "question");

    // Looking answers nothing, and going on without an answer goes nowhere.
    assert!(place.stance(&["inbox"]).out.contains("Keep the old name?"));
    let (code, still) = place.run(&model, &["--resume", run_of(&report)]);
    assert_eq!((code, still["outcome"].as_str()), (7, Some("waiting")), "{still:#}");
    assert_eq!(place.modes_requested(run_of(&report)).len(), 1);
    let wrong = place.stance(&["inbox", "approve", &id]);
    assert_eq!(wrong.code, 2, "{}", wrong.err);

    let said = place.stance(&["inbox", "answer", &id, "2", "--resume", "--json", "--model", &model]);
    assert_eq!(
        (said.code, said.report()["text"].as_str()),
        (0, Some("Dropped.")),
        "{}",
        said.err
    );
    let again = place.stance(&["inbox", "answer", &id, "Keep", "--resume", "--model", &model]);
    assert_eq!(again.code, 2, "{}", again.err);
    assert_eq!(
        place.results(run_of(&report), "ask_user"),
        [(false, "The person answered: Drop".to_owned())]
    );
}

#[test]
fn a_permission_is_given_for_exactly_what_was_shown_and_used_once() {
    let place = Place::new();
    place.settings(ASKS);
    let model = place.script(
        "appends",
        &turns(&[append(), says("done"), append(), says("done again")]),
    );
    let (code, report) = place.run(&model, &["--approvals", "wait", "log it"]);
    assert_row(&report, "waiting", "waiting", "blocked", None);
    assert_eq!(code, 7);
    let (id, exact) = waiting(&report, "permission");
    assert!(
        report["pending"][0]["lines"]
            .to_string()
            .contains("command: echo ran >> log.txt"),
        "{report:#}"
    );
    let log = place.repo().join("log.txt");
    assert!(!log.exists());

    for (named, code, words) in [
        (id.clone(), 2, "names the digest"),
        (format!("{id}@{}", "0".repeat(64)), 1, "it changed, look again"),
    ] {
        let refused = place.stance(&["inbox", "approve", &named, "--resume", "--model", &model]);
        assert_eq!(refused.code, code, "{}", refused.err);
        assert!(refused.err.contains(words), "{}", refused.err);
    }
    assert!(!log.exists());
    let said = place.stance(&["inbox", "approve", &exact, "--resume", "--json", "--model", &model]);
    assert_eq!(
        (said.code, said.report()["text"].as_str()),
        (0, Some("done")),
        "{}",
        said.err
    );
    assert_eq!(place.read("log.txt"), "ran\n");
    let twice = place.stance(&["inbox", "approve", &exact, "--resume", "--model", &model]);
    assert_eq!(twice.code, 2, "{}", twice.err);

    // A yes was for once: the same call of the next run is asked anew.
    let thread = report["thread_id"].as_str().unwrap();
    let (code, next) = place.run(&model, &["--resume", thread, "--approvals", "wait", "once more"]);
    assert_eq!(code, 7, "{next:#}");
    assert_ne!(waiting(&next, "permission").0, id);
    assert_eq!(place.read("log.txt"), "ran\n");
}

#[test]
fn a_no_with_words_guides_and_a_bare_no_is_a_mistake() {
    let place = Place::new();
    place.settings(&format!("{ASKS}[limits]\nmistakes = 1\n"));
    let model = place.script("edits", &turns(&[edit(), says("I leave it.")]));
    for (because, code, outcome, requests) in [
        (Some("src is frozen today"), 0, "delivered", 2),
        (None, 6, "stopped", 1),
    ] {
        let (_, report) = place.run(&model, &["--approvals", "wait", "edit it"]);
        let (_, exact) = waiting(&report, "permission");
        let mut line = vec!["inbox", "deny", &exact, "--resume", "--json", "--model", &model];
        line.extend(because.iter().flat_map(|words| ["--because", words]));
        let said = place.stance(&line);
        assert_eq!(
            (said.code, said.report()["outcome"].as_str()),
            (code, Some(outcome)),
            "{}",
            said.err
        );
        let results = place.results(run_of(&report), "write_to_file");
        assert!(
            matches!(results.as_slice(), [(true, words)] if words.contains("the person said no")),
            "{results:?}"
        );
        assert_eq!(
            results[0].1.contains("They said: src is frozen today"),
            because.is_some()
        );
        assert_eq!(place.modes_requested(run_of(&report)).len(), requests);
    }
    assert!(!place.repo().join("src/new.js").exists());
}

#[test]
fn a_call_whose_ground_changed_after_the_yes_is_asked_again() {
    let place = Place::new();
    place.settings(ASKS);
    let model = place.script(
        "overwrites",
        &turns(&[
            calls(&[("read_file", json!({"path": "src/app.js"}))]),
            calls(&[(
                "write_to_file",
                json!({"path": "src/app.js", "content": "const x = 2;\n"}),
            )]),
            says("done"),
        ]),
    );
    let (_, report) = place.run(&model, &["--approvals", "wait", "change it"]);
    let (first, exact) = waiting(&report, "permission");
    let decided = place.stance(&["inbox", "approve", &exact, "--model", &model]);
    assert_eq!(decided.code, 0, "{}", decided.err);
    place.write("src/app.js", "const x = 1; // mine\n");
    let (code, after) = place.run(&model, &["--resume", run_of(&report)]);
    assert_eq!((code, after["outcome"].as_str()), (7, Some("waiting")), "{after:#}");
    let (second, again) = waiting(&after, "permission");
    assert_ne!(first, second);
    assert_ne!(exact.split_once('@').unwrap().1, again.split_once('@').unwrap().1);
    assert_eq!(place.read("src/app.js"), "const x = 1; // mine\n");
    // The person's own change is never overwritten, not even with a second yes.
    let said = place.stance(&["inbox", "approve", &again, "--resume", "--json", "--model", &model]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(place.read("src/app.js"), "const x = 1; // mine\n");
    let results = place.results(run_of(&report), "write_to_file");
    assert!(
        matches!(results.as_slice(), [(true, words)] if words.contains("// mine")),
        "{results:?}"
    );
}

#[test]
fn a_permission_is_denied_where_nobody_can_be_asked() {
    let place = Place::new();
    place.settings(ASKS);
    let model = place.script("edits", &turns(&[edit(), says("I could not.")]));
    let (code, report) = place.run(&model, &["edit it"]);
    assert_row(&report, "denied", "completed", "blocked", None);
    assert_eq!((code, &report["pending"]), (4, &json!([])));
    assert_eq!(report["denials"][0]["layer"], "no_approver");
    assert!(!place.repo().join("src/new.js").exists());
}

#[test]
fn a_step_that_waits_goes_on_with_its_plan_when_it_is_answered() {
    let place = Place::new();
    let plan = crate::support::one_step_plan("Write A", "a", &["A.md"], &["test -f B.md"]);
    let model = place.script(
        "steps",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [calls(&[("submit_plan", plan)])]},
            {"match": {"step": "a"}, "turns": [
                calls(&[("write_to_file", json!({"path": "B.md", "content": "beside the plan\n"}))]),
                calls(&[("submit_output", json!({"evidence": "B is there"}))]),
            ]},
        ]}),
    );
    let (_, planned) = place.run(&model, &["--mode", "plan", "plan it"]);
    let exact = crate::support::plan_at_digest(&planned);
    let approved = place.stance(&[
        "plan",
        "approve",
        &exact,
        "--approvals",
        "wait",
        "--json",
        "--model",
        &model,
    ]);
    let report = approved.report();
    assert_eq!(
        (approved.code, report["outcome"].as_str()),
        (7, Some("waiting")),
        "{}",
        approved.err
    );
    assert_eq!(report["orchestration"]["status"], "executing");
    let (_, permission) = waiting(&report, "permission");
    assert!(!place.repo().join("B.md").exists());

    let said = place.stance(&["inbox", "approve", &permission, "--resume", "--json", "--model", &model]);
    let done = said.report();
    assert_eq!(
        (said.code, done["outcome"].as_str()),
        (0, Some("delivered")),
        "{done:#}\n{}",
        said.err
    );
    assert_eq!(
        (&done["plan"]["status"], &done["orchestration"]["status"]),
        (&json!("completed"), &json!("completed"))
    );
    assert_eq!(done["orchestration"]["steps"][0]["evidence"], "B is there");
    assert_eq!(done["checks"], json!([{"command": "test -f B.md", "exit": 0}]));
    assert_eq!(place.read("B.md"), "beside the plan\n");
}
