//! How talking to a model fails: before a request ([`SetupError`]) and as the last item of a
//! stream ([`ModelError`]). What to do about it is the caller's decision.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Block, Usage};

/// Something is wrong before any request was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// A script cannot be read.
    #[error("{file}: at `{path}`: {problem}")]
    Script {
        /// The name the script, or recording, was given under.
        file: String,
        /// Where in it, such as `runs[0].turns[2].text`; `.` is the whole.
        path: String,
        /// What is wrong there.
        problem: String,
    },
    /// A base URL is not one requests can be sent to.
    #[error("base URL `{url}`: {problem}")]
    BaseUrl {
        /// As configured, without user name and password.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An address has a variable in it that is not set.
    #[error("the address needs the variable {name}, which is not set")]
    Variable {
        /// The variable.
        name: String,
    },
    /// The HTTP client cannot be built.
    #[error("cannot set up HTTPS: {0}")]
    Https(String),
    /// An API key has characters no header can carry. The key itself is not shown.
    #[error("the API key for `{provider}` has characters that cannot be sent")]
    Key {
        /// Whose key.
        provider: String,
    },
    /// A settings table names a provider without a model, or the reverse.
    #[error("{origin}: `{given}` is set without `{missing}`; the two travel together")]
    HalfPair {
        /// Where the lone key stands.
        origin: crate::Origin,
        /// The key that is there.
        given: &'static str,
        /// The key that must stand beside it.
        missing: &'static str,
    },
    /// No layer names a model for a mode.
    #[error("no layer sets `provider` and `model` in [models.{mode}] or [models.default]")]
    NoModel {
        /// The mode asked for.
        mode: String,
    },
    /// Not an effort word.
    #[error("`{word}` is no effort; one of: none, minimal, low, medium, high, xhigh, max")]
    Effort {
        /// As written.
        word: String,
    },
}

/// How a request failed. Always the last item of its stream.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct ModelError {
    /// What sort of failure, for deciding what to do.
    pub kind: ErrorKind,
    /// The provider's own words where it spoke, ours where it did not.
    pub message: String,
    /// The HTTP status, if an answer came at all.
    pub status: Option<u16>,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// What had arrived before the failure; boxed to keep results small.
    pub partial: Box<Partial>,
    /// Opaque; goes into the next [`Request::cursor`](crate::Request).
    pub cursor: Option<String>,
}

impl ModelError {
    /// A failure of which nothing but its kind and words is known.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            status: None,
            retry_after: None,
            partial: Box::default(),
            cursor: None,
        }
    }
}

/// The beginning of an answer that never ended; empty when it had not begun.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Partial {
    /// Whole blocks, and the text of a cut one. Cut tool calls and unsigned thinking are left out,
    /// since neither can be carried on with.
    pub blocks: Vec<Block>,
    /// Tokens counted so far.
    pub usage: Usage,
}

/// What sort of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// Too many requests or tokens for now.
    RateLimited,
    /// The provider has no capacity for now.
    Overloaded,
    /// The provider failed (5xx).
    Server,
    /// No connection, or it broke before the answer was whole.
    Dropped,
    /// The key or the account is not accepted.
    Auth,
    /// The provider will not have this content.
    Refused,
    /// The request is larger than the model's window.
    ContextOverflow,
    /// A script's expectation does not hold.
    Expectation,
    /// An exchange cannot be recorded, or is not the recorded one.
    Recording,
    /// The provider's answer breaks its own protocol or our bounds.
    Malformed,
    /// The provider says the request is wrong.
    BadRequest,
}

impl ErrorKind {
    /// True when the same request may succeed later.
    pub fn retryable(self) -> bool {
        matches!(
            self,
            Self::RateLimited | Self::Overloaded | Self::Server | Self::Dropped
        )
    }
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::RateLimited => "rate limited",
            Self::Overloaded => "overloaded",
            Self::Server => "provider failure",
            Self::Dropped => "connection lost",
            Self::Auth => "not authorised",
            Self::Refused => "refused",
            Self::ContextOverflow => "context overflow",
            Self::Expectation => "script expectation not met",
            Self::Recording => "recording",
            Self::Malformed => "malformed answer",
            Self::BadRequest => "bad request",
        })
    }
}
