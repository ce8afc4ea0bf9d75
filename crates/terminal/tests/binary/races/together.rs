//! Processes that run at the same time: started, listened to, waited for.

use std::io::{BufRead as _, BufReader, Read as _};
use std::mem::MaybeUninit;
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};
use std::sync::Barrier;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

use crate::support::{Place, Said, said};

/// Runs these commands at the same time, as far as a machine can, and to their ends.
pub(super) fn at_once(place: &Place, commands: &[&[&str]]) -> Vec<Said> {
    let gate = Barrier::new(commands.len());
    std::thread::scope(|scope| {
        let start = |arguments: &&[&str]| {
            let (mut command, gate) = (place.command(arguments), &gate);
            scope.spawn(move || {
                gate.wait();
                said(command.output().unwrap())
            })
        };
        let started: Vec<_> = commands.iter().map(start).collect();
        started.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

/// A process under way.
pub(super) struct Started {
    child: Child,
    err: BufReader<ChildStderr>,
    read: String,
}

impl Started {
    pub(super) fn start(place: &Place, arguments: &[&str]) -> Started {
        let mut command = place.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let err = BufReader::new(child.stderr.take().unwrap());
        Started {
            child,
            err,
            read: String::new(),
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Reads what it says to people until a line holds these words; that line.
    pub(super) fn reads_until(&mut self, words: &str) -> String {
        loop {
            let mut line = String::new();
            let bytes = self.err.read_line(&mut line).unwrap();
            assert!(bytes > 0, "it never said {words:?}: {}", self.read);
            self.read.push_str(&line);
            if line.contains(words) {
                return line;
            }
        }
    }

    /// Waits for its end.
    pub(super) fn end(mut self) -> Said {
        self.err.read_to_string(&mut self.read).unwrap();
        let ended = said(self.child.wait_with_output().unwrap());
        Said {
            err: self.read,
            ..ended
        }
    }
}

/// Waits until another process makes this file; gives up when nothing at all was made for a minute.
pub(crate) fn appears(file: &Path) {
    let made = inotify::init(CreateFlags::CLOEXEC).unwrap();
    let folder = file.parent().unwrap();
    inotify::add_watch(&made, folder, WatchFlags::CREATE | WatchFlags::MOVED_TO).unwrap();
    let minute = Timespec { tv_sec: 60, tv_nsec: 0 };
    while !file.exists() {
        let mut waited = [PollFd::new(&made, PollFlags::IN)];
        let heard = poll(&mut waited, Some(&minute)).unwrap();
        assert_ne!(heard, 0, "in vain: {}", file.display());
        let mut space = [MaybeUninit::uninit(); 4096];
        inotify::Reader::new(&made, &mut space).next().unwrap();
    }
}
