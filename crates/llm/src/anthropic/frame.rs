//! The frames of Anthropic's stream and its error body, as they are on the wire.

use serde::Deserialize;
use serde_json::Value;

use crate::{ErrorKind, ModelError, Usage, failure};

/// One event. The protocol reserves the right to add kinds; unknown ones are passed over.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Frame {
    MessageStart {
        message: Start,
    },
    ContentBlockStart {
        index: u64,
        content_block: Value,
    },
    ContentBlockDelta {
        index: u64,
        delta: Delta,
    },
    ContentBlockStop {
        index: u64,
    },
    MessageDelta {
        delta: Ending,
        #[serde(default)]
        usage: Count,
    },
    MessageStop,
    Error {
        error: Fault,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Start {
    pub(crate) model: String,
    #[serde(default)]
    pub(crate) usage: Count,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the names are the protocol's own")]
pub(crate) enum Delta {
    TextDelta {
        text: String,
    },
    ThinkingDelta {
        thinking: String,
    },
    SignatureDelta {
        signature: String,
    },
    InputJsonDelta {
        partial_json: String,
    },
    #[serde(other)]
    UnknownDelta,
}

impl Delta {
    /// Bytes it adds to a block.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::TextDelta { text: more }
            | Self::ThinkingDelta { thinking: more }
            | Self::SignatureDelta { signature: more }
            | Self::InputJsonDelta { partial_json: more } => more.len(),
            Self::UnknownDelta => 0,
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Ending {
    pub(crate) stop_reason: Option<String>,
}

/// Tokens counted so far. A later count replaces an earlier one, a missing one does not.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Count {
    #[serde(rename = "input_tokens")]
    input: Option<u64>,
    #[serde(rename = "output_tokens")]
    output: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_write: Option<u64>,
}

impl Count {
    pub(crate) fn apply(&self, usage: &mut Usage) {
        usage.input = self.input.unwrap_or(usage.input);
        usage.output = self.output.unwrap_or(usage.output);
        usage.cache_read = self.cache_read.unwrap_or(usage.cache_read);
        usage.cache_write = self.cache_write.unwrap_or(usage.cache_write);
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Fault {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    message: String,
}

impl Fault {
    /// The failure in the provider's words. `status` is that of an answer that failed as a whole;
    /// inside a stream there is only the type.
    pub(crate) fn read(self, status: Option<u16>) -> ModelError {
        let kind = match self.kind.as_str() {
            "overloaded_error" => ErrorKind::Overloaded,
            "rate_limit_error" => ErrorKind::RateLimited,
            "authentication_error" | "permission_error" | "billing_error" => ErrorKind::Auth,
            "request_too_large" => ErrorKind::ContextOverflow,
            "api_error" | "timeout_error" => ErrorKind::Server,
            _ => status.map_or_else(
                || failure::kind_of_words(&self.message),
                |status| failure::kind_of_status(status, &self.message),
            ),
        };
        let message = if self.message.is_empty() {
            self.kind
        } else {
            self.message
        };
        ModelError::new(kind, message)
    }
}

/// The failure that an answer with a failing `status` and body `text` is.
pub(crate) fn failure(status: u16, text: &str) -> ModelError {
    #[derive(Deserialize)]
    struct Body {
        error: Fault,
    }
    match serde_json::from_str(text) {
        Ok(Body { error }) => error.read(Some(status)),
        Err(_) => failure::unread(status, text),
    }
}
