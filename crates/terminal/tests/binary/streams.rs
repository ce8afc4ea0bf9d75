//! The standard streams when they are not as they should be: bytes that are no text, a disk that is
//! full.

use std::fs::OpenOptions;
use std::process::Stdio;

use serde_json::json;

use crate::attempts::keyboard::Keyboard;
use crate::support::{Place, calls, says, turns};

#[test]
fn a_line_that_is_no_text_is_a_message_and_ends_nothing() {
    let place = Place::new();
    let model = place.script("typed", &turns(&[says("well understood")]));
    let mut keyboard = Keyboard::start(&place, &["--model", &model]);
    keyboard
        .until("[Agent")
        .types(b"a caf\xe9")
        .until("well understood")
        .until("[Agent")
        .types("/quit");
    let (code, shown) = keyboard.end();
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn a_pasted_line_is_text_whatever_it_begins_with() {
    let place = Place::new();
    let model = place.script("typed", &turns(&[says("well understood")]));
    let mut keyboard = Keyboard::start(&place, &["--model", &model]);
    keyboard
        .until("[Agent")
        .types("/plan\nthis log says:\n/plan\n/quit")
        .until("well understood")
        .until("[Agent")
        .types("/quit");
    let (code, shown) = keyboard.end();
    assert!(code == 0 && !shown.contains("[Plan"), "{shown}");
}

#[test]
fn a_script_gets_an_object_when_a_command_fails() {
    let place = Place::new();
    for (arguments, code, kind, words) in [
        (&["run", "--json", "greet"][..], 1, "model", "No model is configured"),
        (&["run", "--stream-json", "greet"], 1, "model", "No model is configured"),
        (
            &["run", "--json", "--space", "s_none", "greet"],
            2,
            "usage",
            "there is no space s_none",
        ),
        (
            &["run", "--json", "greet", "--mode", "plam"],
            2,
            "usage",
            "did you mean `plan`?",
        ),
        (
            &["plan", "show", "p_none", "--json"],
            2,
            "usage",
            "there is no plan p_none",
        ),
    ] {
        let said = place.stance(arguments);
        let error = &said.report()["error"];
        assert_eq!(
            (said.code, &error["kind"]),
            (code, &json!(kind)),
            "{arguments:?}: {error}"
        );
        assert!(
            error["message"].as_str().unwrap().contains(words) && error["hints"].is_array(),
            "{arguments:?}: {error}"
        );
        assert!(said.err.contains("error: "), "{arguments:?}: {}", said.err);
    }
    let said = place.stance(&["run", "greet"]);
    assert!(said.code == 1 && !said.out.contains("error"), "{}", said.out);
}

#[test]
fn an_object_that_cannot_be_written_is_an_error_and_the_work_stays_done() {
    let place = Place::new();
    place.settings("[autonomy]\ndefault = \"act_freely\"\n");
    let write = calls(&[("write_to_file", json!({"path": "HELLO.md", "content": "hello\n"}))]);
    let model = place.script("full", &turns(&[write, says("done")]));
    for arguments in [
        &["run", "greet", "--json", "--model", &model][..],
        &["mode", "--json"],
        &["plan", "list", "--json"],
        &["inbox", "--json"],
        &["profile", "--json"],
    ] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = place.command(arguments).stdout(Stdio::from(full)).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {words}");
        assert!(
            words.contains("error: The answer could not be written to standard output"),
            "{arguments:?}: {words}"
        );
    }
    assert_eq!(place.read("HELLO.md"), "hello\n");
}
