//! Putting back what a checkpoint holds: each path through the handles of its folders, each file
//! written beside its place and renamed over it, nothing replaced that changed since it was looked at.
//! Cut off in the midst, it comes to the same end when it is done again.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a worktree is put back here, after it was looked at through the same handles"
)]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid, fchmod, fchown, fstat, mkdirat, openat, readlinkat,
    renameat, renameat_with, statat, symlinkat, syncfs, unlinkat,
};
use rustix::io::Errno;

use super::differences::Pair;
use super::known::{Known, Stamp};
use super::tree::Node;
use super::vault::Vault;
use super::walk::permissions;
use super::{PutBack, beneath};

/// Owner's rights without which nothing in a folder can be changed.
const OPEN: u32 = 0o700;

/// One restoring of a worktree from what it is now (`earlier` of each pair) to what it was (`later`).
pub(super) struct Restoring<'a> {
    pub(super) vault: &'a Vault,
    pub(super) root: OwnedFd,
    /// How the files of the present were found.
    pub(super) known: &'a Known,
    pub(super) done: PutBack,
    /// Folders whose rights were widened for a moment, with the rights they get in the end.
    opened: Vec<(PathBuf, u32)>,
}

/// Why a path stays as it is.
enum Stays {
    Changed,
    System(Errno),
    Damaged,
    NotEmpty,
}

impl From<Errno> for Stays {
    fn from(errno: Errno) -> Stays {
        match errno {
            Errno::LOOP | Errno::NOTDIR | Errno::EXIST | Errno::NOENT => Stays::Changed,
            Errno::NOTEMPTY => Stays::NotEmpty,
            other => Stays::System(other),
        }
    }
}

impl Stays {
    fn words(&self) -> String {
        match self {
            Stays::Changed => "it changed this moment".to_owned(),
            Stays::System(errno) => std::io::Error::from(*errno).to_string(),
            Stays::Damaged => "the checkpoint's copy is damaged".to_owned(),
            Stays::NotEmpty => "it holds something that the checkpoint does not".to_owned(),
        }
    }
}

