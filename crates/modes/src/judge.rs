//! The one decision about a call: surface, ceiling, rules, defaults, the person. Knows nothing of
//! how a call is carried out, nor who asks.

use serde_json::Value;

use crate::call::{ProposedCall, Target};
use crate::decision::{Answer, Ask, Decision, Judged, Layer, Permit, Question, Refusal, Weight, would};
use crate::effect::Effect;
use crate::matter::{Matter, matters};
use crate::paths::{WriteClass, write_class};
use crate::rules::{Rule, RuleText, Scope, Subject, Verdict};
use crate::spec::{Approver, Autonomy, RunSpec, WallsStanding};
use crate::surface::offers;
use crate::tool::descriptor;

/// Judges one call of a run. The order is the law: pinned, ceiling, never, deny rules,
/// `propose_only`, rules by scope and built-in defaults, `act_freely`, the approver.
pub fn judge(spec: &RunSpec, call: ProposedCall, answer: Option<&Answer>) -> Judged {
    match weigh(spec, &call, answer) {
        Weighed::Permit(layer) => Judged::Permit(Permit::new(spec, call, layer)),
        Weighed::Question(asks, layer) => Judged::Question(Question {
            asks,
            digest: call.digest(),
            layer,
        }),
        Weighed::Refusal(layer, reason) => Judged::Refusal(Refusal { layer, reason }),
    }
}

/// What the shell of an outside agent would be let do with a line in this run's mode: the same law,
/// whatever tools the run itself has. Nothing can be performed with it.
pub fn foreign_shell(spec: &RunSpec, line: &ProposedCall) -> (Decision, Layer, String) {
    match by_effects(spec, line, None) {
        Weighed::Permit(layer) => (Decision::Allow, layer, String::new()),
        Weighed::Question(asks, layer) => (Decision::Ask, layer, would(&asks)),
        Weighed::Refusal(layer, reason) => (Decision::Deny, layer, reason),
    }
}

/// What each thing about a call comes to by rules and defaults alone, for people.
pub fn weights(spec: &RunSpec, call: &ProposedCall) -> Vec<Weight> {
    matters(spec, call)
        .into_iter()
        .map(|matter| {
            let denied = denied_by(spec.rules(), &matter);
            let settled = settle(spec.rules(), &matter);
            Weight {
                decision: match (denied, settled.standing) {
                    (Some(_), _) | (None, Standing::OutsidePlan) => Decision::Deny,
                    (None, Standing::Asked) => Decision::Ask,
                    (None, Standing::Allowed) => Decision::Allow,
                },
                rule: denied.map(Rule::to_string).or(settled.rule),
                allowed_by: matter.allowed_by,
                what: matter.what,
            }
        })
        .collect()
}

enum Weighed {
    Permit(Layer),
    Question(Vec<Ask>, Layer),
    Refusal(Layer, String),
}

fn weigh(spec: &RunSpec, call: &ProposedCall, answer: Option<&Answer>) -> Weighed {
    let name = call.tool().name;
    if !offers(spec, name)
        && let Err(absent) = spec.surface().find(name)
    {
        return Weighed::Refusal(Layer::Surface, absent.to_string());
    }
    if spec.pinned(call.tool()) {
        return Weighed::Permit(Layer::Pinned);
    }
    by_effects(spec, call, answer)
}

fn by_effects(spec: &RunSpec, call: &ProposedCall, answer: Option<&Answer>) -> Weighed {
    let refused = call.effects().intersection(spec.capability().refused());
    if !refused.is_empty() {
        return Weighed::Refusal(
            Layer::Ceiling,
            format!(
                "not in {}: it would {}. Describe it in words instead.",
                spec.name(),
                refused.phrase()
            ),
        );
    }
    if let Some(what) = call.targets().iter().find_map(never) {
        return Weighed::Refusal(
            Layer::Never,
            format!("{what}: no mode, rule or answer lets a run touch that."),
        );
    }
    let runs_a_line = |target: &Target| matches!(target, Target::Line { .. } | Target::Command { .. });
    let starts = call.effects().contains(Effect::ProcessSpawn) || call.targets().iter().any(runs_a_line);
    if starts && spec.recipe().walls == WallsStanding::Absent {
        return Weighed::Refusal(
            Layer::Walls,
            "programs run only inside proven walls, or where a person has accepted to do without them; `stance \
             doctor` shows why these do not stand and what to do."
                .to_owned(),
        );
    }
    by_rules(spec, call, answer)
}

