//! What ends a process before its time, and knowing that its whole tree is gone.

use std::fs;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use tokio::process::Child;
use tokio::sync::watch;
use tokio::time::Sleep;

use crate::SandboxError;

/// A killed tree that is still there after so many seconds hangs in the kernel.
const DYING: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// Why we ended a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    TimeOver,
    Killed,
}

/// The two things that end a process: its time, and somebody who asks.
#[derive(Debug)]
pub(crate) struct Enders {
    deadline: Pin<Box<Sleep>>,
    kill_asked: watch::Receiver<bool>,
    ended: Option<Ended>,
}

impl Enders {
    pub(crate) fn new(wall_time: Duration, kill_asked: watch::Receiver<bool>) -> Self {
        Self {
            deadline: Box::pin(tokio::time::sleep(wall_time)),
            kill_asked,
            ended: None,
        }
    }

    /// Whether the process was ended by us, and why.
    pub(crate) fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// Returns when the process is to be killed, at most once.
    async fn strike(&mut self) {
        if self.ended.is_some() {
            std::future::pending::<()>().await;
        }
        self.ended = Some(tokio::select! {
            () = &mut self.deadline => Ended::TimeOver,
            Ok(_) = self.kill_asked.wait_for(|kill| *kill) => Ended::Killed,
        });
    }

    /// Awaits something that is over at the latest when the child is dead, killing it if need be.
    pub(crate) async fn over<T>(&mut self, child: &mut Child, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = self.strike() => kill(child),
            }
        }
    }

    /// Awaits the child itself.
    pub(crate) async fn child(&mut self, child: &mut Child) -> Result<ExitStatus, SandboxError> {
        loop {
            tokio::select! {
                status = child.wait() => return status.map_err(SandboxError::system("waiting for a process")),
                () = self.strike() => (),
            }
            kill(child);
        }
    }
}

/// Kills bubblewrap and all of its group: killed early it leaves a child behind that waits for it for
/// ever and holds our pipes open.
pub(crate) fn kill(bubblewrap: &mut Child) {
    if let Some(group) = bubblewrap.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
        // Gone already is as good.
        let _ = kill_process_group(group, Signal::KILL);
    }
    drop(bubblewrap.start_kill());
}

/// A hold on the first process inside. The kernel ends it only after every other one in there, so
/// when it is gone, no descendant of the program is left to do anything.
#[derive(Debug)]
pub(crate) struct Tree(OwnedFd);

impl Tree {
    /// Finds it as the one child of bubblewrap, which is still there: the helper waits.
    pub(crate) fn beneath(bubblewrap: &Child) -> Result<Self, SandboxError> {
        let lost = || SandboxError::WallsFailed("the first process inside was not found".into());
        let outer = bubblewrap.id().ok_or_else(lost)?;
        let first = child_of(outer).or_else(|| searched_child_of(outer)).ok_or_else(lost)?;
        pidfd_open(first, PidfdFlags::empty())
            .map(Self)
            .map_err(|error| SandboxError::System {
                doing: "holding on to the first process inside",
                source: error.into(),
            })
    }

    /// Blocks until it is gone.
    pub(crate) fn gone(&self) -> Result<(), SandboxError> {
        let ready = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&DYING));
        match ready {
            Ok(1..) => Ok(()),
            Ok(_) => Err(SandboxError::Undying),
            Err(error) => Err(SandboxError::System {
                doing: "waiting for the last process inside",
                source: error.into(),
            }),
        }
    }
}

/// As the kernel lists it, where it was built to.
fn child_of(parent: u32) -> Option<Pid> {
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
    Pid::from_raw(children.split_whitespace().next()?.parse().ok()?)
}

/// By asking every process for its parent.
fn searched_child_of(parent: u32) -> Option<Pid> {
    let ids = fs::read_dir("/proc").ok()?.flatten();
    ids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .find(|id| parent_of(*id) == Some(parent))
        .and_then(Pid::from_raw)
}

/// The fourth field; the second is a name in parentheses that may hold anything.
fn parent_of(id: i32) -> Option<u32> {
    let facts = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, after_name) = facts.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_found_either_way() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let id = Pid::from_raw(child.id().cast_signed());
        let us = std::process::id();
        assert_eq!(searched_child_of(us), id);
        assert_eq!(parent_of(child.id().cast_signed()), Some(us));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(searched_child_of(us), None);
    }
}
