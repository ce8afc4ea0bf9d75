//! A run is never an operator: a process that descends from one decides nothing. It must not know
//! which commands decide.

use std::ffi::CStr;
use std::fs;
use std::path::{Path, PathBuf};

use engine::{Problem, ProblemKind};
use rustix::process::{getpid, set_child_subreaper};
use rustix::thread::set_name;

use crate::environment::{Environment, STANCE_RUN};

/// More ancestors than any honest process has.
const MOST_ANCESTORS: usize = 1024;

/// What a process calls itself that drives runs whose programs no walls hold.
const DRIVES: &CStr = c"stance: drives";

/// Makes this process the parent of whatever its runs leave behind, and names it so that those are
/// told for what they are: without walls a program can clear its environment and leave its parent.
pub(crate) fn keep_descendants() -> Result<(), Problem> {
    set_child_subreaper(Some(getpid()))
        .and_then(|()| set_name(DRIVES))
        .map_err(|error| {
            Problem::new(
                ProblemKind::Machine,
                format!("The programs of a run cannot be kept: {error}."),
            )
        })
}

/// The process table, as the kernel shows it.
pub(crate) struct ProcessTable {
    root: PathBuf,
}

impl ProcessTable {
    /// The one of this machine.
    pub(crate) fn of_machine() -> ProcessTable {
        ProcessTable {
            root: PathBuf::from("/proc"),
        }
    }

    /// Refuses when this process, or one it descends from, was started by a run.
    pub(crate) fn refuse_runs(&self, environment: &Environment, process: u32) -> Result<(), Problem> {
        if environment.is_marked() || self.descends_from_run(process) {
            return Err(
                Problem::refused("A run is never an operator: this command was started by a run.")
                    .hint("Type it yourself, in a terminal that no run has opened."),
            );
        }
        Ok(())
    }

    fn descends_from_run(&self, process: u32) -> bool {
        let mut current = process;
        for _ in 0..MOST_ANCESTORS {
            let folder = self.root.join(current.to_string());
            if is_marked(&folder) || (current != process && drives(&folder)) {
                return true;
            }
            match parent(&folder) {
                Some(above) if above > 0 => current = above,
                _ => return false,
            }
        }
        true
    }
}

/// Whether the process was started with the marker. The environment of another user's process
/// cannot be read; a run's processes have our own user.
fn is_marked(folder: &Path) -> bool {
    let start = format!("{STANCE_RUN}=");
    fs::read(folder.join("environ")).is_ok_and(|variables| {
        variables
            .split(|byte| *byte == 0)
            .any(|pair| pair.starts_with(start.as_bytes()))
    })
}

/// Whether the process drives runs without walls.
fn drives(folder: &Path) -> bool {
    fs::read(folder.join("comm")).is_ok_and(|name| name.trim_ascii_end() == DRIVES.to_bytes())
}

/// The parent's number: the second field behind the name, which stands in brackets and may hold any
/// character.
fn parent(folder: &Path) -> Option<u32> {
    let line = fs::read(folder.join("stat")).ok()?;
    let text = String::from_utf8_lossy(&line);
    let (_, fields) = text.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process table of `(number, parent, name, environment)`.
    fn table(processes: &[(u32, u32, &str, &str)]) -> (tempfile::TempDir, ProcessTable) {
        let root = tempfile::tempdir().unwrap();
        for (number, parent, name, environment) in processes {
            let folder = root.path().join(number.to_string());
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("stat"), format!("{number} ({name}) S {parent} 1 1 0")).unwrap();
            fs::write(folder.join("environ"), environment).unwrap();
            fs::write(folder.join("comm"), format!("{name}\n")).unwrap();
        }
        let table = ProcessTable {
            root: root.path().to_owned(),
        };
        (root, table)
    }

    fn refused(processes: &[(u32, u32, &str, &str)], pairs: &[(&str, &str)]) -> bool {
        let (_root, table) = table(processes);
        table.refuse_runs(&Environment::of(pairs), 9).is_err()
    }

    #[test]
    fn an_operator_passes() {
        assert!(!refused(
            &[
                (9, 5, "stance", "A=1\0"),
                (5, 1, "bash", "NOT_STANCE_RUN=1\0"),
                (1, 0, "init", "")
            ],
            &[]
        ));
    }

    #[test]
    fn the_own_marker_is_enough() {
        assert!(refused(&[], &[("STANCE_RUN", "r1")]));
    }

    #[test]
    fn a_marked_ancestor_is_found_behind_a_cleared_environment() {
        let chain = [
            (9, 7, "a) S 1 (", ""),
            (7, 5, "env", ""),
            (5, 1, "bash", "A=1\0STANCE_RUN=r1\0"),
        ];
        assert!(refused(&chain, &[]));
    }

    #[test]
    fn what_a_run_without_walls_left_behind_is_found_beneath_who_drives_it() {
        let chain = [(9, 7, "copy", ""), (7, 5, "sh", ""), (5, 1, "stance: drives", "A=1\0")];
        assert!(refused(&chain, &[]));
        // Driving itself is an operator's act.
        assert!(!refused(&[(9, 1, "stance: drives", "")], &[]));
    }

    #[test]
    fn an_endless_chain_is_no_operator() {
        assert!(refused(&[(9, 9, "loop", "")], &[]));
    }
}