impl RunSpec {
    /// Whether rules and autonomy let the run read a secret-shaped path without asking. Its processes
    /// see such a file only then, or when a judged call names it.
    pub fn reads_unasked(&self, path: &str) -> bool {
        let Some(row) = descriptor("read_file") else {
            return false;
        };
        let call = ProposedCall::new(row, "", Value::Null)
            .with_effect(Effect::SecretAccess)
            .with_target(Target::Read { path: path.to_owned() });
        matches!(by_rules(self, &call, None), Weighed::Permit(_))
    }

    /// Whether rules, autonomy and the run's step let it write a path of the worktree without asking.
    pub fn writes_unasked(&self, path: &str) -> bool {
        let Some(row) = descriptor("write_to_file") else {
            return false;
        };
        let call = ProposedCall::new(row, "", Value::Null).with_target(Target::Write {
            path: path.to_owned(),
            class: write_class(path),
            outside: false,
        });
        matches!(by_rules(self, &call, None), Weighed::Permit(_))
    }

    /// Whether any rule denies paths to be written.
    pub fn denies_writes(&self) -> bool {
        self.rules().iter().any(|rule| denies(rule) && rule.speaks_of_writes())
    }

    /// Whether a rule denies this path to be written.
    pub fn denies_writing(&self, path: &str) -> bool {
        let named = |rule: &Rule| denies(rule) && rule.specificity(Subject::Edit(path)).is_some();
        self.rules().iter().any(named)
    }

    /// Whether any rule denies paths to be read.
    pub fn denies_reads(&self) -> bool {
        self.rules().iter().any(|rule| denies(rule) && rule.speaks_of_reads())
    }

    /// Whether a rule denies this path to be read.
    pub fn denies_reading(&self, path: &str) -> bool {
        let named = |rule: &Rule| denies(rule) && rule.specificity(Subject::Read(path)).is_some();
        self.rules().iter().any(named)
    }
}

fn never(target: &Target) -> Option<String> {
    match target {
        Target::Never { what } => Some(what.clone()),
        Target::Write {
            class: WriteClass::Repository,
            path,
            ..
        }
        | Target::Delete {
            class: WriteClass::Repository,
            path,
            ..
        } => Some(format!("{path} belongs to the repository's own records")),
        _ => None,
    }
}

fn by_rules(spec: &RunSpec, call: &ProposedCall, answer: Option<&Answer>) -> Weighed {
    let matters = matters(spec, call);
    if let Some((matter, rule)) = matters
        .iter()
        .find_map(|matter| Some((matter, denied_by(spec.rules(), matter)?)))
    {
        let reason = format!("the rule {rule} denies to {}.{}", matter.what, way_around(call));
        return Weighed::Refusal(Layer::DenyRule, reason);
    }
    if spec.recipe().autonomy == Autonomy::ProposeOnly && call.gated() {
        return Weighed::Refusal(
            Layer::ProposeOnly,
            "this agent only proposes: say in words what you would do.".to_owned(),
        );
    }
    // A yes to several secrets at once is none to each of them.
    let secrets = matters
        .iter()
        .filter(|matter| matter.concerns(Effect::SecretAccess))
        .count();
    let mut asks = Vec::new();
    let mut insists = false;
    let mut layers = Vec::new();
    for matter in &matters {
        let Settled { standing, by, rule, .. } = settle(spec.rules(), matter);
        layers.push((standing, by));
        match (standing, rule) {
            (Standing::OutsidePlan, Some(rule)) => return Weighed::Refusal(Layer::Rule, outside_plan(matter, &rule)),
            (Standing::OutsidePlan | Standing::Asked, rule) => {
                insists |= matter.insists;
                let mut ask = ask(spec, matter, rule);
                ask.rememberable &= secrets < 2 || !matter.concerns(Effect::SecretAccess);
                asks.push(ask);
            }
            (Standing::Allowed, _) => {}
        }
    }
    if asks.is_empty() {
        return Weighed::Permit(deciding(&layers, Standing::Allowed));
    }
    let layer = deciding(&layers, Standing::Asked);
    if let Some(said) = answered(call, answer) {
        return said;
    }
    if spec.recipe().autonomy == Autonomy::ActFreely && !insists {
        return Weighed::Permit(Layer::ActFreely);
    }
    if spec.recipe().approver == Approver::Nobody {
        let reason = format!("{}{}", nobody_to_ask(spec, &matters, &asks), way_around(call));
        return Weighed::Refusal(Layer::NoApprover, reason);
    }
    Weighed::Question(asks, layer)
}

