//! What a door tells a person when something cannot be done: what, why, what to do.

use std::fmt;

/// What sort of problem it is; a door maps it to an exit code or a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The command itself is wrong, or names something that is not there.
    Usage,
    /// It is understood and refused.
    Refused,
    /// What was decided about has changed since it was shown.
    Stale,
    /// A stored value cannot be read, or the store failed.
    Store,
    /// The model, its settings or its provider failed.
    Model,
    /// The walls or git failed.
    Machine,
}

/// One problem, with what to do next.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// Its sort.
    pub kind: ProblemKind,
    /// What is wrong and why, in one or two sentences.
    pub message: String,
    /// What to do next; each is a line of its own.
    pub hints: Vec<String>,
}

impl Problem {
    /// A problem without a hint.
    pub fn new(kind: ProblemKind, message: impl Into<String>) -> Problem {
        Problem {
            kind,
            message: message.into(),
            hints: Vec::new(),
        }
    }

    /// A wrong command.
    pub fn usage(message: impl Into<String>) -> Problem {
        Problem::new(ProblemKind::Usage, message)
    }

    /// A refusal.
    pub fn refused(message: impl Into<String>) -> Problem {
        Problem::new(ProblemKind::Refused, message)
    }

    /// The same problem with one more thing to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl From<store::StoreError> for Problem {
    fn from(error: store::StoreError) -> Problem {
        Problem::new(ProblemKind::Store, error.to_string())
    }
}
