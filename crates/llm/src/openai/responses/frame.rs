//! The events of a response, as they are on the wire.

use serde::Deserialize;
use serde_json::Value;

use crate::Usage;

/// One event. The protocol adds kinds freely; unknown ones are passed over.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(super) enum Event {
    #[serde(rename = "response.created", alias = "response.in_progress")]
    Begun { response: Whole },
    #[serde(rename = "response.output_item.added")]
    ItemAdded { output_index: u64, item: Value },
    #[serde(rename = "response.output_item.done")]
    ItemDone { output_index: u64, item: Value },
    #[serde(rename = "response.output_text.delta")]
    Text { output_index: u64, delta: String },
    #[serde(rename = "response.refusal.delta")]
    Refusal { output_index: u64, delta: String },
    #[serde(
        rename = "response.reasoning_summary_text.delta",
        alias = "response.reasoning_text.delta"
    )]
    Thinking { delta: String },
    #[serde(rename = "response.reasoning_summary_part.done")]
    ThinkingPart,
    #[serde(rename = "response.function_call_arguments.delta")]
    Arguments { output_index: u64, delta: String },
    #[serde(
        rename = "response.completed",
        alias = "response.incomplete",
        alias = "response.done"
    )]
    Ended { response: Whole },
    #[serde(rename = "response.failed")]
    Failed { response: Value },
    #[serde(other)]
    Unknown,
}

/// The response as a whole, as far as it is there.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Whole {
    pub(super) model: Option<String>,
    pub(super) output: Option<Vec<Value>>,
    pub(super) incomplete_details: Option<Incomplete>,
    pub(super) usage: Option<Count>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Incomplete {
    pub(super) reason: Option<String>,
}

/// Tokens.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Count {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

impl Count {
    pub(super) fn read(self) -> Usage {
        let input = self.input_tokens.unwrap_or_default();
        let details = self.input_tokens_details.unwrap_or_default();
        let cache_read = details.cached_tokens.unwrap_or_default().min(input);
        let cache_write = details.cache_write_tokens.unwrap_or_default().min(input - cache_read);
        Usage {
            input: input - cache_read - cache_write,
            output: self.output_tokens.unwrap_or_default(),
            cache_read,
            cache_write,
        }
    }
}
