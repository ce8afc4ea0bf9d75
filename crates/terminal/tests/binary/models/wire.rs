//! What goes over the wire and comes back: thoughts in their order, failures in the provider's
//! words, nothing where nothing was asked to be sent.

use serde_json::{Value, json};

use super::server::{Answer, KEY, Server, call, text, thinking};
use super::{TWO_MODES, tools};
use crate::support::Place;

/// A block without what says where a provider may cache.
fn plain(block: &Value) -> Value {
    let mut block = block.clone();
    block.as_object_mut().unwrap().remove("cache_control");
    block
}

#[test]
fn signed_thoughts_go_back_in_their_places_and_every_call_has_its_result() {
    let turn = [
        thinking("Two files matter.", "c2lnbmVk"),
        text("I read both."),
        call("c1", "read_file", json!({"path": "src/app.js"})),
        thinking("And the other one.", "bW9yZQ=="),
        call("c2", "read_file", json!({"path": "src/util.py"})),
    ];
    let server = Server::start([
        Answer::of(&turn),
        Answer::of(&[text("Read.")]),
        Answer::of(&[text("Still read.")]),
    ]);
    let place = server.place(TWO_MODES);
    let (code, report) = place.run_configured(&["read it"]);
    assert_eq!((code, report["text"].as_str()), (0, Some("Read.")), "{report:#}");
    let (code, _) = place.run_configured(&["--resume", report["thread_id"].as_str().unwrap(), "and now?"]);
    assert_eq!(code, 0);
    // In the next request, and in the next run of the thread.
    let bodies = server.bodies();
    for body in &bodies[1..] {
        let said = body["messages"][1]["content"].as_array().unwrap();
        assert_eq!(said.iter().map(plain).collect::<Vec<_>>(), turn);
        let results = body["messages"][2]["content"].as_array().unwrap();
        let ids: Vec<&Value> = results
            .iter()
            .filter(|block| block["type"] == "tool_result")
            .map(|block| &block["tool_use_id"])
            .collect();
        assert_eq!(ids, [&json!("c1"), &json!("c2")]);
        assert!(
            results[0]["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("const x = 1;")
        );
        assert!(results[1]["content"][0]["text"].as_str().unwrap().contains("def add"));
    }
    assert_eq!(bodies.len(), 3);
    let roles: Vec<&str> = bodies[2]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
}

#[test]
fn an_overloaded_provider_is_asked_again_with_the_same_words() {
    let settings = format!("{TWO_MODES}\n[limits]\nretries = 3\nretry_pause_ms = 1\n");
    let busy = || Answer::failing(529, "overloaded_error", "Too many are asking");
    let server = Server::start([busy(), busy(), Answer::of(&[text("Here.")])]);
    let place = server.place(&settings);
    let said = place.stance(&["run", "--json", "greet"]);
    assert_eq!(
        (said.code, said.report()["text"].as_str()),
        (0, Some("Here.")),
        "{}",
        said.err
    );
    assert!(
        said.err.contains("Too many are asking"),
        "the person sees why it takes time: {}",
        said.err
    );
    let bodies = server.bodies();
    assert_eq!(bodies.len(), 3);
    assert!(bodies.iter().all(|body| *body == bodies[0]));
}

#[test]
fn a_provider_is_quoted_and_only_passing_faults_are_tried_again() {
    let settings = format!("{TWO_MODES}\n[limits]\nretries = 2\nretry_pause_ms = 1\n");
    for (status, kind, words, family, requests) in [
        (401, "authentication_error", "invalid x-api-key", "auth", 1),
        (403, "permission_error", "not for this key", "auth", 1),
        (400, "invalid_request_error", "max_tokens: too odd", "unknown", 1),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 9 tokens > 8 maximum",
            "context_overflow",
            1,
        ),
        (529, "overloaded_error", "Too many are asking", "transient_upstream", 3),
        (500, "api_error", "Something broke", "transient_upstream", 3),
    ] {
        let server = Server::start((0..3).map(|_| Answer::failing(status, kind, words)));
        let place = server.place(&settings);
        let (code, report) = place.run_configured(&["--mode", "plan", "greet"]);
        let details = json!({"status": "error", "liveness": "failed", "error_family": family});
        assert_eq!(
            (code, &report["outcome"], &report["details"]),
            (1, &json!("failed"), &details),
            "{words}: {report:#}"
        );
        assert!(report["summary"].as_str().unwrap().contains(words), "{report:#}");
        assert_eq!(server.bodies().len(), requests, "{words}");
    }
}

