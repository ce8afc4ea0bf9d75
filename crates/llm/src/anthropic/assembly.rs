//! Putting Anthropic's frames together into one answer. Pure: text in, parts out.

use std::collections::BTreeMap;

use serde_json::Value;

use super::frame::{Delta, Frame};
use crate::wire::{Assembly, CallIds, Growth, cut_off, malformed, shown};
use crate::{Block, ModelError, Part, Partial, Response, StopReason, ToolCall, Usage};

/// An answer so far.
#[derive(Debug)]
pub(crate) struct Answer {
    provider: String,
    ids: CallIds,
    /// The model that answers; `None` before the first frame.
    model: Option<String>,
    /// Blocks by the index the protocol gives them, which is their place in the answer.
    blocks: BTreeMap<u64, Growing>,
    stop: Option<StopReason>,
    usage: Usage,
    growth: Growth,
}

/// A block so far.
#[derive(Debug)]
struct Growing {
    content: Content,
    closed: bool,
}

#[derive(Debug)]
enum Content {
    Text(String),
    Call {
        id: String,
        name: String,
        /// Input given at the start, which counts when no pieces follow.
        given: Value,
        pieces: String,
    },
    Native {
        value: Value,
        /// Pieces of the block's `input`, for blocks that have one.
        pieces: String,
    },
}

impl Assembly for Answer {
    fn accept(&mut self, data: &str) -> Result<Vec<Part>, ModelError> {
        let frame =
            serde_json::from_str(data).map_err(|error| malformed(format!("an event that cannot be read: {error}")))?;
        match frame {
            Frame::MessageStart { message } => {
                if self.model.is_some() {
                    return Err(malformed("the answer begins twice"));
                }
                message.usage.apply(&mut self.usage);
                self.model = Some(message.model);
                Ok(Vec::new())
            }
            Frame::ContentBlockStart { index, content_block } => self.begin(index, content_block),
            Frame::ContentBlockDelta { index, delta } => self.grow(index, delta),
            Frame::ContentBlockStop { index } => {
                self.open_block(index)?.close()?;
                Ok(Vec::new())
            }
            Frame::MessageDelta { delta, usage } => {
                usage.apply(&mut self.usage);
                if let Some(reason) = delta.stop_reason {
                    self.stop = Some(stop_reason(reason));
                }
                Ok(Vec::new())
            }
            Frame::MessageStop => Ok(vec![Part::Done(self.end()?)]),
            Frame::Error { error } => Err(error.read(None)),
            Frame::Unknown => Ok(Vec::new()),
        }
    }

    /// It is whole once it says why it stopped and every block is closed; some servers leave out
    /// the very last frame.
    fn end(&mut self) -> Result<Response, ModelError> {
        let (Some(model), Some(stop)) = (&self.model, &self.stop) else {
            return Err(cut_off());
        };
        if self.blocks.values().any(|block| !block.closed) {
            return Err(malformed("the answer ends inside a block"));
        }
        Ok(Response {
            blocks: self.blocks.values().map(|block| block.whole(&self.provider)).collect(),
            stop: stop.clone(),
            usage: self.usage,
            actual_model: model.clone(),
            cursor: None,
        })
    }

    fn partial(&self) -> Partial {
        let blocks = self
            .blocks
            .values()
            .filter(|block| match &block.content {
                Content::Text(text) => !text.is_empty(),
                Content::Call { .. } | Content::Native { .. } => block.closed,
            })
            .map(|block| block.whole(&self.provider))
            .collect();
        let usage = self.usage;
        Partial { blocks, usage }
    }
}

impl Answer {
    /// Nothing of it has come yet.
    pub(crate) fn new(provider: String, ids: CallIds) -> Self {
        Self {
            provider,
            ids,
            model: None,
            blocks: BTreeMap::new(),
            stop: None,
            usage: Usage::default(),
            growth: Growth::default(),
        }
    }

