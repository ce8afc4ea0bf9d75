//! `/compact`: a person wants it, between two runs or while one waits.

use super::{HOUSE, asks_for_summary, last_message};
use crate::attempts::keyboard::Keyboard;
use crate::models::server::{Answer, Server, call, text};
use serde_json::json;

#[test]
fn a_person_compacts_and_says_what_to_keep() {
    let server = Server::start([
        Answer::of(&[text("The parser is in src/app.js.")]),
        Answer::of(&[text("Goal: know where the parser is. It is in src/app.js.")]),
        Answer::of(&[text("In src/app.js.")]),
    ]);
    let place = server.place(HOUSE);
    let mut keyboard = Keyboard::start(&place, &[]);
    keyboard.until("[Agent").types("/compact").until("nothing to compact");
    keyboard
        .until("[Agent")
        .types("where is the parser?")
        .until("The parser is in");
    keyboard.until("[Agent").types("/compact the path");
    keyboard
        .until("compacted, because you asked for it")
        .until("Goal: know where");
    keyboard
        .until("[Agent")
        .types("once more: where?")
        .until("In src/app.js.");
    keyboard.until("[Agent").types("/quit");
    assert_eq!(keyboard.end().0, 0);
    let bodies = server.bodies();
    let summaries: Vec<bool> = bodies.iter().map(asks_for_summary).collect();
    assert_eq!(summaries, [false, true, false]);
    let wish = last_message(&bodies[1]);
    assert!(
        wish[1].ends_with("The person wants this kept above all:\nthe path"),
        "{wish:?}"
    );
    let said = last_message(&bodies[2]);
    assert!(
        said[0].contains("> Goal: know where the parser is.") && said[0].contains("which has its answer: where is the"),
        "{said:?}"
    );
    assert!(said.contains(&"once more: where?"));
    // What stands for the conversation is undone with what it stands in.
    let mut keyboard = Keyboard::start(&place, &[]);
    keyboard
        .until("[Agent")
        .types("/undo")
        .until("[Agent")
        .types("/undo")
        .until("[Agent")
        .types("and now?");
    keyboard.until("delivered").until("[Agent").types("/quit");
    assert_eq!(keyboard.end().0, 0);
    let bodies = server.bodies();
    let messages = bodies[3]["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 3, "{messages:#?}");
    assert_eq!(messages[1]["content"][0]["text"], "The parser is in src/app.js.");
}

#[test]
fn a_run_that_waits_is_compacted_before_it_goes_on() {
    let server = Server::start([
        Answer::of(&[call("c1", "ask_user", json!({"question": "Which file?"}))]),
        Answer::of(&[text("The agent asked which file.")]),
        Answer::of(&[text("Read it.")]),
    ]);
    let place = server.place(HOUSE);
    let mut keyboard = Keyboard::start(&place, &[]);
    keyboard
        .until("[Agent")
        .types("read a file")
        .until("answer >")
        .types("/later");
    keyboard.until("[Agent").types("/compact").until("waits for you; the");
    keyboard.until("[Agent").types("/quit");
    assert_eq!(keyboard.end().0, 0);
    assert_eq!(server.bodies().len(), 1);
    let waiting = place.stance(&["inbox", "--json"]).report();
    let question = waiting[0]["id"].as_str().unwrap();
    let said = place.stance(&["inbox", "answer", question, "src/app.js", "--resume", "--json"]);
    assert_eq!(
        (said.code, said.report()["text"].as_str()),
        (0, Some("Read it.")),
        "{}",
        said.err
    );
    let bodies = server.bodies();
    let summaries: Vec<bool> = bodies.iter().map(asks_for_summary).collect();
    assert_eq!(summaries, [false, true, false]);
    assert!(last_message(&bodies[1])[0].contains("The person answered: src/app.js"));
    let said = last_message(&bodies[2]);
    assert!(
        said[0].contains("The person answered a question: src/app.js"),
        "{said:?}"
    );
    assert_eq!(said.last(), Some(&"read a file"));
}
