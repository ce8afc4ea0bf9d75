//! Chunks of a chat completion as servers write them, and short ways to be answered with them.

use std::fmt::Write;

use serde_json::{Value, json};
use stance_llm::{Block, ModelError, Request, Response as Answer, ToolCall};

use crate::laws::{Sample, data};
use crate::server;
pub(crate) use crate::server::{Reply, Seen, Server, Step, parts, request};

pub(crate) const PRESET: &str = "openai-chat";

/// Events as the protocol writes them, with its end.
pub(crate) fn events(chunks: &[Value]) -> String {
    let mut text = String::new();
    for chunk in chunks {
        write!(text, "data: {chunk}\n\n").unwrap();
    }
    text + "data: [DONE]\n\n"
}

#[allow(clippy::needless_pass_by_value, reason = "callers write the value in place")]
pub(crate) fn delta(delta: Value) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-5-2025-08-07",
           "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

pub(crate) fn text(text: &str) -> Value {
    delta(json!({"content": text}))
}

#[allow(clippy::needless_pass_by_value, reason = "callers write the value in place")]
pub(crate) fn call(piece: Value) -> Value {
    delta(json!({"tool_calls": [piece]}))
}

pub(crate) fn finish(word: &str) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-5-2025-08-07",
           "choices": [{"index": 0, "delta": {}, "finish_reason": word}]})
}

pub(crate) fn usage() -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-5-2025-08-07", "choices": [],
           "usage": {"prompt_tokens": 1000, "completion_tokens": 42, "total_tokens": 1042,
                     "prompt_tokens_details": {"cached_tokens": 896, "audio_tokens": 0},
                     "completion_tokens_details": {"reasoning_tokens": 30}}})
}

/// A whole answer: a text and a call.
pub(crate) fn whole() -> Vec<Value> {
    vec![
        delta(json!({"role": "assistant", "content": "", "refusal": null})),
        text("Grüße, "),
        text("🌍"),
        call(json!({"index": 0, "id": "call_1", "type": "function",
                    "function": {"name": "read_file", "arguments": ""}})),
        call(json!({"index": 0, "function": {"arguments": "{\"path\":"}})),
        call(json!({"index": 0, "function": {"arguments": "\"a\"}"}})),
        finish("tool_calls"),
        usage(),
    ]
}

pub(crate) fn called(id: &str, name: &str, arguments_text: &str) -> Block {
    Block::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments_text: arguments_text.into(),
    })
}

pub(crate) async fn answer_to(reply: Reply) -> Result<Answer, ModelError> {
    server::answer_to(PRESET, reply).await
}

pub(crate) async fn answer(chunks: &[Value]) -> Answer {
    answer_to(Reply::stream(&events(chunks))).await.unwrap()
}

pub(crate) async fn failure(chunks: &[Value]) -> ModelError {
    answer_to(Reply::stream(&events(chunks))).await.unwrap_err()
}

/// The request a server of `preset` sees.
pub(crate) async fn sent_to(preset: &str, request: Request) -> Seen {
    server::sent(preset, Reply::stream(&events(&whole())), request).await
}

#[tokio::test]
async fn what_holds_of_every_wire() {
    let mut events = data(&whole());
    let needed = events.len() - 2;
    events.push(b"data: [DONE]\n\n".to_vec());
    let sample = Sample {
        preset: PRESET,
        content_type: "text/event-stream",
        events,
        blocks: vec![
            Block::Text("Grüße, 🌍".into()),
            called("call_1", "read_file", r#"{"path":"a"}"#),
        ],
        needed,
    };
    sample.holds().await;
}
