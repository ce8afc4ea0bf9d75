//! One question a thing: the same twice in one run is one question, and no run is answered with
//! another; going through the inbox answers each thing by what was shown of it.

use serde_json::json;

use super::{ASKS, listed, noted, pending, program};
use crate::attempts::keyboard::Keyboard;
use crate::support::{Place, calls, says, turns};

#[test]
fn the_same_thing_twice_in_one_answer_is_one_question_and_each_call_runs_once() {
    let place = Place::new();
    place.write(".env", "TOKEN=abc\n");
    let read = ("read_file", json!({"path": ".env"}));
    let model = place.script(
        "twice",
        &turns(&[calls(&[read.clone(), read]), json!({"text": "done"})]),
    );
    let (code, events, _) = place.stream(&model, &["--approvals", "wait", "--mode", "agent", "read it"]);
    assert_eq!(code, 7);
    let asked = events
        .iter()
        .filter(|event| event["kind"] == "permission_asked")
        .count();
    assert_eq!((asked, listed(&place).len()), (1, 1));
    let said = place.stance(&[
        "inbox",
        "approve",
        &pending(&place)[0],
        "--resume",
        "--json",
        "--model",
        &model,
    ]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let report = said.report();
    let results = place.results(report["run_id"].as_str().unwrap(), "read_file");
    assert_eq!(results.len(), 2);
    assert!(
        results.iter().all(|(error, text)| !error && text.contains("TOKEN=abc")),
        "{results:?}"
    );
}

#[test]
fn an_answer_to_one_run_is_none_to_another_that_asks_the_same() {
    let place = Place::new();
    place.settings(ASKS);
    program(&place);
    let call = calls(&[("execute_command", json!({"command": "./note.sh x"}))]);
    let model = place.script("notes", &turns(&[call, says("done")]));
    for _ in 0..2 {
        let (code, _) = place.run(&model, &["--approvals", "wait", "--mode", "agent", "note it"]);
        assert_eq!(code, 7);
    }
    let both = pending(&place);
    let digest = |named: &str| named.split('@').nth(1).unwrap().to_owned();
    assert_eq!((both.len(), digest(&both[0])), (2, digest(&both[1])));
    for again in [0, 2] {
        let said = place.stance(&["inbox", "approve", &both[0], "--resume", "--model", &model]);
        assert_eq!(said.code == 0, again == 0, "{}", said.err);
        assert_eq!(noted(&place), "x\n");
    }
    assert_eq!(pending(&place), both[1..]);
}

#[test]
fn the_inbox_is_gone_through_at_a_terminal() {
    let place = Place::new();
    place.settings(ASKS);
    program(&place);
    let run = |word: &str| {
        let line = format!("./note.sh {word}");
        let model = place.script(
            word,
            &turns(&[calls(&[("execute_command", json!({"command": line}))]), says("done")]),
        );
        place.run(&model, &["--approvals", "wait", "--mode", "agent", "note it"]);
    };
    assert!(place.stance(&["inbox"]).out.contains("nothing waits for you"));
    ["one", "two", "three"].into_iter().for_each(run);
    let mut keyboard = Keyboard::start(&place, &["inbox"]);
    keyboard
        .until("./note.sh one")
        .until("allow once?")
        .types("n, because not today");
    keyboard
        .until("2 of 3")
        .until("./note.sh two")
        .until("allow once?")
        .types("/later");
    keyboard
        .until("3 of 3")
        .until("./note.sh three")
        .until("allow once?")
        .types("a ./note.sh *");
    let (code, shown) = keyboard.end();
    assert_eq!(code, 0, "{shown}");
    let left = listed(&place);
    assert_eq!(left.len(), 1, "{left:#?}");
    assert!(left[0]["lines"].to_string().contains("./note.sh two"), "{left:#?}");
    let rules = place.stance(&["policy", "list"]).out;
    assert!(rules.contains("workspace ./note.sh *"), "{rules}");
    // Nothing was carried out by answering.
    assert_eq!(noted(&place), "");
}
