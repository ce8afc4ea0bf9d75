//! Putting Bedrock's events together into one answer. Pure: text in, parts out.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::frame::{CallStart, Delta, Frame, Metadata, ReasoningDelta};
use crate::wire::{Assembly, CallIds, Framing, Growth, cut_off, malformed, shown};
use crate::{Block, ErrorKind, ModelError, Part, Partial, Response, StopReason, ToolCall, Usage};

/// An answer so far.
#[derive(Debug)]
pub(crate) struct Answer {
    provider: String,
    /// The model asked, until a router says which it chose.
    model: String,
    ids: CallIds,
    begun: bool,
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
    Call { id: String, name: String, pieces: String },
    Reasoning { text: String, signature: String },
    Redacted(Vec<u8>),
}

impl Answer {
    /// Nothing of it has come yet.
    pub(crate) fn new(provider: String, model: String, ids: CallIds) -> Self {
        Self {
            provider,
            model,
            ids,
            begun: false,
            blocks: BTreeMap::new(),
            stop: None,
            usage: Usage::default(),
            growth: Growth::default(),
        }
    }

    fn begun(&self) -> Result<(), ModelError> {
        if self.begun {
            Ok(())
        } else {
            Err(malformed("a block before the answer begins"))
        }
    }

    fn begin_call(&mut self, index: u64, call: &CallStart) -> Result<Vec<Part>, ModelError> {
        self.begun()?;
        if self.blocks.contains_key(&index) {
            return Err(malformed(format!("block {index} begins twice")));
        }
        self.growth.add(call.name.len())?;
        let id = self.ids.take(&call.tool_use_id);
        let name = call.name.clone();
        let content = Content::Call {
            id: id.clone(),
            name: name.clone(),
            pieces: String::new(),
        };
        self.blocks.insert(index, Growing { content, closed: false });
        Ok(vec![Part::CallStarted { id, name }])
    }

    /// Adds to a block; blocks of text and of reasoning begin with their first piece.
    fn grow(&mut self, index: u64, delta: Delta) -> Result<Vec<Part>, ModelError> {
        self.begun()?;
        let part = if let Some(more) = delta.text {
            self.growth.add(more.len())?;
            match self.content(index, || Content::Text(String::new()))? {
                Content::Text(text) => text.push_str(&more),
                _ => return Err(mixed(index)),
            }
            shown(more, Part::Text)
        } else if let Some(more) = delta.tool_use {
            self.growth.add(more.input.len())?;
            match self
                .blocks
                .get_mut(&index)
                .map(|block| (&mut block.content, block.closed))
            {
                Some((Content::Call { id, pieces, .. }, false)) => {
                    pieces.push_str(&more.input);
                    let id = id.clone();
                    shown(more.input, |text| Part::CallArguments { id, text })
                }
                _ => return Err(malformed(format!("block {index} is no open call"))),
            }
        } else if let Some(more) = delta.reasoning_content {
            self.reason(index, more)?
        } else {
            None
        };
        Ok(part.into_iter().collect())
    }

    fn reason(&mut self, index: u64, more: ReasoningDelta) -> Result<Option<Part>, ModelError> {
        if let Some(more) = more.redacted_content {
            let bytes = BASE64_STANDARD
                .decode(&more)
                .map_err(|_| malformed("redacted reasoning is no base64"))?;
            self.growth.add(bytes.len())?;
            match self.content(index, || Content::Redacted(Vec::new()))? {
                Content::Redacted(begun) => begun.extend(bytes),
                _ => return Err(mixed(index)),
            }
            return Ok(None);
        }
        let [words, sign] = [more.text, more.signature].map(Option::unwrap_or_default);
        self.growth.add(words.len().saturating_add(sign.len()))?;
        let empty = || Content::Reasoning {
            text: String::new(),
            signature: String::new(),
        };
        match self.content(index, empty)? {
            Content::Reasoning { text, signature } => {
                text.push_str(&words);
                signature.push_str(&sign);
            }
            _ => return Err(mixed(index)),
        }
        Ok(shown(words, Part::Thinking))
    }

    /// The open block at `index`, begun as `empty` if nothing is there.
    fn content(&mut self, index: u64, empty: impl FnOnce() -> Content) -> Result<&mut Content, ModelError> {
        let block = self.blocks.entry(index).or_insert_with(|| Growing {
            content: empty(),
            closed: false,
        });
        if block.closed {
            return Err(malformed(format!("block {index} is not open")));
        }
        Ok(&mut block.content)
    }

