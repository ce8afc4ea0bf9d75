//! What a path of the model means: the folder it lies in, opened and held, and its last part, which
//! is no link. A place is judged by what was opened, and a tool acts through that very handle.
//!
//! Must not know what a tool does with a place.

mod open;
mod roots;

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use modes::paths::{WriteClass, secret_shaped, write_class};
use modes::{Effect, ProposedCall, Target};
use rustix::fs::{FileType, Stat, fstat};
use rustix::io::Errno;

pub(crate) use open::{Identity, hold_entry, in_words, not_a_file, read_entry, reopen};
pub(crate) use roots::Roots;

use crate::tool::BadArguments;

/// Where a place lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ground {
    Worktree,
    Scratch,
    Outside,
}

/// What a place is part of, beside its ground.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Nothing special.
    None,
    /// A repository's own records: read, never written.
    Repository,
    /// Read when it lies in a root, never written.
    StartUp,
    /// Neither read nor written, by anybody.
    Closed(String),
}

/// A path that was found.
#[derive(Debug)]
pub(crate) struct Place {
    /// The deepest folder of it that exists, held.
    folder: OwnedFd,
    /// Folders beneath that one which do not exist yet.
    missing: Vec<OsString>,
    /// The last part; `.` for a root itself.
    name: OsString,
    ground: Ground,
    guard: Guard,
    /// Relative to the worktree; absolute elsewhere.
    path: String,
    /// What the model wrote.
    asked: String,
}

/// What is to be read, held.
#[derive(Debug)]
pub(crate) struct Held {
    /// The node.
    pub(crate) node: OwnedFd,
    /// What it was when it was opened.
    pub(crate) stat: Stat,
    /// Relative to the worktree; absolute elsewhere.
    pub(crate) path: String,
    /// Whether its name, as asked or as found, is shaped like a secret's.
    pub(crate) secret: bool,
}

impl Held {
    /// The call with the effect of reading a secret, when this is shaped like one.
    pub(crate) fn guarding(&self, call: ProposedCall) -> ProposedCall {
        if self.secret {
            call.with_effect(Effect::SecretAccess)
        } else {
            call
        }
    }
}

impl Place {
    /// Relative to the worktree; absolute elsewhere.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Whether it lies in the worktree.
    pub(crate) fn in_worktree(&self) -> bool {
        self.ground == Ground::Worktree
    }

    /// Whether a write here is judged by what stands here now: not where it never happens.
    pub(crate) fn may_be_looked_at(&self) -> bool {
        matches!(self.guard, Guard::None) && self.ground != Ground::Outside
    }

    /// What stands here now; none when nothing does.
    pub(crate) fn kind(&self) -> Option<FileType> {
        if !self.missing.is_empty() || matches!(self.guard, Guard::Closed(_)) {
            return None;
        }
        let stat = hold_entry(&self.folder, self.name()).and_then(fstat).ok()?;
        Some(FileType::from_raw_mode(stat.st_mode))
    }

    /// Whether its text may be shown to the model where it only meant to write: not a secret's, and
    /// not what lies outside.
    pub(crate) fn may_be_shown(&self) -> bool {
        self.may_be_looked_at() && !self.is_secret()
    }

    /// Whether its name, as asked or as found, is shaped like a secret's.
    fn is_secret(&self) -> bool {
        secret_shaped(&self.path) || secret_shaped(&self.asked)
    }

    pub(crate) fn folder(&self) -> &OwnedFd {
        &self.folder
    }

    pub(crate) fn missing(&self) -> &[OsString] {
        &self.missing
    }

    pub(crate) fn name(&self) -> &Path {
        Path::new(&self.name)
    }

