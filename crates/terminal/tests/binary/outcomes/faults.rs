//! The rows of runs that fail or are stopped: the provider's own words, and a person's Ctrl-C.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use super::{assert_row, run_of};
use crate::support::{Place, calls, says, turns};

const NO_RETRY: &str = "[limits]\nretries = 0\n";

#[test]
fn a_failed_run_shows_the_words_of_its_provider() {
    let place = Place::new();
    place.settings(NO_RETRY);
    for (error, family, words) in [
        (
            json!({"status": 500, "message": "the reactor is warm"}),
            "transient_upstream",
            "the reactor is warm",
        ),
        (
            json!({"status": 401, "message": "this key was withdrawn"}),
            "auth",
            "this key was withdrawn",
        ),
        (
            json!({"status": 413, "message": "too much to read"}),
            "context_overflow",
            "too much to read",
        ),
        (
            json!({"message": "the cable was cut"}),
            "transient_upstream",
            "the cable was cut",
        ),
    ] {
        let model = place.script("failing", &turns(&[json!({"error": error})]));
        let (code, report) = place.run(&model, &["--mode", "plan", "plan"]);
        assert_row(&report, "failed", "error", "failed", Some(family));
        assert_eq!(code, 1);
        assert!(report["summary"].as_str().unwrap().contains(words), "{report:#}");
    }
}

#[test]
fn a_request_that_is_not_as_the_script_expects_fails_with_the_difference() {
    let place = Place::new();
    let model = place.script("strict", &turns(&[json!({"text": "hi", "expect": {"mode": "agent"}})]));
    let (code, report) = place.run(&model, &["--mode", "plan", "plan"]);
    assert_row(&report, "failed", "error", "failed", Some("unknown"));
    assert_eq!(code, 1);
    assert!(
        report["summary"]
            .as_str()
            .unwrap()
            .contains("mode: expected `agent`, found `plan`"),
        "{report:#}"
    );
}

#[test]
fn a_passing_fault_is_tried_again_and_a_lasting_one_is_not() {
    let place = Place::new();
    place.settings("[limits]\nretries = 2\nretry_pause_ms = 1\n");
    let busy = || json!({"error": {"status": 529, "message": "much asked"}});
    let model = place.script(
        "busy",
        &turns(&[busy(), busy(), says("here I am"), busy(), busy(), busy()]),
    );
    let (code, events, report) = place.stream(&model, &["do it"]);
    assert_eq!((code, report["text"].as_str()), (0, Some("here I am")), "{report:#}");
    let failures = events.iter().filter(|event| event["kind"] == "request_failed");
    let attempts: Vec<&Value> = failures.map(|event| &event["payload"]["attempt"]).collect();
    assert_eq!(attempts, [&json!(1), &json!(2)]);
    let thread = report["thread_id"].as_str().unwrap();
    let (code, report) = place.run(&model, &["--resume", thread, "again"]);
    assert_eq!(
        (code, report["summary"].as_str()),
        (1, Some("much asked")),
        "{report:#}"
    );
    assert_eq!(place.modes_requested(run_of(&report)).len(), 3);

    let locked = place.script(
        "locked",
        &turns(&[json!({"error": {"status": 403, "message": "not yours"}})]),
    );
    let (code, report) = place.run(&locked, &["do it"]);
    assert_eq!((code, place.modes_requested(run_of(&report)).len()), (1, 1));
}

#[test]
fn a_provider_that_asks_for_an_hour_is_not_waited_for() {
    let place = Place::new();
    let later = json!({"error": {"status": 429, "message": "come back later", "retry_after": 3600}});
    let model = place.script("later", &turns(&[later, says("never asked for")]));
    let (code, report) = place.run(&model, &["do it"]);
    assert_row(&report, "failed", "error", "failed", Some("transient_upstream"));
    assert_eq!(code, 1);
    assert_eq!(report["summary"], "come back later (asked to wait for 1h)");
}

