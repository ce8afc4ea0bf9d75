//! Which paths of a writable worktree a process may not change although it may change the rest, and what of
//! that is found before it starts. Decides nothing: whoever knows the rules does.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, readlinkat, symlinkat};

use crate::SandboxError;
use crate::walk::{Find, Identity, Spot, walk};

/// Names no file has: a folder in which these may not be made is one in which nothing may be.
const ANY_NAMES: [&str; 2] = ["\u{1}", "\u{1}/\u{1}"];

/// So many paths beneath a folder are enough for a no.
const MOST_NAMED: usize = 20;

type Decides = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Which paths are guarded. Asked with a path relative to the worktree.
#[derive(Clone, Default)]
pub struct Guards {
    /// None where nothing is denied, so that no path has to be asked for.
    denies: Option<Decides>,
    /// Of the files that configure agents, editors, git or CI.
    asks: Option<Decides>,
    answered: Vec<String>,
}

impl Guards {
    /// Those of the files that configure agents, editors, git or CI which somebody decides upon.
    pub fn asking(asks: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self {
            asks: Some(Arc::new(asks)),
            ..Self::default()
        }
    }

    /// Whatever nobody may write besides.
    #[must_use]
    pub fn denying(self, denies: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self {
            denies: Some(Arc::new(denies)),
            ..self
        }
    }

    /// The same for a call that was allowed to write these paths.
    #[must_use]
    pub fn answered(&self, paths: Vec<String>) -> Self {
        Self {
            answered: paths,
            ..self.clone()
        }
    }

    /// Whether anything is denied to be written.
    pub fn deny(&self) -> bool {
        self.denies.is_some()
    }

    /// Whether nobody may write this path.
    pub fn denies(&self, path: &str) -> bool {
        self.denies.as_ref().is_some_and(|denies| denies(path))
    }

    /// What nobody may write beneath a path of the worktree: what is there, or whatever is put there. None
    /// where it cannot be looked through.
    pub fn denied_beneath(&self, worktree: &Path, path: &str) -> Option<Vec<String>> {
        let folder = if path == "." {
            worktree.to_owned()
        } else {
            worktree.join(path)
        };
        if self.denies_within(path) {
            return Some(vec![format!("{path}/*")]);
        }
        if !folder.symlink_metadata().is_ok_and(|facts| facts.is_dir()) {
            return Some(Vec::new());
        }
        let mut denied = Vec::new();
        walk(&folder, false, |find, spot| {
            let name = relative(worktree, &spot.path);
            match find {
                Find::Closed(_) | Find::TooDeep => Err(SandboxError::unseen(&spot.path, "it is closed")),
                Find::Plain | Find::Secret | Find::Special | Find::Folder if self.denies(&name) => {
                    denied.push(name);
                    Ok(())
                }
                _ => Ok(()),
            }
        })
        .ok()?;
        denied.truncate(MOST_NAMED);
        Some(denied)
    }

    /// Whether nobody may write anything in this folder, whatever its name.
    fn denies_within(&self, folder: &str) -> bool {
        let beneath = |name: &&str| match folder {
            "." => self.denies(name),
            folder => self.denies(&format!("{folder}/{name}")),
        };
        self.deny() && ANY_NAMES.iter().all(beneath)
    }

    fn asks(&self, path: &str) -> bool {
        let answered = self.answered.iter().any(|answered| answered == path);
        !answered && self.asks.as_ref().is_some_and(|asks| asks(path))
    }

    fn asks_within(&self, folder: &str) -> bool {
        let answered = self.answered.iter().any(|path| Path::new(path).starts_with(folder));
        !answered && ANY_NAMES.iter().all(|name| self.asks(&format!("{folder}/{name}")))
    }

    fn is_none(&self) -> bool {
        self.denies.is_none() && self.asks.is_none()
    }
}

impl fmt::Debug for Guards {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Guards")
    }
}

/// The guarded paths that are there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Guarded {
    /// Denied to be written, with all that lies in them.
    pub(crate) denied: BTreeSet<PathBuf>,
    /// The same of what configures.
    pub(crate) configuring: BTreeSet<PathBuf>,
    /// Written all the same, beneath one of these.
    pub(crate) written: BTreeSet<PathBuf>,
    /// Folders that keep their place, because of what lies in them.
    pub(crate) kept: BTreeSet<PathBuf>,
    /// The folder each of them lies in.
    folders: BTreeMap<PathBuf, Identity>,
    /// Links at such paths, over which nothing can be laid, and where they lead.
    links: BTreeMap<PathBuf, PathBuf>,
}

