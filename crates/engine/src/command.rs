//! What a door can ask of the engine. Every change goes through one of these.

use std::path::PathBuf;

use modes::{Mode, Reach, Verdict};
use work::approval::ApprovalMove;
use work::plan::{ApprovalOptions, Selection};

use crate::config::RunOptions;

/// One act of an operator.
#[derive(Debug, Clone)]
pub enum Command {
    /// Opens a fresh space.
    OpenSpace {
        /// Its mode.
        mode: Mode,
    },
    /// Sends a message: starts a run.
    Send {
        /// Where to.
        to: Address,
        /// What is said.
        text: String,
        /// What is asked for beside it.
        options: RunOptions,
    },
    /// Goes on with a run that was interrupted or waits. The id of a run, thread or space, or `last`.
    Resume {
        /// Which.
        id: String,
        /// What is said to it: the answer to what it waits for, or a further message.
        text: Option<String>,
        /// What is asked for from here on.
        options: RunOptions,
    },
    /// Compacts the conversation of a thread: a summary of its model stands for it from then on.
    Compact {
        /// The thread.
        thread: String,
        /// What is to be kept above all.
        keep: Option<String>,
        /// What is asked for of the run that does it.
        options: RunOptions,
    },
    /// Answers a permission or a question.
    Answer {
        /// The waiting thing.
        id: String,
        /// The digest it was shown with; needed for a permission.
        digest: Option<String>,
        /// The answer.
        answer: PersonAnswer,
    },
    /// Switches the mode of a space.
    SwitchMode {
        /// The space; the checkout's current one when none is named.
        space: Option<String>,
        /// The mode.
        to: Mode,
        /// What is sent along.
        draft: Option<String>,
        /// What is asked for of the run that follows.
        options: RunOptions,
    },
    /// Decides an approval.
    Decide {
        /// What is decided.
        about: About,
        /// The decision.
        verdict: PersonDecision,
    },
    /// Keeps a permission rule for this workspace; of the same words the later one holds.
    KeepRule {
        /// Its words.
        text: String,
        /// What it says.
        verdict: Verdict,
    },
    /// Forgets the rule of these words that is kept for this workspace.
    ForgetRule {
        /// Its words.
        text: String,
    },
    /// Goes on with the orchestration of a plan, or starts one that was saved only.
    RunPlan {
        /// The plan.
        plan: String,
    },
    /// Comments a plan.
    Comment {
        /// The plan.
        plan: String,
        /// The step commented, or the whole.
        node: Option<String>,
        /// The words commented.
        quote: Option<String>,
        /// The comment.
        text: String,
    },
    /// Restores a checkpoint: files, the thread's conversation, or both. A checkpoint of the moment
    /// before is taken first.
    RestoreCheckpoint {
        /// The checkpoint, or `last`.
        checkpoint: String,
        /// What of it.
        extent: Extent,
        /// Of the files only these, and what lies beneath them; all when there are none.
        paths: Vec<PathBuf>,
        /// The digest of the differences that the person was shown.
        shown: Option<String>,
    },
    /// Undoes the newest run of a thread.
    Undo {
        /// The thread.
        thread: String,
    },
    /// Brings back what was undone last in a thread.
    Redo {
        /// The thread.
        thread: String,
    },
    /// Stops a run.
    Stop {
        /// The run.
        run: String,
    },
    /// Trusts a part of a project's files with exactly this content.
    Trust {
        /// The part.
        what: String,
        /// Its content.
        content: String,
        /// The digest it was shown with.
        digest: String,
    },
    /// Allows an MCP server as it was shown. It is started once, as a run in the mode would start it.
    AllowServer {
        /// Its name.
        name: String,
        /// The digest it was shown with.
        digest: String,
        /// The mode.
        mode: Mode,
    },
    /// Forgets an MCP server.
    ForgetServer {
        /// Its name.
        name: String,
    },
    /// Believes what an allowed MCP server says of its tools.
    TrustServer {
        /// Its name.
        name: String,
        /// Which tools; none named: all of them.
        tools: Vec<String>,
    },
    /// Forgets the login at an MCP server.
    LogOutOfServer {
        /// Its name.
        name: String,
    },
    /// Forgets the trust in a part.
    ForgetTrust {
        /// The part.
        what: String,
    },
}

/// What a decision is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// An approval, by its id.
    Approval(String),
    /// The open approval of a plan, by the plan's id.
    Plan(String),
}

/// A person's decision with everything it names.
#[derive(Debug, Clone)]
pub struct PersonDecision {
    /// The digest it was shown with.
    pub digest: String,
    /// `Approve`, `Reject` or `RequestRevision`.
    pub decision: ApprovalMove,
    /// Why.
    pub reason: Option<String>,
    /// How an approved plan is carried out.
    pub options: ApprovalOptions,
    /// Which of its steps.
    pub selection: Selection,
}

/// What of a checkpoint is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The files of the checkout.
    Files,
    /// The conversation of the thread.
    Thread,
    /// Both.
    Both,
}

/// Where a message goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// The checkout's current space when it is not in Agent mode, else a fresh one.
    Wherever,
    /// A fresh space in this mode.
    FreshSpace(Mode),
    /// A new thread in this space.
    Space(String),
    /// On in this thread.
    Thread(String),
    /// The checkout's current space, on in its newest thread or in a first one.
    Current,
}

/// What a person answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonAnswer {
    /// Yes.
    Allow {
        /// How far it reaches.
        reach: Reach,
        /// The rule to keep, where it is not the words of the call.
        words: Option<String>,
    },
    /// No.
    Deny {
        /// And why.
        because: Option<String>,
    },
    /// Words.
    Text(String),
    /// Words that came through a pipe: they answer, and name no page that may be read unasked.
    Piped(String),
}

/// What a command came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// A run is ready to be driven.
    Run {
        /// The run.
        run: String,
        /// What the person should know first: the space used, its mode and why.
        notices: Vec<String>,
    },
    /// An orchestration is ready to be driven.
    Orchestration {
        /// The orchestration.
        orchestration: String,
        /// What the person should know first.
        notices: Vec<String>,
    },
    /// Nothing is left to drive; the words say what was done.
    Said(Vec<String>),
    /// A space was opened.
    Space(String),
}
