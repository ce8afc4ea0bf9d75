//! A plan whose every field has its type, and the proof that it passed validation.
//!
//! It must not know the rules themselves; it only refuses to exist without them.

use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::draft::{Clarification, NodeDraft, PlanDraft, ProvenanceDraft};
use super::limits;
use super::validate::violations;
use super::violation::Violation;
use crate::graph::Dependencies;

/// A step's name within its plan: 1 to 64 ASCII letters, digits, `-` and `_`, beginning with a letter
/// or digit. Safe to show, to put in a branch name and to compare.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct StepKey(String);

/// The text cannot be a step's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key is 1 to 64 ASCII letters, digits, `-` and `_`, and begins with a letter or a digit")]
pub struct NotAKey;

impl StepKey {
    /// Reads a key; nothing is trimmed or folded.
    pub fn parse(text: &str) -> Result<StepKey, NotAKey> {
        if is_plain(text) && text.chars().count() <= limits::KEY_CHARACTERS {
            Ok(StepKey(text.to_owned()))
        } else {
            Err(NotAKey)
        }
    }

    /// The key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether the text has a key's characters, whatever its length.
pub(super) fn is_plain(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || matches!(character, '-' | '_'))
}

impl fmt::Display for StepKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl Borrow<str> for StepKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<StepKey> for String {
    fn from(key: StepKey) -> String {
        key.0
    }
}

impl TryFrom<String> for StepKey {
    type Error = NotAKey;

    fn try_from(text: String) -> Result<StepKey, NotAKey> {
        StepKey::parse(&text)
    }
}

/// Declares an enum of plain words together with how each is spelled.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$meaning:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$meaning])* #[serde(rename = $word)] $variant),+
        }

        impl $name {
            /// Every word, in the order they are offered.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The value a word names, spelled exactly.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The word for this value.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(self.word())
            }
        }
    };
}

words! {
    /// What kind of doing a step is.
    NodeKind {
        /// Changes files.
        Work = "work",
        /// Finds something out; changes nothing.
        Research = "research",
        /// Weighs possibilities; changes nothing.
        Discussion = "discussion",
        /// Puts results of other steps together; changes nothing.
        Synthesis = "synthesis",
    }
}

words! {
    /// How soon a step matters.
    Priority {
        /// Not said.
        None = "none",
        /// Can wait.
        Low = "low",
        /// As usual.
        Medium = "medium",
        /// Before others.
        High = "high",
        /// First.
        Urgent = "urgent",
    }
}

words! {
    /// What a step's origin is.
    ProvenanceKind {
        /// A name in the code.
        Symbol = "symbol",
        /// A file.
        File = "file",
        /// A message in the thread.
        Message = "message",
        /// The goal itself.
        Goal = "goal",
        /// The answer to a question.
        Answer = "answer",
    }
}

/// Where a step comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// What the origin is.
    pub kind: ProvenanceKind,
    /// The symbol, path, message or question.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Whether Stance itself saw this origin and knows it to be the operator's or the workspace's own.
    /// Never the author's claim.
    pub trusted: bool,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// The step's name within the plan.
    pub key: StepKey,
    /// One line that says what the step does.
    pub title: String,
    /// What to do, in full.
    pub description: String,
    /// The steps that must be done before, each once.
    pub depends_on: Vec<StepKey>,
    /// What kind of doing it is.
    pub kind: NodeKind,
    /// Who should do it.
    pub role: Option<String>,
    /// The only files the step may write without a question, relative to the workspace.
    pub files: Option<Vec<String>>,
    /// How to see that the step is done.
    pub acceptance: Option<String>,
    /// A closed JSON Schema for what the step hands back; see [`OutputSchema`](super::OutputSchema).
    pub output_schema: Option<Value>,
    /// How soon it matters.
    pub priority: Priority,
    /// Where the step comes from.
    pub provenance: Vec<Provenance>,
}

/// What a plan says, without the plan's identity, revision or status.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanContent {
    /// What shall be true once the plan is carried out.
    pub goal: String,
    /// The steps, in the order they were written.
    pub nodes: Vec<Node>,
    /// Command lines that show whether the goal is reached.
    pub checks: Vec<String>,
    /// What was asked and answered while planning.
    pub clarifications: Vec<Clarification>,
}