    /// The target of a call that writes here.
    pub(crate) fn as_written(&self) -> Target {
        match &self.guard {
            Guard::Closed(what) => Target::Never { what: what.clone() },
            Guard::StartUp => Target::Never {
                what: format!("{} runs when a person logs in", self.path),
            },
            guard => Target::Write {
                path: self.path.clone(),
                class: if *guard == Guard::Repository {
                    WriteClass::Repository
                } else {
                    write_class(&self.path)
                },
                outside: self.ground == Ground::Outside,
            },
        }
    }

    /// What a path named in a shell line truly is; `held` says of one whether a checkpoint would hold what
    /// stands there, no link on its way. The kernel's own places are the walls' business.
    pub(crate) fn behind(&self, target: Target, held: impl Fn(&Path) -> bool) -> Target {
        match (target, &self.guard) {
            (Target::Write { .. }, _) => self.as_written(),
            (Target::Delete { path: named, words, .. }, _) => match self.as_written() {
                Target::Write {
                    path,
                    class,
                    outside: false,
                } => Target::Delete {
                    held: held(Path::new(&named)),
                    path,
                    class,
                    words,
                },
                other => other,
            },
            (Target::Read { path }, _) if of_the_kernel(Path::new(&path)).is_some() => Target::Read { path },
            (Target::Read { .. }, Guard::Closed(what)) => Target::Never { what: what.clone() },
            (Target::Read { .. }, _) => Target::Read {
                path: self.path.clone(),
            },
            (other, _) => other,
        }
    }

    /// Holds what stands here for reading and adds to the call what reading it means. None: it is
    /// never read, and the call says so.
    pub(crate) fn for_reading(self, call: ProposedCall) -> Result<(ProposedCall, Option<Held>), BadArguments> {
        if let Guard::Closed(what) = self.guard {
            return Ok((call.with_target(Target::Never { what }), None));
        }
        if self.ground == Ground::Outside {
            return Err(outside(&self.asked, Path::new(&self.path)));
        }
        let held = if self.missing.is_empty() {
            hold_entry(&self.folder, self.name())
        } else {
            Err(Errno::NOENT)
        };
        let (node, stat) = held
            .and_then(|node| fstat(&node).map(|stat| (node, stat)))
            .map_err(|error| BadArguments(format!("{} {}.", self.path, in_words(error))))?;
        let secret = self.is_secret();
        let call = call.with_target(Target::Read {
            path: self.path.clone(),
        });
        Ok((
            call,
            Some(Held {
                node,
                stat,
                path: self.path,
                secret,
            }),
        ))
    }
}

fn outside(asked: &str, real: &Path) -> BadArguments {
    let led = if Path::new(asked) == real {
        String::new()
    } else {
        format!(" (it leads to {})", real.display())
    };
    BadArguments(format!(
        "{asked} lies outside the project{led}; only the project and the run's own scratch folder can be read."
    ))
}

/// A folder's path with a name beneath it, as the model sees paths.
pub(crate) fn joined(folder: &str, name: &str) -> String {
    match folder {
        "" | "." => name.to_owned(),
        folder => format!("{}/{name}", folder.trim_end_matches('/')),
    }
}

/// A path as text; a part that is no UTF-8 is shown with marks.
fn shown(path: &Path) -> String {
    let text = path.to_string_lossy().into_owned();
    if text.is_empty() { ".".to_owned() } else { text }
}

/// What a path is called when it is one of the kernel's own places.
fn of_the_kernel(path: &Path) -> Option<String> {
    ["/proc", "/sys", "/dev"]
        .into_iter()
        .find(|kernel| path.starts_with(kernel))
        .map(|kernel| format!("{kernel} belongs to the running system"))
}

/// A path of the model as an absolute one: relative to the worktree, `~` is the home.
fn spelled(asked: &str, worktree: &Path, home: &Path) -> Result<PathBuf, BadArguments> {
    if asked.is_empty() || asked.contains('\0') {
        return Err(BadArguments(
            "the path is empty or holds a NUL. Example: src/main.rs".to_owned(),
        ));
    }
    Ok(match asked.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => worktree.join(asked),
    })
}
