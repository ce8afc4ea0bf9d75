//! `condense` and `new_task`: the model proposes, the person decides, and nobody there is said at once.

use serde_json::{Value, json};

use super::{HOUSE, last_message, pairs_are_whole, reads};
use crate::models::server::{Answer, Server, call, text};
use crate::support::Place;

/// A run that proposes at once and waits for the answer.
fn waiting(answers: Vec<Answer>, tool: &str, mode: &str) -> (Server, Place, Value) {
    let context = json!({"context": "Goal: read. Known: README.md is a sample."});
    let first = Answer::of(&[reads("c1"), call("c2", tool, context), reads("c3")]);
    let server = Server::start([first].into_iter().chain(answers));
    let place = server.place(HOUSE);
    let (code, report) = place.run_configured(&["--mode", mode, "--approvals", "wait", "read everything"]);
    assert_eq!((code, report["outcome"].as_str()), (7, Some("waiting")), "{report:#}");
    (server, place, report)
}

/// The answer, and what came of it.
fn answer(place: &Place, report: &Value, words: &str) -> (i32, Value) {
    let pending = &report["pending"][0];
    assert_eq!(pending["kind"], "question");
    let title = pending["title"].as_str().unwrap();
    assert!(title.contains("Goal: read. Known: README.md is a sample."), "{title}");
    let said = place.stance(&[
        "inbox",
        "answer",
        pending["id"].as_str().unwrap(),
        words,
        "--resume",
        "--json",
    ]);
    (said.code, said.report())
}

#[test]
fn a_yes_lets_the_models_text_stand_for_the_conversation() {
    for mode in ["plan", "agent"] {
        let declined = call(
            "c9",
            "plan_mode_respond",
            json!({"response": "read", "no_plan_needed": true}),
        );
        let last = if mode == "plan" { declined } else { text("Read.") };
        let (server, place, report) = waiting(vec![Answer::of(&[last])], "condense", mode);
        let (code, report) = answer(&place, &report, "Shorten it");
        assert_eq!(code, 0, "{report:#}");
        // No request was made for it: the text was there.
        let bodies = server.bodies();
        assert_eq!(bodies.len(), 2);
        pairs_are_whole(&bodies[1]);
        let said = last_message(&bodies[1]);
        assert!(
            said[0].contains("> Goal: read. Known: README.md is a sample."),
            "{said:?}"
        );
        assert_eq!(said.last(), Some(&"read everything"));
        let run = format!("run/{}", report["run_id"].as_str().unwrap());
        let compacted = place.happened(&run, "compacted");
        assert_eq!((compacted.len(), &compacted[0]["why"]), (1, &json!("agreed")));
        assert_eq!(compacted[0]["usage"]["input"], 0);
    }
}

#[test]
fn a_no_is_guidance() {
    let (server, place, report) = waiting(vec![Answer::of(&[text("Read.")])], "condense", "agent");
    let (code, report) = answer(&place, &report, "keep the paths too");
    assert_eq!(code, 0, "{report:#}");
    let bodies = server.bodies();
    pairs_are_whole(&bodies[1]);
    assert_eq!(bodies[1]["messages"].as_array().unwrap().len(), 3);
    let run = report["run_id"].as_str().unwrap();
    let (failed, words) = place.results(run, "condense").remove(0);
    assert!(!failed && words.ends_with("They said: keep the paths too"), "{words}");
    assert_eq!(place.happened(&format!("run/{run}"), "compacted").len(), 0);
}

#[test]
fn a_fresh_thread_goes_on_with_nothing_but_the_text() {
    let (server, place, first) = waiting(vec![Answer::of(&[text("A sample.")])], "new_task", "agent");
    let (code, report) = answer(&place, &first, "yes");
    assert_eq!((code, report["outcome"].as_str()), (0, Some("delivered")), "{report:#}");
    let next = &report["follow_up"];
    assert_eq!((&next["space_id"], &next["mode"]), (&first["space_id"], &json!("chat")));
    assert_ne!(next["thread_id"], first["thread_id"]);
    assert_eq!(next["text"], "A sample.");
    let bodies = server.bodies();
    assert_eq!(bodies[1]["messages"].as_array().unwrap().len(), 1);
    let said = last_message(&bodies[1]);
    assert_eq!(said[0], "Goal: read. Known: README.md is a sample.");
    assert!(!said.concat().contains("read everything"), "{said:?}");
}

#[test]
fn a_fresh_thread_has_no_more_than_the_one_before() {
    let write = call("c9", "write_to_file", json!({"path": "NOTE.md", "content": "x"}));
    let (_server, place, first) = waiting(
        vec![Answer::of(&[write]), Answer::of(&[text("It cannot be written.")])],
        "new_task",
        "plan",
    );
    // The person goes over to Agent in the meantime; the yes is to a text that a read-only run wrote.
    let space = first["space_id"].as_str().unwrap();
    assert_eq!(place.stance(&["space", "mode", space, "agent"]).code, 0);
    let (_, report) = answer(&place, &first, "yes");
    let next = &report["follow_up"];
    assert_eq!(
        next["label"], "Agent, read-only: started before the approval",
        "{report:#}"
    );
    assert!(!place.repo().join("NOTE.md").exists());
}

#[test]
fn secrets_go_with_the_text() {
    let place = Place::new();
    place.settings("[permissions]\nallow = [\"read(.env)\"]\n");
    place.write(".env", "TOKEN=sixteen-characters\n");
    let context = json!({"context": "The token is sixteen-characters."});
    let model = place.script(
        "secrets",
        &crate::support::turns(&[
            crate::support::calls(&[("read_file", json!({"path": ".env"}))]),
            crate::support::calls(&[("new_task", context)]),
            crate::support::says("Going on."),
        ]),
    );
    let (code, first) = place.run(&model, &["--mode", "agent", "--approvals", "wait", "read it"]);
    assert_eq!((code, &first["thread_holds_secrets"]), (7, &json!(true)), "{first:#}");
    let question = first["pending"][0]["id"].as_str().unwrap();
    let said = place.stance(&[
        "inbox", "answer", question, "y", "--resume", "--json", "--model", &model,
    ]);
    let next = said.report()["follow_up"].clone();
    assert_eq!(
        (&next["text"], &next["thread_holds_secrets"]),
        (&json!("Going on."), &json!(true)),
        "{next:#}"
    );
}

#[test]
fn where_nobody_can_agree_it_is_said_at_once() {
    for tool in ["condense", "new_task"] {
        let server = Server::start([
            Answer::of(&[call("c1", tool, json!({"context": "Goal: read."}))]),
            Answer::of(&[text("I go on.")]),
        ]);
        let place = server.place(HOUSE);
        let (code, report) = place.run_configured(&["read"]);
        assert_eq!((code, report["text"].as_str()), (0, Some("I go on.")), "{report:#}");
        let (failed, words) = place.results(report["run_id"].as_str().unwrap(), tool).remove(0);
        assert!(!failed && words.starts_with("Nobody is here to agree."), "{words}");
    }
}
