//! What ends a process before its time, and knowing that its whole tree is gone.

use std::fs;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};
use serde::{Deserialize, Serialize};
use tokio::process::Child;
use tokio::sync::watch;
use tokio::time::Sleep;

use crate::inside::Held;
use crate::{Limits, SandboxError, load};

/// A killed tree that is still there after so many seconds hangs in the kernel.
const DYING: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// Why we ended a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Over(Excess),
    Killed,
}

/// A limit that a process came to, and was killed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Excess {
    /// It took too long.
    Time,
    /// It started too many others.
    Processes,
    /// All its processes together took too much memory.
    Memory,
}

/// The pause between two looks at what a tree uses.
const LOOK: Duration = Duration::from_millis(200);

/// What ends a process: its limits, and somebody who asks.
pub(crate) struct Enders {
    deadline: Pin<Box<Sleep>>,
    excess: Pin<Box<dyn Future<Output = Excess> + Send>>,
    held: Held,
    kill_asked: watch::Receiver<bool>,
    ended: Option<Ended>,
}

impl Enders {
    pub(crate) fn new(child: &Child, held: Held, limits: Limits, kill_asked: watch::Receiver<bool>) -> Self {
        Self {
            deadline: Box::pin(tokio::time::sleep(limits.wall_time)),
            excess: Box::pin(excess(child.id(), limits)),
            held,
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
            () = &mut self.deadline => Ended::Over(Excess::Time),
            excess = &mut self.excess => Ended::Over(excess),
            Ok(_) = self.kill_asked.wait_for(|kill| *kill) => Ended::Killed,
        });
    }

    /// Awaits something that is over at the latest when the child is dead, killing it if need be.
    pub(crate) async fn over<T>(&mut self, child: &mut Child, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = self.strike() => kill(child, self.held),
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
            kill(child, self.held);
        }
    }
}

/// Returns when the tree beneath a process uses more than it may.
async fn excess(root: Option<u32>, limits: Limits) -> Excess {
    let Some(root) = root else {
        return std::future::pending().await;
    };
    let most = limits.memory_bytes().unwrap_or(u64::MAX);
    loop {
        tokio::time::sleep(LOOK).await;
        let load = tokio::task::spawn_blocking(move || load::beneath(root, most))
            .await
            .unwrap_or_default();
        if load.processes > usize::try_from(limits.processes).unwrap_or(usize::MAX) {
            return Excess::Processes;
        }
        if load.memory > most {
            return Excess::Memory;
        }
    }
}

/// Kills bubblewrap and all of its group: killed early it leaves a child behind that waits for it for
/// ever and holds our pipes open. Of a watcher the child is killed, and the watcher ends the rest.
pub(crate) fn kill(outer: &mut Child, held: Held) {
    let watched = outer
        .id()
        .filter(|_| held != Held::Namespaces)
        .map(children)
        .unwrap_or_default();
    for id in &watched {
        let _ = kill_process(*id, Signal::KILL);
    }
    if watched.is_empty() {
        kill_group(outer);
    }
}

fn kill_group(bubblewrap: &mut Child) {
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
        let first = children(outer).into_iter().next().ok_or_else(lost)?;
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

/// The children of a process: as the kernel lists those of its threads, where it was built to, or by
/// asking every process for its parent.
pub(crate) fn children(parent: u32) -> Vec<Pid> {
    listed_children(parent).unwrap_or_else(|| searched_children(parent))
}

fn listed_children(parent: u32) -> Option<Vec<Pid>> {
    let mut found = Vec::new();
    for thread in fs::read_dir(format!("/proc/{parent}/task")).ok()?.flatten() {
        let listed = fs::read_to_string(thread.path().join("children")).ok()?;
        found.extend(
            listed
                .split_whitespace()
                .filter_map(|id| Pid::from_raw(id.parse().ok()?)),
        );
    }
    Some(found)
}

fn searched_children(parent: u32) -> Vec<Pid> {
    let ids = fs::read_dir("/proc").into_iter().flatten().flatten();
    ids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|id| parent_of(*id) == Some(parent))
        .filter_map(Pid::from_raw)
        .collect()
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
        let id = Pid::from_raw(child.id().cast_signed()).unwrap();
        let us = std::process::id();
        assert_eq!(searched_children(us), [id]);
        assert!(listed_children(us).is_none_or(|listed| listed == [id]));
        assert_eq!(parent_of(child.id().cast_signed()), Some(us));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(children(us), []);
    }
}
