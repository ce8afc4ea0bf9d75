//! Our request as the body of a response. The only place that knows both shapes; it sends nothing.

use serde_json::{Map, Value, json};

use crate::openai::{ERROR_SIGN, data_url, family};
use crate::repair::NO_MESSAGE;
use crate::{Block, Message, Request, ResultPart, Role, ToolSpec};

/// The body of a streamed request. `request` must have been fitted and repaired.
pub(super) fn body(request: &Request) -> Value {
    let settings = &request.settings;
    let mut body = Map::new();
    body.insert("model".into(), settings.model.as_str().into());
    body.insert("stream".into(), true.into());
    body.insert("store".into(), false.into());
    if family::may_think(&settings.model) {
        // A model that does not think refuses these.
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
        let mut reasoning = json!({"summary": "auto"});
        if let (Some(effort), Some(object)) = (settings.effort, reasoning.as_object_mut()) {
            object.insert("effort".into(), effort.word().into());
        }
        body.insert("reasoning".into(), reasoning);
    }
    if let Some(limit) = settings.max_output {
        body.insert("max_output_tokens".into(), limit.into());
    }
    if let Some(temperature) = settings.temperature {
        body.insert("temperature".into(), temperature.into());
    }
    if !request.tools.is_empty() {
        body.insert("tools".into(), tools(&request.tools));
    }
    if !request.system.trim().is_empty() {
        body.insert("instructions".into(), request.system.as_str().into());
    }
    body.insert("input".into(), request.messages.iter().flat_map(items).collect());
    Value::Object(body)
}

/// Tools by name, so that the prefix a provider caches does not depend on the caller's order.
fn tools(tools: &[ToolSpec]) -> Value {
    let mut sorted = tools.iter().collect::<Vec<_>>();
    sorted.sort_by(|one, other| one.name.cmp(&other.name));
    sorted
        .into_iter()
        .map(|tool| {
            json!({
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                // Without a word, this protocol takes schemas as strict, which ours are not.
                "strict": false,
            })
        })
        .collect()
}

/// A message as items of the conversation.
fn items(message: &Message) -> Vec<Value> {
    match message.role {
        Role::User => said(message),
        Role::Assistant => answered(message),
    }
}

fn said(message: &Message) -> Vec<Value> {
    let mut items = Vec::new();
    let mut content = Vec::new();
    for block in &message.blocks {
        match block {
            Block::ToolResult {
                call_id,
                content,
                is_error,
            } => items.push(json!({
                "type": "function_call_output",
                "call_id": call_id,
                "output": output(content, *is_error),
            })),
            Block::Text(text) => content.push(input_text(text)),
            Block::Image {
                media_type,
                data_base64,
            } => content.push(input_image(media_type, data_base64)),
            Block::ToolCall(_) | Block::Native { .. } => {}
        }
    }
    if !content.is_empty() {
        items.push(json!({"type": "message", "role": "user", "content": content}));
    }
    items
}

/// What a call came to: text where it is nothing else, since some servers take no list.
fn output(parts: &[ResultPart], is_error: bool) -> Value {
    let sign = if is_error { ERROR_SIGN } else { "" };
    match parts {
        [] => format!("{sign}{NO_MESSAGE}").into(),
        [ResultPart::Text(text)] => format!("{sign}{text}").into(),
        parts => {
            let sign = is_error.then(|| input_text(ERROR_SIGN.trim_end()));
            let written = parts.iter().map(|part| match part {
                ResultPart::Text(text) => input_text(text),
                ResultPart::Image {
                    media_type,
                    data_base64,
                } => input_image(media_type, data_base64),
            });
            sign.into_iter().chain(written).collect()
        }
    }
}

fn input_text(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

fn input_image(media_type: &str, data_base64: &str) -> Value {
    json!({"type": "input_image", "image_url": data_url(media_type, data_base64)})
}

/// A model's items. A thought is refused without the item that came after it.
fn answered(message: &Message) -> Vec<Value> {
    let mut items = message.blocks.iter().filter_map(item).collect::<Vec<_>>();
    while items.last().is_some_and(|item| item["type"] == "reasoning") {
        items.pop();
    }
    items
}

fn item(block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) => Some(json!({
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": text}],
        })),
        Block::ToolCall(call) => Some(json!({
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": if call.arguments_text.is_empty() { "{}" } else { &call.arguments_text },
        })),
        Block::Native { value, .. } => Some(value.clone()),
        Block::Image { .. } | Block::ToolResult { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::openai::responses::Responses;
    use crate::repair::tests::{any_conversation, asked};
    use crate::wire::readied;
    use crate::{Preset, Provider};

    proptest! {
        /// Whatever a conversation holds and whoever wrote it, the protocol accepts its shape.
        #[test]
        fn bodies_have_a_shape_the_protocol_accepts(messages in any_conversation()) {
            let preset = Preset::named("openai").unwrap().clone();
            let base_url = "http://localhost".into();
            let wire = Responses::of(&Provider { name: "openai".into(), preset, base_url, key: None, credentials: None }).unwrap();
            let body = body(&readied(&wire, asked("m", messages)));
            let items = body["input"].as_array().unwrap();
            let id = |item: &Value| item["call_id"].as_str().unwrap().to_owned();
            let mut calls = BTreeSet::new();
            let mut answered = BTreeSet::new();
            for (place, item) in items.iter().enumerate() {
                match item["type"].as_str().unwrap() {
                    "function_call" => prop_assert!(calls.insert(id(item)) && id(item).len() <= 64),
                    "function_call_output" => prop_assert!(calls.contains(&id(item)) && answered.insert(id(item))),
                    "message" => prop_assert_ne!(&item["content"], &json!([])),
                    "reasoning" => {
                        let next = items.get(place + 1).unwrap();
                        let own = next["role"] == "assistant" || ["reasoning", "function_call"].iter().any(|kind| next["type"] == *kind);
                        prop_assert!(own, "a thought before {next}");
                    }
                    other => prop_assert!(false, "{other} is another provider's"),
                }
            }
            prop_assert_eq!(calls, answered);
        }
    }
}
