//! A call as its tool proposes it: what it acts on, its effects, and the digest an answer is bound
//! to. Knows no rule and no mode.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

use crate::canonical::digest;
use crate::effect::{Effect, EffectSet};
use crate::line::{LineReading, Shown, Unseen};
use crate::paths::{WriteClass, secret_shaped};
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
    /// Deletes a path.
    Delete {
        /// Relative to the worktree; absolute when outside.
        path: String,
        /// What the path is.
        #[serde(skip)]
        class: WriteClass,
        /// Whether a checkpoint made now would hold it, so that it can be brought back: a regular file or an
        /// empty folder of the worktree, not secret-shaped, not too large.
        held: bool,
        /// The command of a line that deletes it; empty where a tool does.
        words: Vec<String>,
    },
    /// Reads a path.
    Read {
        /// Relative to the worktree; absolute when outside.
        path: String,
    },
    /// Lets git show what index and history hold, which nobody has looked at yet.
    History(Shown),
    /// Lets git show what index or history hold of a secret-shaped path.
    Recorded {
        /// Relative to the worktree.
        path: String,
    },
    /// Runs a shell line of which not everything can be seen.
    Line {
        /// The line as the model wrote it.
        line: String,
        /// The folder it runs in.
        cwd: String,
        /// What cannot be seen, in words.
        opaque: String,
    },
    /// Starts one program of a shell line.
    Command {
        /// Its name and arguments, freed of what wraps them.
        words: Vec<String>,
        /// What it does beside starting.
        effects: EffectSet,
        /// Whether it is proven that it only reads.
        reads: bool,
        /// Whether a yes to it may serve again.
        #[serde(skip)]
        rememberable: bool,
        /// What of it no line shows.
        #[serde(skip)]
        unseen: Unseen,
    },
    /// Commits on a branch.
    Branch {
        /// Its name, or `HEAD` when none is checked out.
        name: String,
    },
    /// Connects to a host.
    Host {
        /// Its name, as `host_key` spells it.
        host: String,
    },
    /// Reads one page of a host.
    Page {
        /// Its address, as `page_key` spells it.
        url: String,
        /// The host, as `host_key` spells it.
        host: String,
    },
    /// Calls a tool of an MCP server.
    Mcp {
        /// The tool, as `SERVER/TOOL`.
        tool: String,
    },
    /// Something no mode, rule or answer ever lets through.
    Never {
        /// What it is: "the store of Stance", "credentials".
        what: String,
    },
}

/// Effects that reach no further than a throw-away view.
const THROWN_AWAY: EffectSet = EffectSet::of(&[Effect::ProcessSpawn, Effect::FileDelete, Effect::PackageInstall]);

