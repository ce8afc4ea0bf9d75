//! The engine as doors see it: one way in for change, ways to look, and a feed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use modes::Mode;
use serde_json::Value;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::checkpoint;
use crate::command::{Command, Done};
use crate::config::{EngineConfig, RunOptions};
use crate::explain;
use crate::inbox;
use crate::inner::Inner;
use crate::intake;
use crate::loaded::{self, Loaded};
use crate::mcp::ServerLogin;
use crate::problem::Problem;
use crate::trust::{self, ProjectPart, Standing, Trust};
use crate::turn::Flow;
use crate::view::{
    CheckpointChanges, CheckpointView, FeedItem, McpServerView, Pending, PlanView, RuleView, RunReport, RunView,
    SpaceView, ThreadView,
};
use crate::{drive, look, mcp, orchestrate, report, rules, thread, trying};

/// The engine of one workspace. Cheap to clone.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

impl Engine {
    /// Opens the workspace of the folder the command was started in; creates it on first use.
    pub async fn open(config: EngineConfig) -> Result<Engine, Problem> {
        Inner::open(config).await.map(|inner| Engine(Arc::new(inner)))
    }

    /// Carries out one act of an operator.
    pub async fn carry_out(&self, command: Command) -> Result<Done, Problem> {
        self.0.refuse_shortened().await?;
        let done = intake::carry_out(&self.0, command).await?;
        self.0.remember_head().await?;
        Ok(done)
    }

    /// Drives a run until it ends or waits, and the run that follows it. `stop` is the person's Ctrl-C.
    pub async fn drive_run(&self, run: &str, stop: CancellationToken) -> Result<RunReport, Problem> {
        let mut next = Some(run.to_owned());
        while let Some(run) = next {
            let flow = drive::run(&self.0, &run, stop.clone()).await?;
            next = match flow {
                Flow::Ended => self.0.run(&run).await?.follow_up,
                _ => None,
            };
        }
        self.0.remember_head().await?;
        report::of_run(&self.0, run).await
    }

    /// Drives an orchestration until it ends or waits. `stop` pauses it cleanly.
    pub async fn drive_orchestration(
        &self,
        orchestration: &str,
        stop: CancellationToken,
    ) -> Result<RunReport, Problem> {
        orchestrate::drive(&self.0, orchestration, stop.clone()).await?;
        self.0.remember_head().await?;
        report::of_orchestration(&self.0, orchestration, stop.is_cancelled()).await
    }

    /// How the walls stand for the runs of this engine.
    pub fn walls_standing(&self) -> modes::WallsStanding {
        self.0.walls_standing()
    }

    /// Everything that happens from now on.
    pub fn feed(&self) -> broadcast::Receiver<FeedItem> {
        self.0.journal.watch()
    }

    /// The first request that a run in this mode would make, measured; nothing is stored or sent.
    pub async fn dry_run(&self, mode: Mode, text: String, options: &RunOptions) -> Result<DryRun, Problem> {
        look::dry_run(&self.0, mode, text, options).await
    }

    /// The checkout's current space, where there is one yet.
    pub async fn known_space(&self) -> Result<Option<SpaceView>, Problem> {
        look::known_space(&self.0).await
    }

    /// A thread: what was said and done in it, and what it took by mode and model.
    pub async fn thread(&self, id: &str) -> Result<ThreadView, Problem> {
        thread::view(&self.0, id).await
    }

    /// What a run in this mode would have before its model: the prompt, what people wrote for agents here, the
    /// tools, and the conversation of a thread.
    pub async fn loaded(&self, mode: Mode, thread: Option<&str>) -> Result<Loaded, Problem> {
        loaded::loaded(&self.0, mode, thread).await
    }

    /// The checkout's current space; created on first use in Agent mode.
    pub async fn current_space(&self) -> Result<SpaceView, Problem> {
        let mut change = self.0.journal.change("").await?;
        let row = intake::current(&self.0, &mut change).await?;
        change.commit().await?;
        look::space(&self.0, &row.id).await
    }

    /// Every space, oldest first.
    pub async fn spaces(&self) -> Result<Vec<SpaceView>, Problem> {
        look::spaces(&self.0).await
    }

    /// One space.
    pub async fn space(&self, id: &str) -> Result<SpaceView, Problem> {
        look::space(&self.0, id).await
    }

    /// Every plan, oldest first.
    pub async fn plans(&self) -> Result<Vec<PlanView>, Problem> {
        look::plans(&self.0).await
    }

    /// One plan. When its base moved, a re-based revision is recorded first, and said.
    pub async fn plan(&self, id: &str) -> Result<PlanView, Problem> {
        look::plan(&self.0, id).await
    }

    /// Every checkpoint, newest first.
    pub async fn checkpoints(&self) -> Result<Vec<CheckpointView>, Problem> {
        checkpoint::look::list(&self.0).await
    }

    /// What the run of a checkpoint changed; with `now`, what restoring the checkpoint would change.
    /// Only of these paths, when there are any.
    pub async fn checkpoint_changes(
        &self,
        id: &str,
        now: bool,
        paths: &[PathBuf],
    ) -> Result<CheckpointChanges, Problem> {
        checkpoint::look::changes(&self.0, id, now, paths).await
    }

    /// Everything that waits for a person, oldest first.
    pub async fn inbox(&self) -> Result<Vec<Pending>, Problem> {
        inbox::all(&self.0).await
    }

    /// Everything trusted in this workspace, by the part.
    pub async fn trusted(&self) -> Result<Vec<Trust>, Problem> {
        Ok(trust::given(&self.0.journal).await?.into_values().collect())
    }

