//! What to do next, decided from how far each step has come.
//!
//! A pure function of the definition and the states: whoever drives the work asks it again after
//! every change. It must not know what a run is or how one is started.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::orchestration::OrchestrationDefinition;
use crate::plan::{Node, StepKey};

/// How far a step has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum StepState {
    /// Not begun.
    Pending,
    /// Not approved yet; it does not begin.
    Deferred,
    /// A run is at it.
    Running {
        /// The run's id.
        run: String,
    },
    /// Begun, and held up by a person's answer.
    Waiting,
    /// Finished.
    Done,
    /// Ended without being finished.
    Failed {
        /// Why.
        reason: String,
    },
    /// Stopped by the operator.
    Cancelled,
    /// Will not be begun.
    Skipped,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Begin these steps, in this order; at least one.
    Start(Vec<StepKey>),
    /// Nothing until a step's state changes.
    Wait,
    /// Nothing any more.
    Finished(Outcome),
}

/// How the work ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The whole in one word.
    pub ending: Ending,
    /// Steps that never began, each with the reason.
    pub not_run: BTreeMap<StepKey, NotRun>,
}

/// The whole work in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Every step that was not deferred is done.
    Completed,
    /// Some step is not, and none was stopped by the operator.
    Failed,
    /// The operator stopped a step.
    Cancelled,
}

/// Why a step never began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "because")]
pub enum NotRun {
    /// A step it depends on did not finish. The one nearest to the trouble is named.
    Needs {
        /// The step that failed, was stopped, skipped or deferred.
        step: StepKey,
        /// What became of that step.
        what: String,
    },
    /// It was skipped.
    Skipped,
    /// It was not approved yet.
    Deferred,
}

impl fmt::Display for NotRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Needs { step, what } => write!(formatter, "it needs {step}, which {what}"),
            Self::Skipped => formatter.write_str("it was skipped"),
            Self::Deferred => formatter.write_str("it was not approved yet"),
        }
    }
}

/// What to do next. A step without a state is pending; states of unknown steps are ignored.
///
/// At most `limit` steps are under way (running or waiting) at once; with a limit of 0 nothing begins.
/// A step begins only when all it depends on are done. When one ends otherwise, the steps that need it
/// are not run, and the others go on.
pub fn decide(definition: &OrchestrationDefinition, states: &BTreeMap<StepKey, StepState>, limit: usize) -> Decision {
    let not_run = not_run(definition, states);
    let under_way = count(definition, states, |state| {
        matches!(state, StepState::Running { .. } | StepState::Waiting)
    });
    let ready: Vec<&Node> = definition
        .steps
        .iter()
        .filter(|step| *state_of(states, &step.key) == StepState::Pending)
        .filter(|step| !not_run.contains_key(&step.key))
        .collect();
    if ready.is_empty() && under_way == 0 {
        return Decision::Finished(Outcome {
            ending: ending(definition, states),
            not_run,
        });
    }
    let start: Vec<StepKey> = ready
        .into_iter()
        .filter(|step| {
            step.depends_on
                .iter()
                .all(|needed| *state_of(states, needed) == StepState::Done)
        })
        .take(limit.saturating_sub(under_way))
        .map(|step| step.key.clone())
        .collect();
    if start.is_empty() {
        Decision::Wait
    } else {
        Decision::Start(start)
    }
}

/// The steps that will never begin as things stand, each with the reason.
pub fn not_run(
    definition: &OrchestrationDefinition,
    states: &BTreeMap<StepKey, StepState>,
) -> BTreeMap<StepKey, NotRun> {
    let mut found: BTreeMap<StepKey, NotRun> = BTreeMap::new();
    // Steps stand after those they depend on, so one pass carries a reason all the way.
    for step in &definition.steps {
        let reason = match state_of(states, &step.key) {
            StepState::Skipped => blocked_by(step, states, &found).or(Some(NotRun::Skipped)),
            StepState::Deferred => Some(NotRun::Deferred),
            StepState::Pending => blocked_by(step, states, &found),
            StepState::Running { .. }
            | StepState::Waiting
            | StepState::Done
            | StepState::Failed { .. }
            | StepState::Cancelled => None,
        };
        if let Some(reason) = reason {
            found.insert(step.key.clone(), reason);
        }
    }
    found
}

fn blocked_by(step: &Node, states: &BTreeMap<StepKey, StepState>, found: &BTreeMap<StepKey, NotRun>) -> Option<NotRun> {
    step.depends_on.iter().find_map(|needed| {
        let what = match (found.get(needed), state_of(states, needed)) {
            (Some(further @ NotRun::Needs { .. }), _) => return Some(further.clone()),
            (Some(NotRun::Skipped), _) => "was skipped".to_owned(),
            (Some(NotRun::Deferred), _) => "was not approved yet".to_owned(),
            (None, StepState::Failed { reason }) => format!("failed: {reason}"),
            (None, StepState::Cancelled) => "was cancelled".to_owned(),
            (None, _) => return None,
        };
        Some(NotRun::Needs {
            step: needed.clone(),
            what,
        })
    })
}

fn ending(definition: &OrchestrationDefinition, states: &BTreeMap<StepKey, StepState>) -> Ending {
    let approved = count(definition, states, |state| *state != StepState::Deferred);
    if count(definition, states, |state| *state == StepState::Cancelled) > 0 {
        Ending::Cancelled
    } else if count(definition, states, |state| *state == StepState::Done) == approved {
        Ending::Completed
    } else {
        Ending::Failed
    }
}

fn count(
    definition: &OrchestrationDefinition,
    states: &BTreeMap<StepKey, StepState>,
    is: impl Fn(&StepState) -> bool,
) -> usize {
    definition
        .steps
        .iter()
        .filter(|step| is(state_of(states, &step.key)))
        .count()
}

fn state_of<'a>(states: &'a BTreeMap<StepKey, StepState>, key: &StepKey) -> &'a StepState {
    states.get(key).unwrap_or(&StepState::Pending)
}
