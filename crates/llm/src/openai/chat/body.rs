//! Our request as the body of a chat completion. The only place that knows both shapes; it sends
//! nothing.

use serde_json::{Map, Value, json};

use super::frame::PARTS;
use crate::openai::dialect::{Dialect, Thinking, Thoughts};
use crate::openai::{ERROR_SIGN, data_url};
use crate::repair::{NO_MESSAGE, object_of};
use crate::{Block, Effort, Message, ModelSettings, Request, ResultPart, Role, ToolSpec};

/// What stands where a server wants a thought and there is none: an empty one counts as missing.
const NO_THOUGHT: &str = " ";
/// What the model is taken to have said between a result and a person, where a server wants that.
const BRIDGE: &str = "I have read the results.";
/// What stands for an image in a result, which itself follows in a person's message.
const IMAGE_FOLLOWS: &str = "(image below)";

/// The body of a streamed request. `request` must have been fitted and repaired.
pub(super) fn body(request: &Request, dialect: &Dialect) -> Value {
    let settings = &request.settings;
    let mut body = Map::new();
    body.insert("model".into(), settings.model.as_str().into());
    body.insert("stream".into(), true.into());
    if dialect.stream_usage {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if let Some(limit) = settings.max_output {
        body.insert(dialect.output_limit.key().into(), limit.into());
    }
    if let Some((key, value)) = thinking(settings, dialect.thinking) {
        body.insert(key.into(), value);
    }
    if let (Thinking::Enable, Some(budget)) = (dialect.thinking, settings.thinking_budget) {
        body.insert("thinking_budget".into(), budget.into());
    }
    if let Some(temperature) = settings.temperature {
        body.insert("temperature".into(), temperature.into());
    }
    if !request.tools.is_empty() {
        body.insert("tools".into(), tools(&request.tools));
    }
    body.insert("messages".into(), messages(request, dialect));
    Value::Object(body)
}

/// What tells the model how hard to think.
fn thinking(settings: &ModelSettings, thinking: Thinking) -> Option<(&'static str, Value)> {
    let (effort, budget) = (settings.effort, settings.thinking_budget);
    let thinks = match (effort, budget) {
        (None, None) => return None,
        (effort, _) => effort != Some(Effort::None),
    };
    Some(match thinking {
        Thinking::Unsaid => return None,
        Thinking::Effort => ("reasoning_effort", effort?.word().into()),
        Thinking::Reasoning => (
            "reasoning",
            match (thinks, budget, effort) {
                (false, ..) => json!({"enabled": false}),
                (true, Some(budget), _) => json!({"max_tokens": budget}),
                (true, None, effort) => json!({"effort": effort?.word()}),
            },
        ),
        Thinking::Switch => ("thinking", json!({"type": if thinks { "enabled" } else { "disabled" }})),
        Thinking::Enable => ("enable_thinking", thinks.into()),
        Thinking::Template => ("chat_template_kwargs", json!({"enable_thinking": thinks})),
    })
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
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.schema,
                },
            })
        })
        .collect()
}

fn messages(request: &Request, dialect: &Dialect) -> Value {
    let mut written = Vec::new();
    if !request.system.trim().is_empty() {
        // Every server knows this role, and `OpenAI` reads it as `developer` where it has that one.
        written.push(json!({"role": "system", "content": request.system}));
    }
    for message in &request.messages {
        match message.role {
            Role::User => said(message, dialect, &mut written),
            Role::Assistant => written.extend(answered(message, dialect)),
        }
    }
    Value::Array(written)
}

/// A person's message: each result is a message of its own, and what a result cannot carry
/// follows with what the person said.
fn said(message: &Message, dialect: &Dialect, written: &mut Vec<Value>) {
    let mut content = Vec::new();
    let mut results = Vec::new();
    for block in &message.blocks {
        match block {
            Block::ToolResult {
                call_id,
                content: parts,
                is_error,
            } => {
                results.push(json!({"role": "tool", "tool_call_id": call_id, "content": words(parts, *is_error)}));
                content.extend(parts.iter().filter_map(picture));
            }
            Block::Text(text) => content.push(json!({"type": "text", "text": text})),
            Block::Image {
                media_type,
                data_base64,
            } => content.push(image(media_type, data_base64)),
            Block::ToolCall(_) | Block::Native { .. } => {}
        }
    }
    let bridged = !results.is_empty() && !dialect.user_after_result;
    written.extend(results);
    if content.is_empty() {
        return;
    }
    if bridged {
        written.push(json!({"role": "assistant", "content": BRIDGE}));
    }
    let content = match content.as_slice() {
        // Some servers take nothing but text here.
        [only] if only["type"] == "text" => only["text"].clone(),
        _ => Value::Array(content),
    };
    written.push(json!({"role": "user", "content": content}));
}

