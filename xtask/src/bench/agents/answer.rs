//! What a model says, in the words of each protocol: one text, or one call of a tool. Knows no story and
//! no agent.

use serde_json::{Value, json};

/// The protocols that agents speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Gemini `generateContent`.
    Gemini,
}

/// One thing a model says.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    Text(String),
    Call { name: String, arguments: Value },
}

impl Protocol {
    /// The protocol of a request to this path, where it asks for an answer.
    pub(super) fn of(path: &str) -> Option<Protocol> {
        let path = path.split('?').next().unwrap_or(path);
        [
            ("/messages", Protocol::Messages),
            ("/chat/completions", Protocol::Chat),
            ("/responses", Protocol::Responses),
            (":generateContent", Protocol::Gemini),
            (":streamGenerateContent", Protocol::Gemini),
        ]
        .into_iter()
        .find_map(|(end, protocol)| path.ends_with(end).then_some(protocol))
    }

    /// The system prompt, the tools and the messages of a request.
    pub(super) fn parts(self, request: &Value) -> [Value; 3] {
        let part = |name: &str| request.get(name).cloned().unwrap_or_default();
        let is_system = |message: &Value| matches!(message["role"].as_str(), Some("system" | "developer"));
        let split = |messages: Value| -> (Value, Value) {
            let all = messages.as_array().cloned().unwrap_or_default();
            let (system, rest): (Vec<Value>, Vec<Value>) = all.into_iter().partition(is_system);
            (system.into(), rest.into())
        };
        match self {
            Protocol::Messages => [part("system"), part("tools"), part("messages")],
            Protocol::Gemini => [part("systemInstruction"), part("tools"), part("contents")],
            Protocol::Chat => {
                let (system, messages) = split(part("messages"));
                [system, part("tools"), messages]
            }
            Protocol::Responses => {
                let (system, messages) = split(part("input"));
                [json!([part("instructions"), system]), part("tools"), messages]
            }
        }
    }

    /// The names of the tools a request offers.
    pub(super) fn tools(self, request: &Value) -> Vec<String> {
        let tools = request["tools"].as_array().cloned().unwrap_or_default();
        let name = |tool: &Value| tool["name"].as_str().map(str::to_owned);
        match self {
            Protocol::Messages | Protocol::Responses => tools.iter().filter_map(name).collect(),
            Protocol::Chat => tools.iter().filter_map(|tool| name(&tool["function"])).collect(),
            Protocol::Gemini => tools
                .iter()
                .filter_map(|tool| tool["functionDeclarations"].as_array())
                .flatten()
                .filter_map(name)
                .collect(),
        }
    }

    /// How many results of tools a request carries.
    pub(super) fn results(self, request: &Value) -> usize {
        let [_, _, messages] = self.parts(request);
        let messages = messages.as_array().cloned().unwrap_or_default();
        let within = |message: &Value, field: &str, is: &dyn Fn(&Value) -> bool| {
            message[field]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|part| is(part))
                .count()
        };
        let count = |message: &Value| match self {
            Protocol::Messages => within(message, "content", &|part| part["type"] == "tool_result"),
            Protocol::Gemini => within(message, "parts", &|part| part.get("functionResponse").is_some()),
            Protocol::Chat => usize::from(message["role"] == "tool"),
            Protocol::Responses => usize::from(
                message["type"]
                    .as_str()
                    .is_some_and(|kind| kind.ends_with("call_output")),
            ),
        };
        messages.iter().map(count).sum()
    }

    /// The body of an answer, as a stream of events or whole.
    pub(super) fn body(self, answer: &Answer, number: usize, streamed: bool) -> (&'static str, String) {
        let events = match self {
            Protocol::Messages => messages(answer, number),
            Protocol::Chat => chat(answer, number),
            Protocol::Responses => responses(answer, number),
            Protocol::Gemini => vec![gemini(answer, number)],
        };
        if self == Protocol::Gemini && !streamed {
            return ("application/json", gemini(answer, number).to_string());
        }
        let named = |event: &Value| match event["type"].as_str() {
            Some(name) => format!("event: {name}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        };
        let mut body: String = events.iter().map(named).collect();
        if self == Protocol::Chat {
            body.push_str("data: [DONE]\n\n");
        }
        ("text/event-stream", body)
    }
}

fn messages(answer: &Answer, number: usize) -> Vec<Value> {
    let usage = json!({"input_tokens": 100, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 10});
    let (block, delta, stop) = match answer {
        Answer::Text(text) => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": text}),
            "end_turn",
        ),
        Answer::Call { name, arguments } => (
            json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
            "tool_use",
        ),
    };
    vec![
        json!({"type": "message_start", "message": {
            "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "mock",
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage,
        }}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 10}}),
        json!({"type": "message_stop"}),
    ]
}

fn chat(answer: &Answer, number: usize) -> Vec<Value> {
    let (delta, reason) = match answer {
        Answer::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Answer::Call { name, arguments } => (
            json!({"role": "assistant", "content": null, "tool_calls": [{
                "index": 0, "id": format!("call_{number}"), "type": "function",
                "function": {"name": name, "arguments": arguments.to_string()},
            }]}),
            "tool_calls",
        ),
    };
    let chunk = |choices: Value, usage: Value| {
        json!({"id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1_700_000_000,
               "model": "mock", "choices": choices, "usage": usage})
    };
    vec![
        chunk(
            json!([{"index": 0, "delta": delta, "finish_reason": null}]),
            Value::Null,
        ),
        chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason}]), Value::Null),
        chunk(
            json!([]),
            json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}),
        ),
    ]
}

fn responses(answer: &Answer, number: usize) -> Vec<Value> {
    let item = match answer {
        Answer::Text(text) => json!({
            "type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Answer::Call { name, arguments } => json!({
            "type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"),
            "name": name, "arguments": arguments.to_string(), "status": "completed",
        }),
    };
    let usage = json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
                       "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110});
    let response = |status: &str, output: Value, usage: Value| {
        json!({"id": format!("resp_{number}"), "object": "response", "created_at": 1_700_000_000, "model": "mock",
               "status": status, "output": output, "usage": usage})
    };
    vec![
        json!({"type": "response.created", "response": response("in_progress", json!([]), Value::Null)}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": response("completed", json!([item]), usage)}),
    ]
}

fn gemini(answer: &Answer, number: usize) -> Value {
    let part = match answer {
        Answer::Text(text) => json!({"text": text}),
        Answer::Call { name, arguments } => {
            json!({"functionCall": {"name": name, "args": arguments}, "thoughtSignature": "bW9jaw=="})
        }
    };
    json!({
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
        "modelVersion": "mock", "responseId": format!("r_{number}"),
    })
}
