//! Choosing the steps of a plan that shall be carried out.
//!
//! It must not know how they are carried out.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::content::{StepKey, ValidPlan};
use crate::text::printable;

/// The operator's choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// Every step.
    All,
    /// These steps; the others wait.
    Keys(Vec<String>),
}

/// A choice that can be carried out: each chosen step's dependencies are chosen too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    chosen: Vec<StepKey>,
    deferred: Vec<StepKey>,
}

impl Chosen {
    /// The chosen steps, in the plan's order.
    pub fn chosen(&self) -> &[StepKey] {
        &self.chosen
    }

    /// The steps that wait, in the plan's order.
    pub fn deferred(&self) -> &[StepKey] {
        &self.deferred
    }
}

/// Why a choice cannot be carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// Nothing is chosen.
    #[error("no step is chosen")]
    Nothing,
    /// The plan has no such steps.
    #[error("the plan has no step {}", listed(.0.iter().map(|key| printable(key))))]
    Unknown(Vec<String>),
    /// Steps are left out that chosen ones need.
    #[error("chosen steps need {}, not chosen", listed(.0.iter().map(Missing::to_string)))]
    NotClosed(Vec<Missing>),
}

/// A step that is left out although another needs it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// The step left out.
    pub step: StepKey,
    /// A step that depends on it directly and is chosen or itself needed.
    pub needed_by: StepKey,
}

impl std::fmt::Display for Missing {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} (for {})", self.step, self.needed_by)
    }
}

fn listed(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

/// The steps a choice means. Naming a step twice is naming it once.
pub fn select(plan: &ValidPlan, selection: &Selection) -> Result<Chosen, SelectionError> {
    let wanted: BTreeSet<&str> = match selection {
        Selection::All => plan.nodes().iter().map(|node| node.key.as_str()).collect(),
        Selection::Keys(keys) => keys.iter().map(String::as_str).collect(),
    };
    if wanted.is_empty() {
        return Err(SelectionError::Nothing);
    }
    let unknown: Vec<String> = wanted
        .iter()
        .filter(|key| plan.node(key).is_none())
        .map(|&key| key.to_owned())
        .collect();
    if !unknown.is_empty() {
        return Err(SelectionError::Unknown(unknown));
    }
    let missing = missing(plan, &wanted);
    if !missing.is_empty() {
        return Err(SelectionError::NotClosed(missing));
    }
    let (chosen, deferred) = plan
        .nodes()
        .iter()
        .map(|node| node.key.clone())
        .partition(|key| wanted.contains(key.as_str()));
    Ok(Chosen { chosen, deferred })
}

/// Everything the wanted steps need, near or far, that is not wanted itself.
fn missing(plan: &ValidPlan, wanted: &BTreeSet<&str>) -> Vec<Missing> {
    let mut found: Vec<Missing> = Vec::new();
    let mut needed: BTreeSet<&str> = wanted.clone();
    // Backwards through the order every step comes after all that need it.
    for node in plan.in_order().into_iter().rev() {
        if !needed.contains(node.key.as_str()) {
            continue;
        }
        for dependency in &node.depends_on {
            if needed.insert(dependency.as_str()) {
                found.push(Missing {
                    step: dependency.clone(),
                    needed_by: node.key.clone(),
                });
            }
        }
    }
    found.sort();
    found
}
