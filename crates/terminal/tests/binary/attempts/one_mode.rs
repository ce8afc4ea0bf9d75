//! One value of the mode: what is shown, what the model is told and what decides are equal at every
//! moment, whoever switched it and when.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::ground::decided;
use crate::models::server::{Answer, Server, call, text};
use crate::support::{Place, calls, one_step_plan, plan_at_digest, says, turns};

const MODEL: &str = "[models.default]\nprovider = \"anthropic\"\nmodel = \"claude-sonnet-4-5\"\n";

/// Every mode that a whole request states, in the order of its text.
fn stated(request: &Value) -> Vec<String> {
    let text = request.to_string();
    text.split("# Mode: ")
        .skip(1)
        .map(|rest| rest.split("\\n").next().unwrap().to_owned())
        .collect()
}

fn offers(request: &Value, tool: &str) -> bool {
    request["tools"]
        .as_array()
        .unwrap()
        .iter()
        .any(|offered| offered["name"] == tool)
}

/// Delivers in whatever mode it is asked: what the mode does not hold is refused, what stands behind
/// a delivery is not begun.
fn whatever_fits(number: usize) -> Answer {
    let id = |place: usize| format!("toolu_{number}_{place}");
    Answer::of(&[
        call(
            &id(0),
            "submit_plan",
            one_step_plan("Greet", "greet", &["HELLO.md"], &[]),
        ),
        call(&id(1), "attempt_completion", json!({"result": "done"})),
        call(&id(2), "submit_output", json!({"evidence": "done"})),
    ])
}

pub(super) fn space(place: &Place) -> Value {
    place.stance(&["mode", "--json"]).report()
}

/// An act of a person between two runs.
#[derive(Debug, Clone, Copy)]
enum Act {
    ToPlan,
    ToAgent,
    Approve,
    Reject,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        Just(Act::ToPlan),
        Just(Act::ToAgent),
        Just(Act::Approve),
        Just(Act::Reject)
    ];
    prop::collection::vec(act, 4)
}

/// The plan of the space that waits for a decision, as a decision names it.
fn waiting_plan(place: &Place) -> Option<String> {
    let waiting: Value = place.stance(&["inbox", "--json"]).report();
    let plan = waiting
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["kind"] == "plan")?
        .clone();
    Some(format!(
        "{}@{}",
        plan["plan_id"].as_str().unwrap(),
        plan["digest"].as_str().unwrap()
    ))
}

#[test]
fn badge_report_and_request_are_equal_after_whatever_a_person_did() {
    let mut place = Place::new();
    let server = Server::start((0..200).map(whatever_fits));
    server.configure(&mut place, MODEL);
    let mut runner = TestRunner::new(Config {
        cases: 3,
        max_shrink_iters: 4,
        failure_persistence: None,
        ..Config::default()
    });
    let walk = |acts: Vec<Act>| {
        place.stance(&["mode", "plan"]);
        for act in acts {
            let before = server.bodies().len();
            let named = waiting_plan(&place);
            match (act, &named) {
                (Act::ToPlan, _) => assert_eq!(place.stance(&["mode", "plan"]).code, 0),
                (Act::ToAgent, _) => assert_eq!(place.stance(&["mode", "agent"]).code, 0),
                (Act::Approve, Some(named)) => assert_eq!(place.stance(&["plan", "approve", named]).code, 0),
                (Act::Reject, Some(named)) => assert_eq!(place.stance(&["plan", "reject", named]).code, 0),
                (Act::Approve | Act::Reject, None) => {}
            }
            // The steps of an approved plan ran in Agent mode, and nothing else ran.
            let during: Vec<_> = server.bodies()[before..].iter().flat_map(stated).collect();
            prop_assert!(during.iter().all(|mode| mode == "Agent"), "{:?}", during);

            let shown = space(&place);
            let expected = match (act, &named, shown["mode"].as_str().unwrap()) {
                (Act::ToPlan, ..) => "plan",
                (Act::ToAgent, ..) | (Act::Approve, Some(_), _) => "chat",
                (_, _, unchanged) => unchanged,
            };
            prop_assert_eq!(shown["mode"].as_str(), Some(expected));

            let before = server.bodies().len();
            let said = place.stance(&["run", "--json", "--space", shown["id"].as_str().unwrap(), "go on"]);
            let report = said.report();
            prop_assert_eq!(report["outcome"].as_str(), Some("delivered"), "{:#}", report);
            prop_assert_eq!(&report["mode"], &shown["mode"]);
            let requests = server.bodies();
            prop_assert!(requests.len() > before);
            for request in &requests[before..] {
                prop_assert_eq!(stated(request), vec![report["label"].as_str().unwrap().to_owned()]);
                prop_assert_eq!(offers(request, "submit_plan"), report["mode"] == "plan");
                prop_assert_eq!(offers(request, "write_to_file"), report["mode"] == "chat");
            }
            prop_assert_eq!(&space(&place)["mode"], &shown["mode"]);
        }
        Ok(())
    };
    runner.run(&acts(), walk).unwrap();
}

