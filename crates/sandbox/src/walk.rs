//! Walking a folder by descriptors, without following symbolic links and however long its paths
//! are. A folder that is ours and closed is opened for the look and closed again. Knows names, file
//! types and modes, never contents; what a find means is for `survey`.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use modes::paths;
use rustix::fs::{Access, AtFlags, CWD, Dir, FileType, Mode, OFlags, accessat, chmod, fchmod, fstat, openat, statat};
use rustix::io::Errno;

use crate::SandboxError;

/// More entries than this cannot be looked through.
const MOST: usize = 4_000_000;
/// Each folder above the one that is looked at holds a descriptor.
pub(crate) const DEEPEST: usize = 300;

/// Device and inode: a repository that only moved with the folder above it is not a new one.
pub(crate) type Identity = (u64, u64);

/// Something that is not an ordinary file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Find {
    /// An entry named `.git`, of any type.
    Git(Identity),
    /// A folder that git would take for a repository by what lies in it. The spot is its `HEAD`.
    Bare(Identity),
    /// A socket, a FIFO or a device.
    Special,
    /// A file or link whose name, or a folder's above it, says that it holds secrets.
    Secret,
    /// Any other file or link outside of a `.git`.
    Plain,
    /// A folder outside of a `.git`.
    Folder,
    /// A folder deeper than `DEEPEST`; nothing in it was looked at.
    TooDeep,
    /// A folder that cannot be read, and why.
    Closed(Errno),
}

/// Where a find lies.
pub(crate) struct Spot<'a> {
    /// The folder it lies in.
    pub(crate) folder: &'a Folder,
    /// Its name there.
    pub(crate) name: &'a OsStr,
    /// Its path, for words; longer than the kernel takes, perhaps.
    pub(crate) path: PathBuf,
    /// Whether its name, or a folder's above it, says that it configures agents, editors, git or CI.
    pub(crate) configures: bool,
}

/// An open folder. One that was opened up for the look gets its mode back when it is dropped.
pub(crate) struct Folder {
    pub(crate) descriptor: OwnedFd,
    mode_before: Option<Mode>,
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(mode) = self.mode_before {
            // It worked in the other direction; a folder that stays open loses nothing.
            let _ = fchmod(&self.descriptor, mode);
        }
    }
}

impl Folder {
    /// Opens the folder `name` in `above`. With `open_up` one that is ours and closed to us is
    /// opened up first.
    pub(crate) fn open(above: impl AsFd, name: &Path, open_up: bool) -> Result<Self, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // A look leaves no trace of its time where the folder is ours.
        let opened = match openat(above.as_fd(), name, flags | OFlags::NOATIME, Mode::empty()) {
            Err(Errno::PERM) => openat(above.as_fd(), name, flags, Mode::empty()),
            opened => opened,
        };
        match opened {
            Ok(descriptor) => {
                // Readable and yet not to be passed through: `r--`.
                let passable = accessat(&descriptor, ".", Access::EXEC_OK, AtFlags::EACCESS).is_ok();
                if passable || !open_up {
                    return Ok(Self {
                        descriptor,
                        mode_before: None,
                    });
                }
            }
            Err(Errno::ACCESS) if open_up => (),
            Err(error) => return Err(error),
        }
        let held = openat(
            above,
            name,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let mode = open_up_for_owner(&held)?;
        let opened = openat(&held, ".", flags, Mode::empty());
        match opened {
            Ok(descriptor) => Ok(Self {
                descriptor,
                mode_before: Some(mode),
            }),
            Err(error) => {
                let _ = chmod(by_descriptor(&held), mode);
                Err(error)
            }
        }
    }

    /// Device and inode; none where the system does not tell.
    pub(crate) fn identity(&self) -> Option<Identity> {
        fstat(&self.descriptor).ok().map(|facts| (facts.st_dev, facts.st_ino))
    }

    /// Runs `change` with this folder writable for its owner.
    pub(crate) fn while_writable<T>(&self, change: impl FnOnce() -> Result<T, Errno>) -> Result<T, Errno> {
        let mode = Mode::from_raw_mode(fstat(&self.descriptor)?.st_mode);
        let opened = !mode.contains(Mode::RWXU) && fchmod(&self.descriptor, mode | Mode::RWXU).is_ok();
        let changed = change();
        if opened {
            let _ = fchmod(&self.descriptor, mode);
        }
        changed
    }
}

/// Gives the owner every right; only the owner may. Returns the mode before.
pub(crate) fn open_up_for_owner(held: &OwnedFd) -> Result<Mode, Errno> {
    let mode = Mode::from_raw_mode(fstat(held)?.st_mode);
    // A descriptor that only names a file cannot be handed to `fchmod`.
    chmod(by_descriptor(held), mode | Mode::RWXU).map_err(|_| Errno::ACCESS)?;
    Ok(mode)
}

fn by_descriptor(held: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", held.as_raw_fd())
}

/// A folder still to be looked at.
struct Pending {
    above: Rc<Folder>,
    name: OsString,
    path: PathBuf,
    depth: usize,
    nature: Nature,
}

/// What a folder is by its name and those above it.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each answers a question of its own about one folder"
)]
struct Nature {
    /// The inside of a `.git`.
    git: bool,
    /// Everything in it holds secrets.
    secret: bool,
    /// Everything in it configures agents, editors, git or CI.
    configures: bool,
    /// Other people's packages, or what is built.
    dependency: bool,
}

