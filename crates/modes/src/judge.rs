//! The one decision about a call. A `Permit` owns the call it permits and can be built here alone,
//! so nothing can be performed that was not judged.
//!
//! ```compile_fail
//! // A permit has no constructor outside this crate.
//! let permit = modes::Permit { call: todo!(), layer: modes::Layer::Pinned };
//! ```
//! ```compile_fail
//! // A permit serves one act: it is not Clone.
//! fn twice(permit: modes::Permit) -> (modes::Permit, modes::Permit) { (permit.clone(), permit) }
//! ```
//! ```compile_fail
//! // A permit does not come out of a file.
//! let permit: modes::Permit = serde_json::from_str("{}").unwrap();
//! ```
//! ```compile_fail
//! // A permit has no default.
//! let permit = modes::Permit::default();
//! ```

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

use globset::GlobBuilder;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::canonical::digest;
use crate::effect::{Effect, EffectSet};
use crate::paths::WriteClass;
use crate::rules::{Matter, Rule, Scope, Verdict};
use crate::spec::{Approver, Autonomy, Role, RunSpec, WallsStanding};
use crate::tool::{Descriptor, Tier};

/// What a call acts on, as its tool found by opening it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Writes a path beneath the worktree, or outside of it.
    Write {
        /// Relative to the worktree; absolute when outside.
        path: String,
        /// What the path is.
        #[serde(skip)]
        class: WriteClass,
        /// Whether it lies outside the worktree.
        outside: bool,
    },
    /// Reads a path.
    Read {
        /// Relative to the worktree; absolute when outside.
        path: String,
    },
    /// Runs a shell line. Lines are opaque: no word of one is believed to be a command.
    Line {
        /// The line as the model wrote it.
        line: String,
    },
    /// Connects to a host.
    Host {
        /// Its name.
        host: String,
    },
    /// Something no mode, rule or answer ever lets through.
    Never {
        /// What it is: "the store of Stance", "credentials".
        what: String,
    },
}

/// A call as its tool proposes it: parsed once, its effects found, what it opened in hand.
pub struct ProposedCall {
    tool: &'static Descriptor,
    call_id: String,
    arguments: Value,
    effects: EffectSet,
    targets: Vec<Target>,
    evidence: BTreeMap<String, String>,
    handle: Option<Box<dyn Any + Send>>,
}

impl ProposedCall {
    /// A call of a tool with its declared effects.
    pub fn new(tool: &'static Descriptor, call_id: impl Into<String>, arguments: Value) -> ProposedCall {
        ProposedCall {
            tool,
            call_id: call_id.into(),
            arguments,
            effects: tool.effects,
            targets: Vec::new(),
            evidence: BTreeMap::new(),
            handle: None,
        }
    }

    /// Adds an effect of this call.
    #[must_use]
    pub fn with_effect(mut self, effect: Effect) -> ProposedCall {
        self.effects = self.effects.with(effect);
        self
    }

    /// Adds what it acts on, and the effects that follow from it.
    #[must_use]
    pub fn with_target(mut self, target: Target) -> ProposedCall {
        if let Target::Write { outside: true, .. } = target {
            self.effects = self.effects.with(Effect::FileWriteOutsideWorktree);
        }
        self.targets.push(target);
        self
    }

    /// Adds a fact that the digest covers: a content hash, an object id, a resolved program.
    #[must_use]
    pub fn with_evidence(mut self, name: impl Into<String>, value: impl Into<String>) -> ProposedCall {
        self.evidence.insert(name.into(), value.into());
        self
    }

    /// Hands over what was opened, for the act itself.
    #[must_use]
    pub fn with_handle(mut self, handle: impl Any + Send) -> ProposedCall {
        self.handle = Some(Box::new(handle));
        self
    }

    /// The tool called.
    pub fn tool(&self) -> &'static Descriptor {
        self.tool
    }

    /// The provider's id of the call.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// Its arguments, parsed once.
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// Its effects.
    pub fn effects(&self) -> EffectSet {
        self.effects
    }

    /// What it acts on.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The digest an answer is bound to: tool, arguments, effects, targets and evidence.
    pub fn digest(&self) -> String {
        digest(&json!({
            "tool": self.tool.name,
            "arguments": self.arguments,
            "effects": self.effects,
            "targets": self.targets,
            "evidence": self.evidence,
        }))
    }

    fn gated(&self) -> bool {
        self.tool.tier > Tier::Read || !self.effects.is_empty()
    }
}

