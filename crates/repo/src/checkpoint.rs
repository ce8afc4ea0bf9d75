//! Checkpoints: what a worktree holds, byte by byte, kept outside of it, and put back. Git takes no
//! part: no attribute, filter or ignore rule changes a byte, and no `.git` is read or written. Knows
//! no run and no journal.

mod beneath;
mod limits;

use std::os::fd::OwnedFd;
use std::path::{Component, Path};
use std::sync::Arc;

use modes::paths::{names_repository, secret_shaped};
use rustix::fs::FileType;

use crate::Ignores;
use limits::{LARGEST_FILE, LARGEST_IGNORE_FILE};

/// Whether a checkpoint made now would hold a path beneath the worktree: a regular file outside of
/// repositories' records, not shaped like a secret, not too large, in no ignored folder. What cannot
/// be looked at is not held.
pub fn would_hold(worktree: &Path, path: &Path) -> bool {
    looked_at(worktree, path).unwrap_or(false)
}

fn looked_at(worktree: &Path, path: &Path) -> Option<bool> {
    if secret_shaped(&path.to_string_lossy()) {
        return Some(false);
    }
    let mut folder = beneath::root(worktree).ok()?;
    let mut ignores = layered(&folder, Path::new(""), None);
    let mut above = std::path::PathBuf::new();
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else {
            return Some(false);
        };
        if names_repository(&name.to_string_lossy()) {
            return Some(false);
        }
        above.push(name);
        if parts.peek().is_none() {
            let (_, stat) = beneath::file(&folder, name).ok()?;
            let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
            return Some(regular && u64::try_from(stat.st_size).is_ok_and(|size| size <= LARGEST_FILE));
        }
        if ignores.as_ref().is_some_and(|ignores| ignores.ignores(&above, true)) {
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