impl Guarded {
    /// Takes note of an entry.
    pub(crate) fn note(&mut self, guards: &Guards, root: &Path, spot: &Spot<'_>, is_folder: bool) {
        if guards.is_none() {
            return;
        }
        let path = &spot.path;
        let name = relative(root, path);
        let (denied, configuring) = guarded(guards, &name, spot.configures, is_folder);
        let beneath = |set: &BTreeSet<PathBuf>| path.ancestors().skip(1).any(|above| set.contains(above));
        if beneath(&self.denied) {
            return;
        }
        if denied {
            let above = path.ancestors().skip(1).take_while(|above| *above != root);
            self.kept.extend(above.map(Path::to_owned));
        }
        if (denied || configuring)
            && let Some(leads_to) = link(spot)
        {
            self.links.insert(path.clone(), leads_to);
            self.in_folder(spot);
            return;
        }
        if denied {
            self.denied.insert(path.clone());
        } else if is_folder && guards.denies(&name) {
            self.kept.insert(path.clone());
        } else if beneath(&self.configuring) {
            if !configuring && !is_folder {
                self.written.insert(path.clone());
            }
            return;
        } else if configuring {
            self.configuring.insert(path.clone());
        } else {
            return;
        }
        self.in_folder(spot);
    }

    fn in_folder(&mut self, spot: &Spot<'_>) {
        self.folders
            .extend(spot.folder.identity().map(|identity| (spot.path.clone(), identity)));
    }

    /// Makes denied links anew that a process took away. The folders above them kept their places.
    pub(crate) fn put_links_back(&self, guards: &Guards, root: &Path) {
        let denied = self
            .links
            .iter()
            .filter(|(path, _)| guards.denies(&relative(root, path)));
        for (path, leads_to) in denied {
            // One that is still there stays.
            let _ = symlinkat(leads_to, CWD, path);
        }
    }

    /// Whether an entry is one that was there before and that nothing in the walls can replace: it has its name in
    /// its folder still, whatever the folder is called now.
    fn held(&self, spot: &Spot<'_>) -> bool {
        let folder = spot.folder.identity();
        let mut before = self
            .folders
            .iter()
            .filter(|(path, before)| Some(**before) == folder && path.file_name() == Some(spot.name))
            .map(|(path, _)| path);
        before.any(|path| match self.links.get(path) {
            Some(leads_to) => link(spot).as_ref() == Some(leads_to),
            None => self.denied.contains(path) || self.configuring.contains(path),
        })
    }
}

/// Where an entry leads; none when it is no link.
fn link(spot: &Spot<'_>) -> Option<PathBuf> {
    let leads_to = readlinkat(&spot.folder.descriptor, spot.name, Vec::new()).ok()?;
    Some(PathBuf::from(OsStr::from_bytes(leads_to.as_bytes())))
}

/// A walk that looks for guarded paths which a process made.
pub(crate) struct Made<'a> {
    guards: &'a Guards,
    root: &'a Path,
    before: &'a Guarded,
    /// What was there before, and is passed over with all that lies in it.
    passed: BTreeSet<PathBuf>,
}

impl<'a> Made<'a> {
    pub(crate) fn new(guards: &'a Guards, root: &'a Path, before: &'a Guarded) -> Self {
        Self {
            guards,
            root,
            before,
            passed: BTreeSet::new(),
        }
    }

    /// Whether an entry is a guarded file and was made meanwhile. A folder is asked about before what lies in it.
    pub(crate) fn is(&mut self, spot: &Spot<'_>, is_folder: bool) -> bool {
        if self.guards.is_none() {
            return false;
        }
        let path = &spot.path;
        if path.ancestors().skip(1).any(|above| self.passed.contains(above)) {
            return false;
        }
        if self.before.held(spot) {
            self.passed.insert(path.clone());
            return false;
        }
        // Of a folder each file is asked about by itself: one of them may be allowed.
        let (denied, configuring) = guarded(self.guards, &relative(self.root, path), spot.configures, false);
        !is_folder && (denied || configuring)
    }
}

/// Whether an entry is denied to be written, and whether it configures and is asked about.
fn guarded(guards: &Guards, name: &str, configures: bool, is_folder: bool) -> (bool, bool) {
    if is_folder {
        (guards.denies_within(name), configures && guards.asks_within(name))
    } else {
        (guards.denies(name), configures && guards.asks(name))
    }
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}