/// A call as its tool proposes it: parsed once, its effects found, what it opened in hand.
pub struct ProposedCall {
    tool: &'static Descriptor,
    call_id: String,
    arguments: Value,
    effects: EffectSet,
    targets: Vec<Target>,
    evidence: BTreeMap<String, String>,
    standing: BTreeMap<String, String>,
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
            standing: BTreeMap::new(),
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
        match target {
            Target::Write { outside: true, .. } => {
                self.effects = self.effects.with(Effect::FileWriteOutsideWorktree);
            }
            Target::Delete { .. } => self.effects = self.effects.with(Effect::FileDelete),
            Target::Host { .. } | Target::Page { .. } => self.effects = self.effects.with(Effect::NetworkEgress),
            _ => {}
        }
        self.targets.push(target);
        self
    }

    /// Adds what a shell line does, in place of what its tool may do at most. What ends with a throw-away
    /// view is nothing that it does.
    #[must_use]
    pub fn with_line(mut self, reading: LineReading) -> ProposedCall {
        let thrown_away = self.tool.needs_inspection;
        self.effects = reading.effects();
        let ends = |target: &Target| matches!(target, Target::Write { outside: false, .. } | Target::Delete { .. });
        let counts = |target: &Target| !(thrown_away && ends(target));
        self.targets.extend(reading.into_targets().into_iter().filter(counts));
        self
    }

    /// The same where nobody takes a checkpoint before a deletion.
    #[must_use]
    pub fn without_checkpoint(mut self) -> ProposedCall {
        for target in &mut self.targets {
            if let Target::Delete { held, .. } = target {
                *held = false;
            }
        }
        self
    }

    /// What it lets git show of index and history, as far as nobody has looked there yet.
    pub fn shows(&self) -> impl Iterator<Item = &Shown> {
        self.targets.iter().filter_map(|target| match target {
            Target::History(shown) => Some(shown),
            _ => None,
        })
    }

    /// The same with that looked at. `holds` names what of it is secret-shaped, or may not be read; none
    /// where that cannot be known. What holds nothing of the kind is no secret.
    #[must_use]
    pub fn with_recorded(mut self, holds: impl Fn(&Shown) -> Option<Vec<String>>) -> ProposedCall {
        for target in std::mem::take(&mut self.targets) {
            let known = match &target {
                Target::History(shown) => holds(shown),
                _ => None,
            };
            let targets = match known {
                Some(paths) => paths.into_iter().map(recorded).collect(),
                None => vec![target],
            };
            for target in targets {
                if !self.targets.contains(&target) {
                    self.targets.push(target);
                }
            }
        }
        self
    }

    /// Adds a fact that the digest covers: a content hash, an object id, a resolved program.
    #[must_use]
    pub fn with_evidence(mut self, name: impl Into<String>, value: impl Into<String>) -> ProposedCall {
        self.evidence.insert(name.into(), value.into());
        self
    }

    /// Adds a fact that the digest covers and that is another one each time: an answer that is remembered is
    /// not bound to it.
    #[must_use]
    pub fn with_standing(mut self, name: impl Into<String>, value: impl Into<String>) -> ProposedCall {
        self.standing.insert(name.into(), value.into());
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

    /// Its effects. What ends in the layer of a throw-away view is none.
    pub fn effects(&self) -> EffectSet {
        let recorded = |target: &Target| matches!(target, Target::History(_) | Target::Recorded { .. });
        let effects = if self.targets.iter().any(recorded) {
            self.effects.with(Effect::SecretAccess)
        } else {
            self.effects
        };
        if self.tool.needs_inspection {
            effects.without(THROWN_AWAY)
        } else {
            effects
        }
    }

    /// What it acts on.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The facts that a remembered answer is bound to.
    pub(crate) fn evidence(&self) -> &BTreeMap<String, String> {
        &self.evidence
    }

    /// The paths it deletes that a checkpoint has to hold by then.
    pub fn deletes_held(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().filter_map(|target| match target {
            Target::Delete { path, held: true, .. } => Some(path.as_str()),
            _ => None,
        })
    }

    /// The digest an answer is bound to: tool, arguments, effects, targets and facts.
    pub fn digest(&self) -> String {
        let facts: BTreeMap<_, _> = self.evidence.iter().chain(&self.standing).collect();
        digest(&json!({
            "tool": self.tool.name,
            "arguments": self.arguments,
            "effects": self.effects(),
            "targets": self.targets,
            "evidence": facts,
        }))
    }

    /// The hosts a permit of it grants.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().filter_map(|target| match target {
            Target::Host { host } | Target::Page { host, .. } => Some(host.as_str()),
            _ => None,
        })
    }

    /// Whether an agent that only proposes may not do it.
    pub(crate) fn gated(&self) -> bool {
        self.tool.tier > Tier::Read || !self.effects().is_empty()
    }

    /// Takes what was opened. None when it was taken, or is of another type.
    pub(crate) fn take_handle<T: Any>(&mut self) -> Option<T> {
        match self.handle.take()?.downcast::<T>() {
            Ok(handle) => Some(*handle),
            Err(other) => {
                self.handle = Some(other);
                None
            }
        }
    }
}

/// A path of index or history that git shows.
fn recorded(path: String) -> Target {
    if secret_shaped(&path) {
        Target::Recorded { path }
    } else {
        Target::Read { path }
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
