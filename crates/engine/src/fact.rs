//! Everything that can happen, as one closed enum. An event of the journal is one of these; its
//! kind and its payload come from here alone.

use std::collections::BTreeMap;

use modes::{Conclusion, DecisionRecord, EffectSet, Reach, RememberedRule, RuleText, RunRecipe};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tools::{Instructions, Proposal, TodoItem, ToolResult, UserQuestion};
use work::approval::{ApprovalKind, ApprovalMove};
use work::orchestration::OrchestrationDefinition;
use work::pipeline::StepState;
use work::plan::{ApprovalOptions, Comment, PlanMove, RevisionContent, Selection};

use crate::mcp::RunServer;
use crate::problem::{Problem, ProblemKind};
use crate::trust;
use crate::{checkpoint, conversation};

/// One thing that happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", content = "details", rename_all = "snake_case")]
pub(crate) enum Fact {
    SpaceOpened {
        space: String,
        mode: String,
        checkout: String,
        current: bool,
    },
    ModeChanged {
        space: String,
        from: Option<String>,
        to: String,
        who: String,
        why: String,
    },
    ThreadOpened {
        thread: String,
        space: String,
        parent: Option<String>,
    },

    RunStarted(Box<RunStart>),
    /// What people wrote for agents here, as the run began: the same for all its requests.
    Instructed(Instructions),
    Entered(Entry),
    Requested {
        turn: u32,
        hash: String,
        bytes: u64,
        tokens: u64,
        mode: String,
        model: String,
    },
    RequestFailed {
        failure: String,
        message: String,
        status: Option<u16>,
        attempt: u32,
        cursor: Option<String>,
        partial: Vec<llm::Block>,
        usage: llm::Usage,
    },
    Responded {
        response: llm::Response,
    },
    Decided {
        call: String,
        record: DecisionRecord,
    },
    PermissionAsked(Box<Permission>),
    PermissionAnswered {
        permission: String,
        digest: String,
        allow: bool,
        reach: Reach,
        because: Option<String>,
        /// The rules it has become; they hold for the rest of the run.
        remembered: Vec<RememberedRule>,
        who: String,
    },
    QuestionAsked {
        question: String,
        call: String,
        reply: bool,
        asked: UserQuestion,
        /// What a yes to it brings about.
        #[serde(default)]
        proposal: Option<Proposal>,
    },
    QuestionAnswered {
        question: String,
        call: String,
        answer: String,
        /// Whether an operator typed it at a door.
        typed: bool,
        who: String,
    },
    ToolStarted {
        call: String,
        tool: String,
    },
    ToolFinished {
        call: String,
        tool: String,
        result: ToolResult,
        how: How,
    },
    /// Secrets came into the thread: what leaves it from now on is asked about.
    SecretsRead {
        call: String,
        thread: String,
        /// The thread that this one works for.
        parent: Option<String>,
    },
    Nudged {
        text: String,
    },
    Told {
        text: String,
    },
    /// A person wants the conversation so far replaced by its summary.
    CompactionAsked {
        keep: Option<String>,
        who: String,
        /// Where the model's script goes on, if it keeps a place.
        cursor: Option<String>,
    },
    Compacted(Box<Compaction>),
    /// The run's model was asked something beside the conversation, as a part of a call.
    AskedAside(Box<Aside>),
    /// What going on with a long conversation under another model or in another mode costs, said first.
    SwitchPriced(SwitchPrice),
    Violated {
        call: String,
        what: String,
    },
    Noted {
        call: String,
        text: String,
    },
    TodoUpdated {
        items: Vec<TodoItem>,
    },
    OutputSubmitted {
        step: Option<String>,
        output: Option<Value>,
        evidence: Option<String>,
    },
    ChangesObserved {
        before: String,
        after: String,
        files: Vec<String>,
    },
    CheckRan {
        command: String,
        exit: Option<i32>,
        output: String,
    },
    CheckpointTaken(Box<CheckpointTaken>),
    CheckpointsForgotten {
        checkpoints: Vec<String>,
    },
    FilesRestored {
        checkpoint: String,
        /// The checkpoint of the moment before.
        before: String,
        restored: usize,
        left: Vec<String>,
        who: String,
    },
    ThreadRewound {
        thread: String,
        /// What began from this event on is left out.
        point: u64,
        checkpoint: Option<String>,
        /// The checkpoint of the moment before.
        before: String,
        by: RewindBy,
        who: String,
    },
    RunPaused {
        conclusion: Conclusion,
        summary: String,
    },
    RunResumed {
        who: String,
        interrupted: bool,
    },
    StepEnded {
        step: String,
    },
    RunEnded {
        conclusion: Conclusion,
        summary: String,
        follow_up: Option<String>,
    },

