//! Going through a worktree for a checkpoint: each folder through its handle, no link followed, what
//! is not held named with the reason. Writes nothing but contents into the vault.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use modes::paths::{names_repository, secret_shaped};
use rustix::fs::{AtFlags, FileType, Stat, fstat, readlinkat, statat};
use rustix::io::Errno;

use super::beneath;
use super::known::{Known, Stamp};
use super::limits::{DEEPEST, IGNORED_BYTES, IGNORED_FILES, LARGEST_FILE, MOST_FILES};
use super::tree::{Digest, Folder, Node};
use super::vault::Vault;
use super::{Left, Why, layered};
use crate::{Ignores, RepoError};

/// How often a file that changes while it is read is read.
const READINGS: usize = 3;

/// One walk.
pub(super) struct Walk<'a> {
    pub(super) vault: &'a Vault,
    pub(super) earlier: Known,
    pub(super) known: Known,
    /// Folders nothing may be read from, by device and number.
    pub(super) shut: BTreeSet<(u64, u64)>,
    /// The device of the worktree.
    pub(super) device: u64,
    pub(super) files: u64,
    pub(super) left: Vec<Left>,
}

/// A folder being gone through.
struct Inside {
    held: OwnedFd,
    path: PathBuf,
    ignores: Option<Arc<Ignores>>,
    /// Whether it lies in an ignored folder that is taken whole.
    ignored: bool,
    depth: usize,
}