    /// The parts of the project's files that need trust, as they stood when this engine was opened.
    pub fn parts(&self) -> &[(ProjectPart, Standing)] {
        &self.0.parts
    }

    /// The configured MCP servers, and how they stand.
    pub fn mcp_servers(&self) -> Vec<McpServerView> {
        mcp::views(&self.0)
    }

    /// Begins a login at an MCP server: one that is allowed, or that has the digest it was shown with. Nothing of it
    /// stands in the journal.
    pub async fn begin_login(&self, name: &str, shown: Option<&str>) -> Result<ServerLogin, Problem> {
        mcp::begin_login(&self.0, name, shown).await
    }

    /// Runs, newest first.
    pub async fn runs(&self) -> Result<Vec<RunView>, Problem> {
        look::runs(&self.0).await
    }

    /// The report of a run as it stands.
    pub async fn report(&self, run: &str) -> Result<RunReport, Problem> {
        report::of_run(&self.0, run).await
    }

    /// Test builds only: this process is to die around an event.
    #[cfg(feature = "faults")]
    pub fn arm_fault(&self, point: store::FaultPoint) {
        self.0.journal.store().arm_fault(point);
    }

    /// Checks the journal, against a head printed earlier and the one kept beside the key.
    pub async fn verify(&self, against: Option<&str>) -> Result<store::Verification, Problem> {
        let head = against
            .map(str::parse::<store::Head>)
            .transpose()
            .map_err(|error| Problem::usage(error.to_string()).hint("`stance audit head` prints one to keep."))?;
        let journal = self.0.journal.store();
        if let Some(kept) = self.0.home.remembered_head() {
            let verification = journal.verify(Some(&kept)).await?;
            if verification.fault.is_some() || head.is_none() {
                return Ok(verification);
            }
        }
        Ok(journal.verify(head.as_ref()).await?)
    }

    /// The end of the journal.
    pub async fn audit_head(&self) -> Result<String, Problem> {
        Ok(self.0.journal.store().head().await?.to_string())
    }

    /// What would be decided in this mode about a tool, a tool with its arguments as JSON, or a shell
    /// line, by the function that gates runs.
    pub async fn explain(&self, mode: Mode, what: &str) -> Result<Explanation, Problem> {
        explain::explain(&self.0, mode, what).await
    }

    /// Every permission rule in force and everything that holds without one, in the order they are
    /// asked.
    pub async fn rules(&self) -> Result<Vec<RuleView>, Problem> {
        rules::list(&self.0).await
    }

    /// Starts a line for bash in a throw-away view of the checkout, in `folder` beneath it. What it
    /// writes is gone when it ends. Both its streams come out of one.
    pub fn try_line(&self, line: &str, folder: &Path, time: Duration) -> Result<sandbox::Running, Problem> {
        trying::start(&self.0, line, folder, time)
    }

    /// The projections of a mode with the tools that are built.
    pub fn profile(&self, mode: Mode) -> Value {
        look::profile(&self.0, mode)
    }
}

/// The first request of a run, measured.
#[derive(Debug, Clone, serde::Serialize)]
pub struct DryRun {
    /// The mode.
    pub mode: String,
    /// Who would be asked.
    pub provider: String,
    /// The model configured, with its provider.
    pub model: String,
    /// Bytes and tokens of the system prompt.
    pub system: Measure,
    /// Of the tools, together and one by one.
    pub tools: ToolsMeasure,
    /// Of the messages.
    pub messages: Measure,
    /// Of all of it.
    pub total: Measure,
    /// Always true: no provider's tokenizer is asked.
    pub tokens_are_estimated: bool,
    /// The system prompt itself.
    pub system_text: String,
}

/// The size of the tools.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ToolsMeasure {
    /// All of them.
    #[serde(flatten)]
    pub all: Measure,
    /// Each, in the order of the surface.
    pub each: Vec<ToolMeasure>,
}

/// The size of a tool.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ToolMeasure {
    /// Its name.
    pub name: String,
    /// Its size.
    #[serde(flatten)]
    pub size: Measure,
}

/// A size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Measure {
    /// Bytes.
    pub bytes: u64,
    /// Estimated tokens.
    pub tokens: u64,
}

/// Why a call would run, ask or be refused.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Explanation {
    /// What was asked about.
    pub what: String,
    /// The tool it would go to.
    pub tool: String,
    /// The mode shown.
    pub mode: String,
    /// What would be decided: about a call without further effects, where a tool was named alone; by the
    /// tool that the run has for lines, where a line was given.
    pub decision: modes::Decision,
    /// What decides.
    pub layer: modes::Layer,
    /// Why, in words.
    pub reason: String,
    /// Its effects; of a line those it has where nothing is thrown away.
    pub effects: modes::EffectSet,
    /// What rules and defaults say to each thing about it.
    pub things: Vec<modes::Weight>,
    /// Whether the tool is in the surface.
    pub in_surface: bool,
    /// For a line: what two shells would do with it.
    #[serde(flatten)]
    pub shell: Option<ShellAnswers>,
}

/// What becomes of a line in the run's own tool, and in the shell of an outside agent.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ShellAnswers {
    /// The run's own tool.
    pub built_in: ShellAnswer,
    /// The shell of an outside agent in this mode.
    pub foreign_shell: ShellAnswer,
}

/// What becomes of a line.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ShellAnswer {
    /// What would be decided.
    pub decision: modes::Decision,
    /// What decides.
    pub layer: modes::Layer,
    /// Why, in words.
    pub reason: String,
}
