//! Putting new content in a file's place: written beside it, synced, renamed over it, all through
//! the held folder. What stood there is never written through, so other links to it keep it.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid, fchmod, fchown, fstat, fsync, mkdirat, openat, renameat,
    renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::read_file::read_whole;
use crate::place::{Identity, Place, hold_entry, in_words, not_a_file, read_entry};

/// Mode bits that stay. As with any write, a program does not keep the right to run as its owner.
const KEPT_BITS: u32 = 0o1777;

/// How many names for the file beside are tried.
const NAMES: u64 = 1000;

/// Tells files beside of one process apart.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// What stands at a place now.
pub(crate) struct Standing {
    pub(crate) bytes: Vec<u8>,
    stat: Stat,
}

/// Reads what stands at a place; none when nothing does. Anything but a regular file is an error.
pub(crate) fn standing(place: &Place) -> Result<Option<Standing>, String> {
    if !place.missing().is_empty() {
        return Ok(None);
    }
    let fault = |error: Errno| format!("{} {}.", place.path(), in_words(error));
    let node = match hold_entry(place.folder(), place.name()) {
        Err(Errno::NOENT) => return Ok(None),
        held => held.map_err(fault)?,
    };
    if let Some(kind) = not_a_file(&fstat(&node).map_err(fault)?) {
        return Err(format!("{} is {kind}, not a file.", place.path()));
    }
    let node = read_entry(place.folder(), place.name(), OFlags::empty()).map_err(fault)?;
    let stat = fstat(&node).map_err(fault)?;
    if let Some(kind) = not_a_file(&stat) {
        return Err(format!("{} is {kind}, not a file.", place.path()));
    }
    Ok(Some(Standing {
        bytes: read_whole(place.path(), File::from(node))?,
        stat,
    }))
}

/// Puts content at a place, over what was found there. Missing folders are made. What appeared or
/// changed since is left alone and is an error.
pub(crate) fn put(place: &Place, content: &[u8], over: Option<&Standing>) -> Result<(), String> {
    put_as(place, content, over, over)
}

/// Puts content where nothing stands, with owner and mode of another file.
pub(crate) fn put_like(place: &Place, content: &[u8], like: &Standing) -> Result<(), String> {
    put_as(place, content, None, Some(like))
}

/// Deletes the file that was found at a place. What changed since is left alone and is an error.
pub(crate) fn remove(place: &Place, found: &Standing) -> Result<(), String> {
    let removed = is_still(place.folder(), place.name(), found)
        .and_then(|()| unlinkat(place.folder(), place.name(), AtFlags::empty()));
    match removed {
        Err(Errno::STALE | Errno::NOENT) => Err(changed_meanwhile(place)),
        removed => removed.map_err(|error| format!("{} {}; it was not deleted.", place.path(), in_words(error))),
    }
}

fn changed_meanwhile(place: &Place) -> String {
    format!(
        "{} was changed by somebody else this moment; nothing was changed.",
        place.path()
    )
}

fn put_as(place: &Place, content: &[u8], over: Option<&Standing>, like: Option<&Standing>) -> Result<(), String> {
    let fault = |error: Errno| format!("{} {}; nothing was changed.", place.path(), in_words(error));
    let folder = folder_of(place).map_err(fault)?;
    let beside = write_beside(&folder, content, like).map_err(fault)?;
    let renamed = rename(&folder, &beside, place.name(), over);
    if renamed.is_err() {
        // The fault that counts is the first.
        let _ = unlinkat(&folder, &beside, AtFlags::empty());
    }
    match renamed {
        Err(Errno::EXIST | Errno::STALE) => {
            return Err(changed_meanwhile(place));
        }
        renamed => renamed.map_err(fault)?,
    }
    // The new content stands; a folder that cannot be synced only risks it in a power cut.
    if let Ok(folder) = read_entry(&folder, Path::new("."), OFlags::DIRECTORY) {
        let _ = fsync(&folder);
    }
    Ok(())
}

fn folder_of(place: &Place) -> Result<OwnedFd, Errno> {
    let mut folder = place.folder().try_clone().map_err(|_| Errno::MFILE)?;
    for name in place.missing() {
        match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        folder = openat(
            &folder,
            name,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
    }
    Ok(folder)
}

fn write_beside(folder: &OwnedFd, content: &[u8], like: Option<&Standing>) -> Result<PathBuf, Errno> {
    let (name, node) = create_beside(folder)?;
    let written = fill(File::from(node), content, like);
    if written.is_err() {
        let _ = unlinkat(folder, &name, AtFlags::empty());
    }
    written.map(|()| name)
}

fn create_beside(folder: &OwnedFd) -> Result<(PathBuf, OwnedFd), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut answer = Err(Errno::EXIST);
    for _ in 0..NAMES {
        let name = PathBuf::from(format!(
            ".stance-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        ));
        answer = openat(folder, &name, flags, Mode::from_raw_mode(0o666)).map(|node| (name, node));
        if !matches!(answer, Err(Errno::EXIST)) {
            break;
        }
    }
    answer
}

fn fill(mut file: File, content: &[u8], like: Option<&Standing>) -> Result<(), Errno> {
    file.write_all(content)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    if let Some(Standing { stat, .. }) = like {
        let new = fstat(&file)?;
        if (new.st_uid, new.st_gid) != (stat.st_uid, stat.st_gid) {
            // Only the system's owner can give a file away; for others it becomes their own.
            let _ = fchown(
                &file,
                Some(Uid::from_raw(stat.st_uid)),
                Some(Gid::from_raw(stat.st_gid)),
            );
        }
        fchmod(&file, Mode::from_raw_mode(stat.st_mode & KEPT_BITS))?;
    }
    fsync(&file)
}

fn rename(folder: &OwnedFd, beside: &Path, name: &Path, over: Option<&Standing>) -> Result<(), Errno> {
    let Some(over) = over else {
        return match renameat_with(folder, beside, folder, name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL) => rename_where_nothing_stands(folder, beside, name),
            renamed => renamed,
        };
    };
    is_still(folder, name, over)?;
    renameat(folder, beside, folder, name)
}

/// Whether a name still stands for the file that was found there.
fn is_still(folder: &OwnedFd, name: &Path, found: &Standing) -> Result<(), Errno> {
    let (now, stat) = (statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?, &found.stat);
    let same = Identity::of(&now) == Identity::of(stat)
        && (now.st_mtime, now.st_mtime_nsec, now.st_size) == (stat.st_mtime, stat.st_mtime_nsec, stat.st_size);
    if same { Ok(()) } else { Err(Errno::STALE) }
}

/// For file systems without a rename that refuses to replace.
fn rename_where_nothing_stands(folder: &OwnedFd, beside: &Path, name: &Path) -> Result<(), Errno> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => renameat(folder, beside, folder, name),
        Ok(_) => Err(Errno::EXIST),
        Err(error) => Err(error),
    }
}
