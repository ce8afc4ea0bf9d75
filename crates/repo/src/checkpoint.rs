//! Checkpoints: what a worktree holds, byte by byte, kept outside of it, and put back. Git takes no
//! part: no attribute, filter or line-end rule changes a byte, and no `.git` is read or written. Knows
//! no run and no journal.

mod beneath;
mod differences;
mod known;
mod limits;
mod put_back;
mod tree;
mod vault;
mod walk;

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use modes::paths::{names_repository, secret_shaped};
use rustix::fs::{AtFlags, CWD, FileType, fstat, statat};
use serde::{Deserialize, Serialize};

use self::differences::Pair;
use self::known::Known;
use self::limits::{LARGEST_FILE, LARGEST_IGNORE_FILE};
use self::put_back::Restoring;
use self::tree::Digest;
use self::vault::Vault;
use self::walk::Walk;
use crate::{Ignores, RepoError};

/// Why something is not held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Its name is shaped like a secret's.
    Secret,
    /// It is larger than what is held.
    TooLarge,
    /// It is an ignored folder of more than what is held of one.
    IgnoredFolder,
    /// It could not be read.
    Unreadable,
    /// It is a socket, a FIFO or a device.
    Special,
    /// It lies on another file system.
    OtherFileSystem,
    /// It lies too deep.
    TooDeep,
    /// Nothing may be read there.
    Closed,
}

/// As it is said to people.
impl fmt::Display for Why {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Why::Secret => "its name is that of a secret",
            Why::TooLarge => "it is larger than 64 MiB",
            Why::IgnoredFolder => "it is ignored, and holds more than 5000 files or 64 MiB",
            Why::Unreadable => "it cannot be read",
            Why::Special => "it is a socket, a FIFO or a device",
            Why::OtherFileSystem => "it lies on another file system",
            Why::TooDeep => "it lies too deep",
            Why::Closed => "nothing may be read there",
        })
    }
}

/// A path that is not held. What is there is left alone when a checkpoint is restored.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Left {
    /// Beneath the worktree.
    pub path: PathBuf,
    /// Why.
    pub why: Why,
}

/// A checkpoint that was taken.
#[derive(Debug)]
pub struct Taken {
    /// The digest of everything it holds.
    pub tree: String,
    /// Files it holds.
    pub files: u64,
    /// What it does not hold, by path.
    pub left: Vec<Left>,
    known: Known,
}

/// How a path differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is only in the later one.
    Added,
    /// Its content, or what it is, differs.
    Content,
    /// Its mode alone differs.
    Mode,
    /// It is only in the earlier one.
    Deleted,
}

/// A path that differs between two checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Beneath the worktree.
    pub path: PathBuf,
    /// How.
    pub change: Change,
    /// A digest of what the earlier one has there.
    pub earlier: String,
}

/// What came of putting back.
#[derive(Debug, Default)]
pub struct PutBack {
    /// Paths that are now as they were.
    pub restored: Vec<PathBuf>,
    /// Paths that stay as they are, with the reason.
    pub left: Vec<(PathBuf, String)>,
}

/// The checkpoints of one worktree. One walk, restoring or sweeping at a time in a folder.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    vault: Vault,
    worktree: PathBuf,
    shut: Vec<PathBuf>,
}

impl Checkpoints {
    /// `folder` is private and outside of every worktree; workspaces share none. Nothing is read from
    /// the folders `shut`.
    pub fn of(folder: &Path, worktree: &Path, shut: Vec<PathBuf>) -> Result<Checkpoints, RepoError> {
        Ok(Checkpoints {
            vault: Vault::open(folder)?,
            worktree: worktree.to_owned(),
            shut,
        })
    }

    /// Takes a checkpoint. `now_ms` is the time, in milliseconds since 1970. Files that were not
    /// written since the checkpoint before are not read again.
    pub fn take(&self, now_ms: i64) -> Result<Taken, RepoError> {
        let held = self.root()?;
        let device = fstat(&held).map_err(|errno| self.unopened(errno))?.st_dev;
        let shut = |path: &PathBuf| statat(CWD, path, AtFlags::empty()).ok();
        let name = self.known_name();
        let mut walk = Walk {
            vault: &self.vault,
            earlier: Known::load(&self.vault, &name),
            known: Known::at(now_ms),
            shut: self
                .shut
                .iter()
                .filter_map(shut)
                .map(|stat| (stat.st_dev, stat.st_ino))
                .collect(),
            device,
            files: 0,
            left: Vec::new(),
        };
        let tree = walk.root(held)?;
        let Walk {
            known, files, mut left, ..
        } = walk;
        known.save(&self.vault, &name)?;
        left.sort();
        Ok(Taken {
            tree: tree.to_string(),
            files,
            left,
            known,
        })
    }