impl Walk<'_> {
    /// The record of the whole worktree.
    pub(super) fn root(&mut self, held: OwnedFd) -> Result<Digest, RepoError> {
        let inside = Inside {
            ignores: layered(&held, Path::new(""), None),
            held,
            path: PathBuf::new(),
            ignored: false,
            depth: 0,
        };
        match self.folder(&inside) {
            Ok(tree) => tree,
            Err(errno) => Err(RepoError::File {
                path: PathBuf::from("."),
                source: errno.into(),
            }),
        }
    }

    /// The outer error is the system's, about this folder alone; the inner one ends the walk.
    fn folder(&mut self, inside: &Inside) -> Result<Result<Digest, RepoError>, Errno> {
        let mut folder = Folder::new();
        for name in beneath::names(&inside.held)? {
            if names_repository(&String::from_utf8_lossy(&name)) {
                continue;
            }
            let path = inside.path.join(OsStr::from_bytes(&name));
            match self.node(inside, OsStr::from_bytes(&name), &path) {
                Ok(Some(node)) => {
                    if let Node::Left(why) = node {
                        self.left.push(Left { path, why });
                    }
                    folder.insert(name, node);
                }
                Ok(None) => {}
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(self.vault.put_folder(&folder))
    }

    /// What stands at a name; none when it is gone by now.
    fn node(&mut self, inside: &Inside, name: &OsStr, path: &Path) -> Result<Option<Node>, RepoError> {
        if secret_shaped(&path.to_string_lossy()) {
            return Ok(Some(Node::Left(Why::Secret)));
        }
        let found = match statat(&inside.held, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => self.standing(inside, name, path, &stat),
            Err(errno) => Err(Fault::System(errno)),
        };
        match found {
            Ok(node) => Ok(Some(node)),
            Err(Fault::System(Errno::NOENT)) => Ok(None),
            Err(Fault::System(_)) => Ok(Some(Node::Left(Why::Unreadable))),
            Err(Fault::Ours(error)) => Err(error),
        }
    }

    fn standing(&mut self, inside: &Inside, name: &OsStr, path: &Path, stat: &Stat) -> Result<Node, Fault> {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => self.file(inside, name, path, stat),
            FileType::Symlink => Ok(Node::Link {
                target: readlinkat(&inside.held, name, Vec::new())?.into_bytes(),
            }),
            FileType::Directory => self.enter(inside, name, path),
            _ => Ok(Node::Left(Why::Special)),
        }
    }

    fn enter(&mut self, inside: &Inside, name: &OsStr, path: &Path) -> Result<Node, Fault> {
        let held = beneath::folder(&inside.held, name)?;
        let stat = fstat(&held)?;
        if self.shut.contains(&(stat.st_dev, stat.st_ino)) {
            return Ok(Node::Left(Why::Closed));
        }
        if stat.st_dev != self.device {
            return Ok(Node::Left(Why::OtherFileSystem));
        }
        if inside.depth >= DEEPEST {
            return Ok(Node::Left(Why::TooDeep));
        }
        let ignored = !inside.ignored && inside.ignores.as_ref().is_some_and(|rules| rules.ignores(path, true));
        if ignored && !fits(&held, 0, &mut (IGNORED_FILES, IGNORED_BYTES))? {
            return Ok(Node::Left(Why::IgnoredFolder));
        }
        let inside = Inside {
            ignores: layered(&held, path, inside.ignores.clone()),
            held,
            path: path.to_owned(),
            ignored: inside.ignored || ignored,
            depth: inside.depth + 1,
        };
        Ok(Node::Folder {
            tree: self.folder(&inside)?.map_err(Fault::Ours)?,
            mode: permissions(&stat),
        })
    }

    fn file(&mut self, inside: &Inside, name: &OsStr, path: &Path, stat: &Stat) -> Result<Node, Fault> {
        self.files += 1;
        if self.files > MOST_FILES {
            return Err(Fault::Ours(RepoError::TooManyFiles(MOST_FILES)));
        }
        let path = path.as_os_str().as_bytes();
        let mut stat = *stat;
        for reading in 1..=READINGS {
            let size = u64::try_from(stat.st_size).unwrap_or_default();
            if size > LARGEST_FILE {
                return Ok(Node::Left(Why::TooLarge));
            }
            let stamp = Stamp::of(&stat);
            let known = self
                .earlier
                .content(path, &stamp)
                .filter(|content| self.vault.has(content, size));
            if let Some(content) = known {
                self.known.note(path, stamp, content);
                return Ok(Node::File {
                    content,
                    size,
                    mode: permissions(&stat),
                });
            }
            let (node, opened) = beneath::file(&inside.held, name)?;
            if FileType::from_raw_mode(opened.st_mode) != FileType::RegularFile {
                return Ok(Node::Left(Why::Special));
            }
            let again = node.try_clone().map_err(|_| Errno::MFILE)?;
            let Some(bytes) = beneath::read(node, LARGEST_FILE).map_err(|_| Errno::IO)? else {
                return Ok(Node::Left(Why::TooLarge));
            };
            stat = fstat(&again)?;
            if Stamp::of(&stat) == Stamp::of(&opened) || reading == READINGS {
                let content = self.vault.put(&bytes).map_err(Fault::Ours)?;
                self.known.note(path, Stamp::of(&opened), content);
                return Ok(Node::File {
                    content,
                    size: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
                    mode: permissions(&stat),
                });
            }
        }
        Ok(Node::Left(Why::Unreadable))
    }
}

/// Why a node could not be taken.
enum Fault {
    /// The system's answer, about this node alone.
    System(Errno),
    /// What ends the walk.
    Ours(RepoError),
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Fault {
        Fault::System(errno)
    }
}

/// Whether an ignored folder is small enough; takes what it holds from the files and bytes left.
fn fits(held: &OwnedFd, depth: usize, left: &mut (u64, u64)) -> Result<bool, Errno> {
    if depth > DEEPEST {
        return Ok(false);
    }
    for name in beneath::names(held)? {
        let name = OsStr::from_bytes(&name);
        let Ok(stat) = statat(held, name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        let bytes = u64::try_from(stat.st_size).unwrap_or_default();
        match (left.0.checked_sub(1), left.1.checked_sub(bytes)) {
            (Some(files), Some(bytes)) => *left = (files, bytes),
            _ => return Ok(false),
        }
        let inside = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        if inside
            && let Ok(folder) = beneath::folder(held, name)
            && !fits(&folder, depth + 1, left)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The bits that `chmod` sets.
pub(super) fn permissions(stat: &Stat) -> u32 {
    stat.st_mode & 0o7777
}
