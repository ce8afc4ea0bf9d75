//! The message vocabulary every wire translates from and to. Blocks keep what a provider sent in
//! its own form and order, so that a conversation can be replayed without loss. No wire format
//! is known here.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who wrote a message. The system prompt is not a message: it stands in
/// [`Request::system`](crate::Request).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A person, or the program speaking for one (tool results are user messages).
    User,
    /// The model.
    Assistant,
}

/// One message of a conversation: blocks in the order they were written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who wrote it.
    pub role: Role,
    /// Its content, in order.
    pub blocks: Vec<Block>,
}

impl Message {
    /// A user message.
    pub fn user(blocks: Vec<Block>) -> Self {
        Self {
            role: Role::User,
            blocks,
        }
    }

    /// An assistant message, usually the blocks of a [`Response`](crate::Response).
    pub fn assistant(blocks: Vec<Block>) -> Self {
        Self {
            role: Role::Assistant,
            blocks,
        }
    }

    /// The plain text blocks, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// Plain text.
    Text(String),
    /// A picture.
    Image {
        /// Such as `image/png`.
        media_type: String,
        /// The picture's bytes in standard base64.
        data_base64: String,
    },
    /// The model asks for a tool.
    ToolCall(ToolCall),
    /// What a tool call came to; belongs in the user message after the call.
    ToolResult {
        /// [`ToolCall::id`] of the call answered.
        call_id: String,
        /// What the model reads.
        content: Vec<ResultPart>,
        /// True when the call failed or was refused.
        is_error: bool,
    },
    /// Something only its provider understands (signed thinking, redacted thinking, …), kept
    /// verbatim. It is sent back to that provider in place and to no other.
    Native {
        /// The provider that wrote it, such as `anthropic`.
        provider: String,
        /// The block exactly as the provider's protocol has it.
        value: Value,
    },
}

/// A call the model wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id; unique within a conversation.
    pub id: String,
    /// The name as written; it may name no tool at all.
    pub name: String,
    /// The arguments' JSON text exactly as the model wrote it: possibly malformed, never repaired.
    pub arguments_text: String,
}

/// A piece of a tool's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultPart {
    /// Plain text.
    Text(String),
    /// A picture.
    Image {
        /// Such as `image/png`.
        media_type: String,
        /// The picture's bytes in standard base64.
        data_base64: String,
    },
}
