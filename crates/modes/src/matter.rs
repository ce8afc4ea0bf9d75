//! The things about a call that must each be settled: one for each effect and each target that
//! causes it, so that a yes to one path is no yes to another. Decides nothing.

use std::collections::BTreeMap;

use crate::call::{ProposedCall, Target};
use crate::decision::Layer;
use crate::effect::{Effect, EffectSet};
use crate::hosts::listed;
use crate::line::Unseen;
use crate::paths::{WriteClass, names, secret_shaped};
use crate::rules::{Rule, Subject, Verdict, literal};
use crate::spec::{Role, RunSpec, WallsStanding};

/// Branches that Stance made for itself begin so.
const OWN_BRANCHES: &str = "stance/";

/// What nothing but a line has.
static NO_EVIDENCE: &BTreeMap<String, String> = &BTreeMap::new();

/// One thing that must be settled.
pub(crate) struct Matter<'a> {
    /// What it would do: "push", "write src/lib.rs".
    pub(crate) what: String,
    /// What holds where no rule speaks.
    pub(crate) default: Verdict,
    /// The layer of that default.
    pub(crate) default_by: Layer,
    /// The rule that names just this.
    pub(crate) allowed_by: String,
    /// Whether a step of an approved plan names its path.
    pub(crate) planned: bool,
    /// Whether neither `act_freely` nor a rule about the network at large lifts the question.
    pub(crate) insists: bool,
    /// Whether a yes to it may reach further than once.
    pub(crate) rememberable: bool,
    /// What a line would run, by content.
    pub(crate) evidence: &'a BTreeMap<String, String>,
    subjects: Vec<Subject<'a>>,
    /// Effects it may have, known to nobody here: a rule about one of them restricts it, and allows nothing.
    may: EffectSet,
    /// What of it no line shows.
    unseen: Unseen,
}

impl Matter<'_> {
    /// How closely a rule names it; none when it does not.
    pub(crate) fn named_by(&self, rule: &Rule) -> Option<usize> {
        let remembered = |evidence| self.rememberable && evidence == self.evidence;
        if !rule.bound().is_none_or(remembered) {
            return None;
        }
        let may = self.may.iter().filter(|_| rule.source().verdict > Verdict::Plan);
        self.subjects
            .iter()
            .copied()
            .chain(may.map(Subject::Effect))
            .filter_map(|subject| rule.specificity(subject))
            .max()
    }

    /// Whether this effect is what is settled.
    pub(crate) fn concerns(&self, effect: Effect) -> bool {
        let of_it = |subject: &Subject<'_>| matches!(subject, Subject::Effect(named) if *named == effect);
        self.subjects.iter().any(of_it)
    }

    /// Whether a restricting rule may mean it without naming it: what cannot be seen of a line can start
    /// any command. A rule about words speaks of commands a run gives, and of no code that a program
    /// runs: that is held by the walls.
    pub(crate) fn perhaps_meant_by(&self, rule: &Rule) -> bool {
        match (self.unseen, rule.source().verdict) {
            (Unseen::Nothing | Unseen::Code, _) | (_, Verdict::Allow) => false,
            (Unseen::Commands, Verdict::Deny) => true,
            (Unseen::Commands, Verdict::Ask | Verdict::Plan) => rule.speaks_of_commands(),
        }
    }
}

/// Everything about a call that must be settled.
pub(crate) fn matters<'a>(spec: &RunSpec, call: &'a ProposedCall) -> Vec<Matter<'a>> {
    // What another program does is one matter, whatever it may come to; where it is reached is one more.
    let foreign = |target: &Target| matches!(target, Target::Mcp { .. });
    let reached = |target: &Target| matches!(target, Target::Host { .. });
    let whole = call.targets().iter().any(foreign);
    let apart = |effect: &Effect| !whole || *effect == Effect::NetworkEgress && call.targets().iter().any(reached);
    let effects = call.effects().iter().filter(apart);
    let effects = effects.flat_map(|effect| of_effect(spec, call, effect));
    let targets = call.targets().iter().filter_map(|target| match target {
        Target::Write {
            path,
            class,
            outside: false,
        } => Some(of_write(spec, path, *class)),
        Target::Read { path } if !reveals(call, path) => Some(of_read(spec, path)),
        Target::Mcp { tool } => Some(of_mcp(spec, call, tool)),
        Target::Command { words, reads, .. } if *reads || !call.effects().contains(Effect::ProcessSpawn) => {
            Some(of_harmless(call, words, *reads))
        }
        Target::Line { line, opaque, .. } if call.tool().needs_inspection => Some(Matter {
            subjects: Vec::new(),
            ..of_unseen(Effect::ProcessSpawn, line, opaque)
        }),
        _ => None,
    });
    effects.chain(targets).collect()
}

