//! The pieces of Gemini's stream and its error body, as they are on the wire.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{ErrorKind, ModelError, Usage, failure, wait};

/// One piece of an answer. Each has the form of a whole one.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Chunk {
    /// One at most, since one is asked for.
    #[serde(default)]
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) prompt_feedback: Option<Feedback>,
    pub(crate) usage_metadata: Option<Count>,
    pub(crate) model_version: Option<String>,
    pub(crate) error: Option<Fault>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Candidate {
    pub(crate) content: Option<Content>,
    pub(crate) finish_reason: Option<String>,
    pub(crate) finish_message: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Content {
    #[serde(default)]
    pub(crate) parts: Vec<Map<String, Value>>,
}

/// What the provider thinks of the request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Feedback {
    pub(crate) block_reason: Option<String>,
}

/// Tokens counted so far; a later count replaces an earlier one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Count {
    /// The input, what came from a cache included.
    #[serde(rename = "promptTokenCount")]
    prompt: u64,
    #[serde(rename = "cachedContentTokenCount")]
    cached: u64,
    /// What tools of the provider's own brought into the prompt.
    #[serde(rename = "toolUsePromptTokenCount")]
    from_tools: u64,
    #[serde(rename = "candidatesTokenCount")]
    answer: u64,
    #[serde(rename = "thoughtsTokenCount")]
    thoughts: u64,
}

impl Count {
    pub(crate) fn usage(&self) -> Usage {
        Usage {
            input: self.prompt.saturating_sub(self.cached).saturating_add(self.from_tools),
            output: self.answer.saturating_add(self.thoughts),
            cache_read: self.cached,
            cache_write: 0,
        }
    }
}

/// A failure in the form all of Google's services have.
#[derive(Debug, Deserialize)]
pub(crate) struct Fault {
    #[serde(default)]
    code: u16,
    #[serde(default)]
    message: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    details: Vec<Value>,
}

impl Fault {
    /// The failure. `status` is that of an answer that failed as a whole; inside a stream the fault
    /// says it itself.
    pub(crate) fn read(self, status: Option<u16>) -> ModelError {
        let kind = match self.status.as_str() {
            _ if self
                .detail("reason")
                .is_some_and(|reason| reason.starts_with("API_KEY_")) =>
            {
                ErrorKind::Auth
            }
            "UNAUTHENTICATED" | "PERMISSION_DENIED" | "FAILED_PRECONDITION" => ErrorKind::Auth,
            "RESOURCE_EXHAUSTED" => ErrorKind::RateLimited,
            "UNAVAILABLE" => ErrorKind::Overloaded,
            "INTERNAL" | "DEADLINE_EXCEEDED" | "CANCELLED" | "ABORTED" | "UNKNOWN" => ErrorKind::Server,
            _ => failure::kind_of_status(status.unwrap_or(self.code), &self.message),
        };
        let retry_after = self.detail("retryDelay").and_then(wait::span);
        let message = if self.message.is_empty() {
            self.status
        } else {
            self.message
        };
        ModelError {
            retry_after,
            ..ModelError::new(kind, message)
        }
    }

    /// The first text under `key` in the details, each of which is a message of a kind of its own.
    fn detail(&self, key: &str) -> Option<&str> {
        self.details.iter().find_map(|detail| detail.get(key)?.as_str())
    }
}

/// The failure that an answer with a failing `status` and body `text` is.
pub(crate) fn failure(status: u16, text: &str) -> ModelError {
    #[derive(Deserialize)]
    struct Body {
        error: Fault,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Bodies {
        // What stands where a stream of JSON was about to begin.
        Listed([Body; 1]),
        One(Body),
    }
    match serde_json::from_str(text) {
        Ok(Bodies::One(Body { error }) | Bodies::Listed([Body { error }])) => error.read(Some(status)),
        Err(_) => failure::unread(status, text),
    }
}