/// How to see of a history what is no secret.
fn way_around(call: &ProposedCall) -> &'static str {
    let recorded = |target: &Target| matches!(target, Target::History(_) | Target::Recorded { .. });
    if call.targets().iter().any(recorded) {
        " git_read leaves secrets out, and so does naming the paths to be shown: git show HEAD -- src."
    } else {
        ""
    }
}

fn ask(spec: &RunSpec, matter: &Matter<'_>, rule: Option<String>) -> Ask {
    let mut ask = Ask {
        what: matter.what.clone(),
        rule,
        allowed_by: matter.allowed_by.clone(),
        rememberable: matter.rememberable,
        evidence: matter.evidence.clone(),
    };
    // What a rule above wants asked stays asked, whatever is remembered.
    ask.rememberable &= allowed_with(spec, std::slice::from_ref(matter), std::slice::from_ref(&ask));
    ask
}

fn outside_plan(matter: &Matter<'_>, rule: &str) -> String {
    format!(
        "it would {}; the rule {rule} lets that happen only inside a step of an approved plan that names it.",
        matter.what
    )
}

/// Of the layers that gave things this standing the one to name: a rule before a default.
fn deciding(layers: &[(Standing, Layer)], standing: Standing) -> Layer {
    let gave = |layer: &Layer| layers.contains(&(standing, *layer));
    [Layer::Rule, Layer::Step]
        .into_iter()
        .find(gave)
        .unwrap_or(Layer::BuiltIn)
}

/// What a person's answer to this very call decides; none when there is none.
fn answered(call: &ProposedCall, answer: Option<&Answer>) -> Option<Weighed> {
    let answer = answer.filter(|answer| answer.digest == call.digest())?;
    if answer.allow {
        return Some(Weighed::Permit(Layer::Answer));
    }
    let said = answer.message.as_ref().map_or_else(String::new, |message| {
        format!(" They said: {}.", message.trim_end_matches(['.', '!']))
    });
    Some(Weighed::Refusal(
        Layer::Answer,
        format!("the person said no.{said} Take another way."),
    ))
}

