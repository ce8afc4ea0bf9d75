//! What doors read: reports, lists and one thing whole. Shapes are published as JSON.

use std::collections::BTreeMap;

use modes::{EffectSet, ErrorFamily, Layer, Liveness, Outcome, Scope, Status, Verdict, WallsStanding};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fact::{LeftOut, Moment};

/// What a run or an orchestration came to: the object that `--json` prints.
#[derive(Debug, Clone, Serialize)]
pub struct RunReport {
    /// What came of it.
    pub outcome: Outcome,
    /// The run.
    pub run_id: String,
    /// Its space.
    pub space_id: String,
    /// Its thread.
    pub thread_id: String,
    /// The mode's stored word.
    pub mode: String,
    /// The badge, with what narrows it.
    pub label: String,
    /// What held its processes.
    pub walls: WallsStanding,
    /// The model.
    pub model: ModelUsed,
    /// One line for people.
    pub summary: String,
    /// What the model said last.
    pub text: String,
    /// The plan it delivered.
    pub plan: Option<PlanBrief>,
    /// The orchestration carried out.
    pub orchestration: Option<OrchestrationReport>,
    /// Always null: reviews are not built.
    pub review: Option<Value>,
    /// Calls that were refused.
    pub denials: Vec<Denial>,
    /// Hosts that its commands were refused; in JSON their names.
    pub hosts_refused: Vec<HostRefused>,
    /// Whether secrets were read in the thread: what leaves it is asked about from then on.
    pub thread_holds_secrets: bool,
    /// Files that changed, as observed.
    pub files_changed: Vec<String>,
    /// Checks that ran.
    pub checks: Vec<CheckRun>,
    /// Tokens.
    pub usage: llm::Usage,
    /// Money.
    pub cost: Cost,
    /// How long it took.
    pub duration_ms: i64,
    /// What waits for a person.
    pub pending: Vec<Pending>,
    /// The end of the journal, for `audit verify --head`.
    pub audit_head: String,
    /// The record's own words.
    pub details: Details,
    /// The run that followed in the same thread: after a granted plan exit, or a switch.
    pub follow_up: Option<Box<RunReport>>,
}

impl RunReport {
    /// The exit code of the command that this report ends; of several the first in the settled order.
    pub fn exit_code(&self) -> u8 {
        const ORDER: [u8; 10] = [130, 1, 2, 5, 6, 7, 3, 4, 9, 8];
        let own = self.outcome.exit_code();
        let next = self.follow_up.as_ref().map_or(0, |report| report.exit_code());
        ORDER
            .into_iter()
            .find(|code| *code == own || *code == next)
            .unwrap_or_default()
    }
}

/// A host that commands did not reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRefused {
    /// The host, as rules name it.
    pub host: String,
    /// Why not, in words.
    pub why: String,
    /// Whether the list of hosts or a rule would open it.
    pub can_ask: bool,
}

impl Serialize for HostRefused {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.host)
    }
}

/// The model asked for and the one that answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelUsed {
    /// As the settings have it.
    pub configured: String,
    /// As the answers say.
    pub actual: Option<String>,
}

/// A plan in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanBrief {
    /// The plan.
    pub id: String,
    /// Its revision.
    pub revision: u32,
    /// The digest an approval names.
    pub digest: String,
    /// Where it stands.
    pub status: String,
}

/// An orchestration, whole.
#[derive(Debug, Clone, Serialize)]
pub struct OrchestrationReport {
    /// The orchestration.
    pub id: String,
    /// Its plan.
    pub plan_id: String,
    /// Where it stands.
    pub status: String,
    /// Its steps, in the order they run.
    pub steps: Vec<StepReport>,
    /// How its work landed.
    pub landing: LandingReport,
}

/// One step.
#[derive(Debug, Clone, Serialize)]
pub struct StepReport {
    /// Its key.
    pub key: String,
    /// Where it stands.
    pub status: String,
    /// The run that carried it out.
    pub run_id: Option<String>,
    /// Files that changed while it ran, as observed.
    pub files_changed: Vec<String>,
    /// What it reported.
    pub evidence: Option<String>,
    /// Why it was not done.
    pub reason: Option<String>,
    /// The commit it landed as.
    pub commit: Option<String>,
}

/// How work landed.
#[derive(Debug, Clone, Serialize)]
pub struct LandingReport {
    /// `checkout` or `commits`.
    pub kind: String,
    /// The branch or commit.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
}

/// A refused call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Denial {
    /// The name called.
    pub tool: String,
    /// The digest of the call.
    pub arguments_digest: String,
    /// Its effects.
    pub effects: EffectSet,
    /// What refused it.
    pub layer: Layer,
    /// Why.
    pub reason: String,
}

