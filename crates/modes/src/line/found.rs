//! What has been found in a line so far: programs, paths, hosts, and what cannot be seen. Knows what a
//! path is part of by its name alone.

use super::word::{ANY, Inside, Text, text};
use super::{Found, LinePlace, LineReading, Unseen, recorded};
use crate::call::Target;
use crate::effect::{Effect, EffectSet};
use crate::paths::{CREDENTIAL_STORES, START_UP_FILES, may_be_secret, secret_shaped, write_class};

/// The working folders a command may be started in; none when nobody knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Here(pub(super) Option<Vec<String>>);

impl Here {
    /// More than this many possible folders are as good as unknown.
    const MOST: usize = 4;

    pub(super) fn or(self, other: &Here) -> Here {
        let (Some(mut folders), Some(others)) = (self.0, &other.0) else {
            return Here(None);
        };
        for folder in others {
            if !folders.contains(folder) {
                folders.push(folder.clone());
            }
        }
        Here((folders.len() <= Self::MOST).then_some(folders))
    }
}

/// How a program meets a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meets {
    /// Its content comes out.
    Reads,
    /// It is made, changed or removed.
    Writes,
    /// It is only spoken of.
    Names,
}

/// A reading being made.
pub(super) struct Finding<'a> {
    pub(super) place: &'a LinePlace<'a>,
    pub(super) reading: LineReading,
    /// Whether a variable was set that programs may heed.
    pub(super) variables_set: bool,
    /// Whether a variable was set beside those that only change how things look.
    pub(super) steered: bool,
    /// Whether the redirections since this was last asked write a file.
    pub(super) redirected: bool,
    /// How deep in lines within lines this is.
    pub(super) depth: usize,
}