impl fmt::Debug for ProposedCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ProposedCall")
            .field("tool", &self.tool.name)
            .field("call_id", &self.call_id)
            .field("effects", &self.effects)
            .field("targets", &self.targets)
            .finish_non_exhaustive()
    }
}

/// The right to perform one call, once. Owns the call.
#[derive(Debug)]
pub struct Permit {
    call: ProposedCall,
    layer: Layer,
}

impl Permit {
    /// The tool to look up.
    pub fn tool(&self) -> &'static Descriptor {
        self.call.tool
    }

    /// The provider's id of the call.
    pub fn call_id(&self) -> &str {
        &self.call.call_id
    }

    /// The arguments judged: a tool reads its arguments from here alone.
    pub fn arguments(&self) -> &Value {
        &self.call.arguments
    }

    /// The layer that let it through.
    pub fn layer(&self) -> Layer {
        self.layer
    }

    /// The effects judged.
    pub fn effects(&self) -> EffectSet {
        self.call.effects
    }

    /// Takes what the proposal opened. None when it was taken, or is of another type.
    pub fn take_handle<T: Any>(&mut self) -> Option<T> {
        let handle = self.call.handle.take()?;
        match handle.downcast::<T>() {
            Ok(handle) => Some(*handle),
            Err(other) => {
                self.call.handle = Some(other);
                None
            }
        }
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
        serde_json::to_value(self).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

/// One thing a question asks about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// What it would do: "push", "write outside the project (/etc/x)".
    pub what: String,
    /// The rule that wants it asked, with its place; none for the built-in default.
    pub rule: Option<String>,
    /// The rule that would let it through.
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
    /// Why.
    pub reason: String,
}

impl Judged {
    /// The record of this decision about a call of these facts.
    pub fn record(&self, tool: &str, digest: String, effects: EffectSet) -> DecisionRecord {
        let (decision, layer, reason) = match self {
            Judged::Permit(permit) => (Decision::Allow, permit.layer, String::new()),
            Judged::Question(question) => {
                let asks: Vec<&str> = question.asks.iter().map(|ask| ask.what.as_str()).collect();
                (Decision::Ask, Layer::BuiltIn, format!("it would {}", asks.join("; ")))
            }
            Judged::Refusal(refusal) => (Decision::Deny, refusal.layer, refusal.reason.clone()),
        };
        DecisionRecord { tool: tool.to_owned(), digest, effects, decision, layer, reason }
    }
}

/// Judges one call of a run. The order is the law: pinned, ceiling, never, deny rules,
/// `propose_only`, rules by scope and built-in defaults, `act_freely`, the approver.
pub fn judge(spec: &RunSpec, call: ProposedCall, answer: Option<&Answer>) -> Judged {
    match weigh(spec, &call, answer) {
        Weighed::Permit(layer) => Judged::Permit(Permit { call, layer }),
        Weighed::Question(asks) => Judged::Question(Question { asks, digest: call.digest() }),
        Weighed::Refusal(layer, reason) => Judged::Refusal(Refusal { layer, reason }),
    }
}

enum Weighed {
    Permit(Layer),
    Question(Vec<Ask>),
    Refusal(Layer, String),
}

fn weigh(spec: &RunSpec, call: &ProposedCall, answer: Option<&Answer>) -> Weighed {
    if let Err(absent) = spec.surface().find(call.tool.name) {
        return Weighed::Refusal(Layer::Surface, absent.to_string());
    }
    if spec.pinned(call.tool) {
        return Weighed::Permit(Layer::Pinned);
    }
    let refused = call.effects.intersection(spec.capability().refused());
    if !refused.is_empty() {
        return Weighed::Refusal(
            Layer::Ceiling,
            format!("not in {}: it would {}. Describe it in words instead.", spec.mode(), refused.phrase()),
        );
    }
    if let Some(what) = call.targets.iter().find_map(never) {
        return Weighed::Refusal(Layer::Never, format!("{what}: no mode, rule or answer lets a run touch that."));
    }
    if call.effects.contains(Effect::ProcessSpawn) && spec.recipe().walls == WallsStanding::Absent {
        return Weighed::Refusal(
            Layer::Walls,
            "programs run only inside proven walls, and this machine has none; `stance doctor` shows why.".to_owned(),
        );
    }
    let matters = matters(spec, call);
    if let Some((matter, rule)) = matters.iter().find_map(|matter| Some((matter, denied_by(spec, matter)?))) {
        return Weighed::Refusal(Layer::DenyRule, format!("the rule {rule} denies to {}.", matter.what));
    }
    if spec.recipe().autonomy == Autonomy::ProposeOnly && call.gated() {
        return Weighed::Refusal(
            Layer::ProposeOnly,
            "this agent only proposes: say in words what you would do.".to_owned(),
        );
    }
    let mut asks = Vec::new();
    let mut layer = Layer::BuiltIn;
    for matter in &matters {
        match settle(spec, matter) {
            Settled::Allowed(by) => layer = if by == Layer::Rule { by } else { layer },
            Settled::OutsidePlan(rule) => {
                return Weighed::Refusal(
                    Layer::Rule,
                    format!("the rule {rule} lets a run {} only inside a step of an approved plan that names it.", matter.what),
                );
            }
            Settled::Asked(rule) => asks.push(Ask {
                what: matter.what.clone(),
                rule,
                allowed_by: matter.allowed_by.clone(),
            }),
        }
    }
    if asks.is_empty() {
        return Weighed::Permit(layer);
    }
    answered(spec, call, asks, answer)
}

