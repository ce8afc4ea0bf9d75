//! Walking a worktree before and after a process: special files of the host that must be masked,
//! and `.git` entries a process made. Knows names and file types, never contents.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::SandboxError;

/// More entries than this and the walls are not put up: something could stay unmasked.
const LIMIT: usize = 4_000_000;

/// Something a process of a run did that the walls could not forbid, found and undone afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Violation {
    /// A `.git` that was not there before; moved out of the worktree.
    GitCreated {
        /// Where it was made.
        path: PathBuf,
        /// Where it lies now, for a person to look at.
        moved_to: PathBuf,
    },
}

/// Device and inode: a `.git` that only moved with the folder above it is not a new one.
pub(crate) type Identity = (u64, u64);

/// What a walk found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// Sockets, FIFOs and devices.
    pub(crate) special: Vec<PathBuf>,
    /// Every entry named `.git`, of any type, with its identity.
    pub(crate) git: BTreeMap<PathBuf, Identity>,
}

/// Walks a folder without following symbolic links and without entering a `.git`'s inside for
/// further `.git` entries; special files in there are found all the same.
pub(crate) fn survey(root: &Path) -> Result<Survey, SandboxError> {
    let mut found = Survey::default();
    let mut folders = vec![(root.to_owned(), false)];
    let mut seen = 0_usize;
    while let Some((folder, in_git)) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            // Not readable for us, hence not for a process with our identity.
            continue;
        };
        for entry in entries.flatten() {
            seen += 1;
            if seen > LIMIT {
                return Err(SandboxError::Place {
                    path: root.to_owned(),
                    why: format!("more than {LIMIT} entries: too many to look through"),
                });
            }
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let is_git = !in_git && entry.file_name() == ".git";
            if is_git && let Ok(metadata) = entry.metadata() {
                found.git.insert(entry.path(), (metadata.dev(), metadata.ino()));
            }
            if kind.is_dir() {
                folders.push((entry.path(), in_git || is_git));
            } else if !kind.is_file() && !kind.is_symlink() {
                found.special.push(entry.path());
            }
        }
    }
    Ok(found)
}

/// Moves every `.git` whose identity is not in `before` out of the worktree, into `quarantine`, or
/// beside itself under another name where that is another file system.
pub(crate) fn neutralise(
    root: &Path,
    before: &BTreeMap<PathBuf, Identity>,
    quarantine: &Path,
) -> Result<Vec<Violation>, SandboxError> {
    let known: BTreeSet<Identity> = before.values().copied().collect();
    let mut violations = Vec::new();
    for (path, identity) in survey(root)?.git {
        if known.contains(&identity) {
            continue;
        }
        fs::create_dir_all(quarantine).map_err(SandboxError::system("making the quarantine"))?;
        let mut moved_to = unused(quarantine, "git");
        if fs::rename(&path, &moved_to).is_err() {
            moved_to = unused(path.parent().unwrap_or(root), "git-made-by-a-run");
            fs::rename(&path, &moved_to).map_err(SandboxError::system("moving a planted .git away"))?;
        }
        violations.push(Violation::GitCreated { path, moved_to });
    }
    Ok(violations)
}

fn unused(folder: &Path, stem: &str) -> PathBuf {
    let mut number = 0_u64;
    loop {
        let free = folder.join(format!("{stem}-{number}"));
        if fs::symlink_metadata(&free).is_err() {
            return free;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_files_and_git_entries_are_found_at_any_depth() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a/b/.git/modules/.git")).unwrap();
        fs::write(root.path().join("a/.git"), "gitdir: x").unwrap();
        let socket = root.path().join("a/b/.git/socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let fifo = root.path().join("a/fifo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        let mut found = survey(root.path()).unwrap();
        found.special.sort();
        assert_eq!(found.special, [socket, fifo]);
        assert_eq!(
            found.git.into_keys().collect::<Vec<_>>(),
            [root.path().join("a/.git"), root.path().join("a/b/.git")]
        );
    }

    #[test]
    fn only_a_new_git_is_moved_away() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("old/.git")).unwrap();
        let before = survey(root.path()).unwrap().git;
        fs::create_dir_all(root.path().join("sub/.git")).unwrap();
        fs::write(root.path().join("sub/.git/config"), "[core]\nfsmonitor=x").unwrap();
        fs::rename(root.path().join("old"), root.path().join("moved")).unwrap();
        let violations = neutralise(root.path(), &before, outside.path()).unwrap();
        assert_eq!(
            violations,
            [Violation::GitCreated {
                path: root.path().join("sub/.git"),
                moved_to: outside.path().join("git-0"),
            }]
        );
        assert!(root.path().join("moved/.git").is_dir());
        assert!(!root.path().join("sub/.git").exists());
        assert!(outside.path().join("git-0/config").is_file());
    }
}
