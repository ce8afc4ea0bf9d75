//! The one port through which tools touch the state of runs. The engine sits behind it.

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use work::plan::PlanDraft;

/// A question of the model to the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserQuestion {
    /// What is asked.
    pub question: String,
    /// Answers to choose from.
    pub options: Vec<QuestionOption>,
    /// Whether several may be chosen.
    pub multi_select: bool,
    /// Whether an answer in own words is taken.
    pub allow_freeform: bool,
}

/// One answer to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionOption {
    /// What is chosen.
    pub label: String,
    /// What it means.
    pub description: String,
}

/// What the model says before a plan exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanReply {
    /// What is said.
    pub response: String,
    /// Replies to choose from.
    pub options: Vec<String>,
    /// Whether the run goes on exploring without waiting.
    pub needs_more_exploration: bool,
    /// Whether this is the honest end without a plan.
    pub no_plan_needed: bool,
}

/// What a model proposes about the conversation itself; the person decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proposal {
    /// That its text stands for the conversation so far.
    Condense,
    /// That a fresh thread goes on with its text.
    NewTask,
}

/// How something said to a person was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// It is shown; nobody waits for a reply.
    Shown,
    /// It is shown and the call waits for the person.
    Waits,
    /// Nobody is there to answer.
    NobodyHere,
    /// It is the run's honest end.
    Ended,
}

/// What a submitted plan came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanReceipt {
    /// The plan.
    pub plan_id: String,
    /// Its revision, from 1.
    pub revision: u32,
    /// The digest an approval names.
    pub digest: String,
    /// Always `proposed`.
    pub status: String,
    /// The approval that is open for it.
    pub approval_id: String,
}

/// Where a request to leave plan mode stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExitRequest {
    /// Undecided; the space stays read-only.
    Pending {
        /// The approval.
        approval_id: String,
    },
    /// Granted, and consumed by this call.
    Granted,
}

/// One line of the todo list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    /// A stable id.
    pub id: String,
    /// What is to be done.
    pub text: String,
    /// Where it stands.
    pub status: TodoStatus,
}

/// Where a todo line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// The one being worked on.
    InProgress,
    /// Finished.
    Done,
}

/// Why the desk did not take something. The model reads the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DeskRefusal(pub String);

/// What the desk answers, later.
pub type DeskAnswer<'a, T> = BoxFuture<'a, Result<T, DeskRefusal>>;

/// The engine's side of every tool that touches runs, plans and people. `call_id` names the call
/// an answer belongs to.
pub trait Desk: Send + Sync {
    /// Asks the person; durable.
    fn ask_user<'a>(&'a self, call_id: &'a str, question: UserQuestion) -> DeskAnswer<'a, Said>;

    /// Speaks before a plan exists.
    fn plan_reply<'a>(&'a self, call_id: &'a str, reply: PlanReply) -> DeskAnswer<'a, Said>;

    /// Proposes something about the conversation, with the text that is to go on; durable.
    fn propose<'a>(&'a self, call_id: &'a str, proposal: Proposal, context: &'a str) -> DeskAnswer<'a, Said>;

    /// A progress note. Two in a row are refused.
    fn progress<'a>(&'a self, call_id: &'a str, note: String) -> DeskAnswer<'a, ()>;

    /// The run's result.
    fn complete<'a>(&'a self, call_id: &'a str, result: String) -> DeskAnswer<'a, ()>;

    /// A plan, validated as a whole; the refusal lists every violation.
    fn submit_plan<'a>(&'a self, call_id: &'a str, draft: PlanDraft) -> DeskAnswer<'a, PlanReceipt>;

    /// Asks to leave plan mode.
    fn exit_plan_mode<'a>(&'a self, call_id: &'a str, summary: Option<String>) -> DeskAnswer<'a, ExitRequest>;

    /// Delivers the output of the step in progress.
    fn submit_output<'a>(
        &'a self,
        call_id: &'a str,
        output: Option<Value>,
        evidence: Option<String>,
    ) -> DeskAnswer<'a, ()>;

    /// Replaces the todo list.
    fn update_todo<'a>(&'a self, call_id: &'a str, items: Vec<TodoItem>) -> DeskAnswer<'a, ()>;

    /// Asks the run's own model one thing about a text of strangers, which stands between marks of ours: with no tools,
    /// and apart from the conversation.
    fn ask_aside<'a>(&'a self, call_id: &'a str, about: &'a str, question: &'a str) -> DeskAnswer<'a, String>;

    /// The content hash of a worktree file when the model last saw it.
    fn last_seen(&self, path: &str) -> Option<String>;
}
