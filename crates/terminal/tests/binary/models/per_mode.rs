//! One space, planned then approved: the plan's requests are the plan's own, the work's the work's.

use serde_json::{Value, json};

use super::server::{Answer, Server, call, text};
use super::{TWO_MODES, asked, mode_statements, system, tools};
use crate::support::{one_step_plan, plan_at_digest};

const WRITERS: [&str; 4] = ["write_to_file", "replace_in_file", "execute_command", "git_write"];

#[test]
fn each_mode_asks_its_own_model_in_its_own_way() {
    let plan = one_step_plan("Greet", "greet", &["HELLO.md"], &[]);
    let server = Server::start([
        Answer::of(&[text("I look."), call("c1", "read_file", json!({"path": "README.md"}))]),
        Answer::of(&[call(
            "c2",
            "write_to_file",
            json!({"path": "HELLO.md", "content": "too early"}),
        )]),
        Answer::of(&[call("c3", "submit_plan", plan)]),
        Answer::of(&[call(
            "c4",
            "write_to_file",
            json!({"path": "HELLO.md", "content": "hello\n"}),
        )]),
        Answer::of(&[call("c5", "submit_output", json!({"evidence": "it is there"}))]),
    ]);
    let place = server.place(TWO_MODES);
    let before = place.world();
    let (code, report) = place.run_configured(&["--mode", "plan", "greet"]);
    assert_eq!((code, report["outcome"].as_str()), (0, Some("delivered")), "{report:#}");
    assert_eq!(
        report["model"],
        json!({"configured": "anthropic:claude-opus-4-6", "actual": "claude-opus-4-6-snapshot"})
    );
    assert_eq!(place.world(), before);
    let said = place.stance(&["plan", "approve", &plan_at_digest(&report), "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(said.report()["model"]["actual"], "claude-sonnet-4-6-snapshot");
    assert_eq!(place.read("HELLO.md"), "hello\n");

    let requests = server.requests();
    assert_eq!(requests.len(), 5);
    for request in &requests {
        assert_eq!(
            (request.path.as_str(), request.key.as_str()),
            ("/v1/messages", super::server::KEY.1)
        );
    }
    let bodies = server.bodies();
    let (planning, working) = bodies.split_at(3);
    for body in planning {
        assert_eq!(asked(body), json!(["claude-opus-4-6", "high", 9000, 20000]));
        assert!(system(body).contains("# Mode: Plan (read-only)"), "{}", system(body));
        assert!(tools(body).contains(&"submit_plan"));
        assert!(
            WRITERS.iter().all(|writer| !tools(body).contains(writer)),
            "{:?}",
            tools(body)
        );
    }
    for body in working {
        assert_eq!(asked(body), json!(["claude-sonnet-4-6", "low", 2000, 8000]));
        assert!(system(body).contains("# Mode: Agent"), "{}", system(body));
        assert!(!system(body).contains("Plan (read-only)"), "{}", system(body));
        assert!(!tools(body).contains(&"submit_plan"));
        assert!(
            WRITERS.iter().all(|writer| tools(body).contains(writer)),
            "{:?}",
            tools(body)
        );
    }
    for body in &bodies {
        assert_eq!(mode_statements(body), 1, "one statement, the present one");
    }
    // What stands before the conversation is the same, byte for byte, as long as the mode is.
    for same in [planning, working] {
        for pair in same.windows(2) {
            assert_eq!(
                (&pair[0]["system"], &pair[0]["tools"]),
                (&pair[1]["system"], &pair[1]["tools"])
            );
        }
    }
}

#[test]
fn leaving_plan_mode_by_a_switch_or_an_exit_changes_the_model_with_the_mode() {
    let server = Server::start([
        Answer::of(&[
            call("c1", "plan_mode_respond", json!({"response": "Which way?"})),
            call("c2", "list_files", json!({"path": "."})),
        ]),
        Answer::of(&[text("Done.")]),
        Answer::of(&[call("d1", "exit_plan_mode", json!({}))]),
        Answer::of(&[text("I wait.")]),
        Answer::of(&[call("d2", "exit_plan_mode", json!({}))]),
        Answer::of(&[text("Done.")]),
    ]);
    let place = server.place(TWO_MODES);
    let (_, asks) = place.run_configured(&["--mode", "plan", "--approvals", "wait", "do it"]);
    let switched = place.stance(&["space", "mode", asks["space_id"].as_str().unwrap(), "agent"]);
    assert_eq!(switched.code, 0, "{}", switched.err);
    let (_, exits) = place.run_configured(&["--mode", "plan", "do it"]);
    let pending = &exits["pending"][0];
    let exact = format!(
        "{}@{}",
        pending["id"].as_str().unwrap(),
        pending["digest"].as_str().unwrap()
    );
    let left = place.stance(&["inbox", "approve", &exact, "--resume", "--json"]);
    assert_eq!(left.code, 0, "{}", left.err);

    let bodies = server.bodies();
    let models: Vec<&str> = bodies.iter().map(|body| body["model"].as_str().unwrap()).collect();
    let (opus, sonnet) = ("claude-opus-4-6", "claude-sonnet-4-6");
    assert_eq!(models, [opus, sonnet, opus, opus, opus, sonnet]);
    // Every call of the run that was switched has exactly one result, in its order.
    let results = bodies[1]["messages"][2]["content"].as_array().unwrap();
    let results: Vec<&Value> = results.iter().filter(|block| block["type"] == "tool_result").collect();
    let ids: Vec<&Value> = results.iter().map(|result| &result["tool_use_id"]).collect();
    assert_eq!(ids, [&json!("c1"), &json!("c2")]);
    assert_eq!(results[0]["content"][0]["text"], "The person switched to Agent.");
    for body in &bodies {
        let plans = body["model"] == opus;
        assert_eq!(system(body).contains("# Mode: Plan (read-only)"), plans);
        assert_eq!(
            (tools(body).contains(&"write_to_file"), mode_statements(body)),
            (!plans, 1)
        );
    }
}

#[test]
fn a_thinking_budget_that_leaves_no_room_is_lowered_for_its_own_mode_and_said() {
    let settings = TWO_MODES.replace("thinking_budget = 9000", "thinking_budget = 20000");
    let line = settings
        .lines()
        .position(|line| line == "thinking_budget = 20000")
        .unwrap();
    let server = Server::start([
        Answer::of(&[call(
            "c1",
            "plan_mode_respond",
            json!({"response": "No need.", "no_plan_needed": true}),
        )]),
        Answer::of(&[text("hi")]),
    ]);
    let place = server.place(&settings);
    let person = place.stance_home().join("settings.toml");
    let line = std::fs::read_to_string(&person).unwrap().lines().count() - settings.lines().count() + line + 1;
    let said = place.stance(&["run", "--mode", "plan", "--json", "greet"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let words = format!(
        "thinking_budget = 20000 ({}:{line} [models.plan]) is sent as 16000",
        person.display()
    );
    assert!(said.err.contains(&words), "{words}: {}", said.err);
    let (code, _) = place.run_configured(&["--mode", "agent", "greet"]);
    assert_eq!(code, 0);
    let asked: Vec<Value> = server.bodies().iter().map(asked).collect();
    assert_eq!(
        asked,
        [
            json!(["claude-opus-4-6", "high", 16000, 20000]),
            json!(["claude-sonnet-4-6", "low", 2000, 8000])
        ]
    );
}

#[test]
fn what_is_shared_fills_only_what_a_mode_left_open() {
    let settings = "[models.default]\nprovider = \"anthropic\"\nmodel = \"claude-sonnet-4-6\"\neffort = \"medium\"\n\
                    max_output = 6000\n\n[models.plan]\neffort = \"high\"\n";
    let server = Server::start([
        Answer::of(&[call(
            "c1",
            "plan_mode_respond",
            json!({"response": "No need.", "no_plan_needed": true}),
        )]),
        Answer::of(&[text("hi")]),
    ]);
    let place = server.place(settings);
    assert_eq!(place.run_configured(&["--mode", "plan", "greet"]).0, 0);
    assert_eq!(place.run_configured(&["--mode", "agent", "greet"]).0, 0);
    let asked: Vec<Value> = server.bodies().iter().map(asked).collect();
    assert_eq!(
        asked,
        [
            json!(["claude-sonnet-4-6", "high", null, 6000]),
            json!(["claude-sonnet-4-6", "medium", null, 6000])
        ]
    );
}
