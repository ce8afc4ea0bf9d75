//! One turn of a run, its parts in the order of the data: assemble, sample, propose, judge,
//! perform, settle. Every part reads the run's state and appends facts; after a crash the next
//! turn goes on from whatever the journal holds.

pub(crate) mod assemble;
pub(crate) mod compact;
mod judge;
mod perform;
mod price;
mod propose;
mod repetition;
mod room;
mod sample;
mod settle;

use tools::Then;

use crate::active::Active;
use crate::mcp;
use crate::problem::Problem;
use crate::run_state::Talk;

pub(crate) use settle::cancel;

/// Where a run stands after a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// It goes on.
    Goes,
    /// It waits for a person.
    Waits,
    /// The step in progress ended; the run is ready for the next.
    StepEnded,
    /// It ended.
    Ended,
}

/// Takes a run one turn further.
pub(crate) async fn turn(run: &mut Active) -> Result<Flow, Problem> {
    if run.state.ended {
        return Ok(Flow::Ended);
    }
    if run.stop.is_cancelled() {
        return settle::cancel(run).await;
    }
    if wants_request(run) {
        if let Some(ending) = settle::limit_reached(run) {
            return settle::end(run, ending).await;
        }
        let request = assemble::request(run);
        price::before_first(run, &request).await?;
        if let Some(flow) = compact::before_request(run, &request).await? {
            return Ok(flow);
        }
        if let Some(flow) = sample::sample(run, request).await? {
            return Ok(flow);
        }
    }
    while run.state.open_call().is_some() {
        if run.stop.is_cancelled() {
            return settle::cancel(run).await;
        }
        let Some(calls) = propose::ready(run).await else {
            return settle::wait(run).await;
        };
        let judged = judge::judge_all(run, calls).await?;
        let finished = perform::perform(run, judged).await?;
        settle::keep(run, finished).await?;
        mcp::note_changed(run).await?;
    }
    settle::settle(run).await
}

fn wants_request(run: &Active) -> bool {
    match run.state.talk.last() {
        Some(Talk::Response(_, stop, calls)) if calls.is_empty() => settle::goes_on(stop),
        Some(Talk::Response(..)) => {
            run.state.open_call().is_none()
                && matches!(run.state.then(), Then::GoOn | Then::NextResponse | Then::Condensed)
        }
        Some(Talk::StepEnded) => false,
        _ => true,
    }
}