#[test]
fn a_conversation_states_the_newest_mode_and_no_older_one() {
    let mut place = Place::new();
    let write = |id, path| call(id, "write_to_file", json!({"path": path, "content": "x\n"}));
    let complete = |id| call(id, "attempt_completion", json!({"result": "done"}));
    let plan = call("p1", "submit_plan", one_step_plan("Greet", "greet", &["HELLO.md"], &[]));
    let server = Server::start([
        Answer::of(&[text("Plan mode is on, so I plan."), plan]),
        Answer::of(&[
            write("w1", "HELLO.md"),
            call("o1", "submit_output", json!({"evidence": "written"})),
        ]),
        Answer::of(&[write("w2", "later.txt"), complete("c1")]),
    ]);
    server.configure(&mut place, MODEL);
    let (_, planned) = first_run(&place, "plan");
    let approved = place.stance(&["plan", "approve", &plan_at_digest(&planned), "--json"]);
    assert_eq!(approved.code, 0, "{}", approved.err);
    // Another process, another run: the history is built anew.
    let thread = planned["thread_id"].as_str().unwrap();
    let after = place.stance(&["run", "--json", "--resume", thread, "and another file"]);
    assert_eq!(after.code, 0, "{}", after.out);
    let bodies = server.bodies();
    let modes: Vec<_> = bodies.iter().map(stated).collect();
    assert_eq!(modes, [["Plan (read-only)"], ["Agent"], ["Agent"]]);
    assert!(
        bodies[2].to_string().contains("Plan mode is on, so I plan."),
        "the history is there"
    );
    assert_ne!(bodies[0]["system"], bodies[2]["system"]);
    assert_eq!(place.read("later.txt"), "x\n");
}

#[test]
fn a_message_to_a_plan_under_way_is_not_swallowed() {
    let place = Place::new();
    let submit = calls(&[("submit_plan", one_step_plan("Greet", "greet", &["HELLO.md"], &[]))]);
    let model = place.script(
        "message",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [submit]},
            {"match": {"step": "greet"}, "turns": [
                calls(&[("write_to_file", json!({"path": "HELLO.md", "content": "x\n"}))]),
                calls(&[("submit_output", json!({"evidence": "written"}))]),
            ]},
        ]}),
    );
    let (_, planned) = place.run(&model, &["--mode", "plan", "greet"]);
    let mut dying = place.command(&[
        "plan",
        "approve",
        &plan_at_digest(&planned),
        "--json",
        "--model",
        &model,
    ]);
    let killed = crate::support::said(dying.env("STANCE_FAULT", "tool_finished:after:1").output().unwrap());
    assert_eq!(killed.code, 128 + 9, "{}", killed.err);
    let early = place.stance(&["run", "--resume", "last", "--model", &model, "and make it loud"]);
    assert_eq!(early.code, 1, "{}", early.out);
    assert!(early.err.contains("goes on first"), "{}", early.err);
    let (code, done) = place.run(&model, &["--resume", "last"]);
    assert_eq!(
        (code, &done["orchestration"]["status"]),
        (0, &json!("completed")),
        "{done:#}"
    );
}

/// A first run in a fresh space in this mode.
fn first_run(place: &Place, mode: &str) -> (i32, Value) {
    let said = place.stance(&["run", "--json", "--mode", mode, "begin"]);
    (said.code, said.report())
}

