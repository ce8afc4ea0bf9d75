//! The events of Bedrock's `ConverseStream` and its error body, as they are on the wire.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::{ErrorKind, ModelError, Usage, failure};

/// One event: the member that is there. Unknown events have none.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Frame {
    pub(crate) message_start: Option<IgnoredAny>,
    pub(crate) content_block_start: Option<BlockStart>,
    pub(crate) content_block_delta: Option<BlockDelta>,
    pub(crate) content_block_stop: Option<BlockStop>,
    pub(crate) message_stop: Option<MessageStop>,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) exception: Option<Exception>,
}

/// Only calls begin with one.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlockStart {
    pub(crate) content_block_index: u64,
    pub(crate) start: Start,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Start {
    pub(crate) tool_use: Option<CallStart>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallStart {
    pub(crate) tool_use_id: String,
    pub(crate) name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlockDelta {
    pub(crate) content_block_index: u64,
    pub(crate) delta: Delta,
}

/// More of a block: the member that is there.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Delta {
    pub(crate) text: Option<String>,
    pub(crate) tool_use: Option<CallDelta>,
    pub(crate) reasoning_content: Option<ReasoningDelta>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CallDelta {
    pub(crate) input: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReasoningDelta {
    pub(crate) text: Option<String>,
    pub(crate) signature: Option<String>,
    /// Bytes in base64.
    pub(crate) redacted_content: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlockStop {
    pub(crate) content_block_index: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageStop {
    pub(crate) stop_reason: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    #[serde(default)]
    pub(crate) usage: Count,
    trace: Option<Value>,
}

impl Metadata {
    /// The model a prompt router chose.
    pub(crate) fn invoked_model(&self) -> Option<&str> {
        self.trace.as_ref()?.pointer("/promptRouter/invokedModelId")?.as_str()
    }
}

/// The protocol's kinds do not overlap.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Count {
    #[serde(rename = "inputTokens")]
    input: u64,
    #[serde(rename = "outputTokens")]
    output: u64,
    #[serde(rename = "cacheReadInputTokens")]
    cache_read: u64,
    #[serde(rename = "cacheWriteInputTokens")]
    cache_write: u64,
}

impl Count {
    pub(crate) fn usage(&self) -> Usage {
        Usage {
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Exception {
    kind: String,
    message: String,
}

impl Exception {
    pub(crate) fn read(self) -> ModelError {
        let kind = match self.kind.to_lowercase().trim_end_matches("exception") {
            "throttling" => ErrorKind::RateLimited,
            "serviceunavailable" | "modelnotready" => ErrorKind::Overloaded,
            "internalserver" | "modelstreamerror" | "modelerror" | "modeltimeout" | "internalfailure" => {
                ErrorKind::Server
            }
            "accessdenied" | "unrecognizedclient" | "expiredtoken" => ErrorKind::Auth,
            _ => failure::kind_of_words(&self.message),
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
        // Services differ in how they write it.
        #[serde(alias = "Message")]
        message: String,
    }
    let Ok(Body { message }) = serde_json::from_str(text) else {
        return failure::unread(status, text);
    };
    let kind = match status {
        // The model behind the service failed.
        424 => ErrorKind::Server,
        _ => failure::kind_of_status(status, &message),
    };
    ModelError::new(kind, message)
}