/// One matter for each target that causes the effect; one for the effect alone when none does.
fn of_effect<'a>(spec: &RunSpec, call: &'a ProposedCall, effect: Effect) -> Vec<Matter<'a>> {
    let causes: Vec<Matter<'a>> = call
        .targets()
        .iter()
        .filter_map(|target| match (effect, target) {
            (Effect::SecretAccess, Target::Read { path }) if reveals(call, path) => Some(caused(
                spec,
                effect,
                path,
                Subject::Read(path),
                format!("read({})", literal(path)),
            )),
            (Effect::SecretAccess, Target::Recorded { path }) => Some(Matter {
                what: format!("{} ({path}, as git has recorded it)", effect.phrase()),
                ..caused(
                    spec,
                    effect,
                    path,
                    Subject::Read(path),
                    format!("read({})", literal(path)),
                )
            }),
            (Effect::SecretAccess, Target::History(_)) => Some(Matter {
                what: format!("{} (in a history that nobody could look through)", effect.phrase()),
                ..bare(effect)
            }),
            (
                Effect::FileWriteOutsideWorktree,
                Target::Write {
                    path, outside: true, ..
                },
            ) => Some(caused(
                spec,
                effect,
                path,
                Subject::Edit(path),
                format!("edit({})", literal(path)),
            )),
            (
                Effect::FileDelete,
                Target::Delete {
                    path,
                    class,
                    held,
                    words,
                },
            ) => Some(Matter {
                subjects: vec![Subject::Effect(effect), Subject::Edit(path), Subject::Words(words)],
                ..of_delete(spec, path, *class, *held)
            }),
            (Effect::NetworkEgress, Target::Host { host }) => {
                let flagged = spec.reach().flagged;
                // The host of a server that an operator allowed is on its list, until secrets were read.
                let allowed = !flagged && call.targets().iter().any(|target| matches!(target, Target::Mcp { .. }));
                Some(of_host(effect, host, allowed || listed(&spec.hosts, host), flagged))
            }
            (Effect::NetworkEgress, Target::Page { url, host }) => Some(of_page(spec, effect, url, host)),
            (Effect::ProcessSpawn, Target::Line { line, opaque, .. }) => Some(of_unseen(effect, line, opaque)),
            (
                Effect::ProcessSpawn,
                Target::Command {
                    words,
                    reads: false,
                    rememberable,
                    unseen,
                    ..
                },
            ) => Some(Matter {
                unseen: *unseen,
                ..of_command(call, effect, words, *rememberable)
            }),
            (
                effect,
                Target::Command {
                    words,
                    effects,
                    rememberable,
                    ..
                },
            ) if effects.contains(effect) => Some(Matter {
                // Which secrets are read, nobody knows.
                rememberable: *rememberable && effect != Effect::SecretAccess,
                ..of_command(call, effect, words, *rememberable)
            }),
            (Effect::GitCommit, Target::Branch { name }) => Some(of_commit(effect, name)),
            _ => None,
        })
        .collect();
    let matters = if causes.is_empty() {
        vec![Matter {
            insists: effect == Effect::NetworkEgress && spec.reach().flagged,
            ..bare(effect)
        }]
    } else {
        causes
    };
    if effect == Effect::ProcessSpawn && spec.recipe().walls != WallsStanding::Proven {
        let held = spec.recipe().walls == WallsStanding::Partial;
        matters.into_iter().map(|matter| unheld(matter, held)).collect()
    } else {
        matters
    }
}

