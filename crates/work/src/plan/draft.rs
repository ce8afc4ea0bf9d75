//! A plan as it was handed in, before anything about it is believed.
//!
//! Shapes only: words that name a kind stay words and what is missing is empty, so that one pass over a
//! draft can name every fault at once. It must not know the rules.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::printable;

/// The arguments of `submit_plan`. A field it does not know is an error that names the field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanDraft {
    /// What shall be true once the plan is carried out.
    #[serde(default)]
    pub goal: String,
    /// The steps, in the order they were written.
    #[serde(default)]
    pub nodes: Vec<NodeDraft>,
    /// Command lines that show whether the goal is reached.
    #[serde(default)]
    pub checks: Vec<String>,
    /// What was asked and answered while planning.
    #[serde(default)]
    pub clarifications: Vec<Clarification>,
}

/// The arguments do not have a plan's shape.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {message}")]
pub struct Malformed {
    /// Where, such as `nodes[0].title`; `.` is the whole.
    pub at: String,
    /// What is wrong there.
    pub message: String,
}

impl PlanDraft {
    /// Reads the arguments of `submit_plan`; an error names the place of the first one that does not
    /// fit.
    pub fn read(arguments: &Value) -> Result<PlanDraft, Malformed> {
        serde_path_to_error::deserialize(arguments).map_err(|error| Malformed {
            at: printable(&error.path().to_string()),
            message: printable(&error.inner().to_string()),
        })
    }
}

/// One step of a draft.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeDraft {
    /// The step's name within the plan.
    #[serde(default)]
    pub key: String,
    /// One line that says what the step does.
    #[serde(default)]
    pub title: String,
    /// What to do, in full.
    #[serde(default)]
    pub description: String,
    /// Keys of the steps that must be done before.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// A word for a [`NodeKind`](super::NodeKind).
    #[serde(default)]
    pub kind: String,
    /// Who should do it.
    #[serde(default)]
    pub role: Option<String>,
    /// The only files the step may write without a question, relative to the workspace.
    #[serde(default)]
    pub files: Option<Vec<String>>,
    /// How to see that the step is done.
    #[serde(default)]
    pub acceptance: Option<String>,
    /// A JSON Schema for what the step hands back.
    #[serde(default)]
    pub output_schema: Option<Value>,
    /// A word for a [`Priority`](super::Priority); absent means none.
    #[serde(default)]
    pub priority: Option<String>,
    /// Where the step comes from.
    #[serde(default)]
    pub provenance: Vec<ProvenanceDraft>,
}

/// Where a step comes from, as the author says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProvenanceDraft {
    /// A word for a [`ProvenanceKind`](super::ProvenanceKind).
    #[serde(default)]
    pub kind: String,
    /// The symbol, path, message or question.
    #[serde(default, rename = "ref")]
    pub reference: String,
    /// The author's own claim. It is read and never believed: validation sets it to false.
    #[serde(default)]
    pub trusted: bool,
}

/// A question asked while planning, and its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clarification {
    /// What was asked.
    pub question: String,
    /// What was answered.
    pub answer: String,
}
