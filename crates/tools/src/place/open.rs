//! Opening, below everything else: which flags, which resolution. Knows no root and no tool.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat, openat2, readlinkat};
use rustix::io::Errno;

/// A path that is held but neither read nor written.
const HELD: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// How often an opening that raced with a rename is tried again.
const RACES: usize = 64;

/// One file or folder, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    device: u64,
    number: u64,
}

impl Identity {
    pub(crate) fn of(stat: &Stat) -> Identity {
        Identity {
            device: stat.st_dev,
            number: stat.st_ino,
        }
    }

    pub(crate) fn held(node: impl AsFd) -> Result<Identity, Errno> {
        fstat(node).map(|stat| Identity::of(&stat))
    }
}

/// Holds a folder by its path, links followed: only for places the engine named.
pub(crate) fn hold_named(path: &Path) -> Result<OwnedFd, Errno> {
    openat(CWD, path, HELD, Mode::empty())
}

/// Holds a folder beneath a root; links are followed as long as they stay beneath it.
pub(crate) fn hold_folder_beneath(root: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    beneath(root, path, HELD | OFlags::DIRECTORY, ResolveFlags::NO_MAGICLINKS)
}

/// Holds a folder anywhere, for a write outside of every root. No magic link is followed.
pub(crate) fn hold_folder_anywhere(path: &Path) -> Result<OwnedFd, Errno> {
    openat2(
        CWD,
        path,
        HELD | OFlags::DIRECTORY,
        Mode::empty(),
        ResolveFlags::NO_MAGICLINKS,
    )
}

/// Holds one entry of a folder as it is: a link is held itself.
pub(crate) fn hold_entry(folder: impl AsFd, name: &Path) -> Result<OwnedFd, Errno> {
    beneath(
        folder.as_fd(),
        name,
        HELD | OFlags::NOFOLLOW,
        ResolveFlags::NO_MAGICLINKS,
    )
}

/// Opens one entry of a folder for reading, following no link and waiting for no other end.
pub(crate) fn read_entry(folder: impl AsFd, name: &Path, kind: OFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NOFOLLOW | kind;
    beneath(folder.as_fd(), name, flags, ResolveFlags::NO_SYMLINKS)
}

fn beneath(folder: BorrowedFd<'_>, path: &Path, flags: OFlags, also: ResolveFlags) -> Result<OwnedFd, Errno> {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    let mut answer = Err(Errno::AGAIN);
    for _ in 0..RACES {
        answer = openat2(folder, path, flags, Mode::empty(), ResolveFlags::BENEATH | also);
        if !matches!(answer, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
    }
    answer
}

/// Opens what is held for reading: the very node, wherever it has been moved to. A file of the user's own
/// keeps the time it was last read at.
pub(crate) fn reopen(held: impl AsFd) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let open = |flags| openat(CWD, descriptor_path(held.as_fd()), flags, Mode::empty());
    let opened = match open(flags | OFlags::NOATIME) {
        Err(Errno::PERM) => open(flags),
        opened => opened,
    };
    opened.map(File::from)
}

/// The path a held node has now.
pub(crate) fn real_path(held: impl AsFd) -> Result<PathBuf, Errno> {
    let link = readlinkat(CWD, descriptor_path(held.as_fd()), Vec::new())?;
    Ok(PathBuf::from(OsString::from_vec(link.into_bytes())))
}

fn descriptor_path(held: BorrowedFd<'_>) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()))
}

/// What kind of node stands in a stat, in words; none for a regular file.
pub(crate) fn not_a_file(stat: &Stat) -> Option<&'static str> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => None,
        FileType::Directory => Some("a folder"),
        FileType::Symlink => Some("a symbolic link"),
        FileType::Fifo => Some("a FIFO"),
        FileType::Socket => Some("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => Some("a device"),
        FileType::Unknown => Some("something that is no file"),
    }
}

/// What an operating system's answer means, as the end of a sentence.
pub(crate) fn in_words(error: Errno) -> String {
    match error {
        Errno::NOENT => "does not exist".to_owned(),
        Errno::NOTDIR => "passes through something that is no folder".to_owned(),
        Errno::ACCESS | Errno::PERM => "may not be touched by this user".to_owned(),
        Errno::LOOP => "passes through a link that is not followed".to_owned(),
        Errno::XDEV => "leads outside".to_owned(),
        Errno::NAMETOOLONG => "has a part that is too long".to_owned(),
        Errno::ROFS => "lies on a read-only file system".to_owned(),
        Errno::NOSPC => "cannot be written: the disk is full".to_owned(),
        other => format!("cannot be opened: {other}"),
    }
}
