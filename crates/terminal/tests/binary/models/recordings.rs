//! An exchange is recorded without secrets and answered again from the file: only where the same is
//! asked, and never under the name of the model that was recorded.

use serde_json::{Value, json};

use super::server::{Answer, KEY, Server, call, text, thinking};
use crate::support::{Place, one_step_plan};

const SETTINGS: &str = "[models.default]\nprovider = \"anthropic\"\nmodel = \"claude-opus-4-6\"\n";

/// A place whose model answers with `answers`, and a recording beside the repository.
fn place(answers: impl IntoIterator<Item = Answer>) -> (Place, Server, String) {
    let server = Server::start(answers);
    let mut place = Place::new();
    server.configure(&mut place, SETTINGS);
    let file = place.outside().join("exchange.jsonl").display().to_string();
    (place, server, file)
}

fn plan(place: &Place, model: &str, message: &str) -> (i32, Value) {
    let said = place.stance(&["run", "--mode", "plan", "--json", "--model", model, message]);
    (said.code, said.report())
}

#[test]
fn a_recorded_run_is_answered_again_and_says_that_it_is_a_replay() {
    let (place, server, file) = place([
        Answer::failing(529, "overloaded_error", &format!("busy; your key {} is fine", KEY.1)),
        Answer::of(&[
            thinking("Hm.", "c2lnbmVk"),
            text("I look."),
            call("c1", "read_file", json!({"path": "README.md"})),
        ]),
        Answer::of(&[call(
            "c2",
            "submit_plan",
            one_step_plan("Greet", "greet", &["HELLO.md"], &[]),
        )]),
    ]);
    let record = format!("record:{file}");
    let (code, recorded) = plan(&place, &record, &format!("greet; {}", KEY.1));
    assert_eq!(
        (code, recorded["outcome"].as_str()),
        (0, Some("delivered")),
        "{recorded:#}"
    );
    assert_eq!(recorded["model"]["actual"], "claude-opus-4-6-snapshot");
    assert_eq!(server.requests().len(), 3);
    let kept = std::fs::read_to_string(&file).unwrap();
    assert_eq!(kept.lines().count(), 4);
    assert!(!kept.contains(KEY.1) && kept.contains("greet; [key]"), "{kept}");

    let (code, replayed) = plan(&place, &format!("replay:{file}"), &format!("greet; {}", KEY.1));
    assert_eq!(
        (code, replayed["outcome"].as_str()),
        (0, Some("delivered")),
        "{replayed:#}"
    );
    assert_eq!(replayed["plan"]["goal"], recorded["plan"]["goal"]);
    let actual = replayed["model"]["actual"].as_str().unwrap();
    let digest = actual.strip_prefix("replay:").unwrap();
    assert!(
        digest.len() == 12 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{actual}"
    );
    assert_eq!(replayed["model"]["configured"], format!("replay:{file}"));
    assert_eq!(
        (&replayed["cost"]["known"], &recorded["cost"]["known"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(server.requests().len(), 3, "nobody was asked");

    let again = place.stance(&["run", "--mode", "plan", "--model", &record, "greet"]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("never written over"), "{}", again.err);
}

#[test]
fn another_request_ends_with_an_error_that_shows_the_difference() {
    // Without a plan a run in Plan is reminded once, and then ends with nothing delivered.
    let (place, server, file) = place([Answer::of(&[text("Hello.")]), Answer::of(&[text("Hello again.")])]);
    let (code, report) = plan(&place, &format!("record:{file}"), "say hello");
    assert_eq!(code, 3, "{report:#}");
    let replay = format!("replay:{file}");
    let (code, report) = plan(&place, &replay, "say goodbye");
    assert_eq!(code, 1, "{report:#}");
    let summary = report["summary"].as_str().unwrap();
    for words in [
        "this request is not the recorded one: exchange 1: at `/messages/0/",
        "recorded `say hello`, found `say goodbye`",
    ] {
        assert!(summary.contains(words), "{summary}");
    }
    let (code, report) = place.run(&replay, &["--mode", "agent", "say hello"]);
    let words = "nothing more is recorded in mode `agent`";
    assert!(
        code == 1 && report["summary"].as_str().unwrap().contains(words),
        "{report:#}"
    );
    assert_eq!(server.requests().len(), 2, "a replay asks nobody");
}

#[test]
fn what_looks_like_a_secret_nobody_named_is_not_recorded() {
    let unknown = "sk-ant-api03-0123456789abcdefghij";
    let (place, server, file) = place([Answer::of(&[call("c1", "read_file", json!({"path": "notes.txt"}))])]);
    // As `base64 < .env` prints it.
    let encoded = "c2stYW50LWFwaTAzLTAxMjM0NTY3ODlhYmNkZWZnaGlqCg==";
    place.write("notes.txt", encoded);
    let (code, report) = plan(&place, &format!("record:{file}"), "read the notes");
    assert_eq!(code, 1, "{report:#}");
    let summary = report["summary"].as_str().unwrap();
    for words in [
        "the exchange is not recorded: at `/messages/2/",
        "stands what looks like an Anthropic key",
    ] {
        assert!(summary.contains(words), "{summary}");
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(!kept.contains(encoded) && !kept.contains(unknown), "{kept}");
    assert_eq!(server.requests().len(), 1, "the second request was not even sent");
}

#[test]
fn a_file_that_is_no_recording_is_named_with_its_line() {
    let (place, _server, file) = place([]);
    let replay = format!("replay:{file}");
    for (content, words) in [
        (None, "cannot be read"),
        (Some("{}\n"), "at `line 1`: a recording begins with"),
        (Some("{\"stance_recording\":1}\n{\"by\":1}\n"), "at `line 2`: at `by`"),
    ] {
        if let Some(content) = content {
            std::fs::write(&file, content).unwrap();
        }
        let said = place.stance(&["run", "--model", &replay, "hello"]);
        assert_eq!(said.code, 1, "{}", said.out);
        assert!(said.err.contains(words), "{words}: {}", said.err);
    }
}
