//! What a request looks like on the wire: fields, roles, results, images.

use serde_json::{Value, json};
use stance_llm::{Block, Effort, Message, ResultPart, ToolSpec};

use super::fixture::{PRESET, called, request, sent_to};

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

fn image() -> ResultPart {
    ResultPart::Image {
        media_type: "image/png".into(),
        data_base64: "AAAA".into(),
    }
}

async fn messages(preset: &str, more: Vec<Message>) -> Vec<Value> {
    let mut asked = request("m");
    asked.messages.extend(more);
    let mut body = sent_to(preset, asked).await.body;
    let mut messages = body["messages"].as_array_mut().unwrap().split_off(2);
    messages.iter_mut().map(Value::take).collect()
}

#[tokio::test]
async fn the_whole_of_a_small_request() {
    let mut asked = request("gpt-5");
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: format!("The tool {name}."),
        schema: json!({"type": "object"}),
    };
    asked.tools = vec![tool("write"), tool("read")];
    asked.settings.max_output = Some(2_000);
    asked.settings.effort = Some(Effort::Low);
    asked.context.mode = "plan".into();
    asked.cursor = Some("not for providers".into());
    let function = |name: &str| {
        json!({"type": "function", "function": {
            "name": name, "description": format!("The tool {name}."), "parameters": {"type": "object"}}})
    };
    assert_eq!(
        sent_to(PRESET, asked).await.body,
        json!({
            "model": "gpt-5",
            "stream": true,
            "stream_options": {"include_usage": true},
            "max_completion_tokens": 2_000,
            "reasoning_effort": "low",
            "tools": [function("read"), function("write")],
            "messages": [
                {"role": "system", "content": "You are terse."},
                {"role": "user", "content": "hi"},
            ],
        })
    );
}

#[tokio::test]
async fn the_limit_has_its_older_name_elsewhere() {
    let mut asked = request("mistral-large");
    asked.settings.max_output = Some(2_000);
    asked.settings.temperature = Some(0.5);
    let body = sent_to("mistral", asked).await.body;
    assert_eq!(body["max_tokens"], 2_000);
    assert_eq!(body["temperature"], 0.5);
    assert_eq!(body.get("max_completion_tokens"), None);
}

#[tokio::test]
async fn results_are_messages_of_their_own_and_errors_say_so() {
    let sent = messages(
        PRESET,
        vec![
            Message::assistant(vec![
                Block::Text("Reading.".into()),
                called("a", "read", "{}"),
                called("b", "list", ""),
            ]),
            Message::user(vec![
                result("a", vec![said("one"), said("two")], false),
                result("b", vec![said("no such folder")], true),
                Block::Text("go on".into()),
            ]),
        ],
    )
    .await;
    let function =
        |id: &str, name: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}});
    assert_eq!(
        json!(sent),
        json!([
            {"role": "assistant", "content": "Reading.", "tool_calls": [function("a", "read"), function("b", "list")]},
            {"role": "tool", "tool_call_id": "a", "content": "one\ntwo"},
            {"role": "tool", "tool_call_id": "b", "content": "error: no such folder"},
            {"role": "user", "content": "go on"},
        ])
    );
}

#[tokio::test]
async fn images_go_as_data_and_those_of_results_follow_them() {
    let sent = messages(
        PRESET,
        vec![
            Message::assistant(vec![called("a", "look", "{}")]),
            Message::user(vec![
                result("a", vec![said("seen"), image()], false),
                Block::Text("and?".into()),
            ]),
        ],
    )
    .await;
    assert_eq!(sent[0]["content"], Value::Null);
    assert_eq!(sent[1]["content"], "seen\n(image below)");
    assert_eq!(
        sent[2],
        json!({"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            {"type": "text", "text": "and?"},
        ]})
    );
}

#[tokio::test]
async fn results_with_nothing_in_them_say_so() {
    let sent = messages(
        PRESET,
        vec![
            Message::assistant(vec![called("a", "run", "{}"), called("b", "run", "{}")]),
            Message::user(vec![result("a", vec![], false), result("b", vec![said(" ")], true)]),
        ],
    )
    .await;
    assert_eq!(sent[1]["content"], "(no message)");
    assert_eq!(sent[2]["content"], "error: (no message)");
}

#[tokio::test]
async fn arguments_go_back_as_they_were_written_or_as_an_object() {
    for (written, sent_back) in [
        (r#"{"b": 1,  "a": [true]}"#, r#"{"b": 1,  "a": [true]}"#),
        ("", "{}"),
        (r#"{"path": "#, r#"{"malformed_arguments":"{\"path\": "}"#),
        ("[1]", r#"{"malformed_arguments":"[1]"}"#),
    ] {
        let sent = messages(PRESET, vec![Message::assistant(vec![called("a", "read", written)])]).await;
        assert_eq!(sent[0]["tool_calls"][0]["function"]["arguments"], sent_back);
    }
}

#[tokio::test]
async fn a_provider_with_short_ids_and_a_bridge_between_results_and_people() {
    let sent = messages(
        "mistral",
        vec![
            Message::assistant(vec![called("toolu_01AbC", "read", "{}")]),
            Message::user(vec![
                result("toolu_01AbC", vec![said("x")], false),
                Block::Text("go on".into()),
            ]),
        ],
    )
    .await;
    let id = sent[0]["tool_calls"][0]["id"].as_str().unwrap();
    assert!(
        id.len() == 9 && id.chars().all(|letter| letter.is_ascii_alphanumeric()),
        "{id}"
    );
    assert_eq!(sent[1]["tool_call_id"], id);
    assert_eq!(
        sent[2],
        json!({"role": "assistant", "content": "I have read the results."})
    );
    assert_eq!(sent[3]["role"], "user");
}

#[tokio::test]
async fn the_prefix_does_not_depend_on_the_order_of_tools() {
    let body = async |names: [&str; 3]| {
        let mut asked = request("m");
        asked.tools = names
            .map(|name| ToolSpec {
                name: name.into(),
                description: String::new(),
                schema: json!({"type": "object"}),
            })
            .to_vec();
        sent_to(PRESET, asked).await.body.to_string()
    };
    assert_eq!(body(["a", "b", "c"]).await, body(["c", "a", "b"]).await);
}
