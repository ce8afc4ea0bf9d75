//! The prompt block of a run, generated from the tools it really has. Snapshot-tested whole.

use std::fmt::Write as _;

use crate::spec::{Role, RunSpec};
use crate::surface::Absence;
use crate::tool::Descriptor;

/// What the model is shown of a run: the block and the tools. Only this crate can build one.
#[derive(Debug, Clone)]
pub struct ModelView {
    preamble: String,
    tools: Vec<&'static Descriptor>,
}

impl ModelView {
    /// The generated prompt block.
    pub fn preamble(&self) -> &str {
        &self.preamble
    }

    /// The tools offered, in registration order.
    pub fn tools(&self) -> &[&'static Descriptor] {
        &self.tools
    }
}

/// The model's view of a run.
pub fn model_view(spec: &RunSpec) -> ModelView {
    let surface = spec.surface();
    ModelView { preamble: preamble(spec), tools: surface.tools().to_vec() }
}

fn preamble(spec: &RunSpec) -> String {
    let surface = spec.surface();
    let mut names: Vec<&str> = surface.tools().iter().map(|tool| tool.name).collect();
    names.sort_unstable();
    let mut text = format!("# Mode: {}\n{}\n\n", spec.label(), intent(spec));
    let _ = writeln!(text, "You have {} tools: {}.", names.len(), names.join(", "));
    if let Some(verb) = spec.required() {
        let _ = writeln!(
            text,
            "Deliver the {} by calling `{verb}`. Prose is not delivery: nothing exists until that call succeeds.",
            spec.profile().deliverable
        );
    }
    if let Some(verb) = spec.exit() {
        let _ = writeln!(
            text,
            "To leave this mode without a delivery, ask with `{verb}`; a person decides, and until then nothing changes."
        );
    }
    if let Role::Step { .. } = spec.recipe().role {
        text.push_str("You carry out steps of an approved plan. End each with `submit_output`.\n");
    }
    if strips(spec) {
        text.push_str(
            "There is no tool here that writes files, runs commands or changes the repository, and no way round \
             that. Describe a change in words; it is made after a person approved it.\n",
        );
    }
    if spec.invites_questions() {
        text.push_str("When the goal is unclear, ask with `ask_user` before you decide for the person.\n");
    }
    let _ = write!(text, "\n{}\n", guidance(spec));
    text
}

fn intent(spec: &RunSpec) -> &'static str {
    match &spec.recipe().role {
        Role::Main if strips(spec) && spec.required().is_none() && spec.profile().selectable => {
            "Answer the person by reading. Nothing is changed in this run."
        }
        Role::Main => spec.profile().intent,
        Role::Step { read_only: true, .. } => "Find out what the step asks for and report it. Nothing is changed here.",
        Role::Step { .. } => "Carry out the approved steps, one after the other, and nothing beside them.",
    }
}

fn guidance(spec: &RunSpec) -> &'static str {
    match &spec.recipe().role {
        Role::Main => spec.profile().guidance,
        Role::Step { .. } => {
            "Do what the step says, check that it is done as it demands, and report what you observed. When the \
             step cannot be done as written, say so instead of doing something else."
        }
    }
}

fn strips(spec: &RunSpec) -> bool {
    spec.surface().absent().iter().any(|(tool, absence)| tool.mutates_worktree && *absence == Absence::DenyListed)
}