impl Nature {
    /// Of an entry in such a folder.
    fn beneath(self, name: &OsStr) -> Self {
        let text = name.to_string_lossy();
        let own = !self.git && !self.dependency;
        Self {
            git: self.git || name == ".git",
            secret: own && (self.secret || paths::is_secret_name(&text)),
            configures: own && (self.configures || paths::is_configuring_name(&text)),
            dependency: self.dependency || paths::DEPENDENCY_FOLDERS.contains(&&*text),
        }
    }
}

/// Tells every find to `found`, a folder before what lies in it. The inside of a `.git` is looked
/// through for special files only. What `found` fails with ends the walk.
pub(crate) fn walk(
    root: &Path,
    open_up: bool,
    found: impl FnMut(Find, &Spot<'_>) -> Result<(), SandboxError>,
) -> Result<(), SandboxError> {
    let top = Folder::open(CWD, root, open_up).map_err(|error| SandboxError::unseen(root, error))?;
    let mut walker = Walker {
        found,
        pending: Vec::new(),
        seen: 0,
    };
    walker.look(top, root, 0, Nature::default())?;
    while let Some(next) = walker.pending.pop() {
        match Folder::open(&next.above.descriptor, Path::new(&next.name), open_up) {
            Ok(folder) => walker.look(folder, &next.path, next.depth, next.nature)?,
            // It is gone, or no folder any more.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => (),
            Err(_) if beyond_reach(&next) => (),
            Err(error) => {
                let spot = Spot {
                    folder: &next.above,
                    name: &next.name,
                    path: next.path.clone(),
                    configures: next.nature.configures,
                };
                (walker.found)(Find::Closed(error), &spot)?;
            }
        }
    }
    Ok(())
}

struct Walker<F> {
    found: F,
    pending: Vec<Pending>,
    seen: usize,
}

impl<F: FnMut(Find, &Spot<'_>) -> Result<(), SandboxError>> Walker<F> {
    fn look(&mut self, folder: Folder, path: &Path, depth: usize, mut nature: Nature) -> Result<(), SandboxError> {
        let entries = entries(&folder).map_err(|error| SandboxError::unseen(path, error))?;
        self.seen += entries.len();
        if self.seen > MOST {
            return Err(SandboxError::unseen(path, format!("more than {MOST} entries")));
        }
        let folder = Rc::new(folder);
        nature.dependency |= entries.iter().any(|(name, _)| name == paths::DEPENDENCY_MARK);
        if !nature.git && is_bare(&entries) {
            let facts = fstat(&folder.descriptor).map_err(|error| SandboxError::unseen(path, error))?;
            let spot = Spot {
                folder: &folder,
                name: OsStr::new("HEAD"),
                path: path.to_owned(),
                configures: nature.configures,
            };
            (self.found)(Find::Bare((facts.st_dev, facts.st_ino)), &spot)?;
        }
        for (name, kind) in entries {
            let its = nature.beneath(&name);
            let spot = Spot {
                folder: &folder,
                name: &name,
                path: path.join(&name),
                configures: its.configures,
            };
            if its.git
                && !nature.git
                && let Ok(facts) = statat(&folder.descriptor, &name, AtFlags::SYMLINK_NOFOLLOW)
            {
                (self.found)(Find::Git((facts.st_dev, facts.st_ino)), &spot)?;
            }
            match kind {
                FileType::Directory if depth >= DEEPEST => (self.found)(Find::TooDeep, &spot)?,
                FileType::Directory => {
                    if !its.git {
                        (self.found)(Find::Folder, &spot)?;
                    }
                    self.pending.push(Pending {
                        path: spot.path,
                        above: Rc::clone(&folder),
                        name,
                        depth: depth + 1,
                        nature: its,
                    });
                }
                FileType::RegularFile | FileType::Symlink if its.git => (),
                FileType::RegularFile | FileType::Symlink => {
                    let sample = paths::is_sample(&name.to_string_lossy());
                    let find = if its.secret && !sample {
                        Find::Secret
                    } else {
                        Find::Plain
                    };
                    (self.found)(find, &spot)?;
                }
                _ => (self.found)(Find::Special, &spot)?,
            }
        }
        Ok(())
    }
}

/// Somebody else's folder that we may not pass through: neither may a process with our identity, and
/// it cannot change that.
fn beyond_reach(folder: &Pending) -> bool {
    let above = &folder.above.descriptor;
    let others = statat(above, &folder.name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|facts| facts.st_uid != rustix::process::geteuid().as_raw());
    others && accessat(above, &folder.name, Access::EXEC_OK, AtFlags::EACCESS) == Err(Errno::ACCESS)
}

fn entries(folder: &Folder) -> Result<Vec<(OsString, FileType)>, Errno> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(&folder.descriptor)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => match statat(&folder.descriptor, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(facts) => FileType::from_raw_mode(facts.st_mode),
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(error),
            },
            kind => kind,
        };
        entries.push((name.to_owned(), kind));
    }
    Ok(entries)
}

/// As git decides it: a `HEAD`, and the objects and references here or in another folder.
fn is_bare(entries: &[(OsString, FileType)]) -> bool {
    let has = |wanted: &str| entries.iter().any(|(name, _)| name == wanted);
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}
