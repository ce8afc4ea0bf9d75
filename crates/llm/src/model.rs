//! The port: what every model, real or scripted, is to the rest of the house.

use futures_util::stream::BoxStream;

use crate::{Block, Fitted, ModelError, ModelSettings, Request, Response};

/// An answer as it arrives. The last item is [`Part::Done`] or an error, exactly one of the two;
/// nothing follows it. Dropping the stream abandons the request.
pub type PartStream = BoxStream<'static, Result<Part, ModelError>>;

/// Something that answers requests.
pub trait Model: Send + Sync {
    /// Who answers.
    fn identity(&self) -> ModelIdentity;

    /// The settings as they will really be sent, with every change a person should be told of.
    /// Fitting what was fitted changes nothing.
    fn fit(&self, settings: &ModelSettings) -> Fitted {
        settings.fit(None)
    }

    /// Asks. Nothing happens before the stream is polled; it retries nothing.
    fn stream(&self, request: Request) -> PartStream;
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelIdentity {
    /// Such as `anthropic` or `scripted`.
    pub provider: String,
    /// The name every [`Response::actual_model`](crate::Response) will carry, where that is known
    /// before asking.
    pub actual_model: Option<String>,
    /// True when no language model stands behind it, so that its word satisfies no gate.
    pub simulated: bool,
}

/// A piece of an answer on its way. All but `Done` are for showing; `Done` holds the whole.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// More text.
    Text(String),
    /// More readable thinking.
    Thinking(String),
    /// A tool call began.
    CallStarted {
        /// [`ToolCall::id`](crate::ToolCall).
        id: String,
        /// The tool's name as written.
        name: String,
    },
    /// More of a call's arguments.
    CallArguments {
        /// The call it belongs to; parallel calls may take turns.
        id: String,
        /// The next piece of the JSON text.
        text: String,
    },
    /// The answer is complete.
    Done(Response),
}

impl Part {
    /// Whole blocks as parts, but for the last.
    pub(crate) fn of(blocks: &[Block]) -> Vec<Self> {
        let parts = blocks.iter().flat_map(|block| match block {
            Block::Text(text) => vec![Self::Text(text.clone())],
            Block::ToolCall(call) => vec![
                Self::CallStarted {
                    id: call.id.clone(),
                    name: call.name.clone(),
                },
                Self::CallArguments {
                    id: call.id.clone(),
                    text: call.arguments_text.clone(),
                },
            ],
            Block::Image { .. } | Block::ToolResult { .. } | Block::Native { .. } => Vec::new(),
        });
        parts.collect()
    }
}