fn answered(spec: &RunSpec, call: &ProposedCall, asks: Vec<Ask>, answer: Option<&Answer>) -> Weighed {
    if spec.recipe().autonomy == Autonomy::ActFreely {
        return Weighed::Permit(Layer::ActFreely);
    }
    match answer.filter(|answer| answer.digest == call.digest()) {
        Some(Answer { allow: true, .. }) => return Weighed::Permit(Layer::Answer),
        Some(Answer { allow: false, message, .. }) => {
            let said = message.as_ref().map_or_else(String::new, |message| format!(" They said: {message}"));
            return Weighed::Refusal(Layer::Answer, format!("the person said no.{said} Take another way."));
        }
        None => {}
    }
    if spec.recipe().approver == Approver::Nobody {
        let what: Vec<&str> = asks.iter().map(|ask| ask.what.as_str()).collect();
        let rules: Vec<&str> = asks.iter().map(|ask| ask.allowed_by.as_str()).collect();
        return Weighed::Refusal(
            Layer::NoApprover,
            format!(
                "it would {}, and nobody can be asked. A person allows it with --allow {}.",
                what.join("; "),
                rules.iter().map(|rule| format!("'{rule}'")).collect::<Vec<_>>().join(" --allow "),
            ),
        );
    }
    Weighed::Question(asks)
}

fn never(target: &Target) -> Option<String> {
    match target {
        Target::Never { what } => Some(what.clone()),
        Target::Write { class: WriteClass::Repository, path, .. } => {
            Some(format!("{path} belongs to the repository's own records"))
        }
        _ => None,
    }
}

/// One thing about a call that must be settled.
struct MatterOf<'a> {
    what: String,
    matters: Vec<Matter<'a>>,
    default: Verdict,
    allowed_by: String,
    path: Option<&'a str>,
    /// A shell line, which a rule about words may or may not mean.
    line: Option<&'a str>,
}

fn matters<'a>(spec: &RunSpec, call: &'a ProposedCall) -> Vec<MatterOf<'a>> {
    let mut list: Vec<MatterOf<'a>> = call.effects.iter().map(|effect| of_effect(call, effect)).collect();
    for target in &call.targets {
        match target {
            Target::Write { path, class, outside: false } => list.push(of_write(spec, path, *class)),
            Target::Read { path } if !call.effects.contains(Effect::SecretAccess) => list.push(MatterOf {
                what: format!("read {path}"),
                matters: vec![Matter::Read(path)],
                default: Verdict::Allow,
                allowed_by: format!("read({path})"),
                path: Some(path),
                line: None,
            }),
            _ => {}
        }
    }
    list
}

fn of_effect(call: &ProposedCall, effect: Effect) -> MatterOf<'_> {
    let mut matters = vec![Matter::Effect(effect)];
    let mut named: Vec<&str> = Vec::new();
    let mut allowed_by = format!("effect({effect})");
    let mut shell_line = None;
    for target in &call.targets {
        match (effect, target) {
            (Effect::SecretAccess, Target::Read { path }) => {
                matters.push(Matter::Read(path));
                named.push(path);
                allowed_by = format!("read({path})");
            }
            (Effect::FileWriteOutsideWorktree | Effect::FileDelete, Target::Write { path, .. }) => {
                matters.push(Matter::Edit(path));
                named.push(path);
                allowed_by = format!("edit({path})");
            }
            (Effect::NetworkEgress, Target::Host { host }) => {
                matters.push(Matter::Net(host));
                named.push(host);
                allowed_by = format!("net({host})");
            }
            (Effect::ProcessSpawn, Target::Line { line }) => {
                named.push(line);
                shell_line = Some(line.as_str());
            }
            _ => {}
        }
    }
    let what = if named.is_empty() {
        effect.phrase().to_owned()
    } else {
        format!("{} ({})", effect.phrase(), named.join(", "))
    };
    MatterOf { what, matters, default: default_of(effect), allowed_by, path: named.first().copied(), line: shell_line }
}