#[test]
fn an_answer_that_its_limit_cut_off_is_gone_on_with() {
    let server = Server::start([
        Answer::cut(&[text("One, two,")]),
        Answer::cut(&[text(" three,")]),
        Answer::of(&[text(" four.")]),
    ]);
    let place = server.place(TWO_MODES);
    let said = place.stance(&["run", "count"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for part in ["One, two,", " three,", " four."] {
        assert_eq!(said.out.matches(part).count(), 1, "{}", said.out);
    }
    assert!(
        said.out.contains("its limit of 8000 tokens; it goes on"),
        "{}",
        said.out
    );
    let bodies = server.bodies();
    let last = bodies[2]["messages"].as_array().unwrap();
    let roles: Vec<&str> = last.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
    let told = last[4]["content"][0]["text"].as_str().unwrap();
    assert!(told.starts_with("Your answer was cut off here."), "{told}");
}

#[test]
fn an_answer_that_says_nothing_before_its_limit_is_a_fault() {
    let server = Server::start([Answer::cut(&[thinking("Hm.", "c2ln")])]);
    let place = server.place(TWO_MODES);
    let (code, report) = place.run_configured(&["--mode", "plan", "count"]);
    assert_eq!((code, &report["outcome"]), (1, &json!("failed")), "{report:#}");
    let summary = report["summary"].as_str().unwrap();
    assert!(summary.contains("`max_output` is too small"), "{summary}");
    assert_eq!(server.bodies().len(), 1);
}

#[test]
fn a_dry_run_measures_and_sends_nothing() {
    let server = Server::start([]);
    let place = server.place(TWO_MODES);
    let sizes = place.stance(&["run", "--dry-run", "--json", "--mode", "plan", "greet"]);
    let sizes = (sizes.code, sizes.report());
    assert_eq!(
        (sizes.0, &sizes.1["model"]),
        (0, &json!("anthropic:claude-opus-4-6")),
        "{:#}",
        sizes.1
    );
    let bytes = |part: &str| sizes.1[part]["bytes"].as_u64().unwrap();
    assert!(
        bytes("system") > 500 && bytes("tools") > 2000 && bytes("messages") > 5,
        "{:#}",
        sizes.1
    );
    assert!(bytes("system") + bytes("tools") <= 14 * 1024, "{:#}", sizes.1);
    let words = place.stance(&["run", "--dry-run", "--mode", "plan", "greet"]);
    assert!(
        words.out.contains("nothing was sent") && words.out.contains(&format!("system: {} bytes", bytes("system"))),
        "{}",
        words.out
    );
    // Each tool has its size, and all parts are the whole.
    let each = sizes.1["tools"]["each"].as_array().unwrap().iter();
    assert_eq!(
        each.map(|tool| tool["bytes"].as_u64().unwrap()).sum::<u64>(),
        bytes("tools")
    );
    assert_eq!(bytes("system") + bytes("tools") + bytes("messages"), bytes("total"));
    assert_eq!(sizes.1["tokens_are_estimated"], true);
    // Without a mode it is the one of the current space, or Agent.
    let agent = place.stance(&["run", "--dry-run", "--json", "greet"]).report();
    assert_eq!(
        (&agent["mode"], &agent["provider"]),
        (&json!("Agent"), &json!("anthropic"))
    );
    assert_eq!(place.stance(&["audit", "verify"]).code, 0);
    assert!(place.journal().is_empty(), "nothing was stored");
    assert!(server.requests().is_empty());

    // What was measured is what is sent.
    assert_eq!(place.run_configured(&["--mode", "plan", "greet"]).0, 3);
    let body = &server.bodies()[0];
    let measured: Vec<&str> = sizes.1["tools"]["each"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let (mut measured, mut sent) = (measured, tools(body));
    measured.sort_unstable();
    sent.sort_unstable();
    assert_eq!(measured, sent);
}

#[test]
fn a_key_is_sent_to_its_provider_and_kept_nowhere() {
    let server = Server::start([
        Answer::of(&[call(
            "c1",
            "execute_command",
            json!({"command": "env; cat /proc/self/environ | tr '\\0' '\\n'"}),
        )]),
        Answer::failing(401, "authentication_error", &format!("the key {} was withdrawn", KEY.1)),
    ]);
    let place = server.place(TWO_MODES);
    let said = place.stance(&["run", "--stream-json", "look around"]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(server.requests().iter().all(|request| request.key == KEY.1));
    assert!(
        !server.bodies()[1].to_string().contains(KEY.1),
        "a command does not have it"
    );
    let environment = place.happened(
        &format!("run/{}", last_report(&said.out)["run_id"].as_str().unwrap()),
        "tool_finished",
    );
    assert!(environment[0].to_string().contains("STANCE_RUN"), "{environment:?}");
}

fn last_report(out: &str) -> Value {
    serde_json::from_str(out.lines().last().unwrap()).unwrap()
}

#[test]
fn without_its_key_nothing_is_sent_and_the_variable_is_named() {
    let server = Server::start([]);
    let mut place = server.place(TWO_MODES);
    place.variables.clear();
    let said = place.stance(&["run", "--json", "greet"]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains(&format!("{} is not set", KEY.0)), "{}", said.err);
    assert!(server.requests().is_empty());
}

#[test]
fn a_provider_can_be_named_for_one_command() {
    let server = Server::start([Answer::of(&[text("hi")])]);
    let mut place = Place::new();
    place
        .variables
        .push(("ANTHROPIC_API_KEY".to_owned(), "one-time".to_owned()));
    let line = [
        "run",
        "--json",
        "--provider",
        "anthropic",
        "--base-url",
        &server.url,
        "--model",
        "house-model",
        "greet",
    ];
    let said = place.stance(&line);
    assert_eq!(
        (said.code, said.report()["model"]["configured"].as_str()),
        (0, Some("anthropic:house-model")),
        "{}",
        said.err
    );
    assert_eq!(server.requests()[0].key, "one-time");
    assert_eq!(server.bodies()[0]["model"], "house-model");
    for wrong in [
        &["--provider", "antropic", "--model", "m"][..],
        &["--model", "m"],
        &["--base-url", "http://127.0.0.1:9", "--model", "scripted:x"],
    ] {
        let mut line = vec!["run", "greet"];
        line.extend(wrong);
        assert_eq!(place.stance(&line).code, 2, "{wrong:?}");
    }
}
