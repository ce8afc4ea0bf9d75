//! A run's immutable specification: built once when the run starts, from a stored recipe, and
//! never edited. The recipe is what the journal keeps; the specification is computed from it again
//! after a restart, and its digest shows whether it still is the same.
//!
//! ```compile_fail,E0616
//! // Nothing of a specification is edited.
//! fn freed(mut spec: stance_modes::RunSpec) { spec.recipe.autonomy = stance_modes::Autonomy::ActFreely; }
//! ```
//! ```compile_fail,E0594
//! // Nor through what it shows.
//! fn freed(spec: stance_modes::RunSpec) { spec.recipe().autonomy = stance_modes::Autonomy::ActFreely; }
//! ```

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::canonical::digest;
use crate::capability::{Capability, narrow};
use crate::containment::Containment;
use crate::hosts::{HostGate, SHIPPED_HOSTS, ThreadReach};
use crate::mode::Mode;
use crate::profile::{Profile, profile, read_only_capability};
use crate::rules::{RememberedRule, Rule, RuleRefused, RuleText};
use crate::surface::Surface;
use crate::tool::{Built, Descriptor, descriptor};

/// How much an agent may do without asking, within its mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Autonomy {
    /// Refuses every gated call. Shown as "asks: refuses".
    ProposeOnly,
    /// Asks where the rules say so. Shown as "asks: when it matters".
    #[default]
    ActWithApproval,
    /// Never asks. Shown as "asks: never".
    ActFreely,
}

impl Autonomy {
    /// Reads the word of settings and command lines.
    pub fn from_word(word: &str) -> Option<Autonomy> {
        serde_json::from_value(json!(word)).ok()
    }

    /// What the bottom line shows.
    pub const fn asks(self) -> &'static str {
        match self {
            Autonomy::ProposeOnly => "refuses",
            Autonomy::ActWithApproval => "when it matters",
            Autonomy::ActFreely => "never",
        }
    }
}

/// Who answers permissions and questions of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approver {
    /// A person sits at the door.
    Person,
    /// Nobody now; the run ends waiting and can be resumed.
    Later,
    /// Nobody, ever.
    Nobody,
}

/// What holds processes on this machine. Below `Proven` programs run only because an operator has
/// accepted it in words, and starting one asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WallsStanding {
    /// Every probe of the proof was held.
    Proven,
    /// Rules of the kernel hold in the place of a view of its own; something is lost.
    Partial,
    /// An operator says that the container around Stance is the wall; Stance has not proven it.
    Outer,
    /// An operator switched them off.
    Off,
    /// There are none, or the proof failed; no program is started.
    Absent,
}

impl WallsStanding {
    /// Whether nothing that is started sees or reaches more than the walls let it.
    pub const fn hold(self) -> bool {
        matches!(
            self,
            WallsStanding::Proven | WallsStanding::Partial | WallsStanding::Absent
        )
    }
}

/// Whether commands may be tried in a throw-away view, where a mode has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inspection {
    /// No operator said anything yet.
    #[default]
    Unasked,
    /// An operator keeps it off.
    Off,
    /// An operator turned it on, and this machine did not prove that such a view holds.
    Unproven,
    /// An operator turned it on, and the view was proved.
    On,
}

/// Why a run tries no commands in a throw-away view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum NoInspection {
    /// The mode has no such view.
    #[error("this mode tries nothing in a throw-away copy")]
    NotInMode,
    /// No operator turned it on.
    #[error("trying commands in a throw-away copy is off; `try = true` under `[plan]` in your settings turns it on")]
    Off,
    /// It was not proved on this machine.
    #[error("a throw-away copy was not proved on this machine; `stance doctor` shows why")]
    Unproven,
}

impl WallsStanding {
    /// The word behind "walls:".
    pub const fn shown(self) -> &'static str {
        match self {
            WallsStanding::Proven => "on",
            WallsStanding::Partial => "partly",
            WallsStanding::Outer => "outer",
            WallsStanding::Off | WallsStanding::Absent => "OFF",
        }
    }
}

/// What a run is in the tree of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Role {
    /// It answers a message; it owns its mode's verbs and contract.
    Main,
    /// It carries out steps of an approved plan.
    Step {
        /// Paths its writes are bounded by, as globs relative to the worktree; none: no bound.
        files: Option<Vec<String>>,
        /// Whether it only reads (research, discussion, synthesis).
        read_only: bool,
    },
}

/// A narrowing a run inherits from what caused it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A run in this mode caused it.
    Run(Mode),
    /// A run under the read-only capability caused it.
    ReadOnlyRun,
}

