//! Looking through a worktree before and after a process: special files of the host that must be
//! masked, and repositories a process made. Knows names and file types, never contents.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, renameat, statat};
use rustix::io::Errno;
use serde::Serialize;

use crate::guards::{Guarded, Made};
use crate::walk::{Find, Folder, Identity, Spot, open_up_for_owner, walk};
use crate::{Places, SandboxError};

/// The kernel takes no longer path, so nothing can be mounted on one.
const LONGEST_PATH: usize = 4095;
/// What is added to the name of a thing that could not leave its file system.
const MADE_BY_A_RUN: &str = "made-by-a-run";
/// What makes git believe a folder that is a repository without a `.git`.
const BELIEVED: [&str; 4] = ["HEAD", "config", "config.worktree", "commondir"];

/// Something a process of a run did that the walls could not forbid, found and undone afterwards.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Violation {
    /// A `.git` that was not there before, moved out of the worktree; or a folder git would take for
    /// a repository, whose `HEAD` and settings were moved out. A folder nested too deeply to be looked
    /// through is moved as a whole.
    GitCreated {
        /// Where it was made.
        path: PathBuf,
        /// Where it lies now, for a person to look at.
        moved_to: PathBuf,
    },
    /// A path that nobody may write unasked, made or put there by a process, moved out of the worktree.
    Guarded {
        /// Where it was made.
        path: PathBuf,
        /// Where it lies now.
        moved_to: PathBuf,
    },
}

/// What a walk found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// Sockets, FIFOs and devices.
    pub(crate) special: Vec<PathBuf>,
    /// Every file that holds secrets by its name, with the other names of the same file; of a link,
    /// what it leads to within the worktree.
    pub(crate) secrets: BTreeSet<PathBuf>,
    /// Every `.git`, of any type, and every folder that git takes for a repository, with its identity.
    pub(crate) git: BTreeMap<PathBuf, Identity>,
    /// What a process that writes the worktree may not change.
    pub(crate) guarded: Guarded,
}

/// Looks through a worktree before a process starts. In a `writable` one a folder that is ours and
/// closed is opened for the look, and one that cannot be looked through is an error; in another no
/// process can open what is closed.
pub(crate) fn survey(places: &Places, writable: bool) -> Result<Survey, SandboxError> {
    let root = &places.worktree;
    let mut survey = Survey::default();
    let mut named_twice = BTreeSet::new();
    walk(root, writable, |find, spot| {
        let path = &spot.path;
        if writable && matches!(find, Find::Plain | Find::Secret | Find::Folder) {
            survey.guarded.note(&places.guards, root, spot, find == Find::Folder);
        }
        match find {
            Find::Folder => (),
            Find::Plain if !denied(places, path) => (),
            Find::Closed(Errno::ACCESS) | Find::TooDeep if !writable => return Ok(()),
            Find::Closed(why) => return Err(SandboxError::unseen(path, why)),
            Find::TooDeep => return Err(SandboxError::unseen(path, "it lies too deep")),
            _ if path.as_os_str().len() > LONGEST_PATH && !writable => return Ok(()),
            _ if path.as_os_str().len() > LONGEST_PATH => {
                return Err(SandboxError::unseen(path, "its path is too long"));
            }
            Find::Special => survey.special.push(path.clone()),
            Find::Secret | Find::Plain => {
                survey.secrets.extend(secret(root, path));
                named_twice.extend(other_names(spot));
            }
            Find::Git(_) if writable && is_link(spot) => {
                return Err(SandboxError::Place {
                    path: path.clone(),
                    why: "a symbolic link in a writable worktree cannot be kept as it is".into(),
                });
            }
            Find::Git(identity) | Find::Bare(identity) => {
                survey.git.insert(path.clone(), identity);
            }
        }
        Ok(())
    })?;
    if !named_twice.is_empty() {
        walk(root, writable, |find, spot| {
            if find == Find::Plain && other_names(spot).is_some_and(|file| named_twice.contains(&file)) {
                survey.secrets.insert(spot.path.clone());
            }
            Ok(())
        })?;
    }
    Ok(survey)
}

/// Whether a rule denies a file to be read, whatever it is called.
fn denied(places: &Places, path: &Path) -> bool {
    let inner = path.strip_prefix(&places.worktree).unwrap_or(path);
    places.secrets.denies(&inner.to_string_lossy())
}

/// Where a secret really lies, if that is in the worktree: nothing can be laid over a link.
fn secret(root: &Path, path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|real| real.starts_with(root))
}

