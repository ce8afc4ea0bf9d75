//! The layers of a throw-away view: which folders of the host are laid over, where their layers lie,
//! and what was written into them. Knows paths; `lay` makes the mounts.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::fstatfs;
use rustix::system::sysinfo;
use serde::Serialize;

use crate::{Places, SandboxError, Walls, environment, lay};

/// The folder of a scratch folder that the layers are mounted on. On the host it stays empty.
const BASE: &str = "thrown-away";
/// Changes that are listed; the others are counted.
const LISTED: usize = 100;
/// Entries that are looked at to count them.
const COUNTED: usize = 200_000;
/// No view holds more, in bytes.
const LARGEST: u64 = 8 << 30;
/// `f_type` of a file system in memory.
pub(crate) const TMPFS: u64 = 0x0102_1994;
/// `f_type` of a layered one.
pub(crate) const OVERLAY: u64 = 0x794c_7630;
/// How a folder that hides the one beneath it is marked: by us as an ordinary user, as the owner of
/// the system.
const HIDES_THE_LOWER: [&str; 2] = ["user.overlay.opaque", "trusted.overlay.opaque"];

/// What a throw-away view can hold: a quarter of the memory, at most 8 GiB. In whole mebibytes.
pub(crate) fn capacity() -> u64 {
    let memory = sysinfo();
    let total = memory.totalram.saturating_mul(u64::from(memory.mem_unit));
    (total / 4).min(LARGEST) & !((1 << 20) - 1)
}

/// What a process wrote that is gone now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ThrownAway {
    /// Files that were written, made or changed in their mode, time or name.
    pub written: u64,
    /// Files and folders that were deleted.
    pub deleted: u64,
    /// Bytes of the written ones.
    pub bytes: u64,
    /// The first of both, those near the root first.
    pub listed: Vec<ThrownChange>,
    /// Whether there was more than is counted.
    pub more: bool,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ThrownChange {
    /// Relative to the worktree; absolute outside of it.
    pub path: PathBuf,
    /// Whether it was deleted.
    pub deleted: bool,
}

impl fmt::Display for ThrownChange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let deleted = if self.deleted { " (deleted)" } else { "" };
        write!(formatter, "{}{deleted}", self.path.display())
    }
}

fn files(number: u64) -> String {
    match number {
        1 => "1 file was".to_owned(),
        number => format!("{number} files were"),
    }
}

/// One folder of the host and where the view shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Overlay {
    pub(crate) source: PathBuf,
    pub(crate) target: PathBuf,
}

/// All layers of one view.
#[derive(Debug, Clone)]
pub(crate) struct Overlays {
    base: PathBuf,
    worktree: PathBuf,
    folders: Vec<Overlay>,
}

impl Overlays {
    /// The worktree, what its git keeps elsewhere, the package caches, and whatever is mounted within
    /// one of these.
    pub(crate) fn of(walls: &Walls, places: &Places) -> Result<Self, SandboxError> {
        let mut overlays = Vec::new();
        let same = |path: &Path| Overlay {
            source: path.to_owned(),
            target: path.to_owned(),
        };
        overlays.push(same(&places.worktree));
        let elsewhere: BTreeSet<&PathBuf> = places.sealed.iter().collect();
        for path in elsewhere {
            let covered = overlays.iter().any(|overlay| path.starts_with(&overlay.target));
            if !covered && path.is_dir() {
                overlays.push(same(path));
            }
        }
        for cache in &walls.toolchains.caches {
            overlays.push(Overlay {
                source: cache.folder.clone(),
                target: Path::new(environment::HOME).join(&cache.beneath_home),
            });
        }
        let mounts = fs::read("/proc/self/mountinfo").map_err(SandboxError::system("reading the mounts"))?;
        let nested: BTreeSet<PathBuf> = mount_points(&mounts).collect();
        for Overlay { source, target } in overlays.clone() {
            for mount in nested.iter().filter(|mount| **mount != source && mount.is_dir()) {
                if let Ok(beneath) = mount.strip_prefix(&source) {
                    overlays.push(Overlay {
                        source: mount.clone(),
                        target: target.join(beneath),
                    });
                }
            }
        }
        Ok(Self {
            base: places.scratch.join(BASE),
            worktree: places.worktree.clone(),
            folders: overlays,
        })
    }

