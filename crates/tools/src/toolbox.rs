//! The tools that are built, in the order of the table. Knows names, nothing of what they do.

use std::sync::Arc;

use modes::NoDescriptor;

use crate::code::ListCodeDefinitionNames;
use crate::files::{ApplyPatch, ListFiles, ReadFile, ReplaceInFile, WriteToFile};
use crate::git::{GitRead, GitWrite};
use crate::instructions::UseSkill;
use crate::plan::{ExitPlanMode, SubmitOutput, SubmitPlan};
use crate::search::SearchFiles;
use crate::shell::{ExecuteCommand, InspectCommand};
use crate::talk::{ActModeRespond, AskUser, AttemptCompletion, Condense, NewTask, PlanModeRespond};
use crate::todo::UpdateTodo;
use crate::tool::Toolbox;
use crate::web::WebFetch;

/// Every tool that is built, in registration order.
pub fn toolbox() -> Result<Toolbox, NoDescriptor> {
    Toolbox::new(vec![
        Arc::new(ReadFile),
        Arc::new(ListFiles),
        Arc::new(SearchFiles),
        Arc::new(ListCodeDefinitionNames),
        Arc::new(GitRead),
        Arc::new(GitWrite),
        Arc::new(WriteToFile),
        Arc::new(ReplaceInFile),
        Arc::new(ApplyPatch),
        Arc::new(ExecuteCommand),
        Arc::new(InspectCommand),
        Arc::new(WebFetch),
        Arc::new(AskUser),
        Arc::new(PlanModeRespond),
        Arc::new(ActModeRespond),
        Arc::new(AttemptCompletion),
        Arc::new(SubmitPlan),
        Arc::new(ExitPlanMode),
        Arc::new(SubmitOutput),
        Arc::new(UpdateTodo),
        Arc::new(Condense),
        Arc::new(NewTask),
        Arc::new(UseSkill),
    ])
}

/// The name in the table for a name a model may have been taught elsewhere.
pub fn canonical_name(name: &str) -> &str {
    match name {
        "ask_followup_question" => "ask_user",
        other => other,
    }
}