#[test]
fn a_switch_while_a_run_is_under_way_holds_from_the_next_request_of_the_next_run() {
    let mut place = Place::new();
    let (held, go_on) = Answer::of(&[call("w1", "write_to_file", json!({"path": "a.txt", "content": "x\n"}))]).held();
    let server = Server::start([held, whatever_fits(1), whatever_fits(2), whatever_fits(3)]);
    server.configure(&mut place, MODEL);
    assert_eq!(place.stance(&["mode", "plan"]).code, 0);
    let id = space(&place)["id"].as_str().unwrap().to_owned();
    let before = place.world();
    let running = place
        .command(&["run", "--json", "--space", &id, "plan it"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    server.wait_for_request();
    let switched = place.stance(&["mode", "agent"]);
    assert!(switched.out.contains("finishes in its own mode"), "{}", switched.out);
    assert_eq!(space(&place)["shown"], "Agent");
    go_on.send(()).unwrap();
    let first = crate::support::said(running.wait_with_output().unwrap()).report();
    // The run stays what it was: its write is refused, its next request still says Plan.
    assert_eq!(
        (&first["mode"], &first["outcome"]),
        (&json!("plan"), &json!("delivered")),
        "{first:#}"
    );
    assert_eq!(first["denials"][0]["layer"], "surface");
    assert_eq!(place.world(), before);
    let second = place.stance(&["run", "--json", "--space", &id, "go on"]).report();
    assert_eq!(second["mode"], "chat", "{second:#}");
    let modes: Vec<_> = server.bodies().iter().map(stated).collect();
    assert_eq!(modes, [["Plan (read-only)"], ["Plan (read-only)"], ["Agent"]]);
}

#[test]
fn no_switch_is_acknowledged_that_did_not_happen() {
    let place = Place::new();
    let told = |words: &str, next: Value| {
        let mut next = next;
        next["expect"] = json!({"mode": "plan", "contains": words});
        next
    };
    let model = place.script(
        "switches",
        &turns(&[
            calls(&[("switch_mode", json!({"mode_slug": "code"}))]),
            told(
                "unknown tool \"switch_mode\": this run (Plan (read-only)) has no such tool",
                calls(&[("act_mode_respond", json!({"response": "I act."}))]),
            ),
            told(
                "unknown tool act_mode_respond: not in Plan (read-only): it belongs to Agent",
                calls(&[("exit_plan_mode", json!({}))]),
            ),
            told("\"status\":\"pending\"", says("I wait.")),
        ]),
    );
    assert_eq!(place.stance(&["mode", "plan"]).code, 0);
    for words in [
        &["mode", "code"][..],
        &["mode", "Plan"],
        &["mode", ""],
        &["mode", "review"],
        &["space", "mode", "s_none", "agent"],
    ] {
        let said = place.stance(words);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{words:?}: {}", said.err);
        assert_eq!(space(&place)["mode"], "plan", "{words:?}");
    }
    let id = space(&place)["id"].as_str().unwrap().to_owned();
    let (code, report) = place.run(&model, &["--space", &id, "go"]);
    assert_eq!((code, report["outcome"].as_str()), (7, Some("waiting")), "{report:#}");
    assert_eq!(space(&place)["mode"], "plan");
    let changes: Vec<_> = place
        .journal()
        .into_iter()
        .filter(|event| event.kind == "mode_changed")
        .collect();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert!(changes[0].details["who"].is_string() && changes[0].details["why"].is_string());
}

#[test]
fn a_verb_of_another_mode_is_one_clear_error() {
    let place = Place::new();
    let tagged = "<plan_mode_respond><response>Shall I begin?</response></plan_mode_respond>";
    let told = |words: &str, mut next: Value| {
        next["expect"] = json!({"contains": words});
        next
    };
    let model = place.script(
        "verbs",
        &turns(&[
            calls(&[("plan_mode_respond", json!({"response": "Shall I begin?"}))]),
            told("unknown tool plan_mode_respond: not in Agent: it belongs to Plan", calls(&[("submit_plan", one_step_plan("G", "g", &[], &[])), ("exit_plan_mode", json!({}))])),
            json!({"text": tagged, "tool_calls": [{"name": "write_to_file", "arguments": {"path": "a.txt", "content": "x\n"}}]}),
            calls(&[("attempt_completion", json!({"result": "done"}))]),
        ]),
    );
    let (code, events, report) = place.stream(&model, &["--mode", "agent", "write it"]);
    assert_eq!((code, report["outcome"].as_str()), (0, Some("delivered")), "{report:#}");
    assert_eq!(
        decided(&events)[..4],
        [
            "plan_mode_respond deny surface",
            "submit_plan deny surface",
            "exit_plan_mode deny surface",
            "write_to_file allow built_in"
        ]
    );
    assert_eq!((&report["plan"], &report["pending"]), (&Value::Null, &json!([])));
    assert_eq!(place.read("a.txt"), "x\n");
}

#[test]
fn a_mode_that_cannot_run_yet_stands_in_the_way_of_no_other() {
    let place = Place::new();
    let plan = calls(&[("submit_plan", one_step_plan("Greet", "greet", &["HELLO.md"], &[]))]);
    let model = place.script("plan", &turns(&[plan]));
    assert_eq!(place.stance(&["mode", "orchestrate"]).code, 0);
    let id = space(&place)["id"].as_str().unwrap().to_owned();
    let refused = place.stance(&["run", "--json", "--model", &model, "--space", &id, "go"]);
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(refused.err.contains("propose_orchestration"), "{}", refused.err);
    assert_eq!(place.stance(&["mode", "plan"]).code, 0);
    let (code, report) = place.run(&model, &["--space", &id, "go"]);
    assert_eq!((code, report["outcome"].as_str()), (0, Some("delivered")), "{report:#}");
}
