//! Going through a folder beneath its handle: links are named, never followed; each folder and file
//! is opened by its path beneath the folder held at the start, so what is swapped for a link
//! meanwhile is not entered. Honours ignore files. Must not know what is done with what it finds.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use modes::paths::names_repository;
use repo::Ignores;
use rustix::fs::{AtFlags, Dir, FileType, OFlags, fstat, statat};

use crate::place::{Identity, Place, joined, not_a_file, read_entry, reopen};

/// Files of a folder that name what is ignored beneath it; the later is the stronger.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// Longest ignore file that is read, in bytes.
const LONGEST_IGNORE_FILE: u64 = 1024 * 1024;

/// Most entries one walk looks at.
pub(crate) const MOST_ENTRIES: usize = 200_000;

/// Where a walk begins.
pub(crate) struct Start {
    /// The folder, held.
    pub(crate) folder: OwnedFd,
    /// Its path as the model sees it.
    pub(crate) path: String,
    /// The worktree, for the ignore files above the folder; none outside of it.
    pub(crate) worktree: Option<OwnedFd>,
    /// What is never entered or shown.
    pub(crate) shut: Vec<Identity>,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    File,
    Link,
    Other,
}

/// An entry of a walk.
pub(crate) struct Entry {
    /// Its path as the model sees it.
    pub(crate) path: String,
    /// Its path beneath the start.
    pub(crate) beneath: PathBuf,
    pub(crate) kind: Kind,
}

/// A walk, nearest folders first, each folder by name.
pub(crate) struct Walk {
    start: Start,
    recursive: bool,
    folders: VecDeque<(PathBuf, Option<Arc<Ignores>>)>,
    entries: VecDeque<Entry>,
    seen: usize,
    unreadable: usize,
}

impl Walk {
    pub(crate) fn new(start: Start, recursive: bool) -> Walk {
        let ignores = start
            .worktree
            .as_ref()
            .and_then(|worktree| above(worktree, &start.path));
        let folders = VecDeque::from([(PathBuf::from("."), ignores)]);
        Walk {
            start,
            recursive,
            folders,
            entries: VecDeque::new(),
            seen: 0,
            unreadable: 0,
        }
    }

    /// Folders that could not be read.
    pub(crate) fn unreadable(&self) -> usize {
        self.unreadable
    }

    /// Whether it ended because there was too much.
    pub(crate) fn cut(&self) -> bool {
        self.seen >= MOST_ENTRIES
    }

    /// Opens a file it found, if that still is a regular file.
    pub(crate) fn open(&self, entry: &Entry) -> Option<File> {
        regular(
            read_entry(&self.start.folder, &entry.beneath, OFlags::empty()).ok()?,
            &self.start.shut,
        )
    }

    fn enter(&mut self, beneath: &Path, ignores: Option<Arc<Ignores>>) -> Option<()> {
        let folder = read_entry(&self.start.folder, beneath, OFlags::DIRECTORY).ok()?;
        if self.start.shut.contains(&Identity::held(&folder).ok()?) {
            return Some(());
        }
        let path = if beneath == Path::new(".") {
            self.start.path.clone()
        } else {
            joined(&self.start.path, &beneath.to_string_lossy())
        };
        let ignores = layered(&folder, &path, ignores);
        let mut entries = Vec::new();
        for entry in Dir::read_from(&folder).ok()? {
            let Ok(entry) = entry else { break };
            let name = Path::new(std::ffi::OsStr::from_bytes(entry.file_name().to_bytes())).to_owned();
            let text = name.to_string_lossy();
            if text == "." || text == ".." || names_repository(&text) {
                continue;
            }
            self.seen += 1;
            let kind = match entry.file_type() {
                FileType::Unknown => statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(Kind::Other, |stat| kind(FileType::from_raw_mode(stat.st_mode))),
                known => kind(known),
            };
            let path = joined(&path, &text);
            if ignores
                .as_ref()
                .is_some_and(|ignores| ignores.ignores(Path::new(&path), kind == Kind::Folder))
            {
                continue;
            }
            entries.push(Entry {
                path,
                beneath: if beneath == Path::new(".") {
                    name
                } else {
                    beneath.join(name)
                },
                kind,
            });
            if self.cut() {
                break;
            }
        }
        entries.sort_by(|one, other| one.beneath.cmp(&other.beneath));
        if self.recursive {
            let folders = entries.iter().filter(|entry| entry.kind == Kind::Folder);
            self.folders
                .extend(folders.map(|entry| (entry.beneath.clone(), ignores.clone())));
        }
        self.entries.extend(entries);
        Some(())
    }
}

impl Iterator for Walk {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            if let Some(entry) = self.entries.pop_front() {
                return Some(entry);
            }
            if self.cut() {
                return None;
            }
            let (folder, ignores) = self.folders.pop_front()?;
            if self.enter(&folder, ignores).is_none() {
                self.unreadable += 1;
            }
        }
    }
}

fn kind(kind: FileType) -> Kind {
    match kind {
        FileType::Directory => Kind::Folder,
        FileType::RegularFile => Kind::File,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

/// The file, if the node opened is a regular one and not shut.
fn regular(node: OwnedFd, shut: &[Identity]) -> Option<File> {
    let stat = fstat(&node).ok()?;
    (not_a_file(&stat).is_none() && !shut.contains(&Identity::of(&stat))).then(|| File::from(node))
}

/// The rules of the folders above a folder of the worktree.
fn above(worktree: &OwnedFd, path: &str) -> Option<Arc<Ignores>> {
    if path == "." {
        return None;
    }
    let root = read_entry(worktree, Path::new("."), OFlags::DIRECTORY).ok()?;
    let mut ignores = layered(&root, ".", None);
    let parts: Vec<&str> = path.split('/').collect();
    for length in 1..parts.len() {
        let folder = parts.iter().take(length).copied().collect::<Vec<_>>().join("/");
        let Ok(held) = read_entry(worktree, Path::new(&folder), OFlags::DIRECTORY) else {
            break;
        };
        ignores = layered(&held, &folder, ignores);
    }
    ignores
}

fn layered(folder: &OwnedFd, path: &str, above: Option<Arc<Ignores>>) -> Option<Arc<Ignores>> {
    let texts: Vec<String> = IGNORE_FILES.iter().filter_map(|name| text_of(folder, name)).collect();
    let folder = if path == "." { "" } else { path };
    Ignores::layered(Path::new(folder), &texts, above)
}

fn text_of(folder: &OwnedFd, name: &str) -> Option<String> {
    let node = read_entry(folder, Path::new(name), OFlags::empty()).ok()?;
    let mut text = Vec::new();
    regular(node, &[])?
        .take(LONGEST_IGNORE_FILE)
        .read_to_end(&mut text)
        .ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The names in the folder that stands at a place; none when none does.
pub(crate) fn names_in(place: &Place) -> Option<Vec<OsString>> {
    place.kind().filter(|kind| kind.is_dir())?;
    let folder = read_entry(place.folder(), place.name(), OFlags::DIRECTORY).ok()?;
    let entries = Dir::read_from(&folder).ok()?.flatten();
    let names = entries.map(|entry| OsString::from_vec(entry.file_name().to_bytes().to_vec()));
    Some(names.filter(|name| name != "." && name != "..").collect())
}

/// Reads a held folder's handle anew for a walk. The error is the system's own.
pub(crate) fn readable(held: &OwnedFd) -> Result<OwnedFd, rustix::io::Errno> {
    reopen(held).map(OwnedFd::from)
}