    PlanSubmitted(Box<Submission>),
    PlanMoved {
        plan: String,
        moved: PlanMove,
        who: String,
        why: Option<String>,
    },
    PlanCommented {
        plan: String,
        revision: u32,
        comment: Comment,
    },
    ApprovalOpened(ApprovalRow),
    ApprovalMoved {
        approval: String,
        moved: ApprovalMove,
        who: String,
        how: String,
        digest: String,
        reason: Option<String>,
        options: Option<Box<(ApprovalOptions, Selection)>>,
    },

    RuleKept(Box<KeptRule>),
    RuleForgotten {
        id: String,
        who: String,
    },

    OrchestrationCreated(Box<OrchestrationStart>),
    StepMoved {
        orchestration: String,
        step: String,
        state: StepState,
        run: Option<String>,
        before: Option<String>,
        after: Option<String>,
        files: Vec<String>,
        evidence: Option<String>,
        output: Option<Value>,
    },
    StepLanded {
        orchestration: String,
        step: String,
        commit: Option<String>,
        left: Vec<String>,
    },
    PlanCheckRan {
        orchestration: String,
        command: String,
        exit: Option<i32>,
        output: String,
    },
    OrchestrationEnded {
        orchestration: String,
        completed: bool,
        summary: String,
        head: Option<String>,
        after: Option<String>,
    },

    TrustGiven {
        what: String,
        digest: String,
        content: String,
        who: String,
    },
    TrustForgotten {
        what: String,
        who: String,
    },
}

/// A question beside the conversation, and what it cost. The answer is a part of the call's result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Aside {
    pub call: String,
    /// How large the request was.
    pub bytes: u64,
    /// The same, as it is estimated.
    pub tokens: u64,
    pub model: String,
    pub usage: llm::Usage,
    pub cursor: Option<String>,
    /// The kind of fault, where no answer came.
    pub failure: Option<String>,
}

/// A checkpoint as it was taken.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CheckpointTaken {
    pub checkpoint: String,
    /// The digest of everything it holds.
    pub tree: String,
    pub worktree: String,
    pub moment: Moment,
    pub run: Option<String>,
    pub thread: Option<String>,
    /// Files it holds.
    pub files: u64,
    /// What it does not hold, and how much more there is of that.
    pub left: Vec<LeftOut>,
    pub left_more: usize,
}

/// A path that a checkpoint does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Beneath the checkout.
    pub path: String,
    /// Why.
    pub why: repo::checkpoint::Why,
}

/// When a checkpoint is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// Before the first change of a run.
    BeforeRun,
    /// At the end of a run.
    AfterRun,
    /// Before files are deleted because a checkpoint holds them.
    BeforeDeletion,
    /// Before a checkpoint is restored.
    BeforeRestore,
}

/// How a thread came to be rewound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RewindBy {
    Restore,
    Undo,
    Redo,
}

/// How a call came to its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum How {
    /// It ran to its end.
    Performed,
    /// It was refused before it ran.
    Refused,
    /// Stance stopped while it ran; its effect is unknown.
    Interrupted,
    /// It came behind a call that ends the response.
    NotStarted,
    /// A person answered it.
    Answered,
}