/// A program that no proven walls hold could use whatever its user may, our own records included. Where
/// nothing at all holds it, no rule is held by walls.
fn unheld(matter: Matter<'_>, held: bool) -> Matter<'_> {
    Matter {
        unseen: match matter.unseen {
            Unseen::Code if !held => Unseen::Commands,
            unseen => unseen,
        },
        what: format!(
            "{}, which no proven walls hold: your approvals are not protected from it",
            matter.what
        ),
        default: Verdict::Ask,
        ..matter
    }
}

/// Whether reading the path is what makes the call read secrets: its name says so, or no name does.
fn reveals(call: &ProposedCall, path: &str) -> bool {
    let named = |target: &Target| match target {
        Target::Read { path } => secret_shaped(path),
        Target::Recorded { .. } | Target::History(_) => true,
        _ => false,
    };
    call.effects().contains(Effect::SecretAccess) && (secret_shaped(path) || !call.targets().iter().any(named))
}

/// What holds for an effect where nothing else is known.
pub(crate) const fn default_of(effect: Effect) -> Verdict {
    match effect {
        Effect::GitCommit | Effect::ProcessSpawn => Verdict::Allow,
        _ => Verdict::Ask,
    }
}

fn bare<'a>(effect: Effect) -> Matter<'a> {
    Matter {
        what: effect.phrase().to_owned(),
        default: default_of(effect),
        default_by: Layer::BuiltIn,
        allowed_by: format!("effect({effect})"),
        planned: false,
        insists: false,
        // Said of an effect alone, a yes would be about whatever has it.
        rememberable: effect == Effect::GitCommit,
        evidence: NO_EVIDENCE,
        subjects: vec![Subject::Effect(effect)],
        may: EffectSet::EMPTY,
        unseen: Unseen::Nothing,
    }
}

/// A host on the list needs no question; from a thread that holds secrets every other one has to be
/// asked about, or named by a rule.
pub(crate) fn of_host(effect: Effect, host: &str, listed: bool, flagged: bool) -> Matter<'_> {
    let what = match (listed, flagged) {
        (false, true) => format!("{} ({host}), from a thread in which secrets were read", effect.phrase()),
        _ => format!("{} ({host})", effect.phrase()),
    };
    Matter {
        what,
        default: if listed { Verdict::Allow } else { Verdict::Ask },
        allowed_by: format!("net({})", literal(host)),
        insists: flagged && !listed,
        rememberable: true,
        subjects: vec![Subject::Effect(effect), Subject::Net(host)],
        ..bare(effect)
    }
}

/// A page that an operator named in the thread needs no question either, until secrets were read.
fn of_page<'a>(spec: &RunSpec, effect: Effect, url: &str, host: &'a str) -> Matter<'a> {
    let reach = spec.reach();
    let named = !reach.flagged && reach.urls.iter().any(|said| said == url);
    of_host(effect, host, named || listed(&spec.hosts, host), reach.flagged)
}

fn caused<'a>(spec: &RunSpec, effect: Effect, by: &'a str, subject: Subject<'a>, allowed_by: String) -> Matter<'a> {
    Matter {
        what: format!("{} ({by})", effect.phrase()),
        allowed_by,
        planned: step_names(spec, by),
        rememberable: effect != Effect::FileWriteOutsideWorktree,
        subjects: vec![Subject::Effect(effect), subject],
        ..bare(effect)
    }
}

/// A branch outside `stance/` is a person's own: a commit on it asks.
fn of_commit<'a>(effect: Effect, branch: &str) -> Matter<'a> {
    let matter = bare(effect);
    if branch.starts_with(OWN_BRANCHES) {
        return matter;
    }
    Matter {
        what: format!("commit on your branch {branch}"),
        default: Verdict::Ask,
        ..matter
    }
}

/// What cannot be seen of a line: no rule about commands can let it through.
fn of_unseen<'a>(effect: Effect, line: &str, opaque: &str) -> Matter<'a> {
    Matter {
        what: format!("{} ({line}; {opaque})", effect.phrase()),
        rememberable: false,
        unseen: Unseen::Commands,
        ..bare(effect)
    }
}

/// A program of a line: rules about commands speak of its words.
fn of_command<'a>(call: &'a ProposedCall, effect: Effect, words: &'a [String], rememberable: bool) -> Matter<'a> {
    let line = words.join(" ");
    let matter = bare(effect);
    let written: Vec<&str> = call.targets().iter().filter_map(written).collect();
    let writing = if effect == Effect::ProcessSpawn && !written.is_empty() {
        format!(", writing {}", written.join(" and "))
    } else {
        String::new()
    };
    Matter {
        what: format!("{} ({line}){writing}", effect.phrase()),
        allowed_by: if names_itself(words) { line } else { matter.allowed_by },
        rememberable: rememberable && names_itself(words),
        evidence: call.evidence(),
        subjects: vec![Subject::Effect(effect), Subject::Words(words)],
        ..matter
    }
}

