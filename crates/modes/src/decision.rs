//! What can come of judging a call, and how the journal keeps it. A `Permit` owns the call it
//! permits and is made by `judge` alone, so nothing can be performed that was not judged.
//!
//! ```
//! // What a tool does with a permit: it reads it.
//! fn tool_of(permit: &stance_modes::Permit) -> &'static str { permit.tool().name }
//! ```
//! ```compile_fail,E0451
//! // A permit has no constructor outside this crate.
//! fn made(call: stance_modes::ProposedCall, hosts: stance_modes::HostGate) -> stance_modes::Permit {
//!     stance_modes::Permit { call, layer: stance_modes::Layer::Pinned, hosts }
//! }
//! ```
//! ```compile_fail,E0624
//! // Nor one hidden in a function.
//! fn made(spec: &stance_modes::RunSpec, call: stance_modes::ProposedCall) -> stance_modes::Permit {
//!     stance_modes::Permit::new(spec, call, stance_modes::Layer::Pinned)
//! }
//! ```
//! ```compile_fail,E0599
//! // A permit serves one act: it is not Clone.
//! fn twice(permit: stance_modes::Permit) -> (stance_modes::Permit, stance_modes::Permit) {
//!     (permit.clone(), permit)
//! }
//! ```
//! ```compile_fail,E0277
//! // A permit does not come out of a file.
//! let permit: stance_modes::Permit = serde_json::from_str("{}").unwrap();
//! ```
//! ```compile_fail,E0599
//! // A permit has no default.
//! let permit = stance_modes::Permit::default();
//! ```

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::{ProposedCall, Target};
use crate::effect::{Effect, EffectSet};
use crate::hosts::HostGate;
use crate::rules::widens;
use crate::spec::RunSpec;
use crate::tool::Descriptor;

/// The right to perform one call, once. Owns the call.
#[derive(Debug)]
pub struct Permit {
    call: ProposedCall,
    layer: Layer,
    hosts: HostGate,
}

impl Permit {
    pub(crate) fn new(spec: &RunSpec, call: ProposedCall, layer: Layer) -> Permit {
        let granted = call.hosts().map(str::to_owned).collect();
        let installs = call.effects().contains(Effect::PackageInstall);
        Permit {
            hosts: HostGate::of(spec, granted, layer == Layer::Answer, installs),
            call,
            layer,
        }
    }

    /// The hosts its processes and pages may reach.
    pub fn hosts(&self) -> &HostGate {
        &self.hosts
    }

    /// The tool to look up.
    pub fn tool(&self) -> &'static Descriptor {
        self.call.tool()
    }

    /// The provider's id of the call.
    pub fn call_id(&self) -> &str {
        self.call.call_id()
    }

    /// The arguments judged: a tool reads its arguments from here alone.
    pub fn arguments(&self) -> &Value {
        self.call.arguments()
    }

    /// What it acts on, as judged.
    pub fn targets(&self) -> &[Target] {
        self.call.targets()
    }

    /// The layer that let it through.
    pub fn layer(&self) -> Layer {
        self.layer
    }

    /// The paths it deletes that a checkpoint has to hold by then.
    pub fn deletes_held(&self) -> impl Iterator<Item = &str> {
        self.call.deletes_held()
    }

    /// Why a deletion was taken for a write; empty where none was.
    fn proof(&self) -> String {
        let held: Vec<&str> = self.deletes_held().collect();
        match held.as_slice() {
            [] => String::new(),
            held => format!("a checkpoint holds what it deletes: {}", held.join(", ")),
        }
    }

    /// The effects judged.
    pub fn effects(&self) -> EffectSet {
        self.call.effects()
    }

    /// Takes what the proposal opened. None when it was taken, or is of another type.
    pub fn take_handle<T: Any>(&mut self) -> Option<T> {
        self.call.take_handle()
    }
}

/// What decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The tool does not exist for the run.
    Surface,
    /// The arguments cannot be read.
    Arguments,
    /// A registered function of the run's own contract.
    Pinned,
    /// The mode's ceiling.
    Ceiling,
    /// What no mode lets through.
    Never,
    /// The walls are not proved and the call needs them.
    Walls,
    /// A deny rule.
    DenyRule,
    /// The autonomy `propose_only`.
    ProposeOnly,
    /// A rule of some scope.
    Rule,
    /// The built-in default.
    BuiltIn,
    /// The bound of an approved step.
    Step,
    /// The autonomy `act_freely`.
    ActFreely,
    /// Nobody could be asked.
    NoApprover,
    /// A person's answer.
    Answer,
    /// The call came after one that ends the run.
    NotStarted,
}