/// The identity of a file that has more names than this one.
fn other_names(spot: &Spot<'_>) -> Option<Identity> {
    let facts = statat(&spot.folder.descriptor, spot.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    (facts.st_nlink > 1).then_some((facts.st_dev, facts.st_ino))
}

fn is_link(spot: &Spot<'_>) -> bool {
    statat(&spot.folder.descriptor, spot.name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|facts| FileType::from_raw_mode(facts.st_mode) == FileType::Symlink)
}

/// Moves every repository whose identity is not in `before`, and what was `made` of guarded paths, out of the worktree, into `quarantine`,
/// or beside itself under another name where that is another file system. Goes on to the end; what
/// could not be moved or looked through is the error.
pub(crate) fn neutralise(
    root: &Path,
    before: &BTreeSet<Identity>,
    mut made: Option<Made<'_>>,
    quarantine: &Path,
) -> Result<Vec<Violation>, SandboxError> {
    let mut violations = Vec::new();
    let mut failures = Vec::new();
    let walked = walk(root, true, |find, spot| {
        let moved = match find {
            Find::Folder | Find::Special | Find::Secret | Find::Plain => {
                if made.as_mut().is_some_and(|made| made.is(spot, find == Find::Folder)) {
                    match quarantined(quarantine, |to| move_away(spot, spot.name, to)) {
                        Ok(moved_to) => violations.push(Violation::Guarded {
                            path: spot.path.clone(),
                            moved_to,
                        }),
                        Err(why) => failures.push(format!("{} ({why})", spot.path.display())),
                    }
                }
                return Ok(());
            }
            Find::Git(identity) | Find::Bare(identity) if before.contains(&identity) => return Ok(()),
            Find::Git(_) | Find::TooDeep => quarantined(quarantine, |to| move_away(spot, spot.name, to)),
            Find::Bare(_) => quarantined(quarantine, |to| disbelieved(spot, to)),
            Find::Closed(why) => Err(why),
        };
        match moved {
            Ok(moved_to) => violations.push(Violation::GitCreated {
                path: spot.path.clone(),
                moved_to,
            }),
            Err(why) => failures.push(format!("{} ({why})", spot.path.display())),
        }
        Ok(())
    });
    failures.extend(walked.err().map(|error| error.to_string()));
    violations.sort();
    if failures.is_empty() {
        Ok(violations)
    } else {
        Err(SandboxError::Planted { what: failures })
    }
}

/// Calls `act` with a free path of the quarantine.
fn quarantined(quarantine: &Path, act: impl FnOnce(&Path) -> Result<PathBuf, Errno>) -> Result<PathBuf, Errno> {
    let made = fs::create_dir_all(quarantine);
    made.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let mut number = 0_u64;
    loop {
        let free = quarantine.join(format!("made-{number}"));
        if fs::symlink_metadata(&free).is_err() {
            return act(&free);
        }
        number += 1;
    }
}

/// Takes from a folder what makes it a repository for git.
fn disbelieved(spot: &Spot<'_>, to: &Path) -> Result<PathBuf, Errno> {
    let made = fs::create_dir(to);
    made.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    for name in BELIEVED {
        match move_away(spot, OsStr::new(name), &to.join(name)) {
            Ok(_) | Err(Errno::NOENT) => (),
            Err(error) => return Err(error),
        }
    }
    Ok(to.to_owned())
}

/// Moves an entry of the spot's folder, whatever modes a process gave to both. Returns where it is.
fn move_away(spot: &Spot<'_>, name: &OsStr, to: &Path) -> Result<PathBuf, Errno> {
    let folder = &spot.folder.descriptor;
    let facts = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(facts.st_mode) == FileType::Directory {
        // A folder that changes its parent is written itself.
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let held = openat(folder, name, flags, Mode::empty())?;
        let _ = open_up_for_owner(&held);
    }
    spot.folder.while_writable(|| match renameat(folder, name, CWD, to) {
        Ok(()) => Ok(to.to_owned()),
        Err(Errno::XDEV) => renamed_beside(spot, name),
        Err(error) => Err(error),
    })
}

fn renamed_beside(spot: &Spot<'_>, name: &OsStr) -> Result<PathBuf, Errno> {
    let folder = &spot.folder.descriptor;
    let mut number = 0_u64;
    let free = loop {
        let plain = String::from_utf8_lossy(name.as_bytes())
            .trim_start_matches('.')
            .to_owned();
        let free = format!("{plain}-{MADE_BY_A_RUN}-{number}");
        if statat(folder, &free, AtFlags::SYMLINK_NOFOLLOW).is_err() {
            break free;
        }
        number += 1;
    };
    renameat(folder, name, folder, &free)?;
    // Whatever its name, git would still believe it for what lies in it.
    if let Ok(renamed) = Folder::open(folder, Path::new(&free), true) {
        for name in BELIEVED {
            let other = format!("{name}-{MADE_BY_A_RUN}");
            match renamed.while_writable(|| renameat(&renamed.descriptor, name, &renamed.descriptor, &other)) {
                Ok(()) | Err(Errno::NOENT) => (),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(spot.path.with_file_name(free))
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
        let mut found = survey(&Places::new(root.path(), root.path().join("scratch")), true).unwrap();
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
        let before = survey(&Places::new(root.path(), root.path().join("scratch")), true)
            .unwrap()
            .git
            .into_values()
            .collect();
        fs::create_dir_all(root.path().join("sub/.git")).unwrap();
        fs::write(root.path().join("sub/.git/config"), "[core]\nfsmonitor=x").unwrap();
        fs::rename(root.path().join("old"), root.path().join("moved")).unwrap();
        let violations = neutralise(root.path(), &before, None, outside.path()).unwrap();
        assert_eq!(
            violations,
            [Violation::GitCreated {
                path: root.path().join("sub/.git"),
                moved_to: outside.path().join("made-0"),
            }]
        );
        assert!(root.path().join("moved/.git").is_dir());
        assert!(!root.path().join("sub/.git").exists());
        assert!(outside.path().join("made-0/config").is_file());
    }
}