/// What a run specification is computed from; stored with the run's start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecipe {
    /// The space's mode, read in the transaction that created the run.
    pub mode: Mode,
    /// Narrowings inherited along the cause chain; empty when an operator's act started it.
    pub chain: Vec<Cause>,
    /// What the run is.
    pub role: Role,
    /// Whether the person asked for read-only this once.
    pub read_only_once: bool,
    /// How much it may do without asking.
    pub autonomy: Autonomy,
    /// Who answers.
    pub approver: Approver,
    /// What holds its processes.
    pub walls: WallsStanding,
    /// Whether commands may be tried.
    #[serde(default)]
    pub inspection: Inspection,
    /// Rules of every scope.
    pub rules: Vec<RuleText>,
    /// Hosts that need no question, beside the shipped ones: of settings, of the repository's
    /// remotes, of the model provider; each as `parse_pattern` spells it.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Rules that earlier answers in this workspace have become.
    pub answers: Vec<RememberedRule>,
}

/// Why a run cannot start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunSpecRefused {
    /// A rule cannot be read.
    #[error(transparent)]
    Rule(#[from] RuleRefused),
    /// The mode's contract could never be met.
    #[error("{mode} needs the tool {verb}, which is not in its surface: the run does not start")]
    RequiredVerbMissing {
        /// The mode.
        mode: Mode,
        /// The verb.
        verb: &'static str,
    },
}

/// What one run is and may do. Immutable; built by `run_spec` alone.
#[derive(Debug, Clone)]
pub struct RunSpec {
    recipe: RunRecipe,
    profile: Profile,
    capability: Capability,
    rules: Arc<[Rule]>,
    pub(crate) hosts: Arc<[String]>,
    reach: ThreadReach,
    built: Built,
    digest: String,
}

/// Computes a run's specification from its recipe.
pub fn run_spec(recipe: RunRecipe, built: &Built) -> Result<RunSpec, RunSpecRefused> {
    let profile = profile(recipe.mode);
    let narrowings = narrowings(&recipe);
    let capability = narrowings
        .iter()
        .fold(profile.capability.clone(), |so_far, next| narrow(&so_far, next));
    let rules = recipe
        .rules
        .iter()
        .cloned()
        .map(Rule::parse)
        .chain(recipe.answers.iter().cloned().map(Rule::remembered))
        .collect::<Result<Vec<_>, _>>()?;
    let reach = ThreadReach::default();
    let digest = digest_of(&recipe, &capability, &reach, built);
    let spec = RunSpec {
        profile,
        capability,
        rules: rules.into(),
        hosts: recipe.hosts.clone().into(),
        reach,
        recipe,
        built: built.clone(),
        digest,
    };
    match spec.required() {
        Some(verb) if !spec.surface().tools().iter().any(|tool| tool.name == verb) => {
            Err(RunSpecRefused::RequiredVerbMissing {
                mode: spec.mode(),
                verb,
            })
        }
        _ => Ok(spec),
    }
}

/// Covers everything that decides what a run may do.
fn digest_of(recipe: &RunRecipe, capability: &Capability, reach: &ThreadReach, built: &Built) -> String {
    digest(&json!({
        "mode": recipe.mode,
        "role": recipe.role,
        "capability": capability,
        "autonomy": recipe.autonomy,
        "approver": recipe.approver,
        "walls": recipe.walls,
        "inspection": recipe.inspection,
        "read_only_once": recipe.read_only_once,
        "rules": recipe.rules,
        "hosts": [SHIPPED_HOSTS, recipe.hosts.iter().map(String::as_str).collect::<Vec<_>>().as_slice()],
        "reach": reach,
        "tools": built.rows().iter().map(|row| (row.name, row.tier)).collect::<Vec<_>>(),
        "answers": recipe.answers,
    }))
}

fn narrowings(recipe: &RunRecipe) -> Vec<Capability> {
    let mut narrowings: Vec<Capability> = recipe
        .chain
        .iter()
        .map(|cause| match cause {
            Cause::Run(mode) => profile(*mode).capability,
            Cause::ReadOnlyRun => read_only_capability(),
        })
        .collect();
    if recipe.read_only_once || matches!(recipe.role, Role::Step { read_only: true, .. }) {
        narrowings.push(read_only_capability());
    }
    narrowings
}

impl RunSpec {
    /// The same run while a step of its plan is in progress: writes beside these paths ask. Only a
    /// run that carries out steps can be bounded so; every other is returned as it is.
    #[must_use]
    pub fn within_step(&self, files: Vec<String>) -> RunSpec {
        let mut bounded = self.clone();
        if let Role::Step { files: bound, .. } = &mut bounded.recipe.role {
            *bound = Some(files);
        }
        bounded.renewed()
    }

    /// The same run as its thread stands now: what was read and said in it decides about hosts.
    #[must_use]
    pub fn in_thread(&self, reach: ThreadReach) -> RunSpec {
        RunSpec { reach, ..self.clone() }.renewed()
    }

    fn renewed(mut self) -> RunSpec {
        self.digest = digest_of(&self.recipe, &self.capability, &self.reach, &self.built);
        self
    }