impl<'a> Finding<'a> {
    pub(super) fn new(place: &'a LinePlace<'a>) -> Finding<'a> {
        Finding {
            place,
            reading: LineReading {
                line: String::new(),
                cwd: place.cwd.to_owned(),
                commands: Vec::new(),
                effects: EffectSet::EMPTY,
                opaque: None,
                targets: Vec::new(),
                decided_by: Vec::new(),
                writes_repository: None,
            },
            variables_set: false,
            steered: false,
            redirected: false,
            depth: 0,
        }
    }

    /// Reads a whole line.
    pub(super) fn of(mut self, line: &str) -> LineReading {
        line.clone_into(&mut self.reading.line);
        self.line(line, &Here(Some(vec![self.place.cwd.to_owned()])));
        if self.variables_set {
            self.reading.commands.iter_mut().for_each(|found| found.reads = false);
        }
        if self.steered {
            self.reading
                .commands
                .iter_mut()
                .for_each(|found| found.rememberable = false);
        }
        if !self.reading.commands.iter().all(|found| found.reads) {
            // What is there now may be gone when git looks for it.
            self.reading.targets.iter_mut().for_each(recorded::forget);
        }
        let commands = self.reading.commands.iter().map(|found| Target::Command {
            words: found.words.clone(),
            effects: found.effects,
            reads: found.reads,
            rememberable: found.rememberable,
            unseen: found.unseen,
        });
        let unseen = self.reading.opaque.clone().map(|opaque| Target::Line {
            line: line.to_owned(),
            cwd: self.place.cwd.to_owned(),
            opaque,
        });
        let mut targets: Vec<Target> = unseen.into_iter().chain(commands).collect();
        targets.append(&mut self.reading.targets);
        self.reading.targets = targets;
        self.reading
    }

    /// Notes what cannot be seen; the first reason is kept.
    pub(super) fn opaque(&mut self, why: impl Into<String>) {
        self.reading.opaque.get_or_insert_with(|| why.into());
    }

    /// Reads a word, and the lines within it.
    pub(super) fn text(&mut self, raw: &str, here: &Here) -> Text {
        let mut inside = Inside::default();
        let text = text(raw, self.place.home, &mut inside);
        self.within(inside, here);
        text
    }

    /// Reads the lines found within a word.
    pub(super) fn within(&mut self, inside: Inside, here: &Here) {
        if let Some(why) = inside.opaque {
            self.opaque(why);
        }
        for line in inside.lines {
            self.line(&line, here);
        }
    }

    /// Notes a program with its words, and the secrets and closed places its words name.
    pub(super) fn found(&mut self, words: &[Text], here: &Here, found: Kind) {
        let shown = words.iter().map(Text::shown).collect();
        let mut effects = found.effects;
        for word in words.iter().skip(1) {
            for part in parts(&word.shape) {
                let ending = part.rsplit('/').next().unwrap_or(part);
                let of_known_shape = (word.several && !word.free) || !ending.contains(ANY);
                let met = found.meets != Meets::Names && part.contains(ANY) && of_known_shape;
                if met && may_be_secret(part, ANY, word.several) {
                    effects = effects.with(Effect::SecretAccess);
                }
                if !part.contains(ANY) {
                    self.named(part, here, found.meets != Meets::Names);
                }
            }
        }
        let command = Found {
            words: shown,
            reads: found.reads,
            effects,
            rememberable: found.rememberable,
            unseen: found.unseen,
        };
        if !self.reading.commands.contains(&command) {
            self.reading.commands.push(command);
        }
    }

    /// A part of a word that may be a path: closed to everybody, or a secret's.
    fn named(&mut self, part: &str, here: &Here, reads: bool) {
        let secret = reads && secret_shaped(part);
        if secret || part.contains('/') {
            for path in self.paths(part, here) {
                match self.closed(&path) {
                    Some(what) => self.target(Target::Never { what: what.to_owned() }),
                    None if secret => self.target(Target::Read {
                        path: self.relative(&path),
                    }),
                    None => {}
                }
            }
        }
    }

    /// Notes a path a program meets as one of its arguments or through a redirection.
    pub(super) fn meets(&mut self, path: &Text, here: &Here, meets: Meets) {
        if meets == Meets::Names {
            return;
        }
        let Some(path) = path.constant() else {
            let what = if meets == Meets::Writes { "written" } else { "read" };
            let shown = path.shown();
            return self.opaque(format!("which file is {what} is not known ({shown})"));
        };
        if here.0.is_none() && !path.starts_with('/') {
            return self.opaque(format!("in which folder {path} lies is not known"));
        }
        for path in self.paths(path, here) {
            if meets == Meets::Reads && !self.may_be_shown(&path) {
                self.opaque(format!(
                    "{path} lies outside the project, and no walls hold what reads it"
                ));
            }
            if let Some(target) = self.of_path(&path, meets) {
                self.target(target);
            }
        }
    }

    /// Whether the content of an absolute path may be shown as far as its place goes: where no walls hold
    /// what reads it, that of the project and of the system's folders alone.
    fn may_be_shown(&self, path: &str) -> bool {
        self.place.walled || self.is_inside(path) || FREE.contains(&path) || lies_in_one(path, SYSTEM)
    }

    /// The same for a path as it is written.
    pub(super) fn may_be_shown_at(&self, path: &str, here: &Here) -> bool {
        self.paths(path, here).iter().all(|path| self.may_be_shown(path))
    }

    /// The same for paths of a shape: for the folder that is named before what is not known of them.
    pub(super) fn may_be_shown_all(&self, shape: &str, here: &Here) -> bool {
        let known = shape.split(ANY).next().unwrap_or_default();
        let folder = known.rsplit_once('/').map_or(".", |(folder, _)| folder);
        let folder = if folder.is_empty() { "/" } else { folder };
        let climbs = shape.split('/').skip(known.split('/').count()).any(|part| part == "..");
        self.place.walled || !climbs && here.0.is_some() && self.may_be_shown_at(folder, here)
    }

    /// Notes a path that a command of these words removes; answers whether it lies where it can be brought
    /// back from, or is the run's own.
    pub(super) fn removes(&mut self, path: &str, words: &[String], here: &Here) -> bool {
        let mut all = true;
        for path in self.paths(path, here) {
            match self.of_path(&path, Meets::Writes) {
                Some(Target::Write {
                    path,
                    class,
                    outside: false,
                }) => self.target(Target::Delete {
                    path,
                    class,
                    held: false,
                    words: words.to_vec(),
                }),
                Some(other) => {
                    all = false;
                    self.target(other);
                }
                None => {}
            }
        }
        all
    }

    /// Whether writing a path is writing a file that outlives the line.
    pub(super) fn matters(&self, path: &Text, here: &Here) -> bool {
        path.constant().is_none_or(|path| {
            here.0.is_none()
                || self
                    .paths(path, here)
                    .iter()
                    .any(|path| self.of_path(path, Meets::Writes).is_some())
        })
    }

    fn of_path(&self, path: &str, meets: Meets) -> Option<Target> {
        if let Some(what) = self.closed(path) {
            return Some(Target::Never { what: what.to_owned() });
        }
        let writes = meets == Meets::Writes;
        let inside = self.is_inside(path);
        let own = self.place.walled && lies_in_one(path, FREE_FOLDERS);
        if !inside && (FREE.contains(&path) || own) {
            return None;
        }
        let of_home = beneath(path, self.place.home).filter(|_| !inside).unwrap_or_default();
        if writes && START_UP_FILES.iter().any(|file| beneath(of_home, file).is_some()) {
            return Some(Target::Never {
                what: format!("{path} runs when a person logs in"),
            });
        }
        let path = self.relative(path);
        Some(if writes {
            Target::Write {
                class: write_class(&path),
                outside: !inside,
                path,
            }
        } else {
            Target::Read { path }
        })
    }

    /// The absolute paths a text may mean.
    pub(super) fn paths(&self, path: &str, here: &Here) -> Vec<String> {
        if path.starts_with('/') {
            return vec![normal(path)];
        }
        match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                vec![normal(&format!("{}{rest}", self.place.home))]
            }
            _ => here
                .0
                .iter()
                .flatten()
                .map(|folder| normal(&format!("{folder}/{path}")))
                .collect(),
        }
    }

    pub(super) fn in_worktree(&self, here: &Here) -> bool {
        let folders = here.0.as_ref();
        folders.is_some_and(|folders| folders.iter().all(|folder| self.is_inside(folder)))
    }

    /// Whether an absolute path lies in the worktree.
    pub(super) fn is_inside(&self, path: &str) -> bool {
        beneath(path, self.place.worktree).is_some()
    }

    pub(super) fn relative(&self, path: &str) -> String {
        match beneath(path, self.place.worktree) {
            Some("") => ".".to_owned(),
            Some(rest) => rest.to_owned(),
            None => path.to_owned(),
        }
    }

    /// What a closed place is, in words. The checkout itself may lie in one: a person chose it.
    fn closed(&self, path: &str) -> Option<&'static str> {
        let worktree = self.place.worktree;
        let lies_in = |path: &str, root: Option<&str>, place: &str| {
            beneath(path, place).is_some() && root.is_none_or(|root| beneath(root, place).is_none())
        };
        let hidden = |hidden: &String| lies_in(path, Some(worktree), hidden);
        if self.place.hidden.iter().any(hidden) {
            return Some("it belongs to Stance itself or to another run");
        }
        let of_home = beneath(path, self.place.home)?;
        let root = beneath(worktree, self.place.home);
        CREDENTIAL_STORES
            .iter()
            .any(|store| lies_in(of_home, root, store))
            .then_some("it holds credentials")
    }

    /// Notes that what was found since then, of so many commands, writes by a redirection: such a command
    /// is no read.
    pub(super) fn written_since(&mut self, found: usize) {
        if std::mem::take(&mut self.redirected) {
            self.reading
                .commands
                .iter_mut()
                .skip(found)
                .for_each(|found| found.reads = false);
        }
    }

    /// Notes what the line acts on, once.
    pub(super) fn target(&mut self, target: Target) {
        if !self.reading.targets.contains(&target) {
            self.reading.targets.push(target);
        }
    }

    /// Notes a file that decides what the line does.
    pub(super) fn decided_by(&mut self, file: &str, here: &Here) {
        for path in self.paths(file, here) {
            let path = self.relative(&path);
            if !self.reading.decided_by.contains(&path) {
                self.reading.decided_by.push(path);
            }
        }
    }
}

