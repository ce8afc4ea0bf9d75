//! Thoughts, and the signatures that stand on any part: what was read goes back as it was written,
//! each signature on its own part.

use serde_json::{Value, json};
use stance_llm::{Block, Message};

use super::fixture::{answer, call, chunk, contents, ended, followed_by, native, result};

/// The model's parts as they go back after an answer with `written` parts, each in a piece of its
/// own.
async fn replayed(model: &str, written: &[Value]) -> Value {
    let mut chunks = written.iter().map(|part| chunk(json!([part]))).collect::<Vec<_>>();
    chunks.push(ended("STOP"));
    let answer = answer(&chunks).await;
    contents(model, followed_by(&answer, vec![Block::Text("more".into())])).await[1]["parts"].take()
}

#[tokio::test]
async fn a_signed_call_goes_back_with_its_signature() {
    let written = [
        json!({"text": "Let me look.", "thought": true}),
        json!({"functionCall": {"name": "read_file", "args": {"b": 1, "a": [true, null, 1.5]}}, "thoughtSignature": "c2ln"}),
        json!({"functionCall": {"name": "list_files", "args": {}}}),
    ];
    assert_eq!(replayed("gemini-3-pro-preview", &written).await, json!(written));
}

#[tokio::test]
async fn signatures_are_not_moved_to_other_text() {
    let written = [
        json!({"text": "One. "}),
        json!({"text": "Two.", "thoughtSignature": "dHdv"}),
        json!({"text": " Three."}),
        json!({"text": "", "thoughtSignature": "ZW5k"}),
    ];
    assert_eq!(replayed("gemini-3-pro-preview", &written).await, json!(written));
}

#[tokio::test]
async fn a_signed_answer_reads_as_one_text() {
    let answer = answer(&[
        chunk(json!([{"text": "One. "}])),
        chunk(json!([{"text": "Two.", "thoughtSignature": "dHdv"}])),
        ended("STOP"),
    ])
    .await;
    assert_eq!(
        answer.blocks,
        [
            Block::Text("One. Two.".into()),
            native("gemini", json!({"text": "Two.", "thoughtSignature": "dHdv"})),
        ]
    );
}

#[tokio::test]
async fn pieces_of_one_thought_are_one_and_signed_ones_stay_apart() {
    let thought = |text: &str| json!({"text": text, "thought": true});
    let written = [
        thought("Hm, "),
        thought("so."),
        json!({"text": "Yes.", "thought": true, "thoughtSignature": "eQ=="}),
        thought("And."),
    ];
    assert_eq!(
        replayed("gemini-2.5-pro", &written).await,
        json!([thought("Hm, so."), written[2], thought("And.")])
    );
}

#[tokio::test]
async fn parts_of_other_kinds_go_back_as_they_came() {
    let written = [
        json!({"executableCode": {"language": "PYTHON", "code": "1+1"}}),
        json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}, "thoughtSignature": "eA=="}),
    ];
    assert_eq!(replayed("gemini-2.5-pro", &written).await, json!(written));
}

#[tokio::test]
async fn calls_of_another_provider_say_that_they_have_no_signature() {
    let messages = || {
        vec![
            Message::user(vec![Block::Text("hi".into())]),
            Message::assistant(vec![
                native(
                    "anthropic",
                    json!({"type": "thinking", "thinking": "…", "signature": "s"}),
                ),
                call("toolu_1", "read_file", "{}"),
                call("toolu_2", "list_files", "{}"),
            ]),
            Message::user(vec![result("toolu_1", "x", false), result("toolu_2", "y", false)]),
        ]
    };
    let sent = contents("gemini-3.1-pro-preview", messages()).await;
    assert_eq!(
        sent[1]["parts"],
        json!([
            {"functionCall": {"name": "read_file", "args": {}},
             "thoughtSignature": "skip_thought_signature_validator"},
            {"functionCall": {"name": "list_files", "args": {}}},
        ])
    );
    // Models that sign nothing are told nothing.
    let sent = contents("gemini-2.5-flash", messages()).await;
    assert_eq!(
        sent[1]["parts"][0],
        json!({"functionCall": {"name": "read_file", "args": {}}})
    );
}
