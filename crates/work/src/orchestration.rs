//! What shall be carried out, fixed: the approved steps in their order and how they were approved.
//!
//! It must not know how a step is run or how far the work has come.

use serde::{Deserialize, Serialize};

use crate::plan::{ApprovalOptions, Node, StepKey};

/// An approved piece of work, complete in itself: it needs neither the plan nor the thread any more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrchestrationDefinition {
    /// The id of the plan it was made from.
    pub plan: String,
    /// The plan's goal.
    pub goal: String,
    /// The approved steps, each after those it depends on, otherwise in the plan's order.
    pub steps: Vec<Node>,
    /// Steps of the plan that were not approved now.
    pub deferred: Vec<StepKey>,
    /// Command lines to run at the end.
    pub checks: Vec<String>,
    /// The operator's choices.
    pub options: ApprovalOptions,
    /// Whether one run does all steps one after the other because the plan leaves no choice: never
    /// more than one step could run, and one role does them all.
    pub sequential: bool,
    /// Whether steps that could have run at the same moment will run one after the other.
    pub parallel_ignored: bool,
    /// Whether steps of several roles will be done by one.
    pub roles_ignored: bool,
}

impl OrchestrationDefinition {
    /// The step of this key.
    pub fn step(&self, key: &str) -> Option<&Node> {
        self.steps.iter().find(|step| step.key.as_str() == key)
    }

    /// What to tell the operator about how this differs from what the plan allows; empty when it does
    /// not.
    pub fn notices(&self) -> Vec<&'static str> {
        let mut notices = Vec::new();
        if self.parallel_ignored {
            notices.push(
                "Some steps could run at the same time. This build runs them one after the other, \
                 each after the steps it depends on.",
            );
        }
        if self.roles_ignored {
            notices.push("The steps name several roles. This build has one agent do them all.");
        }
        notices
    }
}