    /// Each folder as the view shows it: where that lies before bubblewrap starts, and its place.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (PathBuf, &Path)> {
        self.folders
            .iter()
            .enumerate()
            .map(|(number, overlay)| (lay::shown(&self.base, number), overlay.target.as_path()))
    }

    /// A private folder of the view that is thrown away with it.
    pub(crate) fn private(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    /// The arguments of our own executable that lays the layers and becomes bubblewrap.
    pub(crate) fn arguments(&self, bwrap: &Path, arguments: Vec<OsString>) -> Result<Vec<OsString>, SandboxError> {
        crate::private_folder(&self.base)?;
        let sources = self.folders.iter().map(|overlay| overlay.source.as_path());
        Ok(lay::arguments(&self.base, sources, bwrap, arguments))
    }

    /// A hold on the layers of a view that stands, through the process that laid them.
    pub(crate) fn hold(self, layer: u32) -> Result<Held, SandboxError> {
        let lost = |why: &dyn std::fmt::Display| SandboxError::WallsFailed(format!("the throw-away layers: {why}"));
        let mut inside = PathBuf::from(format!("/proc/{layer}/root"));
        inside.push(self.base.strip_prefix("/").unwrap_or(&self.base));
        let root = File::open(inside).map_err(|error| lost(&error))?;
        match fstatfs(&root) {
            Ok(found) if found.f_type.cast_unsigned() == TMPFS => Ok(Held { overlays: self, root }),
            _ => Err(lost(&"they were not found")),
        }
    }
}

/// The layers of a view, kept from vanishing until they were looked at.
#[derive(Debug)]
pub(crate) struct Held {
    overlays: Overlays,
    root: File,
}

impl Held {
    /// What was written. To be asked when nothing of the view runs any more.
    pub(crate) fn report(&self) -> ThrownAway {
        let mut thrown = ThrownAway::default();
        let mut seen = 0;
        for (number, overlay) in self.overlays.folders.iter().enumerate() {
            let upper = PathBuf::from(format!("/proc/self/fd/{}", self.root.as_raw_fd())).join(lay::upper(number));
            let mut folders = VecDeque::from([PathBuf::new()]);
            while let Some(folder) = folders.pop_front() {
                let Ok(entries) = fs::read_dir(upper.join(&folder)) else {
                    thrown.more = true;
                    continue;
                };
                let mut names: Vec<OsString> = entries.flatten().map(|entry| entry.file_name()).collect();
                names.sort();
                for name in names {
                    seen += 1;
                    if seen > COUNTED {
                        thrown.more = true;
                        return thrown;
                    }
                    let path = folder.join(name);
                    let target = overlay.target.join(&path);
                    let shown = target.strip_prefix(&self.overlays.worktree).unwrap_or(&target);
                    if thrown.take(&upper.join(&path), &overlay.source.join(&path), shown) {
                        folders.push_back(path);
                    }
                }
            }
        }
        thrown
    }
}

