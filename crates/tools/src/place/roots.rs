//! The roots of a run and finding a place from them. Every name is opened beneath a root's handle;
//! what leads out of it is looked at by where it leads. The nearest named folder above a place, told
//! by identity and not by spelling, decides what the place is part of.

use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use modes::paths::{CREDENTIAL_STORES, START_UP_FILES, names_repository};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;

use super::open::{Identity, hold_entry, hold_folder_anywhere, hold_folder_beneath, hold_named, in_words, real_path};
use super::{Ground, Guard, Place, of_the_kernel, shown, spelled};
use crate::scope::Scope;
use crate::tool::BadArguments;

/// How many links at the end of a path are followed.
const LINKS: usize = 40;

/// Deepest place there is.
const DEEPEST: usize = 4096;

/// What a named folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Root(Ground),
    Repository,
    Hidden,
    Credentials,
    StartUp,
}

/// The folders of a run, opened.
pub(crate) struct Roots<'a> {
    scope: &'a Scope,
    worktree: OwnedFd,
    scratch: Option<OwnedFd>,
    named: Vec<(Identity, Named)>,
}

impl<'a> Roots<'a> {
    /// Opens the roots of a run.
    pub(crate) fn of(scope: &'a Scope) -> Result<Roots<'a>, BadArguments> {
        let worktree = hold_named(&scope.worktree)
            .map_err(|error| BadArguments(format!("the project folder {}.", in_words(error))))?;
        let scratch = hold_named(&scope.scratch).ok();
        let mut named = Vec::new();
        let mut name = |identity: Result<Identity, Errno>, what: Named| {
            if let Ok(identity) = identity {
                named.push((identity, what));
            }
        };
        name(Identity::held(&worktree), Named::Root(Ground::Worktree));
        if let Some(scratch) = &scratch {
            name(Identity::held(scratch), Named::Root(Ground::Scratch));
        }
        let places = scope
            .hidden
            .iter()
            .map(|path| (path.clone(), Named::Hidden))
            .chain(
                CREDENTIAL_STORES
                    .iter()
                    .map(|store| (scope.home.join(store), Named::Credentials)),
            )
            .chain(
                START_UP_FILES
                    .iter()
                    .map(|file| (scope.home.join(file), Named::StartUp)),
            )
            .chain(repositories(scope).into_iter().map(|path| (path, Named::Repository)));
        for (path, what) in places {
            name(identity_of(&path), what);
        }
        Ok(Roots {
            scope,
            worktree,
            scratch,
            named,
        })
    }

    /// The worktree's handle.
    pub(crate) fn worktree(&self) -> &OwnedFd {
        &self.worktree
    }

    /// What no walk ever goes into or shows: hidden folders and credentials.
    pub(crate) fn shut(&self) -> Vec<Identity> {
        let shut = |named: &Named| matches!(named, Named::Hidden | Named::Credentials);
        self.named
            .iter()
            .filter(|(_, named)| shut(named))
            .map(|(identity, _)| *identity)
            .collect()
    }

    /// Finds a place. Nothing is read; of what lies outside only the folder is held.
    pub(crate) fn find(&self, asked: &str) -> Result<Place, BadArguments> {
        let mut path = spelled(asked, &self.scope.worktree, &self.scope.home)?;
        for _ in 0..LINKS {
            if let Some(what) = of_the_kernel(&path) {
                return self.closed(asked, &path, what);
            }
            let (parent, name) = match (path.parent(), path.file_name()) {
                (Some(parent), Some(name)) if !self.is_root(&path) => (parent.to_owned(), name.to_owned()),
                _ => (path.clone(), OsString::from(".")),
            };
            let (folder, missing) = self
                .hold(&parent)
                .map_err(|error| BadArguments(format!("{asked} {}.", in_words(error))))?;
            let real = real_path(&folder).map_err(|error| BadArguments(format!("{asked} {}.", in_words(error))))?;
            if let Some(what) = of_the_kernel(&real) {
                return self.closed(asked, &real, what);
            }
            if missing.is_empty()
                && name != "."
                && let Ok(link) = readlinkat(&folder, &name, Vec::new())
            {
                path = real.join(OsString::from_vec(link.into_bytes()));
                continue;
            }
            return self.place(asked, folder, &real, missing, name);
        }
        Err(BadArguments(format!("{asked} is a chain of too many links.")))
    }

    fn is_root(&self, path: &Path) -> bool {
        path == self.scope.worktree || path == self.scope.scratch
    }

    /// A place nothing will be opened at.
    fn closed(&self, asked: &str, path: &Path, what: String) -> Result<Place, BadArguments> {
        let folder = self
            .worktree
            .try_clone()
            .map_err(|error| BadArguments(format!("{asked} cannot be looked at: {error}.")))?;
        Ok(Place {
            folder,
            missing: Vec::new(),
            name: OsString::new(),
            ground: Ground::Outside,
            guard: Guard::Closed(what),
            path: shown(path),
            asked: asked.to_owned(),
        })
    }

    /// Holds the deepest folder of a path that exists, and names those beneath that do not.
    fn hold(&self, path: &Path) -> Result<(OwnedFd, Vec<OsString>), Errno> {
        let mut missing = Vec::new();
        let mut path = path;
        loop {
            match (self.hold_existing(path), path.file_name(), path.parent()) {
                (Err(Errno::NOENT), Some(name), Some(parent)) => {
                    missing.push(name.to_owned());
                    path = parent;
                }
                (held, _, _) => {
                    missing.reverse();
                    return held.map(|folder| (folder, missing));
                }
            }
        }
    }

    fn hold_existing(&self, path: &Path) -> Result<OwnedFd, Errno> {
        let beneath = match (
            path.strip_prefix(&self.scope.worktree),
            path.strip_prefix(&self.scope.scratch),
        ) {
            (Ok(rest), _) => hold_folder_beneath(self.worktree.as_fd(), rest),
            (_, Ok(rest)) => match &self.scratch {
                Some(scratch) => hold_folder_beneath(scratch.as_fd(), rest),
                None => Err(Errno::NOENT),
            },
            _ => Err(Errno::XDEV),
        };
        match beneath {
            Err(Errno::XDEV) => hold_folder_anywhere(path),
            held => held,
        }
    }

    fn place(
        &self,
        asked: &str,
        folder: OwnedFd,
        real: &Path,
        missing: Vec<OsString>,
        name: OsString,
    ) -> Result<Place, BadArguments> {
        let mut full = real.to_owned();
        full.extend(&missing);
        if name != "." {
            full.push(&name);
        }
        let itself = if missing.is_empty() {
            hold_entry(&folder, Path::new(&name))
                .ok()
                .and_then(|node| Identity::held(node).ok())
        } else {
            None
        };
        let (ground, mut guard) = self
            .standing(&folder, itself)
            .map_err(|error| BadArguments(format!("{asked} {}.", in_words(error))))?;
        if guard == Guard::None {
            guard = self.guard_by_name(&full, ground);
        }
        let relative = match ground {
            Ground::Worktree => full.strip_prefix(&self.scope.worktree).map(Path::to_owned).ok(),
            Ground::Scratch | Ground::Outside => None,
        };
        let path = shown(&relative.unwrap_or(full));
        Ok(Place {
            folder,
            missing,
            name,
            ground,
            guard,
            path,
            asked: asked.to_owned(),
        })
    }

    fn named(&self, identity: Identity) -> Option<Named> {
        // A root that is also one of the closed places was chosen by a person: the root is first.
        self.named
            .iter()
            .find(|(known, _)| *known == identity)
            .map(|(_, what)| *what)
    }

    /// Goes up from a place; the nearest named folder decides.
    fn standing(&self, folder: &OwnedFd, itself: Option<Identity>) -> Result<(Ground, Guard), Errno> {
        let mut guard = Guard::None;
        if let Some(settled) = itself.and_then(|identity| self.settles(identity, &mut guard)) {
            return Ok((settled, guard));
        }
        let mut above = folder.try_clone().map_err(|_| Errno::MFILE)?;
        for _ in 0..DEEPEST {
            let here = Identity::held(&above)?;
            if let Some(settled) = self.settles(here, &mut guard) {
                return Ok((settled, guard));
            }
            let higher = openat(
                &above,
                "..",
                OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
                Mode::empty(),
            )?;
            if Identity::held(&higher)? == here {
                return Ok((Ground::Outside, guard));
            }
            above = higher;
        }
        Err(Errno::LOOP)
    }

    /// Whether a folder on the way up settles where a place lies; notes what it guards.
    fn settles(&self, identity: Identity, guard: &mut Guard) -> Option<Ground> {
        match self.named(identity)? {
            Named::Root(ground) => Some(ground),
            named @ (Named::Hidden | Named::Credentials) => {
                *guard = Guard::Closed(closed_words(named).to_owned());
                Some(Ground::Outside)
            }
            Named::Repository => {
                *guard = Guard::Repository;
                None
            }
            Named::StartUp => {
                if *guard == Guard::None {
                    *guard = Guard::StartUp;
                }
                None
            }
        }
    }

    /// What a place is by its name, where nothing stands yet that could be told by identity.
    fn guard_by_name(&self, full: &Path, ground: Ground) -> Guard {
        let root = match ground {
            Ground::Worktree => Some(&self.scope.worktree),
            Ground::Scratch => Some(&self.scope.scratch),
            Ground::Outside => None,
        };
        let inside = |place: &Path| full.starts_with(place) && root.is_none_or(|root| !root.starts_with(place));
        let lists = |names: &[&str]| names.iter().any(|name| inside(&self.scope.home.join(name)));
        if self.scope.hidden.iter().any(|hidden| inside(hidden)) {
            Guard::Closed(closed_words(Named::Hidden).to_owned())
        } else if lists(CREDENTIAL_STORES) {
            Guard::Closed(closed_words(Named::Credentials).to_owned())
        } else if lists(START_UP_FILES) {
            Guard::StartUp
        } else if ground == Ground::Outside && full.iter().any(|part| names_repository(&part.to_string_lossy())) {
            Guard::Repository
        } else {
            Guard::None
        }
    }
}

const fn closed_words(named: Named) -> &'static str {
    match named {
        Named::Credentials => "it holds credentials",
        _ => "it belongs to Stance itself or to another run",
    }
}

fn identity_of(path: &Path) -> Result<Identity, Errno> {
    statat(CWD, path, AtFlags::empty()).map(|stat| Identity::of(&stat))
}

/// The folders that hold the records of the run's repository.
fn repositories(scope: &Scope) -> Vec<PathBuf> {
    let checkout = scope.checkout.as_ref();
    checkout
        .map(|checkout| vec![checkout.git_dir.clone(), checkout.common_dir.clone()])
        .unwrap_or_default()
}
