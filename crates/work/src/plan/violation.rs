//! What can be wrong with a plan, in sentences its author can act on.
//!
//! It must not know how faults are found.

use std::fmt;

use serde::Serialize;

use super::content::{NodeKind, Priority, ProvenanceKind};
use super::limits;
use super::schema::SchemaFault;
use crate::text::printable;

/// Which step a violation is about: by its key, or by its place when it has none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct StepLabel {
    /// 1 for the first step.
    pub number: usize,
    /// The key as handed in; it may be blank, taken or malformed.
    pub key: String,
}

impl fmt::Display for StepLabel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.key.trim().is_empty() {
            write!(formatter, "step number {}", self.number)
        } else {
            write!(formatter, "step `{}`", clipped(&self.key))
        }
    }
}

/// What is wrong with a file entry. The words follow the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum FileFault {
    /// Nothing is written there.
    #[error("is empty")]
    Empty,
    /// It begins at a root.
    #[error("is absolute; name it relative to the workspace")]
    Absolute,
    /// It leads upwards.
    #[error("contains `..`; name it from the workspace down")]
    Upward,
    /// It holds a control character.
    #[error("contains a control character")]
    Control,
    /// It is too long.
    #[error("is longer than {} bytes", limits::FILE_BYTES)]
    Long,
}

/// One broken rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "rule")]
pub enum Violation {
    /// The goal is blank.
    #[error("the goal is empty: say what shall be true once the plan is carried out")]
    EmptyGoal,
    /// There are no steps.
    #[error("the plan has no steps")]
    NoSteps,
    /// There are too many steps.
    #[error("the plan has {count} steps; at most {} are taken: join small ones", limits::STEPS)]
    TooManySteps {
        /// How many there are.
        count: usize,
    },
    /// No step changes anything.
    #[error("the plan has no step of kind `work`: nothing would be carried out")]
    NoWorkStep,
    /// A key is blank.
    #[error("step number {number} has no key")]
    BlankKey {
        /// 1 for the first step.
        number: usize,
    },
    /// A key is used twice.
    #[error("step number {number}: the key `{}` is taken by step number {first}", clipped(.key))]
    DuplicateKey {
        /// The key.
        key: String,
        /// The step that has it first, from 1.
        first: usize,
        /// The step that has it again, from 1.
        number: usize,
    },
    /// A key is too long.
    #[error(
        "{step}: the key has {characters} characters; at most {} are taken",
        limits::KEY_CHARACTERS
    )]
    LongKey {
        /// The step.
        step: StepLabel,
        /// How long it is.
        characters: usize,
    },
    /// A key has other characters than a key may have.
    #[error("{step}: a key has ASCII letters, digits, `-` and `_` only, and begins with a letter or a digit")]
    MalformedKey {
        /// The step.
        step: StepLabel,
    },
    /// A title is blank.
    #[error("{step} has no title")]
    EmptyTitle {
        /// The step.
        step: StepLabel,
    },
    /// A dependency names no step.
    #[error("{step} depends on `{}`, which is not a step of this plan", clipped(.dependency))]
    UnknownDependency {
        /// The step.
        step: StepLabel,
        /// What it names.
        dependency: String,
    },
    /// A step depends on itself.
    #[error("{step} depends on itself")]
    SelfDependency {
        /// The step.
        step: StepLabel,
    },
    /// Steps wait for each other.
    #[error("these steps wait for each other: {}: remove one of these dependencies", circle(.keys))]
    Cycle {
        /// The keys, each followed by one it depends on; the last depends on the first.
        keys: Vec<String>,
    },
    /// A kind is missing or unknown.
    #[error("{step}: the kind {}; use one of {}", named(.word), NodeKind::WORDS.join(", "))]
    UnknownKind {
        /// The step.
        step: StepLabel,
        /// The word that was given.
        word: String,
    },
    /// A priority is unknown.
    #[error("{step}: the priority {}; use one of {}", named(.word), Priority::WORDS.join(", "))]
    UnknownPriority {
        /// The step.
        step: StepLabel,
        /// The word that was given.
        word: String,
    },
    /// A provenance kind is missing or unknown.
    #[error("{step}: the provenance kind {}; use one of {}", named(.word), ProvenanceKind::WORDS.join(", "))]
    UnknownProvenance {
        /// The step.
        step: StepLabel,
        /// The word that was given.
        word: String,
    },
    /// A file entry cannot be used.
    #[error("{step}: the file `{}` {fault}", clipped(.file))]
    File {
        /// The step.
        step: StepLabel,
        /// The entry.
        file: String,
        /// What is wrong with it.
        fault: FileFault,
    },
    /// An output schema cannot be used.
    #[error("{step}: output_schema {fault}")]
    OutputSchema {
        /// The step.
        step: StepLabel,
        /// What is wrong with it.
        fault: SchemaFault,
    },
    /// A step holds too much code.
    #[error(
        "{step} holds {lines} lines in code fences; at most {} are taken: say what to write, not the code itself",
        limits::FENCED_LINES_STEP
    )]
    FencedStep {
        /// The step.
        step: StepLabel,
        /// How many lines.
        lines: usize,
    },
    /// The plan holds too much code.
    #[error(
        "the plan holds {lines} lines in code fences; at most {} are taken: say what to write, not the code itself",
        limits::FENCED_LINES_PLAN
    )]
    FencedPlan {
        /// How many lines.
        lines: usize,
    },
    /// A text is too long.
    #[error("{what} is {length} {unit} long; at most {limit} are taken")]
    TooLong {
        /// Which text.
        what: String,
        /// How long it is.
        length: usize,
        /// How long it may be.
        limit: usize,
        /// What is counted.
        unit: &'static str,
    },
    /// A list is too long.
    #[error("{what}: {count} are given; at most {limit} are taken")]
    TooMany {
        /// Which list.
        what: String,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// An entry is blank.
    #[error("{what} is empty")]
    Blank {
        /// Which entry.
        what: String,
    },
}

/// Foreign words for a sentence of ours: printable, one line, not too long.
fn clipped(text: &str) -> String {
    let mut shown: String = text.chars().take(limits::KEY_CHARACTERS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    printable(&shown)
}

fn named(word: &str) -> String {
    if word.trim().is_empty() {
        "is missing".to_owned()
    } else {
        format!("`{}` is unknown", clipped(word))
    }
}

fn circle(keys: &[String]) -> String {
    keys.iter()
        .chain(keys.first())
        .map(|key| format!("`{}`", clipped(key)))
        .collect::<Vec<_>>()
        .join(" → ")
}
