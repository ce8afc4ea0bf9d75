//! Conversations going back: the protocol refuses results that do not follow their calls, empty
//! texts, empty errors and ids in other alphabets, so that none of these may be sent.

use serde_json::{Value, json};
use stance_llm::{Block, Message, ResultPart, ToolCall};

use super::fixture::{request, sent};

fn call(id: &str, arguments_text: &str) -> Block {
    Block::ToolCall(ToolCall {
        id: id.into(),
        name: "read_file".into(),
        arguments_text: arguments_text.into(),
    })
}

fn result(call_id: &str, content: Vec<ResultPart>, is_error: bool) -> Block {
    Block::ToolResult {
        call_id: call_id.into(),
        content,
        is_error,
    }
}

fn said(text: &str) -> ResultPart {
    ResultPart::Text(text.into())
}

/// The messages sent after a first one, without cache breakpoints, which have tests of their own.
async fn messages(messages: Vec<Message>) -> Value {
    let mut request = request("m");
    request.messages.extend(messages);
    let mut sent = sent(request).await.body["messages"].take();
    for message in sent.as_array_mut().unwrap() {
        for block in message["content"].as_array_mut().unwrap() {
            block.as_object_mut().unwrap().remove("cache_control");
        }
    }
    sent.as_array_mut().unwrap().remove(0);
    sent
}

#[tokio::test]
async fn results_come_first_in_the_order_of_their_calls() {
    let sent = messages(vec![
        Message::assistant(vec![call("a", "{}"), call("b", "{}")]),
        Message::user(vec![
            Block::Text("steering".into()),
            result("b", vec![said("two")], false),
        ]),
        Message::user(vec![result("a", vec![said("one")], true)]),
        Message::user(vec![Block::Text("more".into())]),
    ])
    .await;
    assert_eq!(
        sent[1],
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "one"}],
             "is_error": true},
            {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "two"}]},
            {"type": "text", "text": "steering"},
            {"type": "text", "text": "more"},
        ]})
    );
    assert_eq!(sent.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn empty_texts_and_messages_are_left_out() {
    let sent = messages(vec![
        Message::assistant(vec![Block::Text("hello".into())]),
        Message::user(vec![Block::Text("one".into()), Block::Text(" \n".into())]),
        Message::assistant(vec![Block::Text(String::new())]),
        Message::assistant(Vec::new()),
        Message::user(vec![Block::Text("two".into())]),
    ])
    .await;
    assert_eq!(
        sent[1],
        json!({"role": "user", "content": [
            {"type": "text", "text": "one"},
            {"type": "text", "text": "two"},
        ]})
    );
}

#[tokio::test]
async fn results_may_be_empty_but_errors_may_not() {
    let sent = messages(vec![
        Message::assistant(vec![call("a", "{}"), call("b", "{}")]),
        Message::user(vec![result("a", vec![said("")], false), result("b", vec![], true)]),
    ])
    .await;
    assert_eq!(
        sent[1]["content"],
        json!([
            {"type": "tool_result", "tool_use_id": "a", "content": []},
            {"type": "tool_result", "tool_use_id": "b",
             "content": [{"type": "text", "text": "(no message)"}], "is_error": true},
        ])
    );
}

#[tokio::test]
async fn results_may_hold_images() {
    let image = ResultPart::Image {
        media_type: "image/jpeg".into(),
        data_base64: "/9j/".into(),
    };
    let sent = messages(vec![
        Message::assistant(vec![call("a", "{}")]),
        Message::user(vec![result("a", vec![said("seen"), image], false)]),
    ])
    .await;
    assert_eq!(
        sent[1]["content"][0]["content"],
        json!([
            {"type": "text", "text": "seen"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "/9j/"}},
        ])
    );
}

#[tokio::test]
async fn ids_another_provider_gave_fit_and_still_belong_together() {
    let sent = messages(vec![
        Message::assistant(vec![call("call:1/ü", "{}")]),
        Message::user(vec![result("call:1/ü", vec![said("x")], false)]),
    ])
    .await;
    assert_eq!(sent[0]["content"][0]["id"], "call_1__");
    assert_eq!(sent[1]["content"][0]["tool_use_id"], "call_1__");
}

#[tokio::test]
async fn arguments_go_back_as_an_object_or_as_what_they_were() {
    for (written, sent_back) in [
        (r#"{"b": 1, "a": [true]}"#, json!({"b": 1, "a": [true]})),
        ("", json!({})),
        (r#"{"path": "#, json!({"malformed_arguments": r#"{"path": "#})),
        ("[1]", json!({"malformed_arguments": "[1]"})),
    ] {
        let sent = messages(vec![Message::assistant(vec![call("a", written)])]).await;
        assert_eq!(sent[0]["content"][0]["input"], sent_back, "{written}");
        // The order of keys is part of the prefix a provider caches.
        assert_eq!(sent[0]["content"][0]["input"].to_string(), sent_back.to_string());
    }
}
