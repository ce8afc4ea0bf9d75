//! Driving a run: turn after turn until it ends or waits, as the one process that does.

use std::sync::Arc;

use modes::Posture;
use store::Table;
use tokio_util::sync::CancellationToken;

use crate::active::Active;
use crate::fact::Fact;
use crate::inner::Inner;
use crate::intake;
use crate::lease;
use crate::problem::Problem;
use crate::run_state::{RunState, Talk};
use crate::turn::{self, Flow};

/// Drives a run until it ends or waits. Returns how it stopped.
pub(crate) async fn run(inner: &Arc<Inner>, run: &str, stop: CancellationToken) -> Result<Flow, Problem> {
    if let Some(flow) = halted(&inner.run(run).await?) {
        return Ok(flow);
    }
    let name = format!("run/{run}");
    lease::take(inner, &name, &format!("run {run}")).await?;
    let flow = driven(inner, run, stop).await;
    if !matches!(flow, Ok(Flow::Waits | Flow::StepEnded)) {
        inner.mcp.end(run).await;
    }
    lease::give_back(inner, &name).await?;
    flow
}

async fn driven(inner: &Arc<Inner>, run: &str, stop: CancellationToken) -> Result<Flow, Problem> {
    let mut active = Active::take(Arc::clone(inner), run, stop.clone()).await?;
    // Another process may have driven it to its halt before this one got it.
    if let Some(flow) = halted(&active.state) {
        return Ok(flow);
    }
    intake::resolved(&intake::row(inner, Table::Space, &active.state.start.space, "space").await?)?;
    note_going_on(&mut active).await?;
    // A step writes in the turn that the plan it belongs to has taken.
    let takes_turn =
        active.spec.containment().worktree() == Posture::Writable && active.state.start.orchestration.is_none();
    if !takes_turn {
        return turns(&mut active).await;
    }
    let writer = format!("run {run}");
    if !lease::turn_of_checkout(inner, &writer, &stop).await? {
        return turn::cancel(&mut active).await;
    }
    let flow = turns(&mut active).await;
    lease::checkout_done(inner, &writer).await?;
    flow
}

async fn turns(active: &mut Active) -> Result<Flow, Problem> {
    loop {
        match turn::turn(active).await? {
            Flow::Goes => {}
            flow => return Ok(flow),
        }
    }
}

/// Says in the journal that a run goes on which waited, or was cut off.
async fn note_going_on(active: &mut Active) -> Result<(), Problem> {
    let interrupted = !active.state.paused && active.state.requests > 0 && active.state.unanswered_entry().is_none();
    if active.state.paused || interrupted {
        let who = active.inner.config.operator.clone();
        active.record(vec![Fact::RunResumed { who, interrupted }]).await?;
    }
    Ok(())
}

/// How a run stands that cannot go on now.
fn halted(state: &RunState) -> Option<Flow> {
    if state.ended {
        return Some(Flow::Ended);
    }
    still_waits(state).then_some(Flow::Waits)
}

/// Whether a paused run has nothing to go on with yet.
fn still_waits(state: &RunState) -> bool {
    if !state.paused {
        return false;
    }
    match state.open_call() {
        Some(call) => call.asked || call.permission.as_ref().is_some_and(|(_, answer)| answer.is_none()),
        None => matches!(state.talk.last(), Some(Talk::Response(_, _, calls)) if calls.is_empty()),
    }
}