/// What the model reads when nobody can be asked: the `--allow` that lets the call through is named
/// only when it truly does.
fn nobody_to_ask(spec: &RunSpec, matters: &[Matter<'_>], asks: &[Ask]) -> String {
    let what: Vec<&str> = asks.iter().map(|ask| ask.what.as_str()).collect();
    let would = format!("it would {}, and nobody can be asked.", what.join("; "));
    let rules: Vec<&str> = asks.iter().filter_map(|ask| ask.rule.as_deref()).collect();
    let rules = rules.join("; ");
    if allowed_with(spec, matters, asks) {
        let allow: Vec<String> = asks.iter().map(|ask| quoted(&ask.allowed_by)).collect();
        let why = if rules.is_empty() {
            String::new()
        } else {
            format!(" The rule {rules} wants it asked.")
        };
        return format!(
            "{would}{why} A person allows it with --allow {}.",
            allow.join(" --allow ")
        );
    }
    if rules.is_empty() {
        format!("{would} No --allow lifts that.")
    } else {
        format!("{would} No --allow lifts that: the rule {rules} wants it asked.")
    }
}

/// Whether the call would go through if a person gave the rules these asks name.
fn allowed_with(spec: &RunSpec, matters: &[Matter<'_>], asks: &[Ask]) -> bool {
    let given = asks.iter().map(|ask| {
        let text = ask.allowed_by.clone();
        Rule::parse(RuleText {
            scope: Scope::Run,
            verdict: Verdict::Allow,
            text,
            place: "--allow".to_owned(),
        })
    });
    let rules: Result<Vec<Rule>, _> = spec.rules().iter().cloned().map(Ok).chain(given).collect();
    rules.is_ok_and(|rules| {
        matters
            .iter()
            .all(|matter| settle(&rules, matter).standing == Standing::Allowed)
    })
}

/// A word as a shell takes it literally.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// How a matter stands, from lax to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    Allowed,
    Asked,
    /// Allowed only inside a step of an approved plan, and this is outside of one.
    OutsidePlan,
}

pub(crate) struct Settled {
    pub(crate) standing: Standing,
    by: Layer,
    /// Whether it was a rule about these words of a command.
    /// The rule that settled it, for people.
    pub(crate) rule: Option<String>,
}

const SCOPES: [Scope; 6] = [
    Scope::Managed,
    Scope::Run,
    Scope::Space,
    Scope::Agent,
    Scope::Workspace,
    Scope::Person,
];

pub(crate) fn denied_by<'a>(rules: &'a [Rule], matter: &Matter<'_>) -> Option<&'a Rule> {
    rules
        .iter()
        .filter(|rule| denies(rule))
        .find(|rule| matter.named_by(rule).is_some())
}

fn denies(rule: &Rule) -> bool {
    rule.source().verdict == Verdict::Deny
}

/// Settles one matter that no deny rule names: the first scope with a rule for it decides, else the
/// default. A deny rule about commands may mean any line, so where there is one, lines are asked.
pub(crate) fn settle(rules: &[Rule], matter: &Matter<'_>) -> Settled {
    let settled = SCOPES
        .into_iter()
        .find_map(|scope| by_scope(rules, scope, matter))
        .unwrap_or(Settled {
            standing: if matter.default == Verdict::Allow {
                Standing::Allowed
            } else {
                Standing::Asked
            },
            by: matter.default_by,
            rule: None,
        });
    match rules.iter().find(|rule| denies(rule) && matter.perhaps_meant_by(rule)) {
        Some(rule) if settled.standing == Standing::Allowed => Settled {
            standing: Standing::Asked,
            by: Layer::Rule,
            rule: Some(format!("{rule}, which this line may mean,")),
        },
        _ => settled,
    }
}

/// What the rules of one scope say: the most specific, of several such an answer that was given to just
/// this, then the strictest.
fn by_scope(rules: &[Rule], scope: Scope, matter: &Matter<'_>) -> Option<Settled> {
    let ranked = rules
        .iter()
        .filter(|rule| rule.source().scope == scope && !denies(rule))
        .filter_map(|rule| match matter.named_by(rule) {
            Some(closeness) => Some(((closeness, rule.bound().is_some(), says(rule, matter)), rule)),
            None => matter
                .perhaps_meant_by(rule)
                .then_some(((0, false, Standing::Asked), rule)),
        });
    let ((_, _, standing), rule) = ranked.max_by_key(|(rank, _)| *rank)?;
    Some(Settled {
        standing,
        by: Layer::Rule,
        rule: Some(rule.to_string()),
    })
}

fn says(rule: &Rule, matter: &Matter<'_>) -> Standing {
    match rule.source().verdict {
        Verdict::Allow if matter.insists && !rule.speaks_of_hosts() => Standing::Asked,
        Verdict::Allow => Standing::Allowed,
        Verdict::Plan if matter.planned => Standing::Allowed,
        Verdict::Plan => Standing::OutsidePlan,
        Verdict::Ask | Verdict::Deny => Standing::Asked,
    }
}