#[test]
fn a_model_that_repeats_itself_is_told_once_and_then_stopped() {
    let place = Place::new();
    let look = || calls(&[("list_files", json!({"path": "."}))]);
    let told = || {
        let mut turn = look();
        turn["expect"] = json!({"contains": "You repeat yourself: `list_files` was called 3 times"});
        turn
    };
    let story = turns(&[look(), look(), look(), told(), look(), says("Now I know.")]);
    let model = place.script("circles", &story);
    let (code, report) = place.run(&model, &["look around"]);
    assert_row(&report, "stopped", "error", "looping", Some("unknown"));
    assert_eq!(code, 6);
    assert_eq!(place.modes_requested(run_of(&report)).len(), 5);

    // Whoever takes the limit away lets it go round.
    place.settings("[limits]\nmistakes = \"off\"\n");
    let model = place.script("on", &story);
    let (code, report) = place.run(&model, &["look around"]);
    assert_eq!((code, report["text"].as_str()), (0, Some("Now I know.")), "{report:#}");
}

#[test]
fn an_answer_that_breaks_off_is_kept_and_gone_on_with() {
    let place = Place::new();
    place.settings("[limits]\nretry_pause_ms = 1\n");
    let broken = turns(&[
        json!({"text": "The first half", "error": {}}),
        json!({"text": " and the second.", "expect": {"contains": "Your answer was cut off here."}}),
    ]);
    let model = place.script("broken", &broken);
    let said = place.stance(&["run", "--model", &model, "tell me"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(said.out.matches("The first half").count(), 1, "{}", said.out);
    assert_eq!(said.out.matches(" and the second.").count(), 1, "{}", said.out);
    let model = place.script("broken_again", &broken);
    let (_, report) = place.run(&model, &["tell me"]);
    assert_eq!(report["text"], "The first half and the second.");
}

#[test]
fn of_several_endings_the_graver_one_is_the_exit_code() {
    let place = Place::new();
    place.settings("[limits]\nretries = 0\nmistakes = 1\n");
    place.write(".env", "TOKEN=1\n");
    let exit = || calls(&[("exit_plan_mode", json!({}))]);
    let spent = {
        let mut turn = exit();
        turn["usage"] = json!({"input": 5000});
        turn
    };
    let secret = calls(&[
        ("read_file", json!({"path": ".env"})),
        ("list_files", json!({"path": "."})),
    ]);
    let lost = || calls(&[("no_such_tool", json!({}))]);
    for (name, script, wanted, outcome) in [
        (
            "error_over_waiting",
            vec![exit(), json!({"error": {"status": 500}})],
            1,
            "failed",
        ),
        ("budget_over_waiting", vec![spent, says("I wait.")], 5, "over_budget"),
        (
            "mistakes_over_waiting",
            vec![exit(), lost(), says("I wait.")],
            6,
            "stopped",
        ),
        (
            "waiting_over_denied",
            vec![secret.clone(), exit(), says("I wait.")],
            7,
            "waiting",
        ),
        ("contract_over_denied", vec![secret, says("no"), says("no")], 3, "empty"),
    ] {
        let model = place.script(name, &turns(&script));
        let (code, report) = place.run(&model, &["--mode", "plan", "--budget", "4k", name]);
        assert_eq!(
            (code, report["outcome"].as_str()),
            (wanted, Some(outcome)),
            "{name}: {report:#}"
        );
    }
}

#[test]
fn ctrl_c_stops_the_run_with_everything_it_started() {
    let place = Place::new();
    let line = "echo begun > begun.txt; sleep 1000";
    let model = place.script(
        "long",
        &turns(&[calls(&[("execute_command", json!({"command": line}))]), says("late")]),
    );
    let mut child = place
        .command(&["run", "--stream-json", "--model", &model, "build it"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let started = |line: &str| serde_json::from_str::<Value>(line).unwrap()["kind"] == "tool_started";
    assert!(lines.by_ref().any(|line| started(&line.unwrap())));
    let child_id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(child_id, rustix::process::Signal::INT).unwrap();
    let last = lines.map(Result::unwrap).last().unwrap();
    let report: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{report:#}");
    assert_row(&report, "cancelled", "cancelled", "failed", None);
    assert_eq!(
        (report["summary"].as_str(), report["text"].as_str()),
        (Some("Stopped."), Some(""))
    );
    // The call got its one result, and nothing was asked after it.
    let results = place.results(run_of(&report), "execute_command");
    assert!(
        matches!(results.as_slice(), [(true, words)] if words.contains("a person stopped the run")),
        "{results:?}"
    );
    assert_eq!(place.modes_requested(run_of(&report)).len(), 1);
    // The thread goes on with a further message.
    let (code, next) = place.run(&model, &["--resume", report["thread_id"].as_str().unwrap(), "go on"]);
    assert_eq!((code, next["text"].as_str()), (0, Some("late")), "{next:#}");
}
