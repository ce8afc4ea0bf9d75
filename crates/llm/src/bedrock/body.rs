//! Our request as the body of Bedrock's `Converse`. The only place that knows both shapes; it sends
//! nothing.

use serde_json::{Map, Value, json};

use super::family::{Caches, Family, own_fields};
use crate::repair::{NO_MESSAGE, object_of};
use crate::{Block, Message, ModelSettings, Request, ResultPart, Role, ToolSpec};

/// How many of the latest user messages end with a cache point: the newest, for the next request,
/// and the one before it, which the last request wrote.
const CACHED_MESSAGES: usize = 2;

/// The body of a streamed request, which has been fitted and repaired.
pub(crate) fn body(request: &Request) -> Value {
    let family = Family::of(&request.settings.model);
    let mut body = Map::new();
    if !request.system.trim().is_empty() {
        let text = json!({"text": request.system});
        body.insert("system".into(), cached(vec![text], family, Caches::Conversation));
    }
    if !request.tools.is_empty() {
        let tools = cached(tools(&request.tools), family, Caches::Tools);
        body.insert("toolConfig".into(), json!({"tools": tools}));
    }
    body.insert("messages".into(), messages(&request.messages, family));
    let limits = limits(&request.settings);
    if !limits.is_empty() {
        body.insert("inferenceConfig".into(), limits.into());
    }
    let own = own_fields(&request.settings);
    if !own.is_empty() {
        body.insert("additionalModelRequestFields".into(), own.into());
    }
    Value::Object(body)
}

fn limits(settings: &ModelSettings) -> Map<String, Value> {
    let mut written = Map::new();
    if let Some(most) = settings.max_output {
        written.insert("maxTokens".into(), most.into());
    }
    if let Some(temperature) = settings.temperature {
        written.insert("temperature".into(), temperature.into());
    }
    written
}

/// Tools by name, so that the prefix a provider caches does not depend on the caller's order.
fn tools(tools: &[ToolSpec]) -> Vec<Value> {
    let mut sorted = tools.iter().collect::<Vec<_>>();
    sorted.sort_by(|one, other| one.name.cmp(&other.name));
    let written = sorted.into_iter().map(|tool| {
        json!({"toolSpec": {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": {"json": tool.schema},
        }})
    });
    written.collect()
}

fn messages(messages: &[Message], family: &Family) -> Value {
    let mut turns = messages
        .iter()
        .map(|message| {
            let mut blocks = message
                .blocks
                .iter()
                .filter_map(|block| written(block, family))
                .collect::<Vec<_>>();
            if blocks.is_empty() {
                // The protocol refuses a message without content, and two of one role.
                blocks.push(json!({"text": NO_MESSAGE}));
            }
            (message.role, blocks)
        })
        .collect::<Vec<_>>();
    let users = turns.iter_mut().filter(|(role, _)| *role == Role::User);
    for (_, blocks) in users.rev().take(CACHED_MESSAGES) {
        *blocks = match cached(std::mem::take(blocks), family, Caches::Conversation) {
            Value::Array(blocks) => blocks,
            _ => Vec::new(),
        };
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

/// The blocks, and a cache point behind them where the model takes one there.
fn cached(mut blocks: Vec<Value>, family: &Family, place: Caches) -> Value {
    if family.caches >= place {
        blocks.push(json!({"cachePoint": {"type": "default"}}));
    }
    Value::Array(blocks)
}

/// A block, unless the model refuses to read back what it thought.
fn written(block: &Block, family: &Family) -> Option<Value> {
    Some(match block {
        Block::Text(text) => json!({"text": text}),
        Block::Image {
            media_type,
            data_base64,
        } => image(media_type, data_base64),
        Block::ToolCall(call) => json!({"toolUse": {
            "toolUseId": call.id,
            "name": call.name,
            "input": object_of(&call.arguments_text),
        }}),
        Block::ToolResult {
            call_id,
            content,
            is_error,
        } => json!({"toolResult": result(call_id, content, *is_error, family)}),
        Block::Native { value, .. } => return family.remembers_thinking().then(|| value.clone()),
    })
}

fn result(call_id: &str, content: &[ResultPart], is_error: bool, family: &Family) -> Map<String, Value> {
    let mut parts = content
        .iter()
        .filter_map(|part| match part {
            ResultPart::Text(text) => (!text.trim().is_empty()).then(|| json!({"text": text})),
            ResultPart::Image {
                media_type,
                data_base64,
            } => Some(image(media_type, data_base64)),
        })
        .collect::<Vec<_>>();
    if parts.is_empty() {
        // The protocol refuses a result without content.
        parts.push(json!({"text": NO_MESSAGE}));
    }
    let mut written = Map::new();
    written.insert("toolUseId".into(), call_id.into());
    if is_error && family.marks_errors {
        written.insert("status".into(), "error".into());
    } else if is_error {
        parts.insert(0, json!({"text": "error:"}));
    }
    written.insert("content".into(), parts.into());
    written
}

fn image(media_type: &str, data_base64: &str) -> Value {
    let format = match media_type.strip_prefix("image/").unwrap_or(media_type) {
        "jpg" => "jpeg",
        format => format,
    };
    json!({"image": {"format": format, "source": {"bytes": data_base64}}})
}