    /// What differs between two checkpoints, by path.
    pub fn differences(&self, earlier: &str, later: &str) -> Result<Vec<Difference>, RepoError> {
        let pairs = differences::pairs(&self.vault, earlier.parse()?, later.parse()?)?;
        Ok(differences::shown(&pairs))
    }

    /// Whether a checkpoint holds a file, or a folder without what is in it.
    pub fn holds(&self, tree: &str, path: &Path) -> Result<bool, RepoError> {
        let mut folder: Digest = tree.parse()?;
        let mut parts = path.components().peekable();
        while let Some(Component::Normal(name)) = parts.next() {
            match self.vault.folder(&folder)?.remove(name.as_encoded_bytes()) {
                Some(tree::Node::Folder { .. }) if parts.peek().is_none() => return Ok(true),
                Some(tree::Node::Folder { tree, .. }) => folder = tree,
                Some(tree::Node::File { content, size, .. }) if parts.peek().is_none() => {
                    return Ok(self.vault.has(&content, size));
                }
                _ => return Ok(false),
            }
        }
        Ok(false)
    }

    /// Puts the worktree back to a checkpoint, as far as one of `paths` names or lies above what
    /// differs; all of it when there are none. `present` is a checkpoint of this very moment: what
    /// changed since it was taken stays.
    pub fn put_back(&self, tree: &str, present: &Taken, paths: &[PathBuf]) -> Result<PutBack, RepoError> {
        let mut pairs = differences::pairs(&self.vault, present.tree.parse()?, tree.parse()?)?;
        let leads = |pair: &Pair| pair.makes_folder() && paths.iter().any(|named| named.starts_with(&pair.path));
        pairs.retain(|pair| within(&pair.path, paths) || leads(pair));
        Ok(Restoring::new(&self.vault, self.root()?, &present.known).all(&pairs))
    }

    /// Forgets what none of these checkpoints holds.
    pub fn sweep(&self, kept: &[String]) -> Result<(), RepoError> {
        let kept: Result<Vec<Digest>, RepoError> = kept.iter().map(|tree| tree.parse()).collect();
        self.vault.sweep(&kept?)
    }

    fn root(&self) -> Result<OwnedFd, RepoError> {
        beneath::root(&self.worktree).map_err(|errno| self.unopened(errno))
    }

    fn unopened(&self, errno: rustix::io::Errno) -> RepoError {
        RepoError::File {
            path: self.worktree.clone(),
            source: errno.into(),
        }
    }

    fn known_name(&self) -> String {
        format!("known-{}", Digest::of(self.worktree.as_os_str().as_encoded_bytes()))
    }
}

/// Whether one of the paths is this one, or lies above it; so it is when there are none.
pub fn within(path: &Path, paths: &[PathBuf]) -> bool {
    paths.is_empty() || paths.iter().any(|named| path.starts_with(named))
}
/// Whether a checkpoint made now would hold what stands at a path beneath the worktree: a regular file that
/// is not too large, or a folder without what is in it; outside of repositories' records, not shaped like a
/// secret, in no ignored folder. What cannot be looked at is not held.
pub fn would_hold(worktree: &Path, path: &Path) -> bool {
    looked_at(worktree, path).unwrap_or(false)
}

fn looked_at(worktree: &Path, path: &Path) -> Option<bool> {
    if secret_shaped(&path.to_string_lossy()) {
        return Some(false);
    }
    let mut folder = beneath::root(worktree).ok()?;
    let mut ignores = layered(&folder, Path::new(""), None);
    let mut above = PathBuf::new();
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else {
            return Some(false);
        };
        if names_repository(&name.to_string_lossy()) {
            return Some(false);
        }
        above.push(name);
        let ignored = ignores.as_ref().is_some_and(|ignores| ignores.ignores(&above, true));
        if parts.peek().is_none() {
            let (_, stat) = beneath::file(&folder, name).ok()?;
            return Some(match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => u64::try_from(stat.st_size).is_ok_and(|size| size <= LARGEST_FILE),
                FileType::Directory => !ignored,
                _ => false,
            });
        }
        if ignored {
            return Some(false);
        }
        folder = beneath::folder(&folder, name).ok()?;
        ignores = layered(&folder, &above, ignores);
    }
    Some(false)
}

/// The ignore rules of a folder over those above it.
fn layered(folder: &OwnedFd, path: &Path, above: Option<Arc<Ignores>>) -> Option<Arc<Ignores>> {
    let text = beneath::file(folder, ".gitignore".as_ref())
        .ok()
        .filter(|(_, stat)| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
        .and_then(|(node, _)| beneath::read(node, LARGEST_IGNORE_FILE).ok().flatten())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ignores::layered(path, &Vec::from_iter(text), above)
}
