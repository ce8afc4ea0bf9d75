//! Events of a response as the protocol writes them, and short ways to be answered with them.

use std::fmt::Write;

use serde_json::{Value, json};
use stance_llm::{Block, ModelError, Request, Response as Answer, ToolCall};

use crate::laws::Sample;
use crate::server;
pub(crate) use crate::server::{Reply, Seen, Server, Step, parts, request};

pub(crate) const PRESET: &str = "openai";

/// Events with their names and numbers.
pub(crate) fn numbered(events: &[Value]) -> Vec<String> {
    let number = |(number, event): (usize, &Value)| {
        let mut event = event.clone();
        event["sequence_number"] = json!(number);
        let mut text = String::new();
        write!(text, "event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()).unwrap();
        text
    };
    events.iter().enumerate().map(number).collect()
}

pub(crate) fn events(events: &[Value]) -> String {
    numbered(events).concat()
}

pub(crate) fn created() -> Value {
    json!({"type": "response.created", "response": {"id": "resp_1", "object": "response", "status": "in_progress",
        "model": "gpt-5-2025-08-07", "output": [], "usage": null, "error": null, "incomplete_details": null}})
}

#[allow(clippy::needless_pass_by_value, reason = "callers write the value in place")]
pub(crate) fn added(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

#[allow(clippy::needless_pass_by_value, reason = "callers write the value in place")]
pub(crate) fn done(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

pub(crate) fn said(index: u64, delta: &str) -> Value {
    json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": index, "content_index": 0, "delta": delta})
}

pub(crate) fn argued(index: u64, delta: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": index, "delta": delta})
}

pub(crate) fn thought() -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Two files matter."}],
           "encrypted_content": "Z0FBQUFB"})
}

pub(crate) fn message(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
           "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

pub(crate) fn function_call(call_id: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": "fc_1", "status": "completed", "call_id": call_id, "name": name, "arguments": arguments})
}

pub(crate) fn completed() -> Value {
    json!({"type": "response.completed", "response": {"id": "resp_1", "status": "completed",
        "model": "gpt-5-2025-08-07", "incomplete_details": null, "error": null,
        "usage": {"input_tokens": 1000, "input_tokens_details": {"cached_tokens": 896},
                  "output_tokens": 42, "output_tokens_details": {"reasoning_tokens": 30}, "total_tokens": 1042}}})
}

/// A whole answer: a thought, a text and a call.
pub(crate) fn whole() -> Vec<Value> {
    vec![
        created(),
        json!({"type": "response.in_progress", "response": {"model": "gpt-5-2025-08-07"}}),
        added(
            0,
            json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "Z0E="}),
        ),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "Two files matter."}),
        done(0, thought()),
        added(
            1,
            json!({"type": "message", "id": "msg_1", "role": "assistant", "content": []}),
        ),
        json!({"type": "response.an_event_of_the_future", "weight": 1}),
        said(1, "Grüße, "),
        said(1, "🌍"),
        done(1, message("Grüße, 🌍")),
        added(2, function_call("call_1", "read_file", "")),
        argued(2, "{\"path\":"),
        argued(2, "\"a\"}"),
        json!({"type": "response.function_call_arguments.done", "output_index": 2, "arguments": "{\"path\":\"a\"}"}),
        done(2, function_call("call_1", "read_file", "{\"path\":\"a\"}")),
        completed(),
    ]
}

pub(crate) fn called(id: &str, name: &str, arguments_text: &str) -> Block {
    Block::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments_text: arguments_text.into(),
    })
}

pub(crate) fn native(value: Value) -> Block {
    Block::Native {
        provider: PRESET.into(),
        value,
    }
}

pub(crate) fn whole_blocks() -> Vec<Block> {
    vec![
        native(thought()),
        Block::Text("Grüße, 🌍".into()),
        called("call_1", "read_file", r#"{"path":"a"}"#),
    ]
}

pub(crate) async fn answer_to(reply: Reply) -> Result<Answer, ModelError> {
    server::answer_to(PRESET, reply).await
}

pub(crate) async fn answer(written: &[Value]) -> Answer {
    answer_to(Reply::stream(&events(written))).await.unwrap()
}

pub(crate) async fn failure(written: &[Value]) -> ModelError {
    answer_to(Reply::stream(&events(written))).await.unwrap_err()
}

/// The request a server sees.
pub(crate) async fn sent(request: Request) -> Seen {
    server::sent(PRESET, Reply::stream(&events(&whole())), request).await
}

#[tokio::test]
async fn what_holds_of_every_wire() {
    let events = numbered(&whole())
        .into_iter()
        .map(String::into_bytes)
        .collect::<Vec<_>>();
    let sample = Sample {
        preset: PRESET,
        content_type: "text/event-stream",
        needed: events.len() - 1,
        events,
        blocks: whole_blocks(),
    };
    sample.holds().await;
}