/// Everything a run is started with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RunStart {
    pub run: String,
    pub space: String,
    pub thread: String,
    pub parent: Option<String>,
    pub orchestration: Option<String>,
    pub recipe: RunRecipe,
    pub profile_digest: String,
    pub model: llm::ModelSettings,
    pub title: String,
    pub check: Option<String>,
    pub expect_changes: bool,
    pub mistakes: Option<u32>,
    pub tokens: Option<u64>,
    pub minutes: Option<u64>,
    pub labels: BTreeMap<String, String>,
    pub who: String,
    /// Whether the conversation before it is left out.
    pub fresh_context: bool,
    /// What it has of MCP servers.
    #[serde(default)]
    pub servers: Vec<RunServer>,
}

/// A message that enters a run: its first, or a step's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub id: String,
    pub text: String,
    /// Facts about the place, for the model: folder, branch. Ours, not the person's.
    pub context: String,
    /// Whether an operator typed it at a door. What came through a pipe, or stands in a plan, is data.
    pub typed: bool,
    pub step: Option<String>,
    /// The bound of the step's writes.
    pub files: Option<Vec<String>>,
    /// Where the model's script goes on, if it keeps a place.
    pub cursor: Option<String>,
}

/// What stands for the conversation so far from here on. What it stands for stays in the journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Compaction {
    pub why: WhyCompacted,
    /// The last event that it stands for.
    pub upto: u64,
    /// A model's words: material, whatever they say.
    pub summary: String,
    /// Ours: what of the thread goes on whatever the summary says.
    pub carried: String,
    /// Estimated tokens of what the next request would have held, and of what it holds instead.
    pub before: u64,
    pub after: u64,
    /// What asking for the summary took; nothing when the model had written it already.
    pub usage: llm::Usage,
    pub model: Option<String>,
    /// Where the model's script goes on, if it keeps a place.
    pub cursor: Option<String>,
}

/// Why a conversation is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WhyCompacted {
    /// The next request would come near the model's window.
    NearlyFull,
    /// The provider says it does not fit.
    Overflow,
    /// A person asked for it.
    Asked,
    /// The model proposed its summary, and the person agreed.
    Agreed,
}

/// The price of going on under another model or in another mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SwitchPrice {
    pub from_mode: String,
    pub from_model: String,
    pub to_mode: String,
    pub to_model: String,
    /// Tokens that no cache of the provider holds for the new request, estimated.
    pub tokens: u64,
    /// Their price in US dollars, where it is known.
    pub usd: Option<f64>,
}

/// A call that waits for a yes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Permission {
    pub id: String,
    /// The calls it is for: the first, and those of the same response that are the same.
    pub calls: Vec<String>,
    pub tool: String,
    pub arguments: Value,
    pub effects: EffectSet,
    pub asks: Vec<modes::Ask>,
    pub digest: String,
}

/// A rule kept for the workspace.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct KeptRule {
    pub id: String,
    pub rule: RuleText,
    /// What an answer is bound to; none for a rule that a person set.
    pub evidence: Option<BTreeMap<String, String>>,
    /// The permission whose answer it was.
    pub permission: Option<String>,
    pub who: String,
}

/// A plan as it was submitted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Submission {
    pub plan: String,
    pub space: String,
    pub thread: String,
    /// The run that wrote it; none when a person's look re-based it.
    pub run: Option<String>,
    pub content: RevisionContent,
    pub digest: String,
    /// "starts from main 3f2a1c + 2 changed files".
    pub base_words: String,
}

/// An approval as it is opened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ApprovalRow {
    pub approval: String,
    pub kind: ApprovalKind,
    pub subject: String,
    pub digest: String,
    pub run: Option<String>,
    pub thread: String,
    pub space: String,
    pub title: String,
    /// The stay in plan mode it belongs to.
    pub epoch: Option<u64>,
}

