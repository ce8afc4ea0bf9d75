//! Pieces of Gemini's stream as it writes them, and short ways to be answered with them.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};
use stance_llm::{Block, Message, Model, ModelError, Request, Response as Answer, ResultPart, ToolCall};

use crate::laws::Sample;
use crate::server;
pub(crate) use crate::server::{KEY, Reply, Seen, Server, Step, model_at, parts, request};

pub(crate) const PRESET: &str = "gemini";

/// Pieces as the protocol writes them.
pub(crate) fn frames(chunks: &[Value]) -> String {
    let mut text = String::new();
    for chunk in chunks {
        write!(text, "data: {chunk}\r\n\r\n").unwrap();
    }
    text
}

/// A piece of an answer with these parts.
#[allow(clippy::needless_pass_by_value, reason = "callers write the value in place")]
pub(crate) fn chunk(parts: Value) -> Value {
    json!({
        "candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}],
        "usageMetadata": {"promptTokenCount": 12, "totalTokenCount": 12},
        "modelVersion": "gemini-2.5-flash-001",
        "responseId": "r-1",
    })
}

pub(crate) fn said(text: &str) -> Value {
    chunk(json!([{"text": text}]))
}

pub(crate) fn ended(reason: &str) -> Value {
    json!({
        "candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": reason, "index": 0}],
        "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 5, "totalTokenCount": 17},
        "modelVersion": "gemini-2.5-flash-001",
    })
}

/// A whole answer that says `hello`.
pub(crate) fn hello() -> Vec<Value> {
    vec![
        said("Grüße, "),
        json!({"aMemberOfTheFuture": {"odd": true}}),
        said("🌍"),
        ended("STOP"),
    ]
}

pub(crate) fn hello_text() -> Block {
    Block::Text("Grüße, 🌍".into())
}

pub(crate) fn native(provider: &str, value: Value) -> Block {
    Block::Native {
        provider: provider.into(),
        value,
    }
}

pub(crate) fn call(id: &str, name: &str, arguments_text: &str) -> Block {
    Block::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments_text: arguments_text.into(),
    })
}

pub(crate) fn result(call_id: &str, text: &str, is_error: bool) -> Block {
    Block::ToolResult {
        call_id: call_id.into(),
        content: vec![ResultPart::Text(text.into())],
        is_error,
    }
}

pub(crate) async fn answer_to(reply: Reply) -> Result<Answer, ModelError> {
    server::answer_to(PRESET, reply).await
}

pub(crate) async fn answer(written: &[Value]) -> Answer {
    answer_to(Reply::stream(&frames(written))).await.unwrap()
}

pub(crate) async fn failure(written: &[Value]) -> ModelError {
    answer_to(Reply::stream(&frames(written))).await.unwrap_err()
}

/// The request a server sees.
pub(crate) async fn sent(request: Request) -> Seen {
    server::sent(PRESET, Reply::stream(&frames(&hello())), request).await
}

/// The contents sent of a conversation with `model`.
pub(crate) async fn contents(model: &str, messages: Vec<Message>) -> Value {
    let mut request = request(model);
    request.messages = messages;
    sent(request).await.body["contents"].take()
}

/// A conversation that goes on after an answer.
pub(crate) fn followed_by(answer: &Answer, blocks: Vec<Block>) -> Vec<Message> {
    vec![
        Message::user(vec![Block::Text("hi".into())]),
        Message::assistant(answer.blocks.clone()),
        Message::user(blocks),
    ]
}

pub(crate) fn model(server: &Server) -> Arc<dyn Model> {
    server.model(PRESET)
}

#[tokio::test]
async fn what_holds_of_every_wire() {
    let events = hello()
        .into_iter()
        .map(|chunk| frames(&[chunk]).into_bytes())
        .collect::<Vec<_>>();
    let sample = Sample {
        preset: PRESET,
        content_type: "text/event-stream",
        needed: events.len() - 1,
        events,
        blocks: vec![hello_text()],
    };
    sample.holds_until_the_stream_ends().await;
}