    fn close(&mut self, index: u64) -> Result<(), ModelError> {
        // A block without a piece in it has only its end.
        let Some(block) = self.blocks.get_mut(&index) else {
            return Ok(());
        };
        if std::mem::replace(&mut block.closed, true) {
            return Err(malformed(format!("block {index} is not open")));
        }
        Ok(())
    }

    /// The blocks that can be carried on with, in their order.
    fn kept(&self) -> Vec<Block> {
        let kept = self.blocks.values().filter(|block| match &block.content {
            Content::Text(text) => !text.is_empty(),
            Content::Reasoning { signature, .. } => block.closed && !signature.is_empty(),
            Content::Call { .. } | Content::Redacted(_) => block.closed,
        });
        kept.map(|block| block.whole(&self.provider)).collect()
    }

    fn count(&mut self, metadata: &Metadata) {
        self.usage = metadata.usage.usage();
        if let Some(model) = metadata.invoked_model() {
            self.model = model.into();
        }
    }
}

impl Assembly for Answer {
    const FRAMING: Framing = Framing::AmazonEventStream;

    /// The counts come last and end the answer.
    fn accept(&mut self, data: &str) -> Result<Vec<Part>, ModelError> {
        let frame: Frame =
            serde_json::from_str(data).map_err(|error| malformed(format!("an event that cannot be read: {error}")))?;
        if let Some(exception) = frame.exception {
            return Err(exception.read());
        }
        if frame.message_start.is_some() && std::mem::replace(&mut self.begun, true) {
            return Err(malformed("the answer begins twice"));
        }
        if let Some(begun) = frame.content_block_start
            && let Some(call) = begun.start.tool_use
        {
            return self.begin_call(begun.content_block_index, &call);
        }
        if let Some(more) = frame.content_block_delta {
            return self.grow(more.content_block_index, more.delta);
        }
        if let Some(ended) = frame.content_block_stop {
            self.close(ended.content_block_index)?;
        }
        if let Some(ended) = frame.message_stop {
            self.stop = Some(stop_reason(ended.stop_reason)?);
        }
        if let Some(metadata) = frame.metadata {
            self.count(&metadata);
            if self.stop.is_some() {
                return Ok(vec![Part::Done(self.end()?)]);
            }
        }
        Ok(Vec::new())
    }

    fn end(&mut self) -> Result<Response, ModelError> {
        let Some(stop) = &self.stop else {
            return Err(cut_off());
        };
        if self.blocks.values().any(|block| !block.closed) {
            return Err(malformed("the answer ends inside a block"));
        }
        Ok(Response {
            blocks: self.kept(),
            stop: stop.clone(),
            usage: self.usage,
            actual_model: self.model.clone(),
            cursor: None,
        })
    }

    fn partial(&self) -> Partial {
        Partial {
            blocks: self.kept(),
            usage: self.usage,
        }
    }
}

impl Growing {
    fn whole(&self, provider: &str) -> Block {
        let native = |reasoning: Value| Block::Native {
            provider: provider.into(),
            value: json!({"reasoningContent": reasoning}),
        };
        match &self.content {
            Content::Text(text) => Block::Text(text.clone()),
            Content::Call { id, name, pieces } => Block::ToolCall(ToolCall {
                id: id.clone(),
                name: name.clone(),
                arguments_text: if pieces.is_empty() { "{}".into() } else { pieces.clone() },
            }),
            Content::Reasoning { text, signature } => {
                native(json!({"reasoningText": {"text": text, "signature": signature}}))
            }
            Content::Redacted(bytes) => native(json!({"redactedContent": BASE64_STANDARD.encode(bytes)})),
        }
    }
}

fn mixed(index: u64) -> ModelError {
    malformed(format!("block {index} is of two kinds"))
}

/// Why it stopped. What the service itself could not read is no answer: asked again, the model
/// mostly writes a sound one.
fn stop_reason(word: String) -> Result<StopReason, ModelError> {
    Ok(match word.as_str() {
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "guardrail_intervened" | "content_filtered" | "refusal" => StopReason::Refusal,
        "model_context_window_exceeded" => StopReason::ContextExceeded,
        "malformed_model_output" | "malformed_tool_use" => {
            return Err(ModelError::new(
                ErrorKind::Server,
                format!("{word}: the model wrote what the service cannot read"),
            ));
        }
        _ => StopReason::Other(word),
    })
}
