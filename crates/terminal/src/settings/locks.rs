//! The keys an administrator locked: no file below the managed one and no flag sets them. It must not
//! know what the keys do.

use std::path::Path;

use engine::Problem;
use llm::Given;

use super::file::{self, File, LOCKED};
use super::page::Fault;
use super::place;

/// Locked keys, each with its place. A name locks the key and everything beneath it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Locks(Vec<Given<String>>);

impl Locks {
    /// The locks of the managed file, and what stands against them.
    pub(super) fn of(managed: &File, below: [&File; 2]) -> (Locks, Vec<Fault>) {
        let mut faults: Vec<Fault> = managed.locked.iter().filter_map(senseless).collect();
        let locks = Locks(managed.locked.clone());
        for file in below {
            faults.extend(
                file.locked
                    .iter()
                    .map(|given| Fault::of(given, "only the administrator's file locks settings")),
            );
            for given in &file.keys {
                if let Some(lock) = locks.covering(&given.value) {
                    faults.push(Fault::of(given, against(&given.value, lock)));
                }
            }
        }
        (locks, faults)
    }

    fn covering(&self, key: &str) -> Option<&Given<String>> {
        let beneath = |key: &str, lock: &str| key.strip_prefix(lock).is_some_and(|rest| rest.starts_with('.'));
        self.0
            .iter()
            .find(|lock| key == lock.value || beneath(key, &lock.value) || beneath(&lock.value, key))
    }

    /// Refuses a flag that sets a locked key.
    pub(crate) fn refuse(&self, flag: &str, key: &str) -> Result<(), Problem> {
        match self.covering(key) {
            Some(lock) => Err(Problem::refused(format!("`{flag}`: {}.", against(key, lock)))
                .hint(format!("Leave `{flag}` out, or ask whoever keeps that file."))),
            None => Ok(()),
        }
    }
}

fn against(key: &str, lock: &Given<String>) -> String {
    format!("`{key}` is locked by {}", place(lock))
}

/// What is wrong with a lock: it names no key, or one that no lock is needed for.
fn senseless(lock: &Given<String>) -> Option<Fault> {
    if lock.value == "permissions" || lock.value.starts_with("permissions.") {
        return Some(Fault::of(
            lock,
            "permissions are not locked: a rule of this file decides before every other, and its deny rules always hold",
        ));
    }
    let (_, faults) = file::read(LOCKED, Path::new("/"), &format!("{} = {{}}", lock.value));
    let unknown = faults.into_iter().find(|fault| fault.unknown)?;
    Some(Fault::of(
        lock,
        format!("`{}` locks nothing: {}", lock.value, unknown.what),
    ))
}