    /// The hosts for what the run starts beside its calls and keeps: its check, a server of tools.
    pub fn standing_hosts(&self) -> HostGate {
        HostGate::standing(self)
    }

    /// What the history of its thread decides about hosts.
    pub fn reach(&self) -> &ThreadReach {
        &self.reach
    }

    /// The same run with the rules that answers to its own calls have become since it started.
    pub fn remembering(mut self, answers: &[RememberedRule]) -> Result<RunSpec, RuleRefused> {
        let more = answers.iter().cloned().map(Rule::remembered);
        self.rules = self
            .rules
            .iter()
            .cloned()
            .map(Ok)
            .chain(more)
            .collect::<Result<_, _>>()?;
        self.recipe.answers.extend_from_slice(answers);
        Ok(self.renewed())
    }

    /// The mode it runs in.
    pub fn mode(&self) -> Mode {
        self.recipe.mode
    }

    /// What it was computed from.
    pub fn recipe(&self) -> &RunRecipe {
        &self.recipe
    }

    /// The digest of everything that decides what it may do; 64 hexadecimal digits.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What it may do.
    pub fn capability(&self) -> &Capability {
        &self.capability
    }

    /// What its mode is, whole.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The name beside the badge, with what narrows it.
    pub fn label(&self) -> String {
        self.narrowed_name().unwrap_or_else(|| self.profile.label.to_owned())
    }

    /// The name a refusal reads: "not in Plan".
    pub(crate) fn name(&self) -> String {
        self.narrowed_name().unwrap_or_else(|| self.mode().to_string())
    }

    fn narrowed_name(&self) -> Option<String> {
        let by = match self.recipe.role {
            _ if self.recipe.read_only_once => "read-only this once",
            Role::Step { read_only: true, .. } => "read-only step",
            _ if self.narrowed() => "read-only: started before the approval",
            _ => return None,
        };
        Some(format!("{}, {by}", self.mode()))
    }

    /// Whether it only reads although its mode writes.
    pub(crate) fn narrowed(&self) -> bool {
        self.capability.worktree() < self.profile.capability.worktree()
    }

    /// The mode verbs it owns: none but in a main run.
    pub fn verbs(&self) -> &'static [&'static str] {
        match self.recipe.role {
            Role::Main => self.profile.verbs,
            Role::Step { .. } => &[],
        }
    }

    /// The verb its contract demands.
    pub fn required(&self) -> Option<&'static str> {
        self.contract_verb(self.profile.required)
    }

    /// The verb that asks to leave its mode.
    pub fn exit(&self) -> Option<&'static str> {
        self.contract_verb(self.profile.exit)
    }

    fn contract_verb(&self, verb: Option<&'static str>) -> Option<&'static str> {
        match self.recipe.role {
            Role::Main if !self.recipe.read_only_once => verb,
            _ => None,
        }
    }

    /// Whether this very row of the table is pinned: in the surface and past the guard always.
    pub fn pinned(&self, tool: &Descriptor) -> bool {
        [self.required(), self.exit(), Some("ask_user")]
            .into_iter()
            .flatten()
            .filter_map(descriptor)
            .any(|row| row == tool)
    }

    /// The tools that exist for this run.
    pub fn surface(&self) -> Surface {
        Surface::of(self)
    }

    /// What its processes may touch.
    pub fn containment(&self) -> Containment {
        Containment::new(self.capability.worktree, self.capability.network)
    }

    /// What a command that is tried may touch; or why this run tries none.
    pub fn inspection(&self) -> Result<Containment, NoInspection> {
        if !self.capability.inspection {
            return Err(NoInspection::NotInMode);
        }
        match self.recipe.inspection {
            Inspection::Unasked | Inspection::Off => Err(NoInspection::Off),
            Inspection::On if self.recipe.walls == WallsStanding::Proven => Ok(Containment::throw_away()),
            Inspection::On | Inspection::Unproven => Err(NoInspection::Unproven),
        }
    }

    /// Whether somebody can answer a question and wants to be asked.
    pub fn invites_questions(&self) -> bool {
        self.recipe.approver == Approver::Person && self.recipe.autonomy != Autonomy::ActFreely
    }

    /// The narrowings that whatever this run causes inherits.
    pub fn passes_on(&self) -> Vec<Cause> {
        let mut chain = self.recipe.chain.clone();
        chain.push(Cause::Run(self.mode()));
        if self.recipe.read_only_once || matches!(self.recipe.role, Role::Step { read_only: true, .. }) {
            chain.push(Cause::ReadOnlyRun);
        }
        chain.dedup();
        chain
    }

    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub(crate) fn shared_rules(&self) -> Arc<[Rule]> {
        Arc::clone(&self.rules)
    }

    pub(crate) fn built(&self) -> &Built {
        &self.built
    }
}
