//! Thinking comes signed, between text and calls, and goes back exactly as it came: a provider
//! refuses a turn whose thinking was changed, moved or lost its signature.

use serde_json::json;
use stance_llm::{Block, Message, Part, ToolCall};

use super::fixture::{
    Reply, Server, answer, begin, block, call, close, delta, ending, frames, hello, input, model, parts, request, sent,
    stop, text,
};

fn thinking(value: serde_json::Value) -> Block {
    Block::Native {
        provider: "anthropic".into(),
        value,
    }
}

fn frames_with_thinking() -> Vec<serde_json::Value> {
    vec![
        begin(),
        block(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "First "})),
        delta(0, json!({"type": "thinking_delta", "thinking": "look."})),
        delta(0, json!({"type": "signature_delta", "signature": "c2ln"})),
        close(0),
        block(1, json!({"type": "text", "text": ""})),
        text(1, "Looking."),
        close(1),
        block(2, json!({"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"})),
        close(2),
        call(3, "toolu_1", "read_file"),
        input(3, r#"{"path": "a.rs"}"#),
        close(3),
        block(4, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(4, json!({"type": "thinking_delta", "thinking": "Second."})),
        delta(4, json!({"type": "signature_delta", "signature": "bW9yZQ"})),
        close(4),
        call(5, "toolu_2", "read_file"),
        input(5, r#"{"path": "b.rs"}"#),
        close(5),
        ending("tool_use"),
        stop(),
    ]
}

fn blocks_with_thinking() -> Vec<Block> {
    let read = |id: &str, path: &str| {
        Block::ToolCall(ToolCall {
            id: id.into(),
            name: "read_file".into(),
            arguments_text: format!(r#"{{"path": "{path}"}}"#),
        })
    };
    vec![
        thinking(json!({"type": "thinking", "thinking": "First look.", "signature": "c2ln"})),
        Block::Text("Looking.".into()),
        thinking(json!({"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"})),
        read("toolu_1", "a.rs"),
        thinking(json!({"type": "thinking", "thinking": "Second.", "signature": "bW9yZQ"})),
        read("toolu_2", "b.rs"),
    ]
}

#[tokio::test]
async fn thinking_keeps_its_place_and_signature() {
    let answer = answer(&frames_with_thinking()).await;
    assert_eq!(answer.blocks, blocks_with_thinking());
}

#[tokio::test]
async fn thinking_is_shown_as_it_comes_but_signatures_are_not() {
    let server = Server::start([Reply::stream(&frames(&frames_with_thinking()))]).await;
    let shown = parts(model(&server).as_ref(), request("claude-sonnet-4-5"))
        .await
        .into_iter()
        .filter_map(|part| match part {
            Ok(Part::Thinking(text)) => Some(text),
            _ => None,
        })
        .collect::<Vec<_>>();
    assert_eq!(shown, ["First ", "look.", "Second."]);
}

#[tokio::test]
async fn thinking_goes_back_verbatim_in_its_place() {
    let mut request = request("claude-sonnet-4-5");
    request.messages.push(Message::assistant(blocks_with_thinking()));
    let seen = sent(request).await;
    assert_eq!(
        seen.body["messages"][1]["content"],
        json!([
            {"type": "thinking", "thinking": "First look.", "signature": "c2ln"},
            {"type": "text", "text": "Looking."},
            {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"},
            {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a.rs"}},
            {"type": "thinking", "thinking": "Second.", "signature": "bW9yZQ"},
            {"type": "tool_use", "id": "toolu_2", "name": "read_file", "input": {"path": "b.rs"}},
        ])
    );
}

#[tokio::test]
async fn blocks_of_no_known_type_are_kept_whole() {
    let mut written = hello();
    written.splice(
        1..1,
        [
            block(
                7,
                json!({"type": "server_tool_use", "id": "srv_1", "name": "search", "input": {}}),
            ),
            input(7, r#"{"query""#),
            input(7, r#": "rust"}"#),
            close(7),
        ],
    );
    let answer = answer(&written).await;
    assert_eq!(
        answer.blocks[1],
        thinking(json!({
            "type": "server_tool_use", "id": "srv_1", "name": "search", "input": {"query": "rust"},
        }))
    );
}

#[tokio::test]
async fn another_providers_blocks_stay_at_home() {
    let mut request = request("claude-sonnet-4-5");
    request.messages.push(Message::assistant(vec![
        Block::Native {
            provider: "another".into(),
            value: json!({"type": "reasoning", "encrypted": "…"}),
        },
        Block::Text("Done.".into()),
    ]));
    let seen = sent(request).await;
    assert_eq!(
        seen.body["messages"][1]["content"],
        json!([{"type": "text", "text": "Done."}])
    );
}
