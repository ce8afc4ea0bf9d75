//! Death at a chosen moment, for tests of what survives it. Exists only in builds with the feature
//! `faults`, which no release has.

use std::sync::{Arc, Mutex, PoisonError};

/// When the process dies, relative to the commit of the chosen event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultMoment {
    /// Everything of the transaction is written but not committed.
    BeforeCommit,
    /// The transaction is committed and nobody was told.
    AfterCommit,
    /// The caller is about to act on the committed event: [`Store::fault_between`].
    ///
    /// [`Store::fault_between`]: crate::Store::fault_between
    BeforeEffect,
}

/// Where the process is to be killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultPoint {
    /// The kind of the event.
    pub kind: String,
    /// When, relative to its commit.
    pub when: FaultMoment,
    /// Which event of that kind since arming: 1 is the first.
    pub occurrence: u32,
}

#[derive(Debug)]
struct Armed {
    point: FaultPoint,
    seen: u32,
}

/// The armed points of one store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults(Arc<Mutex<Vec<Armed>>>);

impl Faults {
    pub(crate) fn arm(&self, point: FaultPoint) {
        self.armed(|armed| armed.push(Armed { point, seen: 0 }));
    }

    pub(crate) fn trigger(&self) -> Trigger {
        Trigger {
            faults: self.clone(),
            kinds: Vec::new(),
        }
    }

    /// The caller is between the commit of such an event and its effect.
    pub(crate) fn between(&self, kind: &str) {
        let struck = self.count(&[kind.to_owned()], |when| when == FaultMoment::BeforeEffect);
        if !struck.is_empty() {
            die();
        }
    }

    /// Counts events of these kinds towards the points of some moments; the moments that are due.
    fn count(&self, kinds: &[String], counts: impl Fn(FaultMoment) -> bool) -> Vec<FaultMoment> {
        self.armed(|armed| {
            let mut due = Vec::new();
            for Armed { point, seen } in armed.iter_mut().filter(|armed| counts(armed.point.when)) {
                for _ in kinds.iter().filter(|kind| **kind == point.kind) {
                    *seen += 1;
                    if *seen == point.occurrence {
                        due.push(point.when);
                    }
                }
            }
            due
        })
    }

    fn armed<T>(&self, act: impl FnOnce(&mut Vec<Armed>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Watches one transaction.
#[derive(Debug)]
pub(crate) struct Trigger {
    faults: Faults,
    kinds: Vec<String>,
}

impl Trigger {
    pub(crate) fn appended(&mut self, kind: &str) {
        self.kinds.push(kind.to_owned());
    }

    /// Decides, as the transaction is about to commit, when to die.
    pub(crate) fn strike(&self) -> Strike {
        Strike(self.faults.count(&self.kinds, |when| when != FaultMoment::BeforeEffect))
    }
}

/// The deaths due around one commit.
pub(crate) struct Strike(Vec<FaultMoment>);

impl Strike {
    pub(crate) fn before_commit(&self) {
        self.at(FaultMoment::BeforeCommit);
    }

    pub(crate) fn after_commit(&self) {
        self.at(FaultMoment::AfterCommit);
    }

    fn at(&self, moment: FaultMoment) {
        if self.0.contains(&moment) {
            die();
        }
    }
}

/// SIGKILL: no destructor, no flush, no handler runs.
fn die() -> ! {
    use rustix::process::{Signal, getpid, kill_process};
    // The own process may always be signalled; should it not be, hanging is the honest failure.
    let _ = kill_process(getpid(), Signal::KILL);
    loop {
        std::thread::park();
    }
}