/// What a program found is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    pub(super) reads: bool,
    pub(super) effects: EffectSet,
    pub(super) meets: Meets,
    pub(super) rememberable: bool,
    pub(super) unseen: Unseen,
}

impl Kind {
    /// A program that may do anything but what its name says is gated.
    pub(super) const STARTS: Kind = Kind {
        reads: false,
        effects: EffectSet::EMPTY,
        meets: Meets::Reads,
        rememberable: true,
        unseen: Unseen::Nothing,
    };

    /// A program whose file decides what it does: what a yes is about is that file's content.
    pub(super) const SCRIPT: Kind = Kind {
        unseen: Unseen::Commands,
        ..Kind::STARTS
    };

    /// A program that runs code which no line shows.
    pub(super) const CODE: Kind = Kind {
        unseen: Unseen::Code,
        ..Kind::STARTS
    };

    /// A proven read.
    pub(super) const fn read(meets: Meets) -> Kind {
        Kind {
            reads: true,
            meets,
            ..Kind::STARTS
        }
    }

    pub(super) const fn with(effects: EffectSet) -> Kind {
        Kind {
            effects,
            ..Kind::STARTS
        }
    }
}

/// What is no file at all.
const FREE: &[&str] = &[
    "/dev/null",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/zero",
];

/// Inside the walls these are the run's own.
const FREE_FOLDERS: &[&str] = &["/tmp", "/dev/fd", "/home/stance", "/run/user/1000"];

/// What belongs to the system and to nobody's secrets.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt"];

fn lies_in_one(path: &str, folders: &[&str]) -> bool {
    folders.iter().any(|folder| beneath(path, folder).is_some())
}

/// What of a word may be a path: itself, what follows `=`, `:` or `@`, what is stuck to a short option.
fn parts(shape: &str) -> impl Iterator<Item = &str> {
    let stuck = shape
        .strip_prefix('-')
        .filter(|rest| !rest.starts_with('-'))
        .and_then(|rest| rest.get(1..));
    let after = |mark: char| shape.split_once(mark).map(|(_, rest)| rest);
    let itself = Some(shape).filter(|shape| !shape.starts_with('-') && !shape.contains('='));
    [itself, stuck, after('='), after(':'), after('@')]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
}

/// What of a path lies beneath a folder; empty for the folder itself.
fn beneath<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    match path.strip_prefix(folder.trim_end_matches('/'))? {
        "" => Some(""),
        rest => rest.strip_prefix('/'),
    }
}

/// A path without `.`, `..` and empty parts, told from its text.
pub(super) fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
