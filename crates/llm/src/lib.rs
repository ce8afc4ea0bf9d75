//! Talking to language models: our message vocabulary, one port ([`Model`]), the wires behind it
//! and the scripted model.
//!
//! This room knows nothing of the others: a mode is an opaque label here, a tool is a name with a
//! schema. It reads no environment, no file and no clock; keys, base URLs and script bytes are
//! handed in. A failure is the last item of a stream, never a panic.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

mod anthropic;
mod bedrock;
mod discreet;
mod error;
mod event_stream;
mod events;
mod facts;
mod failure;
mod fold;
mod gemini;
mod http;
mod message;
mod model;
mod openai;
mod provider;
pub mod recording;
mod repair;
mod request;
mod response;
pub mod scripted;
mod secrets;
mod settings;
mod wait;
mod wire;

pub use bedrock::{Clock, Credentials};
pub use error::{ErrorKind, ModelError, Partial, SetupError};
pub use facts::{Facts, Price};
pub use fold::{DEFAULT_TABLE, Effective, Given, Layer, Origin, Table, fold};
pub use message::{Block, Message, ResultPart, Role, ToolCall};
pub use model::{Model, ModelIdentity, Part, PartStream};
pub use openai::Dialect;
pub use provider::{Preset, Protocol, Provider, SignedWith};
pub use request::{Request, RequestContext, RequestSize, Size, ToolSpec};
pub use response::{Response, StopReason, Usage};
pub use secrets::Secrets;
pub use settings::{Adjustment, Effort, Fitted, ModelSettings};