    fn begin(&mut self, index: u64, value: Value) -> Result<Vec<Part>, ModelError> {
        if self.model.is_none() {
            return Err(malformed("a block before the answer begins"));
        }
        if self.blocks.contains_key(&index) {
            return Err(malformed(format!("block {index} begins twice")));
        }
        self.growth.add(value.to_string().len())?;
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        let (content, part) = match text("type") {
            "text" => {
                let text = text("text").to_owned();
                (Content::Text(text.clone()), shown(text, Part::Text))
            }
            "tool_use" => {
                let (id, name) = (self.ids.take(text("id")), text("name").to_owned());
                let part = Part::CallStarted {
                    id: id.clone(),
                    name: name.clone(),
                };
                let given = value.get("input").cloned().unwrap_or_default();
                let pieces = String::new();
                let content = Content::Call {
                    id,
                    name,
                    given,
                    pieces,
                };
                (content, Some(part))
            }
            "" => return Err(malformed(format!("block {index} has no type"))),
            _ => {
                let part = shown(text("thinking").to_owned(), Part::Thinking);
                let pieces = String::new();
                (Content::Native { value, pieces }, part)
            }
        };
        let closed = false;
        self.blocks.insert(index, Growing { content, closed });
        Ok(part.into_iter().collect())
    }

    fn grow(&mut self, index: u64, delta: Delta) -> Result<Vec<Part>, ModelError> {
        self.growth.add(delta.size())?;
        let block = self.open_block(index)?;
        let part = match (&mut block.content, delta) {
            (Content::Text(text), Delta::TextDelta { text: more }) => {
                text.push_str(&more);
                shown(more, Part::Text)
            }
            (Content::Call { id, pieces, .. }, Delta::InputJsonDelta { partial_json }) => {
                pieces.push_str(&partial_json);
                shown(partial_json, |text| Part::CallArguments { id: id.clone(), text })
            }
            (Content::Native { value, .. }, Delta::ThinkingDelta { thinking }) => {
                append(value, "thinking", &thinking);
                shown(thinking, Part::Thinking)
            }
            (Content::Native { value, .. }, Delta::SignatureDelta { signature }) => {
                append(value, "signature", &signature);
                None
            }
            (Content::Native { pieces, .. }, Delta::InputJsonDelta { partial_json }) => {
                pieces.push_str(&partial_json);
                None
            }
            (_, Delta::UnknownDelta) => None,
            (_, delta) => {
                return Err(malformed(format!("block {index} cannot take {delta:?}")));
            }
        };
        Ok(part.into_iter().collect())
    }

    fn open_block(&mut self, index: u64) -> Result<&mut Growing, ModelError> {
        self.blocks
            .get_mut(&index)
            .filter(|block| !block.closed)
            .ok_or_else(|| malformed(format!("block {index} is not open")))
    }
}

impl Growing {
    fn close(&mut self) -> Result<(), ModelError> {
        self.closed = true;
        if let Content::Native { value, pieces } = &mut self.content
            && !pieces.is_empty()
        {
            let input = serde_json::from_str(pieces)
                .map_err(|error| malformed(format!("a block's input is no JSON: {error}")))?;
            if let Some(object) = value.as_object_mut() {
                object.insert("input".into(), input);
            }
        }
        Ok(())
    }

    fn whole(&self, provider: &str) -> Block {
        match &self.content {
            Content::Text(text) => Block::Text(text.clone()),
            Content::Call {
                id,
                name,
                given,
                pieces,
            } => Block::ToolCall(ToolCall {
                id: id.clone(),
                name: name.clone(),
                arguments_text: match given {
                    _ if !pieces.is_empty() => pieces.clone(),
                    Value::Null => "{}".into(),
                    given => given.to_string(),
                },
            }),
            Content::Native { value, .. } => Block::Native {
                provider: provider.into(),
                value: value.clone(),
            },
        }
    }
}

fn append(value: &mut Value, key: &str, more: &str) {
    let Some(object) = value.as_object_mut() else {
        return;
    };
    match object.get_mut(key) {
        Some(Value::String(text)) => text.push_str(more),
        _ => {
            object.insert(key.into(), more.into());
        }
    }
}

fn stop_reason(word: String) -> StopReason {
    match word.as_str() {
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "refusal" => StopReason::Refusal,
        "model_context_window_exceeded" => StopReason::ContextExceeded,
        "pause_turn" => StopReason::Pause,
        _ => StopReason::Other(word),
    }
}