/// A plan that breaks no rule. Reading a stored one checks the rules again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "PlanContent", try_from = "PlanContent")]
pub struct ValidPlan(PlanContent);

impl ValidPlan {
    /// Only validation calls this, with content it found no fault in.
    pub(super) fn proven(content: PlanContent) -> ValidPlan {
        ValidPlan(content)
    }

    /// What the plan says.
    pub fn content(&self) -> &PlanContent {
        &self.0
    }

    /// What shall be true once the plan is carried out.
    pub fn goal(&self) -> &str {
        &self.0.goal
    }

    /// The steps, in the order they were written.
    pub fn nodes(&self) -> &[Node] {
        &self.0.nodes
    }

    /// The step of this key.
    pub fn node(&self, key: &str) -> Option<&Node> {
        self.0.nodes.iter().find(|node| node.key.as_str() == key)
    }

    /// All steps in the order they can be done: each after what it depends on, otherwise as written.
    pub fn in_order(&self) -> Vec<&Node> {
        dependencies(&self.0.nodes.iter().collect::<Vec<_>>())
            .order()
            .into_iter()
            .filter_map(|place| self.0.nodes.get(place))
            .collect()
    }

    /// The same plan with each provenance marked as `knows` says. Only the caller can tell what was
    /// really read, so validation trusts none.
    #[must_use]
    pub fn with_trust(mut self, mut knows: impl FnMut(&StepKey, &Provenance) -> bool) -> ValidPlan {
        for node in &mut self.0.nodes {
            for provenance in &mut node.provenance {
                provenance.trusted = knows(&node.key, provenance);
            }
        }
        self
    }
}

/// The graph of these steps by place; dependencies on steps that are not among them are left out.
pub(super) fn dependencies(nodes: &[&Node]) -> Dependencies {
    let needs: Vec<Vec<usize>> = nodes
        .iter()
        .map(|node| {
            node.depends_on
                .iter()
                .filter_map(|needed| nodes.iter().position(|other| other.key == *needed))
                .collect()
        })
        .collect();
    Dependencies::new(&needs)
}

impl From<ValidPlan> for PlanContent {
    fn from(plan: ValidPlan) -> PlanContent {
        plan.0
    }
}

/// The content breaks rules; all of them.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("not a valid plan: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct InvalidContent(pub Vec<Violation>);

impl TryFrom<PlanContent> for ValidPlan {
    type Error = InvalidContent;

    fn try_from(content: PlanContent) -> Result<ValidPlan, InvalidContent> {
        let found = violations(&PlanDraft::from(&content));
        if found.is_empty() {
            Ok(ValidPlan(content))
        } else {
            Err(InvalidContent(found))
        }
    }
}

/// The draft an operator's edit begins with.
impl From<&PlanContent> for PlanDraft {
    fn from(content: &PlanContent) -> PlanDraft {
        PlanDraft {
            goal: content.goal.clone(),
            nodes: content.nodes.iter().map(NodeDraft::from).collect(),
            checks: content.checks.clone(),
            clarifications: content.clarifications.clone(),
        }
    }
}

impl From<&Node> for NodeDraft {
    fn from(node: &Node) -> NodeDraft {
        NodeDraft {
            key: node.key.to_string(),
            title: node.title.clone(),
            description: node.description.clone(),
            depends_on: node.depends_on.iter().map(ToString::to_string).collect(),
            kind: node.kind.word().to_owned(),
            role: node.role.clone(),
            files: node.files.clone(),
            acceptance: node.acceptance.clone(),
            output_schema: node.output_schema.clone(),
            priority: Some(node.priority.word().to_owned()),
            provenance: node
                .provenance
                .iter()
                .map(|provenance| ProvenanceDraft {
                    kind: provenance.kind.word().to_owned(),
                    reference: provenance.reference.clone(),
                    trusted: provenance.trusted,
                })
                .collect(),
        }
    }
}
