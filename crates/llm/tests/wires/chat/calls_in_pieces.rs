//! Servers agree on little about calls: every way they were seen to write them ends as the same
//! calls.

use serde_json::{Value, json};
use stance_llm::{Part, StopReason};

use super::fixture::{PRESET, Reply, Server, answer, call, called, delta, events, finish, parts, request, usage};

async fn two_calls(pieces: Vec<Value>) -> Vec<stance_llm::Block> {
    let mut chunks = pieces;
    chunks.extend([finish("tool_calls"), usage()]);
    let answer = answer(&chunks).await;
    assert_eq!(answer.stop, StopReason::ToolUse);
    answer.blocks
}

fn function(name: &str, arguments: &str) -> Value {
    json!({"name": name, "arguments": arguments})
}

#[tokio::test]
async fn calls_that_take_turns_by_index() {
    let blocks = two_calls(vec![
        call(json!({"index": 0, "id": "c0", "function": function("read", "")})),
        call(json!({"index": 1, "id": "c1", "function": function("list", "")})),
        call(json!({"index": 0, "function": {"arguments": "{\"path\":"}})),
        call(json!({"index": 1, "function": {"arguments": "{}"}})),
        call(json!({"index": 0, "function": {"arguments": "\"a\"}"}})),
    ])
    .await;
    assert_eq!(
        blocks,
        [called("c0", "read", r#"{"path":"a"}"#), called("c1", "list", "{}")]
    );
}

#[tokio::test]
async fn whole_calls_in_one_chunk() {
    let blocks = two_calls(vec![delta(
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"index": 0, "id": "c0", "type": "function", "function": function("read", "{\"path\":\"a\"}")},
            {"index": 1, "id": "c1", "type": "function", "function": function("list", "{}")},
        ]}),
    )])
    .await;
    assert_eq!(
        blocks,
        [called("c0", "read", r#"{"path":"a"}"#), called("c1", "list", "{}")]
    );
}

#[tokio::test]
async fn every_call_has_the_same_index() {
    let blocks = two_calls(vec![
        call(json!({"index": 0, "id": "c0", "function": function("read", "{\"path\":\"a\"}")})),
        call(json!({"index": 0, "id": "c1", "function": function("list", "{}")})),
    ])
    .await;
    assert_eq!(
        blocks,
        [called("c0", "read", r#"{"path":"a"}"#), called("c1", "list", "{}")]
    );
}

#[tokio::test]
async fn no_index_at_all() {
    let blocks = two_calls(vec![
        call(json!({"id": "c0", "function": function("read", "")})),
        call(json!({"function": {"arguments": "{\"path\":\"a\"}"}})),
        call(json!({"id": "c1", "function": function("list", "{}")})),
    ])
    .await;
    assert_eq!(
        blocks,
        [called("c0", "read", r#"{"path":"a"}"#), called("c1", "list", "{}")]
    );
}

#[tokio::test]
async fn no_id_or_an_empty_one() {
    let blocks = two_calls(vec![
        call(json!({"index": 0, "function": function("read", "{\"path\":\"a\"}")})),
        call(json!({"index": 1, "id": "", "function": function("list", "{}")})),
    ])
    .await;
    assert_eq!(
        blocks,
        [
            called("call", "read", r#"{"path":"a"}"#),
            called("call_2", "list", "{}")
        ]
    );
}

#[tokio::test]
async fn neither_index_nor_id() {
    let blocks = two_calls(vec![
        call(json!({"function": function("read", "{\"path\":\"a\"}")})),
        call(json!({"function": function("list", "{}")})),
    ])
    .await;
    assert_eq!(
        blocks,
        [
            called("call", "read", r#"{"path":"a"}"#),
            called("call_2", "list", "{}")
        ]
    );
}

#[tokio::test]
async fn one_id_for_two_calls() {
    let blocks = two_calls(vec![
        call(json!({"index": 0, "id": "same", "function": function("read", "{\"path\":\"a\"}")})),
        call(json!({"index": 1, "id": "same", "function": function("list", "{}")})),
    ])
    .await;
    assert_eq!(
        blocks,
        [
            called("same", "read", r#"{"path":"a"}"#),
            called("same_2", "list", "{}")
        ]
    );
}

#[tokio::test]
async fn id_and_name_in_every_piece() {
    let blocks = two_calls(vec![
        call(json!({"index": 0, "id": "c0", "function": function("read", "{\"path\":")})),
        call(json!({"index": 0, "id": "c0", "function": function("read", "\"a\"}")})),
        call(json!({"index": 0, "id": "c0", "function": function("read", "")})),
        call(json!({"index": 1, "id": "c1", "function": function("list", "")})),
        call(json!({"index": 1, "id": null, "function": {"name": null, "arguments": null}})),
    ])
    .await;
    assert_eq!(
        blocks,
        [called("c0", "read", r#"{"path":"a"}"#), called("c1", "list", "{}")]
    );
}

#[tokio::test]
async fn another_id_with_every_piece() {
    let blocks = two_calls(vec![
        call(json!({"index": 0, "id": "x0", "function": function("read", "")})),
        call(json!({"index": 0, "id": "x1", "function": {"arguments": "{\"path\":"}})),
        call(json!({"index": 0, "id": "x2", "function": {"arguments": "\"a\"}"}})),
    ])
    .await;
    assert_eq!(blocks, [called("x0", "read", r#"{"path":"a"}"#)]);
}

#[tokio::test]
async fn arguments_as_an_object() {
    let blocks = two_calls(vec![call(
        json!({"index": 0, "id": "c0", "function": {"name": "read", "arguments": {"path": "a"}}}),
    )])
    .await;
    assert_eq!(blocks, [called("c0", "read", r#"{"path":"a"}"#)]);
}

#[tokio::test]
async fn arguments_that_are_no_json_or_say_a_thing_twice_are_kept_as_written() {
    for written in [r#"{"path": "#, r#"{"path": "a", "path": "b"}"#, "[1]"] {
        let blocks = two_calls(vec![call(
            json!({"index": 0, "id": "c0", "function": function("read", written)}),
        )])
        .await;
        assert_eq!(blocks, [called("c0", "read", written)]);
    }
}

#[tokio::test]
async fn an_id_the_conversation_has_already_is_not_given_again() {
    let chunks = [
        call(json!({"index": 0, "id": "call_0", "function": function("read", "{}")})),
        finish("stop"),
    ];
    let server = Server::start([Reply::stream(&events(&chunks))]).await;
    let mut asked = request("m");
    asked
        .messages
        .push(stance_llm::Message::assistant(vec![called("call_0", "read", "{}")]));
    let last = parts(server.model(PRESET).as_ref(), asked)
        .await
        .pop()
        .unwrap()
        .unwrap();
    let Part::Done(answer) = last else { panic!("{last:?}") };
    assert_eq!(answer.blocks, [called("call_0_2", "read", "{}")]);
}

#[tokio::test]
async fn calls_are_shown_as_they_come() {
    let chunks = [
        call(json!({"index": 0, "id": "c0", "function": {"arguments": "{\"pa"}})),
        call(json!({"index": 0, "function": function("read", "th\":")})),
        call(json!({"index": 0, "function": {"arguments": "1}"}})),
        finish("tool_calls"),
    ];
    let server = Server::start([Reply::stream(&events(&chunks))]).await;
    let shown = parts(server.model(PRESET).as_ref(), request("m")).await;
    let shown = shown.into_iter().map(Result::unwrap).collect::<Vec<_>>();
    let arguments = |text: &str| Part::CallArguments {
        id: "c0".into(),
        text: text.into(),
    };
    assert_eq!(
        shown[0],
        Part::CallStarted {
            id: "c0".into(),
            name: "read".into()
        }
    );
    assert_eq!(shown[1..3], [arguments("{\"path\":"), arguments("1}")]);
}