/// The words of a result.
fn words(parts: &[ResultPart], is_error: bool) -> String {
    let texts = parts.iter().map(|part| match part {
        ResultPart::Text(text) => text.as_str(),
        ResultPart::Image { .. } => IMAGE_FOLLOWS,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    match (is_error, text.trim().is_empty()) {
        (false, false) => text,
        (false, true) => NO_MESSAGE.into(),
        (true, false) => format!("{ERROR_SIGN}{text}"),
        (true, true) => format!("{ERROR_SIGN}{NO_MESSAGE}"),
    }
}

fn picture(part: &ResultPart) -> Option<Value> {
    match part {
        ResultPart::Text(_) => None,
        ResultPart::Image {
            media_type,
            data_base64,
        } => Some(image(media_type, data_base64)),
    }
}

fn image(media_type: &str, data_base64: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": data_url(media_type, data_base64)}})
}

/// A model's message, unless it has nothing but thoughts that do not go back.
fn answered(message: &Message, dialect: &Dialect) -> Option<Value> {
    let text = message.texts().collect::<Vec<_>>().join("\n\n");
    let calls = message
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::ToolCall(call) => Some(json!({
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": arguments(&call.arguments_text)},
            })),
            _ => None,
        })
        .collect::<Vec<_>>();
    let thoughts = message.blocks.iter().filter_map(|block| match block {
        Block::Native { value, .. } if dialect.thoughts != Thoughts::Dropped => value.as_object().cloned(),
        _ => None,
    });
    let thoughts = thoughts.flatten().collect::<Map<_, _>>();
    if text.is_empty() && calls.is_empty() && thoughts.is_empty() {
        return None;
    }
    let mut written = Map::new();
    written.insert("role".into(), "assistant".into());
    let silent = text.is_empty() && !calls.is_empty();
    written.insert("content".into(), if silent { Value::Null } else { text.into() });
    written.extend(thoughts);
    with_parts(&mut written);
    if !calls.is_empty() {
        if dialect.thoughts == Thoughts::Wanted {
            written.entry("reasoning_content").or_insert(NO_THOUGHT.into());
        }
        written.insert("tool_calls".into(), calls.into());
    }
    Some(Value::Object(written))
}

/// Thoughts that came as parts of the content go back as such, before the text.
fn with_parts(written: &mut Map<String, Value>) {
    let Some(Value::Array(mut parts)) = written.remove(PARTS) else {
        return;
    };
    if let Some(Value::String(text)) = written.get("content")
        && !text.is_empty()
    {
        parts.push(json!({"type": "text", "text": text}));
    }
    written.insert("content".into(), parts.into());
}

/// The text of a call's arguments, as it was written where that is an object: servers that read it
/// would refuse everything else.
fn arguments(written: &str) -> String {
    match serde_json::from_str(written) {
        Ok(Value::Object(_)) => written.to_owned(),
        _ => object_of(written).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::openai::chat::Chat;
    use crate::repair::tests::{any_conversation, asked};
    use crate::wire::readied;
    use crate::{Preset, Provider};

    fn ids(message: &Value) -> Vec<&str> {
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        calls.map(|call| call["id"].as_str().unwrap()).collect()
    }

    proptest! {
        /// Whatever a conversation holds and whoever wrote it, the protocol accepts its shape.
        #[test]
        fn bodies_have_a_shape_the_protocol_accepts(
            messages in any_conversation(),
            name in prop::sample::select(vec!["openai-chat", "deepseek", "mistral", "openrouter"]),
        ) {
            let preset = Preset::named(name).unwrap().clone();
            let dialect = preset.dialect.clone();
            let base_url = "http://localhost".into();
            let wire = Chat::of(&Provider { name: name.into(), preset, base_url, key: None, credentials: None }).unwrap();
            let body = body(&readied(&wire, asked("m", messages)), &dialect);
            let mut open: Vec<&str> = Vec::new();
            let mut before = "system";
            for message in body["messages"].as_array().unwrap().iter().skip(1) {
                let role = message["role"].as_str().unwrap();
                if role == "tool" {
                    // Results follow their calls at once and in order, and no call is left open.
                    prop_assert!(!open.is_empty());
                    prop_assert_eq!(message["tool_call_id"].as_str().unwrap(), open.remove(0));
                    prop_assert!(!message["content"].as_str().unwrap().is_empty());
                    before = role;
                    continue;
                }
                prop_assert_eq!(&open, &Vec::<&str>::new());
                if role == "assistant" {
                    open = ids(message);
                    for call in message["tool_calls"].as_array().into_iter().flatten() {
                        let arguments = call["function"]["arguments"].as_str().unwrap();
                        prop_assert!(serde_json::from_str::<Map<_, _>>(arguments).is_ok());
                    }
                    let says = !message["content"].is_null() || !open.is_empty();
                    prop_assert!(says);
                    if name == "deepseek" && !open.is_empty() {
                        prop_assert!(!message["reasoning_content"].as_str().unwrap().is_empty());
                    } else if name != "deepseek" {
                        prop_assert!(message["reasoning_content"].is_null());
                    }
                    let exact = name != "mistral" || open.iter().all(|id| id.len() == 9);
                    prop_assert!(exact);
                } else {
                    prop_assert_eq!(role, "user");
                    prop_assert!(name != "mistral" || before != "tool");
                    prop_assert_ne!(&message["content"], &json!(""));
                    prop_assert_ne!(&message["content"], &json!([]));
                }
                before = role;
            }
            prop_assert_eq!(&open, &Vec::<&str>::new());
        }
    }
}
