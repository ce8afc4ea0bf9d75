//! How servers that speak the protocols of `OpenAI` differ from one another, as data of a preset.

use serde::Deserialize;

/// What a server wants otherwise. The default is what most compatible servers take.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dialect {
    /// How the limit of the output is called.
    pub(super) output_limit: OutputLimit,
    /// How a model is told how hard to think.
    pub(super) thinking: Thinking,
    /// Whether thoughts go back.
    pub(super) thoughts: Thoughts,
    /// Tells the tokens used when asked to.
    pub(super) stream_usage: bool,
    /// Ids of calls have nine letters and digits.
    pub(super) short_ids: bool,
    /// A person may speak right after a result.
    pub(super) user_after_result: bool,
    /// Where the key goes.
    pub(super) key_header: KeyHeader,
    /// How addresses are made.
    pub(super) addresses: Addresses,
    /// The date of the interface, where it has one; at Azure, none means the undated `v1`.
    pub api_version: Option<String>,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            output_limit: OutputLimit::MaxTokens,
            thinking: Thinking::Unsaid,
            thoughts: Thoughts::Dropped,
            stream_usage: true,
            short_ids: false,
            user_after_result: true,
            key_header: KeyHeader::Bearer,
            addresses: Addresses::Plain,
            api_version: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OutputLimit {
    MaxTokens,
    MaxCompletionTokens,
}

impl OutputLimit {
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// How a model is told how hard to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Thinking {
    /// Not at all.
    Unsaid,
    /// `reasoning_effort: WORD`.
    Effort,
    /// `reasoning: {effort | max_tokens | enabled}`.
    Reasoning,
    /// `thinking: {type: enabled | disabled}`.
    Switch,
    /// `enable_thinking: BOOL` and `thinking_budget: TOKENS`.
    Enable,
    /// `chat_template_kwargs: {enable_thinking: BOOL}`.
    Template,
}

impl Thinking {
    /// Takes a budget in tokens.
    pub(super) fn takes_budget(self) -> bool {
        matches!(self, Self::Reasoning | Self::Enable)
    }

    /// Can be told not to think, whatever the model.
    pub(super) fn can_disable(self) -> bool {
        !matches!(self, Self::Unsaid | Self::Effort)
    }
}

/// Whether thoughts go back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Thoughts {
    /// They do not.
    Dropped,
    /// In the field they came in.
    Replayed,
    /// So too, and a call without its thought is refused.
    Wanted,
}

/// How addresses are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Addresses {
    /// Beneath the base URL; one without a path means its `/v1`.
    Plain,
    /// Beneath the base URL, whatever it is.
    Bare,
    /// As Azure has them.
    Azure,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeyHeader {
    Bearer,
    ApiKey,
}
