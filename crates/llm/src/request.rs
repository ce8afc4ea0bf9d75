//! What one model is asked: system prompt, tools, conversation and settings, in a form no
//! provider dictates.

use serde_json::Value;

use crate::{Block, Message, ModelSettings, ResultPart};

/// One request. Everything a provider's answer may depend on stands here.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The system prompt; byte-stable between the requests of one mode, so that caches hit.
    pub system: String,
    /// The tools the model sees. A wire sends them sorted by name.
    pub tools: Vec<ToolSpec>,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// Provider, model and its knobs.
    pub settings: ModelSettings,
    /// What the model implementation returned last in [`Response::cursor`](crate::Response) or
    /// [`ModelError::cursor`](crate::ModelError); opaque to everyone else.
    pub cursor: Option<String>,
    /// Id of the entering message (a run's first, a step's) this request ends with, while it has
    /// no answer yet. A retry of the request keeps the same id.
    pub entering: Option<String>,
    /// Who asks; never sent to a provider.
    pub context: RequestContext,
}

/// Labels of the run that asks, for the scripted model. Opaque text to this room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestContext {
    /// The run's mode.
    pub mode: String,
    /// The agent's name, if it has one.
    pub agent: Option<String>,
    /// The plan step carried out, if any.
    pub step: Option<String>,
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Unique within a request.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of the arguments; an object schema.
    pub schema: Value,
}

/// Bytes and the tokens they are estimated to be (a fourth of text, rounded up, and the same for each
/// picture: no provider's tokenizer is consulted).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// Bytes of content, without the wire's own punctuation.
    pub bytes: u64,
    /// Estimated tokens.
    pub tokens: u64,
}

/// Tokens that a picture is estimated to be, however many bytes it has.
const PICTURE: u64 = 1_600;

impl Size {
    fn of_bytes(bytes: usize) -> Self {
        let bytes = bytes as u64;
        Self {
            bytes,
            tokens: bytes.div_ceil(4),
        }
    }

    /// How large the name, the description and the schema of a tool are.
    pub fn of_tool(tool: &ToolSpec) -> Self {
        Self::of_bytes(tool_bytes(tool))
    }

    /// How large these messages are.
    pub fn of_messages(messages: &[Message]) -> Self {
        let blocks = || messages.iter().flat_map(|message| &message.blocks);
        let text = Self::of_bytes(blocks().map(text_bytes).sum());
        let pictures: Vec<usize> = blocks().flat_map(pictures).collect();
        Self {
            bytes: text.bytes + pictures.iter().sum::<usize>() as u64,
            tokens: text.tokens + PICTURE * pictures.len() as u64,
        }
    }
}

/// How large a request is, part by part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestSize {
    /// The system prompt.
    pub system: Size,
    /// Names, descriptions and schemas of the tools.
    pub tools: Size,
    /// The conversation, images as base64.
    pub messages: Size,
}

impl RequestSize {
    /// All parts together.
    pub fn total(&self) -> Size {
        let parts = [self.system, self.tools, self.messages];
        Size {
            bytes: parts.iter().map(|part| part.bytes).sum(),
            tokens: parts.iter().map(|part| part.tokens).sum(),
        }
    }
}

impl Request {
    /// How large this request is.
    pub fn size(&self) -> RequestSize {
        RequestSize {
            system: Size::of_bytes(self.system.len()),
            tools: Size::of_bytes(self.tools.iter().map(tool_bytes).sum()),
            messages: Size::of_messages(&self.messages),
        }
    }
}

fn tool_bytes(tool: &ToolSpec) -> usize {
    tool.name.len() + tool.description.len() + tool.schema.to_string().len()
}

fn text_bytes(block: &Block) -> usize {
    match block {
        Block::Text(text) => text.len(),
        Block::Image { .. } => 0,
        Block::ToolCall(call) => call.name.len() + call.arguments_text.len(),
        Block::ToolResult { content, .. } => content
            .iter()
            .map(|part| match part {
                ResultPart::Text(text) => text.len(),
                ResultPart::Image { .. } => 0,
            })
            .sum(),
        Block::Native { value, .. } => value.to_string().len(),
    }
}

/// The bytes of each picture of a block, as base64.
fn pictures(block: &Block) -> Vec<usize> {
    match block {
        Block::Image { data_base64, .. } => vec![data_base64.len()],
        Block::ToolResult { content, .. } => content
            .iter()
            .filter_map(|part| match part {
                ResultPart::Image { data_base64, .. } => Some(data_base64.len()),
                ResultPart::Text(_) => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn size_counts_every_part_and_rounds_tokens_up() {
        let request = Request {
            system: "12345".into(),
            tools: vec![ToolSpec {
                name: "ab".into(),
                description: "cd".into(),
                schema: json!({"type": "object"}),
            }],
            messages: vec![
                Message::user(vec![
                    Block::Text("é".into()),
                    Block::Image {
                        media_type: "image/png".into(),
                        data_base64: "AAAA".into(),
                    },
                ]),
                Message::assistant(vec![Block::ToolCall(crate::ToolCall {
                    id: "not counted".into(),
                    name: "ab".into(),
                    arguments_text: "{}".into(),
                })]),
                Message::user(vec![Block::ToolResult {
                    call_id: "not counted".into(),
                    content: vec![ResultPart::Text("xyz".into())],
                    is_error: false,
                }]),
            ],
            settings: ModelSettings::new("p", "m"),
            cursor: None,
            entering: None,
            context: RequestContext::default(),
        };
        let size = request.size();
        assert_eq!(size.system, Size { bytes: 5, tokens: 2 });
        // "ab" + "cd" + {"type":"object"}
        assert_eq!(size.tools, Size { bytes: 21, tokens: 6 });
        assert_eq!(
            size.messages,
            Size {
                bytes: 2 + 4 + 4 + 3,
                tokens: 3 + PICTURE
            }
        );
        assert_eq!(
            size.total(),
            Size {
                bytes: 39,
                tokens: 11 + PICTURE
            }
        );
    }
}
