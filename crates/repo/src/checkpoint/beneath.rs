//! Opening one entry of a folder that is held: never through a link, never waiting for another end.
//! Knows nothing of checkpoints.

#![expect(clippy::disallowed_types, reason = "a held handle is read as a file")]

use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{CWD, Dir, Mode, OFlags, Stat, fstat, openat};
use rustix::io::Errno;

const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);

/// A worktree's folder, by the path the engine names it with.
pub(super) fn root(path: &Path) -> Result<OwnedFd, Errno> {
    openat(CWD, path, READ | OFlags::DIRECTORY, Mode::empty())
}

/// A folder in a folder.
pub(super) fn folder(parent: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    openat(parent, name, READ | OFlags::DIRECTORY, Mode::empty())
}

/// A file in a folder, for reading, with what it is.
pub(super) fn file(parent: impl AsFd, name: &OsStr) -> Result<(OwnedFd, Stat), Errno> {
    let node = openat(parent, name, READ, Mode::empty())?;
    let stat = fstat(&node)?;
    Ok((node, stat))
}

/// The folder that a path beneath a root names; no part of it is a link.
pub(super) fn folder_at(root: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    let mut held = folder(root, OsStr::new("."))?;
    for part in path.components() {
        match part {
            Component::Normal(name) => held = folder(&held, name)?,
            _ => return Err(Errno::INVAL),
        }
    }
    Ok(held)
}

/// The names in a folder, sorted.
pub(super) fn names(folder: &OwnedFd) -> Result<Vec<Vec<u8>>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The bytes of a file, `most` at most; none when there are more.
pub(super) fn read(node: OwnedFd, most: u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    std::fs::File::from(node)
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok((u64::try_from(bytes.len()).unwrap_or(u64::MAX) <= most).then_some(bytes))
}