const fn default_of(effect: Effect) -> Verdict {
    match effect {
        Effect::GitCommit | Effect::ProcessSpawn => Verdict::Allow,
        _ => Verdict::Ask,
    }
}

fn of_write<'a>(spec: &RunSpec, path: &'a str, class: WriteClass) -> MatterOf<'a> {
    let named = step_names(spec, path);
    let outside_step = matches!(spec.recipe().role, Role::Step { files: Some(_), .. }) && !named;
    let (what, default) = if outside_step {
        (format!("write {path}, which the approved step does not name"), Verdict::Ask)
    } else if class == WriteClass::Configures && !named {
        (format!("write {path}, which configures agents, editors, git or CI"), Verdict::Ask)
    } else {
        (format!("write {path}"), Verdict::Allow)
    };
    MatterOf {
        what,
        matters: vec![Matter::Edit(path)],
        default,
        allowed_by: format!("edit({path})"),
        path: Some(path),
        line: None,
    }
}

/// Whether the run carries out an approved step that names the path.
fn step_names(spec: &RunSpec, path: &str) -> bool {
    let Role::Step { files: Some(files), .. } = &spec.recipe().role else { return false };
    files.iter().any(|glob| {
        let folder = glob.trim_end_matches('/');
        let literal = folder == path || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        literal
            || GlobBuilder::new(glob)
                .literal_separator(true)
                .build()
                .is_ok_and(|glob| glob.compile_matcher().is_match(path))
    })
}

fn best<'a>(rules: impl Iterator<Item = &'a Rule>, matter: &MatterOf<'_>) -> Option<&'a Rule> {
    rules
        .filter_map(|rule| {
            let words = matter.line.and_then(plain_words);
            let command = words.as_deref().map(Matter::Words);
            let closest =
                matter.matters.iter().copied().chain(command).filter_map(|one| rule.specificity(one)).max()?;
            Some(((closest, rule.source().verdict), rule))
        })
        .max_by_key(|(rank, _)| *rank)
        .map(|(_, rule)| rule)
}

fn denied_by<'a>(spec: &'a RunSpec, matter: &MatterOf<'_>) -> Option<&'a Rule> {
    best(spec.rules().iter().filter(|rule| rule.source().verdict == Verdict::Deny), matter)
}

enum Settled {
    Allowed(Layer),
    Asked(Option<String>),
    OutsidePlan(String),
}

const SCOPES: [Scope; 6] =
    [Scope::Managed, Scope::Run, Scope::Space, Scope::Agent, Scope::Workspace, Scope::Person];

fn settle(spec: &RunSpec, matter: &MatterOf<'_>) -> Settled {
    if matter.line.is_some()
        && let Some(rule) = spec.rules().iter().find(|rule| restricts_commands(rule))
    {
        return Settled::Asked(Some(format!("{rule} speaks of commands and the line cannot be read")));
    }
    for scope in SCOPES {
        let Some(rule) = best(spec.rules().iter().filter(|rule| rule.source().scope == scope), matter) else {
            continue;
        };
        return match rule.source().verdict {
            Verdict::Allow => Settled::Allowed(Layer::Rule),
            Verdict::Plan if matter.path.is_some_and(|path| step_names(spec, path)) => Settled::Allowed(Layer::Rule),
            Verdict::Plan => Settled::OutsidePlan(rule.to_string()),
            Verdict::Ask | Verdict::Deny => Settled::Asked(Some(rule.to_string())),
        };
    }
    match matter.default {
        Verdict::Allow => Settled::Allowed(Layer::BuiltIn),
        _ => Settled::Asked(None),
    }
}

fn restricts_commands(rule: &Rule) -> bool {
    rule.speaks_of_commands() && rule.source().verdict >= Verdict::Ask
}

/// The words of a line that is nothing but words: no quoting, expansion, redirection, assignment
/// or list. Every other line stays opaque.
fn plain_words(line: &str) -> Option<Vec<String>> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '@' | '+' | ',' | ' ');
    line.chars().all(plain).then(|| line.split_whitespace().map(str::to_owned).collect())
}
