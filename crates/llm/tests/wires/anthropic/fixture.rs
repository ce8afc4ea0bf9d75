//! Frames of the Messages protocol as it writes them, and short ways to be answered with them.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};
use stance_llm::{Block, Model, ModelError, Request, Response as Answer};

use crate::laws::Sample;
use crate::server;
pub(crate) use crate::server::{KEY, Reply, Seen, Server, Step, model_at, parts, request};

pub(crate) const PRESET: &str = "anthropic";

/// Frames as the protocol writes them.
pub(crate) fn frames(frames: &[Value]) -> String {
    let mut text = String::new();
    for frame in frames {
        let kind = frame["type"].as_str().unwrap();
        writeln!(text, "event: {kind}\ndata: {frame}\n").unwrap();
    }
    text
}

pub(crate) fn begin() -> Value {
    json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929",
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 25, "cache_creation_input_tokens": 300,
                  "cache_read_input_tokens": 4000, "output_tokens": 1},
    }})
}

#[allow(clippy::needless_pass_by_value, reason = "callers write the value in place")]
pub(crate) fn block(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

#[allow(clippy::needless_pass_by_value, reason = "callers write the value in place")]
pub(crate) fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

pub(crate) fn text(index: u64, text: &str) -> Value {
    delta(index, json!({"type": "text_delta", "text": text}))
}

pub(crate) fn input(index: u64, piece: &str) -> Value {
    delta(index, json!({"type": "input_json_delta", "partial_json": piece}))
}

pub(crate) fn call(index: u64, id: &str, name: &str) -> Value {
    block(index, json!({"type": "tool_use", "id": id, "name": name, "input": {}}))
}

pub(crate) fn close(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

pub(crate) fn ending(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
           "usage": {"output_tokens": 42}})
}

pub(crate) fn stop() -> Value {
    json!({"type": "message_stop"})
}

/// A whole answer that says `hello`, with the pings and unknown events a real one has.
pub(crate) fn hello() -> Vec<Value> {
    vec![
        begin(),
        block(0, json!({"type": "text", "text": ""})),
        json!({"type": "ping"}),
        text(0, "Grüße, "),
        json!({"type": "an_event_of_the_future", "index": {"odd": true}}),
        delta(0, json!({"type": "a_delta_of_the_future", "weight": 1})),
        text(0, "🌍"),
        close(0),
        ending("end_turn"),
        stop(),
    ]
}

pub(crate) fn hello_text() -> Block {
    Block::Text("Grüße, 🌍".into())
}

pub(crate) fn model(server: &Server) -> Arc<dyn Model> {
    server.model(PRESET)
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

#[tokio::test]
async fn what_holds_of_every_wire() {
    let events = hello()
        .into_iter()
        .map(|frame| frames(&[frame]).into_bytes())
        .collect::<Vec<_>>();
    let sample = Sample {
        preset: PRESET,
        content_type: "text/event-stream",
        // The frame that says why it stopped; the very last one may be missing.
        needed: events.len() - 2,
        events,
        blocks: vec![hello_text()],
    };
    sample.holds().await;
}