/// Everything an orchestration is started with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OrchestrationStart {
    pub orchestration: String,
    pub plan: String,
    pub space: String,
    pub thread: String,
    pub definition: OrchestrationDefinition,
    pub who: String,
    pub approval: String,
    pub base: Option<String>,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// What was uncommitted then, where it matters for the landing.
    pub dirty: Vec<String>,
}

impl Fact {
    /// The event's kind and payload.
    pub(crate) fn parts(&self) -> Result<(String, Value), Problem> {
        let broken = |why: String| Problem::new(ProblemKind::Store, format!("an event cannot be written: {why}"));
        let value = serde_json::to_value(self).map_err(|error| broken(error.to_string()))?;
        let Value::Object(mut map) = value else {
            return Err(broken("it is no object".to_owned()));
        };
        match (map.remove("kind"), map.remove("details")) {
            (Some(Value::String(kind)), Some(details)) => Ok((kind, details)),
            _ => Err(broken("it has no kind".to_owned())),
        }
    }

    /// The fact of an event; none when retention has removed its payload.
    pub(crate) fn of(event: &store::Event) -> Result<Option<Fact>, Problem> {
        let Some(details) = &event.payload else { return Ok(None) };
        let whole = serde_json::json!({"kind": event.kind, "details": details});
        serde_json::from_value(whole).map(Some).map_err(|error| {
            Problem::new(
                ProblemKind::Store,
                format!("event {} ({}) cannot be read: {error}", event.number, event.kind),
            )
            .hint("`stance audit verify` tells whether it was changed.")
        })
    }

    /// The stream the fact belongs to.
    pub(crate) fn stream(&self, run: &str) -> String {
        match self {
            Fact::SpaceOpened { space, .. } | Fact::ModeChanged { space, .. } | Fact::ThreadOpened { space, .. } => {
                format!("space/{space}")
            }
            Fact::PlanSubmitted(submission) => format!("plan/{}", submission.plan),
            Fact::PlanMoved { plan, .. } | Fact::PlanCommented { plan, .. } => format!("plan/{plan}"),
            Fact::ApprovalOpened(row) => format!("approval/{}", row.approval),
            Fact::ApprovalMoved { approval, .. } => format!("approval/{approval}"),
            Fact::OrchestrationCreated(start) => format!("orchestration/{}", start.orchestration),
            Fact::StepMoved { orchestration, .. }
            | Fact::StepLanded { orchestration, .. }
            | Fact::PlanCheckRan { orchestration, .. }
            | Fact::OrchestrationEnded { orchestration, .. } => format!("orchestration/{orchestration}"),
            Fact::TrustGiven { .. } | Fact::TrustForgotten { .. } => trust::STREAM.to_owned(),
            Fact::RuleKept(_) | Fact::RuleForgotten { .. } => "rules".to_owned(),
            Fact::CheckpointTaken(_) | Fact::CheckpointsForgotten { .. } | Fact::FilesRestored { .. } => {
                checkpoint::STREAM.to_owned()
            }
            Fact::ThreadRewound { thread, .. } => conversation::stream(thread),
            Fact::RunStarted(start) => format!("run/{}", start.run),
            _ => format!("run/{run}"),
        }
    }
}

impl Fact {
    /// Whether it must survive the loss of power: approvals, mode changes and trust.
    pub(crate) fn lasts(&self) -> bool {
        matches!(
            self,
            Fact::ModeChanged { .. }
                | Fact::ApprovalOpened(_)
                | Fact::ApprovalMoved { .. }
                | Fact::PermissionAnswered { .. }
                | Fact::RuleKept(_)
                | Fact::RuleForgotten { .. }
                | Fact::OrchestrationCreated(_)
                | Fact::TrustGiven { .. }
                | Fact::TrustForgotten { .. }
        )
    }
}