impl ThrownAway {
    /// One sentence, naming at most so many changes.
    pub fn words(&self, most: usize) -> String {
        let count = match (self.written, self.deleted) {
            (0, 0) if self.more => {
                return "what was written could not be looked through, and is thrown away".to_owned();
            }
            (0, 0) => return "nothing was written".to_owned(),
            (written, 0) => format!("{} written", files(written)),
            (0, deleted) => format!("{} deleted", files(deleted)),
            (written, deleted) => format!("{} written and {deleted} deleted", files(written)),
        };
        let least = if self.more { "at least " } else { "" };
        let named: Vec<String> = self.listed.iter().take(most).map(ToString::to_string).collect();
        let others = match (self.written + self.deleted).saturating_sub(named.len() as u64) {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        format!(
            "{least}{count} ({} bytes), and all of it is thrown away: {}{others}",
            self.bytes,
            named.join(", ")
        )
    }

    /// Counts one entry of a layer. Whether it is a folder.
    fn take(&mut self, entry: &Path, lower: &Path, shown: &Path) -> bool {
        let Ok(facts) = entry.symlink_metadata() else {
            self.more = true;
            return false;
        };
        let deleted = facts.file_type().is_char_device() && facts.rdev() == 0;
        if facts.is_dir() {
            if hides_the_lower(entry) && lower.symlink_metadata().is_ok() {
                self.deleted += 1;
                self.list(shown, true);
            }
            return true;
        }
        if deleted {
            self.deleted += 1;
        } else {
            self.written += 1;
            self.bytes += facts.len();
        }
        self.list(shown, deleted);
        false
    }

    fn list(&mut self, path: &Path, deleted: bool) {
        if self.listed.len() < LISTED {
            self.listed.push(ThrownChange {
                path: path.to_owned(),
                deleted,
            });
        }
    }
}

fn hides_the_lower(folder: &Path) -> bool {
    HIDES_THE_LOWER
        .iter()
        .any(|mark| rustix::fs::lgetxattr(folder, *mark, &mut [0_u8; 1]).is_ok())
}

/// The fifth field of each line, with its escapes undone.
fn mount_points(table: &[u8]) -> impl Iterator<Item = PathBuf> {
    table
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .map(|field| PathBuf::from(unescaped(field)))
}

/// The kernel writes blanks and backslashes of a path as `\` and three octal digits.
fn unescaped(field: &[u8]) -> OsString {
    let mut bytes = Vec::new();
    let mut rest = field;
    while let [first, after @ ..] = rest {
        let octal = after.get(..3).filter(|_| *first == b'\\');
        let code = octal
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() {
            after.get(3..).unwrap_or_default()
        } else {
            after
        };
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_is_read_with_its_blanks() {
        let table = b"36 35 98:0 /m /mnt/a\\040b\\134 rw - ext3 /dev/root rw\n37 1 0:5 / / rw - x y rw\n";
        let points: Vec<PathBuf> = mount_points(table).collect();
        assert_eq!(points, [Path::new("/mnt/a b\\"), Path::new("/")]);
    }

    #[test]
    fn what_is_gone_is_told_in_a_sentence() {
        let change = |path: &str, deleted| ThrownChange {
            path: path.into(),
            deleted,
        };
        let thrown = ThrownAway {
            written: 2,
            deleted: 1,
            bytes: 10,
            listed: vec![change("a", false), change("b", true), change("c/d", false)],
            more: false,
        };
        assert_eq!(
            thrown.words(2),
            "2 files were written and 1 deleted (10 bytes), and all of it is thrown away: a, b (deleted) and 1 more"
        );
        assert_eq!(ThrownAway::default().words(2), "nothing was written");
    }

    #[test]
    fn what_git_keeps_elsewhere_is_laid_over_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (tree, common) = (root.join("tree"), root.join("main/.git"));
        fs::create_dir_all(common.join("worktrees/tree")).unwrap();
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join(".git"), "gitdir: x\n").unwrap();
        let mut places = Places::new(&tree, root.join("scratch"));
        places.sealed = vec![tree.join(".git"), common.join("worktrees/tree"), common.clone()];
        let walls = Walls::new("/bin/sh", crate::Toolchains::default()).unwrap();
        let overlays = Overlays::of(&walls, &places).unwrap();
        let targets: Vec<&Path> = overlays.shown().map(|(_, target)| target).collect();
        assert_eq!(targets, [tree, common]);
    }
}
