//! What the composition root hands the engine: resolved settings and the makers of models and walls.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use modes::{Autonomy, Inspection, Mode, RuleText, WallsStanding};

use tools::mcp::Server;

use crate::problem::Problem;
use crate::trust::ProjectPart;

/// Everything the engine is opened with. Resolved once, at the door.
#[derive(Clone)]
pub struct EngineConfig {
    /// The home of Stance: an absolute path outside every checkout.
    pub home: PathBuf,
    /// The person's own home folder.
    pub person_home: PathBuf,
    /// The folder the command was started in.
    pub start: PathBuf,
    /// Rules of every scope but the run's own.
    pub rules: Vec<RuleText>,
    /// What of the project's files counts only once an operator trusts it.
    pub parts: Vec<ProjectPart>,
    /// Hosts that need no question beside the shipped ones: of settings, and where the models answer.
    pub hosts: Vec<String>,
    /// Where names of hosts lead.
    pub names: Arc<dyn sandbox::Names>,
    /// The search engine of the web, where an operator chose one.
    pub search: Option<Arc<tools::Search>>,
    /// MCP servers as the settings and the project name them.
    pub servers: Vec<Server>,
    /// How much agents may do without asking.
    pub autonomy: Autonomy,
    /// Limits of every run.
    pub limits: Limits,
    /// The model of each mode.
    pub models: Arc<dyn ModelSource>,
    /// The walls; none when this machine has none.
    pub walls: Option<Arc<sandbox::Walls>>,
    /// Whether the walls were proved on this machine.
    pub walls_standing: WallsStanding,
    /// Whether runs may try commands in a throw-away view.
    pub inspection: Inspection,
    /// Who decides at this door: the name of the person, for the record.
    pub operator: String,
    /// Who answers the runs of an approved plan.
    pub attendance: Attendance,
}

/// Limits of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Responses in a row without one good call before the run ends; none: no limit.
    pub mistakes: Option<u32>,
    /// Tokens of all kinds for one run and what it causes; none: no limit.
    pub tokens: Option<u64>,
    /// Minutes for one run and what it causes; none: no limit.
    pub minutes: Option<u64>,
    /// Requests that are tried again after a passing fault.
    pub retries: u32,
    /// The first pause before another try, in milliseconds; it doubles.
    pub retry_pause_ms: u64,
    /// Tokens of a request at which the conversation is compacted, where the model's window has room for
    /// more; none: what is known of the window decides.
    pub compact_at: Option<u64>,
}

impl Attendance {
    /// Who answers, in a run's recipe.
    pub(crate) const fn approver(self) -> modes::Approver {
        match self {
            Attendance::Person => modes::Approver::Person,
            Attendance::Later => modes::Approver::Later,
            Attendance::Nobody => modes::Approver::Nobody,
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            mistakes: Some(3),
            tokens: None,
            minutes: None,
            retries: 5,
            retry_pause_ms: 500,
            compact_at: None,
        }
    }
}

/// Tokens an unattended run may spend when nobody said otherwise.
pub const UNATTENDED_TOKENS: u64 = 2_000_000;

/// Minutes an unattended run may last when nobody said otherwise.
pub const UNATTENDED_MINUTES: u64 = 60;

/// The model a mode is configured with.
#[derive(Clone)]
pub struct ChosenModel {
    /// Who answers.
    pub model: Arc<dyn llm::Model>,
    /// Its settings, already folded for the mode.
    pub settings: llm::ModelSettings,
    /// What a person should know: a clamped budget, a fallback.
    pub notices: Vec<String>,
}

/// Makes the model of a mode. Asked once for each run.
pub trait ModelSource: Send + Sync {
    /// The model for runs in this mode.
    fn choose(&self, mode: Mode) -> Result<ChosenModel, Problem>;
}

/// What a person asked for beside the text of a run.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each answers a question of its own about one run"
)]
pub struct RunOptions {
    /// Whether nothing may be changed in this run, whatever the mode.
    pub read_only_once: bool,
    /// `--yolo`: act freely, in this run only.
    pub yolo: bool,
    /// Whether the text came through a pipe, and was not typed by the operator.
    pub piped: bool,
    /// Who answers permissions and questions.
    pub attendance: Attendance,
    /// `--allow` and `--deny`.
    pub rules: Vec<RuleText>,
    /// A command that must succeed inside the walls when the run ends.
    pub check: Option<String>,
    /// Whether at least one file must have changed.
    pub expect_changes: bool,
    /// Tokens this run may spend, over the settings.
    pub tokens: Option<u64>,
    /// Minutes this run may last, over the settings.
    pub minutes: Option<u64>,
    /// Labels for the record.
    pub labels: BTreeMap<String, String>,
}

/// Who is at the door.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Attendance {
    /// A person who answers now.
    Person,
    /// Nobody now; the run may wait for an answer.
    Later,
    /// Nobody.
    #[default]
    Nobody,
}
