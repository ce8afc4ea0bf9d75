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
    pub(crate) fn over(roots: &[PathBuf]) -> Watch {
        let mut watch = Watch {
            queue: inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap(),
            folders: BTreeMap::new(),
        };
        for root in roots {
            watch.add(root);
        }
        watch
    }

    fn add(&mut self, folder: &Path) {
        let changes = WatchFlags::MODIFY
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVE
            | WatchFlags::ATTRIB
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF;
        let id = inotify::add_watch(&self.queue, folder, changes).unwrap();
        self.folders.insert(id, folder.to_owned());
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                self.add(&entry.path());
            }
        }
    }

    /// Everything seen since the last look: what happened, and where.
    pub(crate) fn seen(&self) -> Vec<String> {
        let mut space = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.queue, &mut space);
        let mut seen = Vec::new();
        loop {
            match reader.next() {
                Ok(event) => {
                    let folder = self.folders.get(&event.wd()).map(|folder| folder.display().to_string());
                    let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
                    seen.push(format!(
                        "{:?} {}/{}",
                        event.events(),
                        folder.unwrap_or_else(|| "(too much happened)".to_owned()),
                        name.unwrap_or_default()
                    ));
                }
                Err(Errno::WOULDBLOCK) => return seen,
                Err(error) => panic!("the watch broke: {error}"),
            }
        }
    }
}