impl Layer {
    /// The word in events and tables.
    pub fn word(self) -> String {
        serde_json::to_value(self)
            .ok()
            .and_then(|value| value.as_str().map(str::to_owned))
            .unwrap_or_default()
    }
}

/// One thing a question asks about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// What it would do: "push", "write outside the project (/etc/x)".
    pub what: String,
    /// The rule that wants it asked, with its place; none for the built-in default.
    pub rule: Option<String>,
    /// The rule that names just this, as settings and `--allow` take it. It lets the thing through
    /// unless a rule that stands above it wants it asked.
    pub allowed_by: String,
    /// Whether a yes may reach further than this once.
    pub rememberable: bool,
    /// What a line would run, by content: a yes that reaches further holds while these are the same.
    pub evidence: BTreeMap<String, String>,
}

impl Ask {
    /// Whether a person's own words for the rule to keep speak for this too. Wildcards stand where
    /// the person put them, and never where the thing is named: a program, a path with a secret.
    pub fn widened(&self, words: &str) -> Result<(), String> {
        widens(words, &self.allowed_by)
    }
}

/// Shows what it would do, and the rule that wants it asked.
impl fmt::Display for Ask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            Some(rule) => write!(formatter, "{}, which the rule {rule} wants asked", self.what),
            None => formatter.write_str(&self.what),
        }
    }
}

/// What a call would do, all in one.
pub(crate) fn would(asks: &[Ask]) -> String {
    let asks: Vec<String> = asks.iter().map(Ask::to_string).collect();
    format!("it would {}", asks.join("; "))
}

/// What one thing about a call comes to by rules and defaults alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Weight {
    /// What it would do.
    pub what: String,
    /// What rules and defaults say to it.
    pub decision: Decision,
    /// The rule that says so, with its place; none for a default.
    pub rule: Option<String>,
    /// The rule that names just this.
    pub allowed_by: String,
}

/// A person's answer to a permission, bound to the digest it was shown with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The digest shown.
    pub digest: String,
    /// Yes or no.
    pub allow: bool,
    /// What the person said.
    pub message: Option<String>,
}

/// A call that waits for a person.
#[derive(Debug)]
pub struct Question {
    /// What is asked, all in one.
    pub asks: Vec<Ask>,
    /// The digest an answer must name.
    pub digest: String,
    /// What wants it asked: a rule, the bound of a step, or the built-in default.
    pub layer: Layer,
}

/// A call that is refused before it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What refused.
    pub layer: Layer,
    /// Why, and what to do instead; the model reads it.
    pub reason: String,
}

/// What came of judging.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one stands at a time, and is taken apart at once"
)]
pub enum Judged {
    /// Perform it.
    Permit(Permit),
    /// Ask first.
    Question(Question),
    /// Never started.
    Refusal(Refusal),
}

/// Allow, ask or deny, as events and `explain` show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It runs.
    Allow,
    /// A person is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// A decision as the journal keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionRecord {
    /// The name called.
    pub tool: String,
    /// Digest of the call.
    pub digest: String,
    /// Its effects.
    pub effects: EffectSet,
    /// What was decided.
    pub decision: Decision,
    /// What decided.
    pub layer: Layer,
    /// Why; of what runs, the proof where one narrowed what it is judged as.
    pub reason: String,
}

impl Judged {
    /// The record of this decision about a call of these facts.
    pub fn record(&self, tool: &str, digest: String, effects: EffectSet) -> DecisionRecord {
        let (decision, layer, reason) = match self {
            Judged::Permit(permit) => (Decision::Allow, permit.layer, permit.proof()),
            Judged::Question(question) => (Decision::Ask, question.layer, would(&question.asks)),
            Judged::Refusal(refusal) => (Decision::Deny, refusal.layer, refusal.reason.clone()),
        };
        DecisionRecord {
            tool: tool.to_owned(),
            digest,
            effects,
            decision,
            layer,
            reason,
        }
    }
}
