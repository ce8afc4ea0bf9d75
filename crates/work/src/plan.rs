//! A plan from the model's submission to the report of what came of it.
//!
//! It must not know how a plan is stored, who may decide about it, or how a step is run.

mod comment;
mod compile;
mod content;
mod difference;
mod draft;
mod fences;
mod message;
mod options;
mod report;
mod revision;
mod schema;
mod select;
mod show;
mod status;
mod validate;
mod violation;

pub use comment::{Comment, Place};
pub use compile::{CompileRefused, compile};
pub use content::{
    InvalidContent, Node, NodeKind, NotAKey, PlanContent, Priority, Provenance, ProvenanceKind, StepKey, ValidPlan,
};
pub use difference::{Change, FieldChange, NodeChange, PlanDiff, diff_revisions};
pub use draft::{Clarification, Malformed, NodeDraft, PlanDraft, ProvenanceDraft};
pub use fences::fenced_lines;
pub use message::step_message;
pub use options::{AfterPlan, ApprovalOptions, Autonomy, Context, Landing};
pub use report::{CheckOutcome, CheckReport, Report, StepRecord, StepReport, StepStatus, Verdict};
pub use revision::{Base, RevisionContent, revision_digest};
pub use schema::{OutputSchema, SchemaFault};
pub use select::{Chosen, Missing, Selection, SelectionError, select};
pub use show::show;
pub use status::{MoveRefused, PlanMove, PlanStatus};
pub use validate::validate;
pub use violation::{FileFault, StepLabel, Violation};

/// The largest plan that is taken. A violation names the limit it passes.
pub mod limits {
    /// Steps in a plan.
    pub const STEPS: usize = 64;
    /// Characters of a step's key.
    pub const KEY_CHARACTERS: usize = 64;
    /// Characters of a title.
    pub const TITLE_CHARACTERS: usize = 200;
    /// Characters of a role.
    pub const ROLE_CHARACTERS: usize = 64;
    /// Bytes of the goal.
    pub const GOAL_BYTES: usize = 4 * 1024;
    /// Bytes of a description.
    pub const DESCRIPTION_BYTES: usize = 16 * 1024;
    /// Bytes of an acceptance criterion.
    pub const ACCEPTANCE_BYTES: usize = 4 * 1024;
    /// Checks in a plan.
    pub const CHECKS: usize = 20;
    /// Bytes of a check.
    pub const CHECK_BYTES: usize = 1024;
    /// Clarifications in a plan.
    pub const CLARIFICATIONS: usize = 32;
    /// Bytes of a question, and of an answer.
    pub const CLARIFICATION_BYTES: usize = 4 * 1024;
    /// Files named by a step.
    pub const FILES: usize = 256;
    /// Bytes of a file's path.
    pub const FILE_BYTES: usize = 1024;
    /// Provenance entries of a step.
    pub const PROVENANCE: usize = 32;
    /// Bytes of a provenance reference.
    pub const PROVENANCE_BYTES: usize = 1024;
    /// Lines inside code fences, in one step.
    pub const FENCED_LINES_STEP: usize = 40;
    /// Lines inside code fences, in the whole plan.
    pub const FENCED_LINES_PLAN: usize = 80;
    /// Bytes of an output schema, written without spaces.
    pub const SCHEMA_BYTES: usize = 64 * 1024;
    /// Objects and arrays inside each other in an output schema.
    pub const SCHEMA_DEPTH: usize = 32;
    /// Values in an output schema, also when every reference is replaced by what it points at.
    pub const SCHEMA_VALUES: usize = 4096;
    /// References that lead to one another in an output schema.
    pub const SCHEMA_REFERENCES: usize = 16;
    /// Regular expressions in an output schema.
    pub const SCHEMA_PATTERNS: usize = 64;
}