/// A check that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRun {
    /// The command.
    pub command: String,
    /// Its exit code; none when it was ended.
    pub exit: Option<i32>,
}

/// Money.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// How much; null while no price is known.
    pub amount: Option<f64>,
    /// The currency.
    pub currency: String,
    /// Whether a price is known.
    pub known: bool,
}

/// The record's own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Details {
    /// Where the run is.
    pub status: Status,
    /// How alive it is.
    pub liveness: Liveness,
    /// The kind of fault.
    pub error_family: Option<ErrorFamily>,
}

/// Something that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pending {
    /// `permission`, `question`, `reply`, `plan`, `plan_exit` or `mcp_server`.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// The digest a decision names; empty for questions.
    pub digest: String,
    /// What it is, in one line.
    pub title: String,
    /// The run that waits.
    pub run_id: Option<String>,
    /// The plan it is about.
    pub plan_id: Option<String>,
    /// Where it was asked and when; none for what waits in the whole workspace, such as an MCP server.
    #[serde(flatten)]
    pub asked_in: Option<AskedIn>,
    /// The rules that a yes to a permission would keep, where it may reach further than this once.
    pub rules: Vec<String>,
    /// Details in lines: what a permission would do, a question's answers to choose from.
    pub lines: Vec<String>,
}

impl Pending {
    /// Whether it waits in this space.
    pub fn is_in(&self, space: &str) -> bool {
        self.asked_in.as_ref().is_some_and(|place| place.space_id == space)
    }

    /// Whether it waits in this thread.
    pub fn is_of(&self, thread: &str) -> bool {
        self.asked_in.as_ref().is_some_and(|place| place.thread_id == thread)
    }
}

/// Where something waits, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskedIn {
    /// Its thread.
    pub thread_id: String,
    /// Its space.
    pub space_id: String,
    /// Since when it waits, in milliseconds since 1970.
    pub since_ms: i64,
    /// How long that is, in milliseconds.
    #[serde(skip)]
    pub waiting_ms: i64,
}

/// A permission rule in force, or something that holds without one.
#[derive(Debug, Clone, Serialize)]
pub struct RuleView {
    /// Its words.
    pub rule: String,
    /// What it says.
    pub verdict: Verdict,
    #[serde(skip)]
    pub(crate) scope: Option<Scope>,
    /// Its scope in a word, or `never` or `built-in`.
    pub layer: &'static str,
    /// File and line, or where it comes from.
    pub place: String,
    /// Whether an administrator set it.
    pub managed: bool,
    /// How it came to be kept for the workspace.
    pub kept: Option<KeptView>,
    /// The names of its list.
    pub names: Vec<String>,
}

/// How a rule came to be kept.
#[derive(Debug, Clone, Serialize)]
pub struct KeptView {
    /// Whose it is.
    pub who: String,
    /// Since when, in milliseconds since 1970.
    pub since_ms: i64,
    /// The permission whose answer it was.
    pub permission: Option<String>,
    /// Whether it holds only while the files that decide what the line does stay the same.
    pub bound: bool,
}

/// A space in a list.
#[derive(Debug, Clone, Serialize)]
pub struct SpaceView {
    /// The space.
    pub id: String,
    /// The stored mode; exactly as stored.
    pub mode: String,
    /// The name shown, or what is wrong with the stored one.
    pub shown: String,
    /// Whether the stored mode cannot be read.
    pub unresolved: bool,
    /// The checkout.
    pub checkout: String,
    /// Whether it is the checkout's current space.
    pub current: bool,
    /// Runs that are not finished, by status.
    pub open_runs: BTreeMap<String, u32>,
    /// Its newest thread.
    pub thread: Option<String>,
    /// What its newest run is about.
    pub title: Option<String>,
    /// When it was opened, in milliseconds since 1970.
    pub created_ms: i64,
    /// How long ago that is, in milliseconds.
    pub age_ms: i64,
}

/// A plan, whole.
#[derive(Debug, Clone, Serialize)]
pub struct PlanView {
    /// The plan.
    pub id: String,
    /// Its space.
    pub space_id: String,
    /// Its thread.
    pub thread_id: String,
    /// Where it stands.
    pub status: String,
    /// The newest revision.
    pub revision: u32,
    /// The digest an approval names.
    pub digest: String,
    /// The open approval.
    pub approval_id: Option<String>,
    /// "starts from main 3f2a1c + 2 changed files".
    pub base: String,
    /// What was approved or submitted.
    pub goal: String,
    /// The plan as terminals show it.
    pub text: String,
    /// The plan's content as JSON.
    pub content: Value,
    /// Comments, oldest first.
    pub comments: Vec<work::plan::Comment>,
    /// What changed since the revision before.
    pub changes: Option<String>,
    /// Whether the base moved since the revision: then it is re-based when shown.
    pub rebased: bool,
    /// The orchestration that carries it out.
    pub orchestration_id: Option<String>,
}

