//! What a shell line does, as far as it can be proven from its text: the programs it starts, which of
//! them only read, what it writes and reads, and what of it cannot be seen. Opens nothing, starts
//! nothing, and knows neither rules nor modes.

mod bounds;
mod builtins;
mod command;
mod deeds;
mod found;
mod git;
#[cfg(test)]
mod hostile;
mod names;
mod options;
mod programs;
mod recorded;
mod redirections;
mod scripts;
#[cfg(test)]
mod tests;
mod variables;
mod walk;
mod word;
mod wrappers;

pub use recorded::Shown;
use serde::Serialize;

use crate::call::Target;
use crate::effect::{Effect, EffectSet};
use crate::paths::{secret_shaped, write_class};

/// Where a line runs: absolute paths without `.`, `..` and links.
#[derive(Clone, Copy)]
pub struct LinePlace<'a> {
    /// The working folder.
    pub cwd: &'a str,
    /// The checkout's root.
    pub worktree: &'a str,
    /// The person's home folder: what `~` means to whoever wrote the line.
    pub home: &'a str,
    /// Folders no line may name.
    pub hidden: &'a [String],
    /// Whether walls hold what the line starts: `/tmp` and `/proc` are its own there, and of the machine
    /// only the system is there to be read.
    pub walled: bool,
    /// Whether git, started in this folder, reads a repository whose own configuration starts no
    /// program: without that no git command is a proven read.
    pub git_starts_nothing: &'a dyn Fn(&str) -> bool,
}

/// One program a line starts, freed of what wraps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Its name and arguments; what is not constant stands as it was written.
    pub words: Vec<String>,
    /// Whether it is proven that it only reads.
    pub reads: bool,
    /// What it does beside starting and beside the paths and hosts it names.
    pub effects: EffectSet,
    /// Whether a yes to it may serve again.
    pub rememberable: bool,
    /// What of it no line shows.
    pub unseen: Unseen,
}

/// What a program may do that no line shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unseen {
    /// Nothing that rules speak of.
    Nothing,
    /// Whatever the walls let it: it runs code, of the project or its own.
    Code,
    /// The same, and it is a file of the project, or may be any command.
    Commands,
}

/// What was found in a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineReading {
    line: String,
    cwd: String,
    commands: Vec<Found>,
    effects: EffectSet,
    opaque: Option<String>,
    #[serde(skip)]
    targets: Vec<Target>,
    #[serde(skip)]
    decided_by: Vec<String>,
    #[serde(skip)]
    writes_repository: Option<String>,
}

impl LineReading {
    /// Reads a line as `bash --norc --noprofile -c` would, with nothing inherited that changes what
    /// bash does. Takes any text; what is not understood is opaque.
    pub fn read(line: &str, place: &LinePlace<'_>) -> LineReading {
        let mut reading = found::Finding::new(place).of(line);
        reading.effects = reading.all_effects();
        reading
    }

    /// Test builds only: the reading of a line in which nothing was looked for.
    #[cfg(feature = "faults")]
    pub fn unread(line: &str, place: &LinePlace<'_>) -> LineReading {
        LineReading {
            line: line.to_owned(),
            ..found::Finding::new(place).reading
        }
    }

    /// The line as it was written.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// The folder it runs in.
    pub fn cwd(&self) -> &str {
        &self.cwd
    }

    pub(crate) fn into_targets(self) -> Vec<Target> {
        self.targets
    }

    /// The programs it starts, in the order they stand in.
    pub fn commands(&self) -> &[Found] {
        &self.commands
    }

    /// Everything it does. Empty: it is proven that it only reads, and no secret.
    pub fn effects(&self) -> EffectSet {
        self.effects
    }

    /// Whether it is proven that it only reads: it starts nothing else, and writes nothing itself.
    pub fn only_reads(&self) -> bool {
        let writes = |target: &Target| {
            matches!(
                target,
                Target::Write { .. } | Target::Delete { .. } | Target::Never { .. }
            )
        };
        !self.effects.contains(Effect::ProcessSpawn) && !self.targets.iter().any(writes)
    }

    /// Why not all of it can be seen; none when all of it is.
    pub fn opaque(&self) -> Option<&str> {
        self.opaque.as_deref()
    }

    /// What it acts on: the paths, hosts and programs that rules speak of.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Files that decide what it does: scripts it runs, and files programs take their orders from.
    /// Relative to the worktree, absolute outside.
    pub fn decided_by(&self) -> &[String] {
        &self.decided_by
    }

    /// The git command that would write the records of the worktree's repository, which no line can.
    pub fn writes_repository(&self) -> Option<&str> {
        self.writes_repository.as_deref()
    }

    /// The same with each path looked at by whoever can open it. `look` gets the target of a path and
    /// gives what it truly is: where its links lead, what it belongs to.
    #[must_use]
    pub fn looked_at(mut self, look: impl Fn(Target) -> Target) -> LineReading {
        let path = |target: &Target| {
            matches!(
                target,
                Target::Write { .. } | Target::Delete { .. } | Target::Read { .. }
            )
        };
        self.targets = self
            .targets
            .into_iter()
            .map(|target| if path(&target) { look(target) } else { target })
            .collect();
        // A name shaped like a secret's stays one, wherever it leads.
        self.effects = self.effects.union(self.all_effects());
        self
    }

    /// The same with the paths that are changed together with a folder. `within` names what nobody may write
    /// of a path and what lies, or may come to lie, beneath it; none where that cannot be looked through.
    #[must_use]
    pub fn changing_within(mut self, within: impl Fn(&str) -> Option<Vec<String>>) -> LineReading {
        let mut found = Vec::new();
        for target in &self.targets {
            let (Target::Write {
                path, outside: false, ..
            }
            | Target::Delete { path, .. }) = target
            else {
                continue;
            };
            match within(path) {
                Some(paths) => found.extend(paths.into_iter().map(|path| Target::Write {
                    class: write_class(&path),
                    outside: false,
                    path,
                })),
                None => found.push(Target::Line {
                    line: self.line.clone(),
                    cwd: self.cwd.clone(),
                    opaque: format!("what lies in {path} cannot be looked through"),
                }),
            }
        }
        found.retain(|target| !self.targets.contains(target));
        self.targets.extend(found);
        self.effects = self.effects.union(self.all_effects());
        self
    }

    fn all_effects(&self) -> EffectSet {
        let own = self.commands.iter().fold(EffectSet::EMPTY, |all, found| {
            let all = all.union(found.effects);
            if found.reads {
                all
            } else {
                all.with(Effect::ProcessSpawn)
            }
        });
        let caused = self.targets.iter().fold(own, |all, target| match target {
            Target::Write { outside: true, .. } => {
                all.with(Effect::FileWriteOutsideWorktree).with(Effect::ProcessSpawn)
            }
            Target::Host { .. } => all.with(Effect::NetworkEgress),
            Target::Write { .. } => all.with(Effect::ProcessSpawn),
            Target::Delete { .. } => all.with(Effect::FileDelete).with(Effect::ProcessSpawn),
            Target::Read { path } if secret_shaped(path) => all.with(Effect::SecretAccess),
            _ => all,
        });
        if self.opaque.is_some() {
            caused.with(Effect::ProcessSpawn)
        } else {
            caused
        }
    }
}