impl<'a> Restoring<'a> {
    pub(super) fn new(vault: &'a Vault, root: OwnedFd, known: &'a Known) -> Restoring<'a> {
        Restoring {
            vault,
            root,
            known,
            done: PutBack::default(),
            opened: Vec::new(),
        }
    }

    /// Deletes from the leaves up, writes from the root down, gives folders their rights last.
    pub(super) fn all(mut self, pairs: &[Pair]) -> PutBack {
        for pair in pairs.iter().rev() {
            if let Some(present) = &pair.earlier
                && replaced_by_another_kind(present, pair.later.as_ref())
            {
                let deleted = self.delete(&pair.path, present);
                self.note(&pair.path, deleted, pair.later.is_none());
            }
        }
        for pair in pairs {
            if let Some(then) = &pair.later
                && !self.done.left.iter().any(|(path, _)| *path == pair.path)
            {
                let written = self.write(&pair.path, pair.earlier.as_ref(), then);
                self.note(&pair.path, written, true);
            }
        }
        let opened = std::mem::take(&mut self.opened);
        for (path, mode) in opened.iter().rev() {
            let closed = beneath::folder_at(&self.root, path)
                .and_then(|folder| fchmod(&folder, Mode::from_raw_mode(*mode)))
                .map_err(Stays::from);
            self.note(path, closed, false);
        }
        // What cannot be forced to the disk now gets there in its own time.
        let _ = syncfs(&self.root);
        self.done
    }

    fn note(&mut self, path: &Path, outcome: Result<(), Stays>, counts: bool) {
        match outcome {
            Ok(()) if counts => self.done.restored.push(path.to_owned()),
            Ok(()) => {}
            Err(stays) => self.done.left.push((path.to_owned(), stays.words())),
        }
    }

    /// The folder of a path, able to be changed, and the path's last name.
    fn parent(&mut self, path: &Path) -> Result<(OwnedFd, OsString), Stays> {
        let name = path.file_name().ok_or(Stays::Changed)?.to_owned();
        let above = path.parent().unwrap_or(Path::new(""));
        let folder = beneath::folder_at(&self.root, above)?;
        let mode = permissions(&fstat(&folder)?);
        if mode & OPEN != OPEN {
            fchmod(&folder, Mode::from_raw_mode(mode | OPEN))?;
            if !self.opened.iter().any(|(opened, _)| opened == above) {
                self.opened.push((above.to_owned(), mode));
            }
        }
        Ok((folder, name))
    }

    fn delete(&mut self, path: &Path, present: &Node) -> Result<(), Stays> {
        let (folder, name) = self.parent(path)?;
        self.unchanged(&folder, &name, path, Some(present))?;
        let flags = match present {
            Node::Folder { .. } => AtFlags::REMOVEDIR,
            _ => AtFlags::empty(),
        };
        match unlinkat(&folder, &name, flags) {
            Err(Errno::EXIST) => Err(Stays::NotEmpty),
            other => {
                self.opened.retain(|(opened, _)| opened != path);
                Ok(other?)
            }
        }
    }

    fn write(&mut self, path: &Path, present: Option<&Node>, then: &Node) -> Result<(), Stays> {
        let (folder, name) = self.parent(path)?;
        // What was of another kind is deleted by now.
        let present = present.filter(|present| !replaced_by_another_kind(present, Some(then)));
        match (present, then) {
            (None, Node::Folder { mode, .. }) => {
                mkdirat(&folder, &name, Mode::from_raw_mode(OPEN))?;
                self.opened.push((path.to_owned(), *mode));
                Ok(())
            }
            (Some(_), Node::Folder { mode, .. }) => {
                self.opened.retain(|(opened, _)| opened != path);
                self.opened.push((path.to_owned(), *mode));
                Ok(())
            }
            (
                Some(Node::File { content, .. }),
                Node::File {
                    content: same, mode, ..
                },
            ) if content == same => {
                self.unchanged(&folder, &name, path, present)?;
                let (node, _) = beneath::file(&folder, &name)?;
                Ok(fchmod(&node, Mode::from_raw_mode(*mode))?)
            }
            (_, Node::File { content, mode, .. }) => {
                let bytes = self.vault.get(content).map_err(|_| Stays::Damaged)?;
                let beside = beside(&name);
                remove_left_over(&folder, &beside)?;
                fill(&folder, &beside, &bytes, *mode, owner(&folder, &name)?)?;
                self.rename(&folder, &beside, &name, path, present)
            }
            (_, Node::Link { target }) => {
                let beside = beside(&name);
                remove_left_over(&folder, &beside)?;
                symlinkat(OsStr::from_bytes(target), &folder, &beside)?;
                self.rename(&folder, &beside, &name, path, present)
            }
            (_, Node::Left(_)) => Ok(()),
        }
    }

    fn rename(
        &self,
        folder: &OwnedFd,
        beside: &OsStr,
        name: &OsStr,
        path: &Path,
        present: Option<&Node>,
    ) -> Result<(), Stays> {
        let renamed = self.unchanged(folder, name, path, present).and_then(|()| {
            let renamed = if present.is_none() {
                match renameat_with(folder, beside, folder, name, RenameFlags::NOREPLACE) {
                    Err(Errno::INVAL) => renameat(folder, beside, folder, name),
                    renamed => renamed,
                }
            } else {
                renameat(folder, beside, folder, name)
            };
            Ok(renamed?)
        });
        if renamed.is_err() {
            // The fault that counts is the first.
            let _ = unlinkat(folder, beside, AtFlags::empty());
        }
        renamed
    }

    /// Whether a path still is what was looked at.
    fn unchanged(&self, folder: &OwnedFd, name: &OsStr, path: &Path, present: Option<&Node>) -> Result<(), Stays> {
        let now = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(errno.into()),
        };
        let kind = now.as_ref().map(|stat| FileType::from_raw_mode(stat.st_mode));
        let same = match (present, kind) {
            (None, None) | (Some(Node::Folder { .. }), Some(FileType::Directory)) => true,
            (Some(Node::File { .. }), Some(FileType::RegularFile)) => {
                let then = self.known.stamp(path.as_os_str().as_bytes());
                now.zip(then)
                    .is_some_and(|(now, then)| Stamp::of(&now).same_content(&then))
            }
            (Some(Node::Link { target }), Some(FileType::Symlink)) => {
                readlinkat(folder, name, Vec::new())?.to_bytes() == target.as_slice()
            }
            _ => false,
        };
        if same { Ok(()) } else { Err(Stays::Changed) }
    }
}

/// Whether what is there has to go before the other can come: a file is renamed over a file or link.
fn replaced_by_another_kind(present: &Node, then: Option<&Node>) -> bool {
    let folder = |node: &Node| matches!(node, Node::Folder { .. });
    then.is_none_or(|then| folder(present) != folder(then))
}

/// The same name for the same place: what a killed restoring left there is found again.
fn beside(name: &OsStr) -> OsString {
    let digest = blake3::hash(name.as_bytes()).to_hex();
    OsString::from(format!(".stance-restore-{}", digest.get(..16).unwrap_or_default()))
}

fn remove_left_over(folder: &OwnedFd, beside: &OsStr) -> Result<(), Errno> {
    match unlinkat(folder, beside, AtFlags::empty()) {
        Err(Errno::NOENT) => Ok(()),
        other => other,
    }
}

/// Whose a file is to be: the one's it replaces, else the folder's.
fn owner(folder: &OwnedFd, name: &OsStr) -> Result<Stat, Errno> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => fstat(folder),
        found => found,
    }
}

fn fill(folder: &OwnedFd, beside: &OsStr, bytes: &[u8], mode: u32, owner: Stat) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let node = openat(folder, beside, flags, Mode::from_raw_mode(0o600))?;
    let mine = fstat(&node)?;
    if (mine.st_uid, mine.st_gid) != (owner.st_uid, owner.st_gid) {
        // Only the system's owner can give a file away; for others it becomes their own.
        let _ = fchown(
            &node,
            Some(Uid::from_raw(owner.st_uid)),
            Some(Gid::from_raw(owner.st_gid)),
        );
    }
    let mut file = File::from(node);
    file.write_all(bytes)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    fchmod(&file, Mode::from_raw_mode(mode))
}
