//! What every tool is: a proposal of a call, and its execution under a permit. A tool never judges
//! and never sees the store.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use modes::{Built, Descriptor, NoDescriptor, Permit, ProposedCall};
use sandbox::Reached;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::desk::Desk;
use crate::scope::Scope;

/// A call as the model made it, its arguments already one JSON object without duplicate keys.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// The row of the tool called.
    pub descriptor: &'static Descriptor,
    /// The provider's id of the call.
    pub call_id: String,
    /// The arguments.
    pub arguments: Value,
}

/// Arguments a tool cannot take. The text names the field, what is wanted and an example.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadArguments(pub String);

/// One tool the model can call.
pub trait Tool: Send + Sync {
    /// Its name: a row of the table of tools.
    fn name(&self) -> &'static str;

    /// When to use it, for the model.
    fn description(&self) -> &str;

    /// The JSON Schema of its arguments, from the Rust type.
    fn schema(&self) -> Value;

    /// Reads the arguments once, opens what the call acts on and finds its effects.
    fn propose(&self, incoming: Incoming, scope: &Scope) -> Result<ProposedCall, BadArguments>;

    /// Performs the permitted call, with the arguments and handles of the permit alone. A fault is
    /// an error result, never a panic.
    fn execute<'a>(&'a self, permit: Permit, scope: &'a Scope, desk: &'a dyn Desk) -> BoxFuture<'a, ToolResult>;
}

/// One part of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// Its media type.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// What the model reads.
    pub content: Vec<Content>,
    /// Whether the call failed.
    pub is_error: bool,
    /// Worktree paths the call is known to have changed.
    pub changed: Vec<String>,
    /// Content hashes of files the model has now seen, by path: 64 hexadecimal digits of BLAKE3.
    pub seen: BTreeMap<String, String>,
    /// Hosts its processes reached, or were refused.
    #[serde(default)]
    pub reached: Vec<Reached>,
    /// Pages that a search found: they may be read as those that a person named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<String>,
    /// Whether it ran where secret-shaped files of the project could be read.
    #[serde(default)]
    pub saw_secrets: bool,
    /// What its processes did against the walls, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<String>,
    /// What follows for the run.
    pub then: Then,
}

/// What follows a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// The run goes on.
    GoOn,
    /// The run goes on with a further response; nothing that stands behind in this one is begun.
    NextResponse,
    /// The call stays open until a person answers; the result so far is not shown to the model.
    Waits,
    /// The contract's verb, or a completion, succeeded: the run ends.
    Delivered,
    /// The typed, honest end without a delivery.
    Declined,
    /// A granted plan exit was consumed.
    Exited,
    /// A person agreed that the call's text stands for the conversation so far.
    Condensed,
    /// A person agreed that a fresh thread goes on with the call's text.
    HandedOver,
    /// A step delivered its output.
    StepDone,
}

impl ToolResult {
    /// A good result in words.
    pub fn text(text: impl Into<String>) -> ToolResult {
        ToolResult {
            content: vec![Content::Text { text: text.into() }],
            is_error: false,
            changed: Vec::new(),
            seen: BTreeMap::new(),
            reached: Vec::new(),
            pages: Vec::new(),
            saw_secrets: false,
            violations: Vec::new(),
            then: Then::GoOn,
        }
    }

    /// An error result in words: what is wrong and what to do instead.
    pub fn error(text: impl Into<String>) -> ToolResult {
        ToolResult {
            is_error: true,
            ..ToolResult::text(text)
        }
    }

    /// The same result with what follows for the run.
    #[must_use]
    pub fn then(self, then: Then) -> ToolResult {
        ToolResult { then, ..self }
    }

    /// The same result with a worktree path it changed.
    #[must_use]
    pub fn changing(mut self, path: impl Into<String>) -> ToolResult {
        self.changed.push(path.into());
        self
    }

    /// The same result with a file the model has now seen.
    #[must_use]
    pub fn showing(mut self, path: impl Into<String>, hash: impl Into<String>) -> ToolResult {
        self.seen.insert(path.into(), hash.into());
        self
    }

    /// Its text parts, joined.
    pub fn words(&self) -> String {
        let texts: Vec<&str> = self
            .content
            .iter()
            .filter_map(|part| match part {
                Content::Text { text } => Some(text.as_str()),
                Content::Image { .. } => None,
            })
            .collect();
        texts.join("\n")
    }
}

/// The tools that are built, in registration order.
#[derive(Clone)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
    built: Built,
}

impl Toolbox {
    /// Registers tools. Each must have a row in the table.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Result<Toolbox, NoDescriptor> {
        let built = Built::new(tools.iter().map(|tool| tool.name()))?;
        Ok(Toolbox { tools, built })
    }

    /// The same with the tools that a run has beside them. `built` names the rows of all.
    #[must_use]
    pub fn with(&self, built: Built, further: impl IntoIterator<Item = Arc<dyn Tool>>) -> Toolbox {
        Toolbox {
            tools: self.tools.iter().cloned().chain(further).collect(),
            built,
        }
    }

    /// The rows of the registered tools.
    pub fn built(&self) -> &Built {
        &self.built
    }

    /// The tool of a row.
    pub fn find(&self, descriptor: &Descriptor) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.name() == descriptor.name)
    }
}
