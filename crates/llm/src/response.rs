//! What a model answered, once its stream has ended well.

use serde::{Deserialize, Serialize};

use crate::Block;

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// The answer in the order the model wrote it; may be empty.
    pub blocks: Vec<Block>,
    /// Why it ended.
    pub stop: StopReason,
    /// What it cost in tokens.
    pub usage: Usage,
    /// The model that answered, in the provider's words; may differ from the one asked.
    pub actual_model: String,
    /// Opaque; goes into the next [`Request::cursor`](crate::Request).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It had said what it wanted.
    EndTurn,
    /// It waits for tool results.
    ToolUse,
    /// The output limit cut it off; a last tool call may be incomplete.
    MaxTokens,
    /// It declined to answer.
    Refusal,
    /// The context window is full.
    ContextExceeded,
    /// The provider wants the answer sent back to go on with it.
    Pause,
    /// A reason this version does not know, in the provider's word.
    Other(String),
}

/// Tokens by kind. The kinds do not overlap: input from a cache is not part of `input`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    /// Input read in full.
    #[serde(alias = "input_tokens")]
    pub input: u64,
    /// Output, thinking included.
    #[serde(alias = "output_tokens")]
    pub output: u64,
    /// Input read from a cache.
    #[serde(alias = "cache_read_tokens")]
    pub cache_read: u64,
    /// Input written to a cache.
    #[serde(alias = "cache_write_tokens")]
    pub cache_write: u64,
}

impl Usage {
    /// All kinds together.
    pub fn total(&self) -> u64 {
        self.input
            .saturating_add(self.output)
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
    }
}
