//! Putting the pieces of Gemini's stream together into one answer. Pure: text in, parts out.

use serde_json::{Map, Value, json};

use super::frame::{Candidate, Chunk};
use crate::wire::{Assembly, CallIds, Growth, cut_off, malformed, shown};
use crate::{Block, ErrorKind, ModelError, Part, Partial, Response, StopReason, ToolCall, Usage};

/// An answer so far.
#[derive(Debug)]
pub(crate) struct Pieces {
    provider: String,
    /// The model that answers: first the one asked, then the one that said it did.
    model: String,
    ids: CallIds,
    blocks: Vec<Block>,
    stop: Option<StopReason>,
    usage: Usage,
    growth: Growth,
}

impl Pieces {
    pub(crate) fn new(provider: String, model: String, ids: CallIds) -> Self {
        Self {
            provider,
            model,
            ids,
            blocks: Vec::new(),
            stop: None,
            usage: Usage::default(),
            growth: Growth::default(),
        }
    }

    fn take(&mut self, candidate: Candidate) -> Result<Vec<Part>, ModelError> {
        let mut shown = Vec::new();
        for part in candidate.content.map(|content| content.parts).unwrap_or_default() {
            self.growth.add(bytes(part.values()))?;
            shown.extend(self.part(part));
        }
        if let Some(reason) = candidate.finish_reason {
            self.stop = Some(stop_reason(reason, candidate.finish_message)?);
        }
        Ok(shown)
    }

    /// Keeps a part. What it says in our vocabulary is a block of its own; whatever else it holds,
    /// such as a signature, is kept behind that in the provider's form.
    fn part(&mut self, mut part: Map<String, Value>) -> Vec<Part> {
        if let Some(Value::Object(call)) = part.get_mut("functionCall") {
            let call = self.call(call);
            let arguments = call.arguments_text.clone();
            let shown = vec![
                Part::CallStarted {
                    id: call.id.clone(),
                    name: call.name.clone(),
                },
                Part::CallArguments {
                    id: call.id.clone(),
                    text: arguments,
                },
            ];
            let plain = part == bare_call(&call.name);
            self.blocks.push(Block::ToolCall(call));
            if !plain {
                self.keep(part);
            }
            return shown;
        }
        let text = part.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
        let plain = part.keys().all(|key| matches!(key.as_str(), "text" | "thought"));
        if part.get("thought") == Some(&Value::Bool(true)) {
            if !plain || !self.more_thought(&text) {
                self.keep(part);
            }
            return shown(text, Part::Thinking).into_iter().collect();
        }
        if !text.is_empty() {
            match self.blocks.last_mut() {
                Some(Block::Text(begun)) => begun.push_str(&text),
                _ => self.blocks.push(Block::Text(text.clone())),
            }
        }
        if !plain {
            self.keep(part);
        }
        shown(text, Part::Text).into_iter().collect()
    }

    /// A call; its arguments are taken out of the part.
    fn call(&mut self, call: &mut Map<String, Value>) -> ToolCall {
        let arguments = call.remove("args").unwrap_or_else(|| json!({}));
        let text = |key: &str| call.get(key).and_then(Value::as_str).unwrap_or_default();
        ToolCall {
            id: self.ids.take(text("id")),
            name: text("name").to_owned(),
            arguments_text: arguments.to_string(),
        }
    }

    /// Adds to the thought just begun, unless it is signed: a signature is for what it stands with.
    fn more_thought(&mut self, more: &str) -> bool {
        let Some(Block::Native { value, .. }) = self.blocks.last_mut() else {
            return false;
        };
        let unsigned = value.get("thought").is_some() && value.get("thoughtSignature").is_none();
        match value.get_mut("text") {
            Some(Value::String(begun)) if unsigned => begun.push_str(more),
            _ => return false,
        }
        true
    }

    fn keep(&mut self, part: Map<String, Value>) {
        self.blocks.push(Block::Native {
            provider: self.provider.clone(),
            value: Value::Object(part),
        });
    }

    fn calls(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::ToolCall(_)))
    }
}

impl Assembly for Pieces {
    fn accept(&mut self, data: &str) -> Result<Vec<Part>, ModelError> {
        let chunk: Chunk =
            serde_json::from_str(data).map_err(|error| malformed(format!("an event that cannot be read: {error}")))?;
        if let Some(fault) = chunk.error {
            return Err(fault.read(None));
        }
        if let Some(model) = chunk.model_version {
            self.model = model;
        }
        if let Some(count) = chunk.usage_metadata {
            self.usage = count.usage();
        }
        if chunk
            .prompt_feedback
            .is_some_and(|feedback| feedback.block_reason.is_some())
        {
            self.stop = Some(StopReason::Refusal);
        }
        chunk
            .candidates
            .into_iter()
            .next()
            .map_or(Ok(Vec::new()), |candidate| self.take(candidate))
    }

    /// The whole answer. Only the end of the stream ends it: counts may come after the reason, and
    /// some servers give a reason with every piece.
    fn end(&mut self) -> Result<Response, ModelError> {
        let Some(stop) = &self.stop else {
            return Err(cut_off());
        };
        let stop = match stop {
            StopReason::EndTurn if self.calls() => StopReason::ToolUse,
            stop => stop.clone(),
        };
        Ok(Response {
            blocks: self.blocks.clone(),
            stop,
            usage: self.usage,
            actual_model: self.model.clone(),
            cursor: None,
        })
    }

    fn partial(&self) -> Partial {
        Partial {
            blocks: self.blocks.clone(),
            usage: self.usage,
        }
    }
}

/// What is left of a part that is nothing but a call, once the arguments are taken out.
fn bare_call(name: &str) -> Map<String, Value> {
    Map::from_iter([("functionCall".to_owned(), json!({"name": name}))])
}

/// Bytes of text and numbers, about.
fn bytes<'a>(values: impl Iterator<Item = &'a Value>) -> usize {
    values
        .map(|value| match value {
            Value::String(text) => text.len(),
            other => other.to_string().len(),
        })
        .sum()
}

/// Why it stopped. A call the provider itself could not read is no answer: asked again, the model
/// mostly writes a sound one.
fn stop_reason(word: String, words: Option<String>) -> Result<StopReason, ModelError> {
    Ok(match word.as_str() {
        "STOP" => StopReason::EndTurn,
        "MAX_TOKENS" => StopReason::MaxTokens,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => StopReason::Refusal,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => {
            let words = words.unwrap_or_else(|| "the model wrote a tool call that cannot be read".into());
            return Err(ModelError::new(ErrorKind::Server, format!("{word}: {words}")));
        }
        _ => StopReason::Other(word),
    })
}
