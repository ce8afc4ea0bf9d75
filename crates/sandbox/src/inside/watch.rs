//! The end of a process that has no process tree of its own: a watcher above it, which every orphan
//! beneath comes back to, ends all of them when the first one ends, or when nobody listens any more.
//! Knows nothing of what holds them.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, set_child_subreaper, wait};

use super::{REFUSAL, REFUSED, say};
use crate::ending::children;

/// Starts our own executable once more, with these arguments, and returns its exit code when it and
/// everything that came of it is gone.
pub(super) fn watch(arguments: impl Iterator<Item = OsString>) -> i32 {
    match begin(arguments) {
        Ok(child) => {
            let code = follow(child);
            end_the_rest();
            code
        }
        Err(error) => {
            say(&format!("{REFUSED}{error}\n"));
            REFUSAL
        }
    }
}

fn begin(arguments: impl Iterator<Item = OsString>) -> std::io::Result<Child> {
    set_child_subreaper(Some(rustix::process::getpid()))?;
    Command::new(std::env::current_exe()?).args(arguments).spawn()
}

/// Waits for the child, and kills it when the reader of its output is gone.
fn follow(mut child: Child) -> i32 {
    let alive = Pid::from_raw(child.id().cast_signed()).map(|id| pidfd_open(id, PidfdFlags::empty()));
    if let Some(Ok(alive)) = alive {
        let output = std::io::stdout();
        let mut watched = [
            PollFd::new(&alive, PollFlags::IN),
            PollFd::new(&output, PollFlags::empty()),
        ];
        while poll(&mut watched, None) == Err(Errno::INTR) {}
    }
    let ended = match child.try_wait() {
        Ok(Some(status)) => Ok(status),
        // Nobody listens.
        _ => child.kill().and_then(|()| child.wait()),
    };
    ended.map_or(REFUSAL, |status| {
        status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
    })
}

/// Kills what is left until nothing is: each orphan becomes our child.
fn end_the_rest() {
    loop {
        for id in children(std::process::id()) {
            // Gone already is as good.
            let _ = kill_process(id, Signal::KILL);
        }
        if !matches!(wait(WaitOptions::empty()), Ok(_) | Err(Errno::INTR)) {
            return;
        }
    }
}
