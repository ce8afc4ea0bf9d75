//! The prompt block of a run, generated from the tools it really has. Snapshot-tested whole.
//!
//! ```compile_fail,E0451
//! // What a model is shown is built here alone.
//! let view = stance_modes::ModelView { preamble: String::new(), tools: Vec::new() };
//! ```

use std::fmt::Write as _;

use crate::containment::Posture;
use crate::spec::{NoInspection, Role, RunSpec};
use crate::surface::Surface;
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
    ModelView {
        preamble: preamble(spec),
        tools: surface.tools().to_vec(),
    }
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
    if let Some(verb) = spec.exit().filter(|verb| surface.find(verb).is_ok()) {
        let _ = writeln!(
            text,
            "To leave this mode without a delivery, ask with `{verb}`; a person decides, and until then nothing changes."
        );
    }
    if let Some(closing) = closing(spec, &surface) {
        let _ = writeln!(text, "{closing}");
    }
    if spec.capability().worktree() == Posture::ReadOnly {
        text.push_str(
            "There is no tool here that writes files, runs commands that leave a trace or changes the repository, \
             and no way round that. Describe a change in words; it is made after a person approved it.\n",
        );
    }
    match spec.inspection() {
        Ok(_) if surface.find("inspect_command").is_ok() => text.push_str(
            "Builds, tests and scripts run with `inspect_command` in a throw-away copy: what they write is told and \
             gone afterwards, and nothing they say was done stays done.\n",
        ),
        Err(why @ (NoInspection::Off | NoInspection::Unproven)) => {
            let _ = writeln!(text, "No command can be tried here: {why}.");
        }
        Ok(_) | Err(NoInspection::NotInMode) => {}
    }
    if spec.invites_questions() && surface.find("ask_user").is_ok() {
        text.push_str("When the goal is unclear, ask with `ask_user` before you decide for the person.\n");
    }
    let _ = write!(text, "\n{}\n", guidance(spec));
    text
}

/// How a run ends that owes no verb, if the tool for it is there.
fn closing(spec: &RunSpec, surface: &Surface) -> Option<&'static str> {
    let (tool, sentence) = match spec.recipe().role {
        Role::Step { .. } => (
            "submit_output",
            "You carry out steps of an approved plan. End each with `submit_output`.",
        ),
        Role::Main => (
            "attempt_completion",
            "End with `attempt_completion`: say what you did, what you checked and what is left.",
        ),
    };
    surface.find(tool).is_ok().then_some(sentence)
}

fn intent(spec: &RunSpec) -> &'static str {
    match &spec.recipe().role {
        Role::Main if only_answers(spec) => "Answer the person by reading. Nothing is changed in this run.",
        Role::Main => spec.profile().intent,
        Role::Step { read_only: true, .. } => "Find out what the step asks for and report it. Nothing is changed here.",
        Role::Step { .. } => "Carry out the approved steps, one after the other, and nothing beside them.",
    }
}

fn guidance(spec: &RunSpec) -> &'static str {
    match &spec.recipe().role {
        Role::Main if only_answers(spec) => {
            "Say where you read what you say. When a call is refused, read the reason and take another way; do not \
             repeat it."
        }
        Role::Main => spec.profile().guidance,
        Role::Step { .. } => {
            "Do what the step says, check that it is done as it demands, and report what you observed. When the \
             step cannot be done as written, say so instead of doing something else."
        }
    }
}

/// Whether the run reads although its mode would write, or owes nothing although its mode would.
fn only_answers(spec: &RunSpec) -> bool {
    spec.recipe().read_only_once || spec.narrowed()
}