/// A checkpoint in a list.
#[derive(Debug, Clone, Serialize)]
pub struct CheckpointView {
    /// The checkpoint.
    pub id: String,
    /// When it was taken, in milliseconds since 1970.
    pub taken_ms: i64,
    /// Around what.
    pub moment: Moment,
    /// The run it was taken for.
    pub run_id: Option<String>,
    /// That run's first message.
    pub title: Option<String>,
    /// The thread whose conversation it stands for.
    pub thread_id: Option<String>,
    /// The checkout.
    pub checkout: String,
    /// Files it holds.
    pub files: u64,
    /// What it does not hold.
    pub left_out: Vec<LeftOut>,
    /// How much more it does not hold.
    pub left_out_more: usize,
}

/// What differs between a checkpoint and something later.
#[derive(Debug, Clone, Serialize)]
pub struct CheckpointChanges {
    /// The checkpoint.
    pub id: String,
    /// The checkpoint at the end of its run: then the changes are that run's. None: they are what
    /// restoring it would change in the checkout as it is.
    pub until: Option<String>,
    /// The paths, sorted.
    pub changes: Vec<FileChange>,
    /// What the checkpoint does not hold.
    pub left_out: Vec<LeftOut>,
    /// How much more it does not hold.
    pub left_out_more: usize,
    /// What a restoring that was agreed to names.
    pub digest: String,
}

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileChange {
    /// Beneath the checkout.
    pub path: String,
    /// `added`, `content`, `mode` or `deleted`.
    pub change: repo::checkpoint::Change,
}

/// One event as doors see it.
#[derive(Debug, Clone, Serialize)]
pub struct EventView {
    /// Its number in the workspace.
    pub number: u64,
    /// Its stream.
    pub stream: String,
    /// Its kind.
    pub kind: String,
    /// When, in milliseconds since 1970.
    pub time_ms: i64,
    /// Who vouches for it.
    pub provenance: String,
    /// Its payload.
    pub payload: Value,
}

/// A thread, whole.
#[derive(Debug, Clone, Serialize)]
pub struct ThreadView {
    /// The thread.
    pub id: String,
    /// Its space.
    pub space_id: String,
    /// Whether secrets were read in it.
    pub holds_secrets: bool,
    /// What its runs took, and those that work for it, by mode and model, in the order they began.
    pub took: Vec<ThreadTook>,
    /// The events of its runs, oldest first.
    pub events: Vec<EventView>,
}

/// What the runs of one mode took with one model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThreadTook {
    /// The mode's stored word.
    pub mode: String,
    /// The model asked for and the one that answered.
    pub model: ModelUsed,
    /// Requests to it.
    pub requests: u32,
    /// Tokens.
    pub usage: llm::Usage,
    /// Money.
    pub cost: Cost,
}

/// What a run or message looks like in a list of threads.
#[derive(Debug, Clone, Serialize)]
pub struct RunView {
    /// The run.
    pub id: String,
    /// Its space.
    pub space_id: String,
    /// Its thread.
    pub thread_id: String,
    /// The mode it runs in.
    pub mode: String,
    /// Where it is.
    pub status: String,
    /// What came of it.
    pub outcome: Option<String>,
    /// Its first message.
    pub title: String,
    /// When it began.
    pub created_ms: i64,
}

/// Something that happens while a run is driven.
#[derive(Debug, Clone)]
pub enum FeedItem {
    /// An event was appended.
    Event(EventView),
    /// More of the answer's text.
    Text {
        /// The run.
        run: String,
        /// The next piece.
        piece: String,
    },
    /// Something a person should know, in our words.
    Notice(String),
}

/// An MCP server in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct McpServerView {
    /// Its name.
    pub name: String,
    /// Where it is configured.
    pub place: String,
    /// Whether runs use it.
    pub allowed: bool,
    /// How it stands, in words.
    pub standing: String,
    /// Whether somebody is logged in, in words; none where it never asked for that.
    pub login: Option<String>,
    /// The digest that allowing it names.
    pub digest: String,
    /// What using it would start or ask, in lines.
    pub launched: Vec<String>,
    /// What changed of that since it was allowed.
    pub changes: Vec<String>,
    /// What it offered when it was allowed.
    pub tools: Vec<McpToolView>,
}

/// A tool of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct McpToolView {
    /// Its name there.
    pub name: String,
    /// What its server says of it.
    pub description: String,
    /// Whether its server says that it only reads.
    pub says_it_reads: bool,
    /// Whether that is believed: runs that only read have it.
    pub reads: bool,
}
