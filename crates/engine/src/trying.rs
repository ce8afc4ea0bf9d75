//! A line that a person tries in a throw-away view of the checkout. No run, no model, nothing in the
//! journal: when it ends, only its output was there.

use std::path::Path;
use std::time::Duration;

use modes::Containment;
use sandbox::{Program, Running, Spawn};

use crate::inner::Inner;
use crate::problem::{Problem, ProblemKind};

/// The scratch folder of all such lines. Nothing of theirs is put there: each writes into memory.
const SCRATCH: &str = "try";

/// Starts a line for bash in `folder`. Both its streams come out of one.
pub(crate) fn start(inner: &Inner, line: &str, folder: &Path, time: Duration) -> Result<Running, Problem> {
    let machine = |why: String| Problem::new(ProblemKind::Machine, why).hint("`stance doctor` shows what is missing.");
    let Some(walls) = &inner.config.walls else {
        return Err(machine(
            "a line is tried only inside walls, and this machine has none".into(),
        ));
    };
    let mut spawn = Spawn::new(Program::Shell(format!("{}{line}", tools::TOGETHER)), folder);
    spawn.limits.wall_time = time;
    sandbox::spawn(walls, Containment::throw_away(), &inner.places(SCRATCH)?, spawn)
        .map_err(|error| machine(error.to_string()))
}
