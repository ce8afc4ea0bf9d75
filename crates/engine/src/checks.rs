//! What must hold before a delivery counts: the check a person gave, and that files changed where
//! they had to. Commands run inside the run's own walls.

use std::sync::Arc;
use std::time::Duration;

use modes::{Ending, RunSpec, WallsStanding};
use sandbox::{Program, Spawn};

use crate::active::Active;
use crate::fact::Fact;
use crate::inner::{self, Inner};
use crate::problem::{Problem, ProblemKind};

/// A check may take so long.
const LONGEST: Duration = Duration::from_mins(30);

/// Bytes of a check's output that are kept.
const KEPT: usize = 16 * 1024;

/// Why a check did not run, where no program is started.
const NO_WALLS: &str = "not run: programs run only inside proven walls, or where a person has accepted to do without \
                        them; `stance doctor` shows why these do not stand and what to do.";

/// The ending of a run that came to its own end, after its checks. A check that succeeds delivers
/// also what nobody could be asked about.
pub(crate) async fn after_stop(run: &mut Active, ending: Ending) -> Result<Ending, Problem> {
    let mut ending = ending;
    if let Some(command) = run.state.start.check.clone() {
        let outcome = check(&run.inner, &run.spec, &run.state.start.run, &command).await?;
        let exit = outcome.0;
        run.record(vec![Fact::CheckRan {
            command,
            exit,
            output: outcome.1,
        }])
        .await?;
        if exit != Some(0) {
            return Ok(Ending::CheckUnmet);
        }
        ending = Ending::Delivered;
    }
    if run.state.start.expect_changes && run.state.changed.is_empty() {
        return Ok(Ending::CheckUnmet);
    }
    Ok(ending)
}

/// Runs one command line in the checkout, inside the walls and with the caches of the run's own commands.
/// Exit code and the end of its output; no code where it was ended, or not run.
pub(crate) async fn check(
    inner: &Inner,
    spec: &RunSpec,
    run: &str,
    command: &str,
) -> Result<(Option<i32>, String), Problem> {
    let standing = inner.config.walls.as_ref();
    let Some(walls) = standing.filter(|_| inner.walls_standing() != WallsStanding::Absent) else {
        return Ok((None, NO_WALLS.to_owned()));
    };
    let mut places = inner.places(run)?;
    places.secrets = inner::secrets(spec);
    places.guards = inner::guards(spec);
    let mut spawn = Spawn::new(Program::Shell(command.to_owned()), &inner.worktree);
    spawn.environment.push(("STANCE_RUN".to_owned(), run.to_owned()));
    sandbox::share_caches(&inner.home.caches()?, spec.containment(), &mut places, &mut spawn);
    spawn.network = Some(sandbox::Network {
        gate: spec.standing_hosts(),
        names: Arc::clone(&inner.config.names),
    });
    spawn.limits.wall_time = LONGEST;
    let running = sandbox::spawn(walls, spec.containment(), &places, spawn)
        .map_err(|error| Problem::new(ProblemKind::Machine, error.to_string()))?;
    let finished = running
        .wait()
        .await
        .map_err(|error| Problem::new(ProblemKind::Machine, error.to_string()))?;
    let output = format!("{}{}", finished.stdout.text(), finished.stderr.text());
    let from = output
        .char_indices()
        .rev()
        .map(|(at, _)| at)
        .take_while(|at| output.len() - at <= KEPT)
        .last();
    Ok((
        finished.exit,
        output.get(from.unwrap_or_default()..).unwrap_or_default().to_owned(),
    ))
}
