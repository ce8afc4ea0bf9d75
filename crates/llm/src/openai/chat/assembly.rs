//! Putting the chunks of a chat completion together into one answer. Pure: text in, parts out.

use serde_json::{Map, Value};

use super::call::Calls;
use super::frame::{Chunk, DONE, Delta};
use crate::openai::fault;
use crate::wire::{Assembly, CallIds, Growth, cut_off, malformed, shown};
use crate::{Block, ErrorKind, ModelError, Part, Partial, Response, StopReason, Usage};

/// An answer so far.
#[derive(Debug)]
pub(crate) struct Answer {
    provider: String,
    /// The model that answers; the one asked until the server says.
    model: String,
    /// Thoughts by the field they came in.
    thoughts: Map<String, Value>,
    text: String,
    refused: bool,
    calls: Calls,
    /// Why it stopped, in the server's word.
    finish: Option<String>,
    usage: Usage,
    growth: Growth,
}

impl Answer {
    /// Nothing of it has come yet.
    pub(super) fn new(provider: &str, asked: &str, ids: CallIds) -> Self {
        Self {
            provider: provider.into(),
            model: asked.into(),
            thoughts: Map::new(),
            text: String::new(),
            refused: false,
            calls: Calls::new(ids),
            finish: None,
            usage: Usage::default(),
            growth: Growth::default(),
        }
    }

    fn grow(&mut self, mut delta: Delta) -> Result<Vec<Part>, ModelError> {
        let said = delta.said();
        self.growth.add(said.size())?;
        for (field, value) in said.thoughts {
            keep(&mut self.thoughts, field, value);
        }
        self.refused |= !said.refusal.is_empty();
        let text = said.text + &said.refusal;
        self.text.push_str(&text);
        let mut parts = Vec::new();
        parts.extend(shown(said.thinking, Part::Thinking));
        parts.extend(shown(text, Part::Text));
        for piece in delta.tool_calls.into_iter().flatten() {
            self.growth.add(piece.name().len() + piece.arguments().len())?;
            parts.extend(self.calls.accept(&piece));
        }
        Ok(parts)
    }

    fn stop(&self, word: &str) -> Result<StopReason, ModelError> {
        Ok(match word {
            _ if self.refused => StopReason::Refusal,
            "length" | "max_tokens" => StopReason::MaxTokens,
            "content_filter" | "sensitive" | "refusal" => StopReason::Refusal,
            "model_length" | "model_context_window_exceeded" => StopReason::ContextExceeded,
            "error" | "network_error" | "insufficient_system_resource" | "abort" => {
                return Err(ModelError::new(
                    ErrorKind::Server,
                    format!("the provider gave up in the middle of the answer: {word}"),
                ));
            }
            "stop" | "tool_calls" | "function_call" | "end_turn" | "eos" => {
                if self.calls.is_empty() {
                    StopReason::EndTurn
                } else {
                    StopReason::ToolUse
                }
            }
            other => StopReason::Other(other.into()),
        })
    }

    fn text_block(&self) -> Option<Block> {
        (!self.text.is_empty()).then(|| Block::Text(self.text.clone()))
    }
}

impl Assembly for Answer {
    fn accept(&mut self, data: &str) -> Result<Vec<Part>, ModelError> {
        if data.trim() == DONE {
            return Ok(vec![Part::Done(self.end()?)]);
        }
        let unreadable = |error| malformed(format!("an event that cannot be read: {error}"));
        let value = serde_json::from_str::<Value>(data).map_err(unreadable)?;
        if let Some(error) = fault::told(&value, None) {
            return Err(error);
        }
        let chunk = serde_json::from_value::<Chunk>(value).map_err(unreadable)?;
        if let Some(model) = chunk.model.as_ref().filter(|model| !model.is_empty()) {
            self.model.clone_from(model);
        }
        let (usage, choice) = chunk.read();
        self.usage = usage.unwrap_or(self.usage);
        let Some(choice) = choice else {
            return Ok(Vec::new());
        };
        if let Some(word) = choice.finish_reason.filter(|word| !word.is_empty()) {
            self.finish = Some(word);
        }
        choice.delta.map_or_else(|| Ok(Vec::new()), |delta| self.grow(delta))
    }

    /// It is whole once it says why it stopped; some servers leave out the very last event.
    fn end(&mut self) -> Result<Response, ModelError> {
        let stop = self.stop(&self.finish.clone().ok_or_else(cut_off)?)?;
        let thoughts = (!self.thoughts.is_empty()).then(|| Block::Native {
            provider: self.provider.clone(),
            value: Value::Object(self.thoughts.clone()),
        });
        let blocks = thoughts.into_iter().chain(self.text_block()).chain(self.calls.blocks());
        Ok(Response {
            blocks: blocks.collect(),
            stop,
            usage: self.usage,
            actual_model: self.model.clone(),
            cursor: None,
        })
    }

    /// Nothing says that a call or a thought is whole before the answer is.
    fn partial(&self) -> Partial {
        Partial {
            blocks: self.text_block().into_iter().collect(),
            usage: self.usage,
        }
    }
}

/// Appends a thought to those of its field: text to text, and a part to the part it goes on with.
fn keep(thoughts: &mut Map<String, Value>, field: &str, value: Value) {
    match value {
        Value::String(more) => append(thoughts, field, &more),
        Value::Object(part) => {
            let kept = thoughts.entry(field).or_insert(Value::Array(Vec::new()));
            let Some(parts) = kept.as_array_mut() else {
                return;
            };
            match parts.last_mut().and_then(Value::as_object_mut) {
                Some(last) if last.get("type") == part.get("type") && last.get("index") == part.get("index") => {
                    merge(last, part);
                }
                _ => parts.push(Value::Object(part)),
            }
        }
        _ => {}
    }
}

/// Fields of a part that come in pieces.
const IN_PIECES: [&str; 4] = ["text", "summary", "data", "thinking"];

fn merge(last: &mut Map<String, Value>, part: Map<String, Value>) {
    for (key, value) in part {
        match (last.get_mut(&key), value) {
            (Some(Value::String(_)), Value::String(more)) if IN_PIECES.contains(&key.as_str()) => {
                append(last, &key, &more);
            }
            (Some(Value::Array(pieces)), Value::Array(more)) => pieces.extend(more),
            (None | Some(Value::Null), value) => {
                last.insert(key, value);
            }
            _ => {}
        }
    }
}

fn append(fields: &mut Map<String, Value>, field: &str, more: &str) {
    match fields.get_mut(field) {
        Some(Value::String(text)) => text.push_str(more),
        _ => {
            fields.insert(field.into(), more.into());
        }
    }
}
