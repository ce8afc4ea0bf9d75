//! What a mode costs: its beginning is the same bytes each time, a switch in a long thread says its price
//! first, and a thread tells what each mode took.

use serde_json::{Value, json};

use crate::models::server::{Answer, Server, call, text};
use crate::support::{one_step_plan, plan_at_digest};

const TWO: &str = "[models.plan]\nprovider = \"anthropic\"\nmodel = \"claude-opus-4-6\"\n\
                   [models.agent]\nprovider = \"anthropic\"\nmodel = \"claude-sonnet-4-6\"\n";

/// How a request marks where a provider may cache; the newest places alone have it.
const CACHED: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// What providers keep: the system prompt and the tools.
fn prefix(body: &Value) -> String {
    format!("{}{}", body["system"], body["tools"])
}

#[test]
fn a_mode_begins_with_the_same_bytes_wherever_and_whenever() {
    let mut seen: Vec<[String; 2]> = Vec::new();
    for clock in ["UTC", "Asia/Tokyo"] {
        let server = Server::start((0..5).map(|number| Answer::of(&[text(&format!("answer {number}"))])));
        let mut place = server.place(TWO);
        place.variables.push(("TZ".to_owned(), clock.to_owned()));
        let space = |report: &Value| report["space_id"].as_str().unwrap().to_owned();
        // Plan is reminded once; then Agent, then Plan again, in one thread.
        let (_, first) = place.run_configured(&["--mode", "plan", "think"]);
        let thread = first["thread_id"].as_str().unwrap();
        assert_eq!(place.stance(&["space", "mode", &space(&first), "agent"]).code, 0);
        assert_eq!(place.run_configured(&["--resume", thread, "do"]).0, 0);
        assert_eq!(place.stance(&["space", "mode", &space(&first), "plan"]).code, 0);
        place.run_configured(&["--resume", thread, "think again"]);
        let bodies = server.bodies();
        let prefixes: Vec<String> = bodies.iter().map(prefix).collect();
        let [plan, reminded, agent, again, reminded_again] = prefixes.as_slice() else {
            panic!("{} requests", prefixes.len())
        };
        assert!(plan.contains("submit_plan") && agent.contains("write_to_file") && plan != agent);
        assert_eq!([plan, reminded, again], [reminded_again; 3]);
        // What was said goes on unchanged behind it.
        let said = |body: &Value| body["messages"][0].to_string().replace(CACHED, "");
        assert_eq!(said(&bodies[0]), said(&bodies[3]));
        seen.push([plan.clone(), agent.clone()]);
    }
    assert_eq!(seen[0], seen[1]);
}

#[test]
fn a_switch_in_a_long_thread_says_its_price_first() {
    for (length, priced) in [(90_000, true), (900, false)] {
        let server = Server::start([
            Answer::of(&[call(
                "c1",
                "plan_mode_respond",
                json!({"response": "no", "no_plan_needed": true}),
            )]),
            Answer::of(&[text("Done.")]),
            Answer::of(&[text("Done too.")]),
        ]);
        let place = server.place(TWO);
        let long = "word ".repeat(length / 5);
        let (_, first) = place.run_configured(&["--mode", "plan", &long]);
        let (space, thread) = (
            first["space_id"].as_str().unwrap(),
            first["thread_id"].as_str().unwrap(),
        );
        assert_eq!(place.stance(&["space", "mode", space, "agent"]).code, 0);
        let said = place.stance(&["run", "--resume", thread, "do it"]);
        assert_eq!(said.code, 0, "{}", said.err);
        let line = said
            .out
            .lines()
            .chain(said.err.lines())
            .find(|line| line.contains("read anew"))
            .map(str::to_owned);
        assert_eq!(line.is_some(), priced, "{}{}", said.out, said.err);
        let journal = place.journal();
        let at = |kind: &str| journal.iter().rposition(|event| event.kind == kind);
        assert_eq!(at("switch_priced").is_some(), priced);
        if let Some(line) = line {
            assert!(
                line.contains("Plan with anthropic:claude-opus-4-6 → Agent with anthropic:claude-sonnet-4-6")
                    && line.contains("none from a cache")
                    && line.contains("about 0.0"),
                "{line}"
            );
            assert!(at("switch_priced") < at("requested"));
            let details = &journal[at("switch_priced").unwrap()].details;
            assert!(details["tokens"].as_u64().unwrap() > 22_000 && details["usd"].as_f64().unwrap() > 0.06);
        }
        // In the same mode with the same model nothing is said.
        let again = place.stance(&["run", "--resume", thread, "and more"]);
        assert!(!format!("{}{}", again.out, again.err).contains("read anew"));
    }
}

#[test]
fn a_thread_tells_what_each_mode_took() {
    let plan = one_step_plan("Write it", "write", &["NOTE.md"], &[]);
    let server = Server::start([
        Answer::of(&[call("c1", "submit_plan", plan)]),
        Answer::of(&[call(
            "c2",
            "write_to_file",
            json!({"path": "NOTE.md", "content": "x\n"}),
        )]),
        Answer::of(&[text("Written.")]),
    ]);
    let place = server.place(TWO);
    let (_, planned) = place.run_configured(&["--mode", "plan", "plan a note"]);
    let approved = place.stance(&["plan", "approve", &plan_at_digest(&planned), "--json"]);
    assert_eq!(approved.code, 0, "{}", approved.err);
    let thread = planned["thread_id"].as_str().unwrap();
    let shown = place.stance(&["thread", "show", thread, "--json"]).report();
    let took: Vec<Value> = shown["took"]
        .as_array()
        .unwrap()
        .iter()
        .map(|took| json!([took["mode"], took["model"]["configured"], took["requests"]]))
        .collect();
    // Not a token of carrying it out went to the model of Plan.
    assert_eq!(
        took,
        [
            json!(["plan", "anthropic:claude-opus-4-6", 1]),
            json!(["chat", "anthropic:claude-sonnet-4-6", 2])
        ],
        "{shown:#}"
    );
    assert_eq!(shown["took"][1]["model"]["actual"], "claude-sonnet-4-6-snapshot");
    assert!(shown["took"][1]["cost"]["amount"].as_f64().unwrap() > 0.0);
    let inputs = shown["took"]
        .as_array()
        .unwrap()
        .iter()
        .map(|took| took["usage"]["input"].as_u64());
    assert!(inputs.into_iter().all(|input| input > Some(0)));
    let words = place.stance(&["thread", "show", thread]);
    assert_eq!(words.code, 0, "{}", words.err);
    assert!(
        words.out.contains("│ plan a note") && words.out.contains("Plan · anthropic:claude-opus-4-6, answered by"),
        "{}",
        words.out
    );
    let unknown = place.stance(&["thread", "show", "t_nobody"]);
    assert_eq!(unknown.code, 2, "{}", unknown.err);
}
