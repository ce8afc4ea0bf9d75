//! Our request as the body of Anthropic's. The only place that knows both shapes; it sends
//! nothing.

use serde_json::{Map, Value, json};

use super::family::Family;
use crate::repair::{NO_MESSAGE, object_of};
use crate::{Block, Effort, Message, ModelSettings, Request, ResultPart, Role, ToolSpec};

/// How many of the latest user messages end with a cache breakpoint: the newest, for the next
/// request, and the one before it, which the last request wrote.
const CACHED_MESSAGES: usize = 2;

/// The body of a streamed request. `request.settings` must have been fitted.
pub(crate) fn body(request: &Request) -> Value {
    let settings = &request.settings;
    let mut body = Map::new();
    body.insert("model".into(), settings.model.as_str().into());
    body.insert("max_tokens".into(), settings.max_output.into());
    body.insert("stream".into(), true.into());
    body.extend(thinking_fields(settings));
    if let Some(temperature) = settings.temperature {
        body.insert("temperature".into(), temperature.into());
    }
    if !request.tools.is_empty() {
        body.insert("tools".into(), tools(&request.tools));
    }
    if !request.system.trim().is_empty() {
        let mut system = json!({"type": "text", "text": request.system});
        break_cache_after(&mut system);
        body.insert("system".into(), json!([system]));
    }
    body.insert("messages".into(), messages(&request.messages));
    Value::Object(body)
}

/// How much to think, in the fields Anthropic's models take wherever they answer. `settings` have
/// been fitted.
pub(crate) fn thinking_fields(settings: &ModelSettings) -> Map<String, Value> {
    let mut fields = Map::new();
    if let Some(thinking) = thinking(settings) {
        fields.insert("thinking".into(), thinking);
    }
    if let Some(effort) = adaptive_effort(settings) {
        fields.insert("output_config".into(), json!({"effort": effort.word()}));
    }
    fields
}

fn thinking(settings: &ModelSettings) -> Option<Value> {
    let family = Family::of(&settings.model);
    if let Some(budget) = settings.thinking_budget {
        return Some(json!({"type": "enabled", "budget_tokens": budget}));
    }
    match settings.effort {
        Some(Effort::None) if family.can_disable => Some(json!({"type": "disabled"})),
        Some(_) if adaptive_effort(settings).is_some() => Some(json!({"type": "adaptive", "display": "summarized"})),
        _ => None,
    }
}

fn adaptive_effort(settings: &ModelSettings) -> Option<Effort> {
    let effort = settings.effort.filter(|effort| *effort != Effort::None)?;
    Family::of(&settings.model).effort(effort)
}

/// Tools by name, so that the prefix a provider caches does not depend on the caller's order.
fn tools(tools: &[ToolSpec]) -> Value {
    let mut sorted = tools.iter().collect::<Vec<_>>();
    sorted.sort_by(|one, other| one.name.cmp(&other.name));
    let mut written = sorted
        .into_iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "input_schema": tool.schema,
            })
        })
        .collect::<Vec<_>>();
    if let Some(last) = written.last_mut() {
        break_cache_after(last);
    }
    Value::Array(written)
}

/// The conversation, which has been repaired.
fn messages(messages: &[Message]) -> Value {
    let mut turns = messages
        .iter()
        .map(|message| (message.role, message.blocks.iter().map(block).collect::<Vec<_>>()))
        .collect::<Vec<_>>();
    let users = turns.iter_mut().filter(|(role, _)| *role == Role::User);
    for (_, blocks) in users.rev().take(CACHED_MESSAGES) {
        if let Some(last) = blocks.last_mut() {
            break_cache_after(last);
        }
    }
    turns
        .into_iter()
        .map(|(role, content)| {
            let role = match role {
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            json!({"role": role, "content": content})
        })
        .collect()
}

fn block(block: &Block) -> Value {
    match block {
        Block::Text(text) => text_block(text),
        Block::Image {
            media_type,
            data_base64,
        } => image_block(media_type, data_base64),
        Block::ToolCall(call) => json!({
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": object_of(&call.arguments_text),
        }),
        Block::ToolResult {
            call_id,
            content,
            is_error,
        } => result_block(call_id, content, *is_error),
        Block::Native { value, .. } => value.clone(),
    }
}

fn result_block(call_id: &str, content: &[ResultPart], is_error: bool) -> Value {
    let mut parts = content
        .iter()
        .filter_map(|part| match part {
            ResultPart::Text(text) => (!text.trim().is_empty()).then(|| text_block(text)),
            ResultPart::Image {
                media_type,
                data_base64,
            } => Some(image_block(media_type, data_base64)),
        })
        .collect::<Vec<_>>();
    if parts.is_empty() && is_error {
        // The protocol refuses an error without content.
        parts.push(text_block(NO_MESSAGE));
    }
    let mut result = json!({
        "type": "tool_result",
        "tool_use_id": call_id,
        "content": parts,
    });
    if is_error && let Some(object) = result.as_object_mut() {
        object.insert("is_error".into(), true.into());
    }
    result
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image_block(media_type: &str, data_base64: &str) -> Value {
    json!({
        "type": "image",
        "source": {"type": "base64", "media_type": media_type, "data": data_base64},
    })
}

fn break_cache_after(block: &mut Value) {
    if let Some(object) = block.as_object_mut() {
        object.insert("cache_control".into(), json!({"type": "ephemeral"}));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::repair::tests::{any_conversation, asked};

    fn is_result(block: &Value) -> bool {
        block["type"] == "tool_result"
    }

    proptest! {
        /// Whatever a conversation holds, the protocol accepts its shape.
        #[test]
        fn bodies_have_a_shape_the_protocol_accepts(messages in any_conversation()) {
            let wire = crate::anthropic::tests::wire();
            let body = body(&crate::wire::readied(&wire, asked("m", messages)));
            let turns = body["messages"].as_array().unwrap();
            for pair in turns.windows(2) {
                prop_assert_ne!(&pair[0]["role"], &pair[1]["role"]);
                let ids = |turn: &Value, kind: &str, key: &str| {
                    let blocks = turn["content"].as_array().unwrap().iter();
                    blocks.filter(|block| block["type"] == kind).map(|block| block[key].clone()).collect::<Vec<_>>()
                };
                prop_assert_eq!(ids(&pair[0], "tool_use", "id"), ids(&pair[1], "tool_result", "tool_use_id"));
            }
            prop_assert!(turns.first().is_none_or(|turn| turn["role"] == "user"));
            for turn in turns {
                let blocks = turn["content"].as_array().unwrap();
                prop_assert!(!blocks.is_empty());
                if turn["role"] == "user" {
                    prop_assert!(blocks.is_sorted_by_key(|block| !is_result(block)));
                }
                for block in blocks {
                    prop_assert_ne!(block["text"].as_str().map(str::trim), Some(""));
                    prop_assert!(block["type"] != "tool_use" || block["input"].is_object());
                    let empty_error = block["is_error"] == true && block["content"] == json!([]);
                    prop_assert!(!empty_error);
                    let marked_thinking = block["type"] == "thinking" && !block["cache_control"].is_null();
                    prop_assert!(!marked_thinking);
                }
            }
            // The protocol takes four breakpoints at most.
            let breakpoints = body.to_string().matches("cache_control").count();
            prop_assert!(breakpoints <= 4, "{} breakpoints", breakpoints);
        }
    }
}
