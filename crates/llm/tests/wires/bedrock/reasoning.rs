//! Reasoning, signed or redacted, goes back as it came to the models that take it back, and to no
//! other.

use serde_json::{Value, json};
use stance_llm::{Block, Message, Part};

use super::fixture::{
    CLAUDE, Server, answer, begin, call, calls, close, counted, delta, ended, input, messages, model, native, parts,
    request, result, said, stream, text,
};

#[allow(clippy::needless_pass_by_value, reason = "callers write the value in place")]
fn reasoned(reasoning: Value) -> Vec<u8> {
    delta(0, json!({"reasoningContent": reasoning}))
}

fn signed() -> Vec<Vec<u8>> {
    vec![
        begin(),
        reasoned(json!({"text": "Hm, "})),
        reasoned(json!({"text": "so."})),
        reasoned(json!({"signature": "c2ln"})),
        close(0),
        calls(1, "t", "read_file"),
        input(1, r#"{"path": "a"}"#),
        close(1),
        ended("tool_use"),
        counted(),
    ]
}

fn thought() -> Value {
    json!({"reasoningContent": {"reasoningText": {"text": "Hm, so.", "signature": "c2ln"}}})
}

#[tokio::test]
async fn reasoning_is_shown_and_kept_with_its_signature() {
    let server = Server::start([stream(&signed())]).await;
    let mut parts = parts(model(&server).as_ref(), request(CLAUDE)).await;
    let Some(Ok(Part::Done(answer))) = parts.pop() else {
        panic!("no answer");
    };
    assert_eq!(
        parts[..2],
        [Ok(Part::Thinking("Hm, ".into())), Ok(Part::Thinking("so.".into()))]
    );
    assert_eq!(
        answer.blocks,
        [native(thought()), call("t", "read_file", r#"{"path": "a"}"#)]
    );
}

#[tokio::test]
async fn it_goes_back_before_the_call_it_led_to() {
    let answer = answer(&signed()).await;
    let conversation = || {
        vec![
            Message::user(vec![Block::Text("hi".into())]),
            Message::assistant(answer.blocks.clone()),
            Message::user(vec![result("t", vec![said("x")], false)]),
        ]
    };
    let used = json!({"toolUse": {"toolUseId": "t", "name": "read_file", "input": {"path": "a"}}});
    assert_eq!(
        messages(CLAUDE, conversation()).await[1]["content"],
        json!([thought(), used])
    );
    assert_eq!(
        messages("amazon.nova-pro-v1:0", conversation()).await[1]["content"],
        json!([used])
    );
}

#[tokio::test]
async fn redacted_reasoning_in_pieces_is_one() {
    // Two pieces of bytes whose text forms cannot simply stand behind each other.
    let written = [
        begin(),
        reasoned(json!({"redactedContent": "AQ=="})),
        reasoned(json!({"redactedContent": "AgM="})),
        close(0),
        ended("end_turn"),
        counted(),
    ];
    let kept = json!({"reasoningContent": {"redactedContent": "AQID"}});
    assert_eq!(answer(&written).await.blocks, [native(kept)]);
}

#[tokio::test]
async fn what_nobody_signed_is_shown_and_not_kept() {
    let written = [
        begin(),
        reasoned(json!({"text": "Well."})),
        close(0),
        text(1, "Yes."),
        close(1),
        ended("end_turn"),
        counted(),
    ];
    let server = Server::start([stream(&written)]).await;
    let mut parts = parts(model(&server).as_ref(), request("deepseek.r1-v1:0")).await;
    let Some(Ok(Part::Done(answer))) = parts.pop() else {
        panic!("no answer");
    };
    assert_eq!(parts[0], Ok(Part::Thinking("Well.".into())));
    assert_eq!(answer.blocks, [Block::Text("Yes.".into())]);
}

#[tokio::test]
async fn a_message_of_which_nothing_can_be_sent_still_stands() {
    let conversation = vec![
        Message::user(vec![Block::Text("hi".into())]),
        Message::assistant(vec![native(thought())]),
        Message::user(vec![Block::Text("more".into())]),
    ];
    assert_eq!(
        messages("amazon.nova-pro-v1:0", conversation).await[1],
        json!({"role": "assistant", "content": [{"text": "(no message)"}]})
    );
}