/// A tool that is believed to read needs no question. What any other would do is known to nobody here.
fn of_mcp<'a>(spec: &RunSpec, call: &ProposedCall, tool: &'a str) -> Matter<'a> {
    let may = call.tool().effects;
    let matter = Matter {
        what: format!("call the MCP tool {tool}"),
        default: if may.is_empty() { Verdict::Allow } else { Verdict::Ask },
        default_by: Layer::BuiltIn,
        allowed_by: format!("mcp({})", literal(tool)),
        planned: false,
        insists: false,
        rememberable: true,
        evidence: NO_EVIDENCE,
        subjects: vec![Subject::Mcp(tool)],
        may,
        unseen: Unseen::Nothing,
    };
    if may.contains(Effect::ProcessSpawn) && spec.recipe().walls != WallsStanding::Proven {
        unheld(matter, true)
    } else {
        matter
    }
}

fn written(target: &Target) -> Option<&str> {
    match target {
        Target::Write { path, .. } => Some(path),
        _ => None,
    }
}

/// A program that only reads, or ends with a throw-away view: only rules about commands can speak of it.
fn of_harmless<'a>(call: &'a ProposedCall, words: &'a [String], reads: bool) -> Matter<'a> {
    let how = if reads {
        ", which only reads"
    } else {
        " in a throw-away copy"
    };
    Matter {
        what: format!("run {}{how}", words.join(" ")),
        subjects: vec![Subject::Words(words)],
        ..of_command(call, Effect::ProcessSpawn, words, true)
    }
}

/// Whether a command's words, put together, are a rule that names it and nothing else.
fn names_itself(words: &[String]) -> bool {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '@' | '+' | ',' | '=' | '~');
    !words.is_empty() && words.iter().all(|word| !word.is_empty() && word.chars().all(plain))
}

fn of_read<'a>(spec: &RunSpec, path: &'a str) -> Matter<'a> {
    of_path(
        spec,
        format!("read {path}"),
        path,
        Subject::Read(path),
        format!("read({})", literal(path)),
    )
}

fn of_write<'a>(spec: &RunSpec, path: &'a str, class: WriteClass) -> Matter<'a> {
    of_change(spec, "write", path, class)
}

fn of_change<'a>(spec: &RunSpec, act: &str, path: &'a str, class: WriteClass) -> Matter<'a> {
    let allowed_by = format!("edit({})", literal(path));
    let plain = of_path(spec, format!("{act} {path}"), path, Subject::Edit(path), allowed_by);
    let bounded = matches!(spec.recipe().role, Role::Step { files: Some(_), .. });
    if bounded && !plain.planned {
        let what = format!("{act} {path}, which the approved step does not name");
        Matter {
            what,
            default: Verdict::Ask,
            default_by: Layer::Step,
            ..plain
        }
    } else if class == WriteClass::Configures && !step_spells_out(spec, path) {
        let what = format!("{act} {path}, which configures agents, editors, git or CI");
        Matter {
            what,
            default: Verdict::Ask,
            ..plain
        }
    } else {
        plain
    }
}

/// Inside proven walls deleting what the checkpoint holds is a write; every other deletion asks.
fn of_delete<'a>(spec: &RunSpec, path: &'a str, class: WriteClass, held: bool) -> Matter<'a> {
    if held && spec.recipe().walls == WallsStanding::Proven {
        of_change(spec, "delete", path, class)
    } else {
        let allowed_by = format!("edit({})", literal(path));
        caused(spec, Effect::FileDelete, path, Subject::Edit(path), allowed_by)
    }
}

fn of_path<'a>(spec: &RunSpec, what: String, path: &str, subject: Subject<'a>, allowed_by: String) -> Matter<'a> {
    Matter {
        what,
        default: Verdict::Allow,
        default_by: Layer::BuiltIn,
        allowed_by,
        planned: step_names(spec, path),
        insists: false,
        rememberable: true,
        evidence: NO_EVIDENCE,
        subjects: vec![subject],
        may: EffectSet::EMPTY,
        unseen: Unseen::Nothing,
    }
}

/// Whether the run carries out an approved step that names the path.
fn step_names(spec: &RunSpec, path: &str) -> bool {
    matches!(&spec.recipe().role, Role::Step { files: Some(files), .. } if names(files, path))
}

/// Whether a step names the very path: a pattern that happens to match a file which configures
/// agents, editors, git or CI was not written for it.
fn step_spells_out(spec: &RunSpec, path: &str) -> bool {
    matches!(&spec.recipe().role, Role::Step { files: Some(files), .. } if files.iter().any(|file| file == path))
}
