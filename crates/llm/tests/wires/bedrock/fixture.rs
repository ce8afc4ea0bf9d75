//! Frames of Bedrock's stream as it writes them, and short ways to be answered with them.

use std::sync::Arc;

use serde_json::{Value, json};
use stance_llm::{Block, Message, Model, ModelError, Request, Response as Answer, ResultPart, ToolCall};

use crate::laws::Sample;
use crate::server;
pub(crate) use crate::server::{KEY, Reply, Seen, Server, Step, model_at, parts, request};

pub(crate) const PRESET: &str = "bedrock";
pub(crate) const CLAUDE: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

/// A frame with headers of text, as the format has it.
pub(crate) fn frame(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
    let mut written = Vec::new();
    for (name, value) in headers {
        written.push(u8::try_from(name.len()).unwrap());
        written.extend(name.bytes());
        written.push(7);
        written.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        written.extend(value.bytes());
    }
    let whole = u32::try_from(written.len() + payload.len() + 16).unwrap();
    let mut bytes = whole.to_be_bytes().to_vec();
    bytes.extend(u32::try_from(written.len()).unwrap().to_be_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes.extend(written);
    bytes.extend(payload.bytes());
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes
}

/// An event by its name, with the padding the service adds.
pub(crate) fn event(name: &str, mut payload: Value) -> Vec<u8> {
    payload["p"] = json!("abcdefgh");
    let headers = [
        (":event-type", name),
        (":content-type", "application/json"),
        (":message-type", "event"),
    ];
    frame(&headers, &payload.to_string())
}

pub(crate) fn exception(kind: &str, message: &str) -> Vec<u8> {
    let headers = [
        (":exception-type", kind),
        (":content-type", "application/json"),
        (":message-type", "exception"),
    ];
    frame(&headers, &json!({"message": message}).to_string())
}

pub(crate) fn begin() -> Vec<u8> {
    event("messageStart", json!({"role": "assistant"}))
}

#[allow(clippy::needless_pass_by_value, reason = "callers write the value in place")]
pub(crate) fn delta(index: u64, delta: Value) -> Vec<u8> {
    event("contentBlockDelta", json!({"contentBlockIndex": index, "delta": delta}))
}

pub(crate) fn text(index: u64, text: &str) -> Vec<u8> {
    delta(index, json!({"text": text}))
}

pub(crate) fn calls(index: u64, id: &str, name: &str) -> Vec<u8> {
    let start = json!({"toolUse": {"toolUseId": id, "name": name}});
    event("contentBlockStart", json!({"contentBlockIndex": index, "start": start}))
}

pub(crate) fn input(index: u64, piece: &str) -> Vec<u8> {
    delta(index, json!({"toolUse": {"input": piece}}))
}

pub(crate) fn close(index: u64) -> Vec<u8> {
    event("contentBlockStop", json!({"contentBlockIndex": index}))
}

pub(crate) fn ended(reason: &str) -> Vec<u8> {
    event("messageStop", json!({"stopReason": reason}))
}

pub(crate) fn counted() -> Vec<u8> {
    let usage = json!({
        "inputTokens": 25, "outputTokens": 42, "totalTokens": 4_367,
        "cacheReadInputTokens": 4_000, "cacheWriteInputTokens": 300,
    });
    event("metadata", json!({"usage": usage, "metrics": {"latencyMs": 700}}))
}

/// A whole answer that says `hello`.
pub(crate) fn hello() -> Vec<Vec<u8>> {
    vec![
        begin(),
        text(0, "Grüße, "),
        event("anEventOfTheFuture", json!({"odd": true})),
        delta(0, json!({"aDeltaOfTheFuture": {"weight": 1}})),
        text(0, "🌍"),
        close(0),
        ended("end_turn"),
        counted(),
    ]
}

pub(crate) fn hello_text() -> Block {
    Block::Text("Grüße, 🌍".into())
}

pub(crate) fn native(value: Value) -> Block {
    Block::Native {
        provider: PRESET.into(),
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

pub(crate) fn result(call_id: &str, content: Vec<ResultPart>, is_error: bool) -> Block {
    Block::ToolResult {
        call_id: call_id.into(),
        content,
        is_error,
    }
}

pub(crate) fn said(text: &str) -> ResultPart {
    ResultPart::Text(text.into())
}

pub(crate) fn streamed(steps: Vec<Step>) -> Reply {
    Reply::steps(steps).header("content-type", "application/vnd.amazon.eventstream")
}

pub(crate) fn stream(frames: &[Vec<u8>]) -> Reply {
    streamed(vec![Step::Bytes(frames.concat())])
}

pub(crate) async fn answer_to(reply: Reply) -> Result<Answer, ModelError> {
    server::answer_to(PRESET, reply).await
}

pub(crate) async fn answer(frames: &[Vec<u8>]) -> Answer {
    answer_to(stream(frames)).await.unwrap()
}

pub(crate) async fn failure(frames: &[Vec<u8>]) -> ModelError {
    answer_to(stream(frames)).await.unwrap_err()
}

/// The request a server sees.
pub(crate) async fn sent(request: Request) -> Seen {
    server::sent(PRESET, stream(&hello()), request).await
}

/// The messages sent of a conversation with `model`, without cache points, which have tests of
/// their own.
pub(crate) async fn messages(model: &str, messages: Vec<Message>) -> Value {
    let mut request = request(model);
    request.messages = messages;
    let mut sent = sent(request).await.body["messages"].take();
    for message in sent.as_array_mut().unwrap() {
        let content = message["content"].as_array_mut().unwrap();
        content.retain(|block| block.get("cachePoint").is_none());
    }
    sent
}

pub(crate) fn model(server: &Server) -> Arc<dyn Model> {
    server.model(PRESET)
}

#[tokio::test]
async fn what_holds_of_every_wire() {
    let events = hello();
    let sample = Sample {
        preset: PRESET,
        content_type: "application/vnd.amazon.eventstream",
        // The frame that says why it stopped; the very last one may be missing.
        needed: events.len() - 2,
        events,
        blocks: vec![hello_text()],
    };
    sample.holds().await;
}
