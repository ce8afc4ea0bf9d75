//! A watch on whole folders: every change of a file is seen when it happens, also one that is
//! undone before anybody looks. It must not know who changes what.

use std::collections::BTreeMap;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// Folders under watch.
pub(crate) struct Watch {
    queue: OwnedFd,
    folders: BTreeMap<i32, PathBuf>,
}

impl Watch {
    /// Watches these folders and every folder beneath them. A folder made later is not watched, but
    /// its making is seen.
    pub(crate) fn over(roots: &[&Path]) -> std::io::Result<Watch> {
        let mut watch = Watch {
            queue: inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?,
            folders: BTreeMap::new(),
        };
        for root in roots {
            watch.add(root)?;
        }
        Ok(watch)
    }

    fn add(&mut self, folder: &Path) -> std::io::Result<()> {
        let changes = WatchFlags::MODIFY
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVE
            | WatchFlags::ATTRIB
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF;
        let id = inotify::add_watch(&self.queue, folder, changes)?;
        self.folders.insert(id, folder.to_owned());
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                self.add(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Everything seen since the last look: what happened, and where. An overflow counts as
    /// something seen.
    pub(crate) fn seen(&self) -> std::io::Result<Vec<(String, PathBuf)>> {
        let mut space = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.queue, &mut space);
        let mut seen = Vec::new();
        loop {
            match reader.next() {
                Ok(event) => {
                    let folder = self.folders.get(&event.wd()).cloned().unwrap_or_default();
                    let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
                    seen.push((format!("{:?}", event.events()), folder.join(name.unwrap_or_default())));
                }
                Err(Errno::WOULDBLOCK) => return Ok(seen),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_and_goes_is_seen() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("inner")).unwrap();
        let watch = Watch::over(&[root.path()]).unwrap();
        assert_eq!(watch.seen().unwrap(), []);
        let file = root.path().join("inner/file");
        fs::write(&file, "x").unwrap();
        fs::remove_file(&file).unwrap();
        let seen = watch.seen().unwrap();
        let acted = |act: &str| seen.iter().any(|(what, _)| what.contains(act));
        assert!(acted("CREATE") && acted("DELETE"), "{seen:?}");
        assert!(seen.iter().all(|(_, path)| *path == file));
    }
}
