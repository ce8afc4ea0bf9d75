//! Results are kept, and what follows is decided: another turn, a wait, the end of a step or of
//! the run.

use llm::StopReason;
use modes::{AtStop, Ending, ErrorFamily, Next, Role, conclude, when_model_stops};
use tools::{Then, ToolResult};

use super::perform::Finished;
use super::repetition::{self, Repetition};
use super::{Flow, assemble};
use crate::active::Active;
use crate::checkpoint;
use crate::checks;
use crate::clock;
use crate::fact::{Fact, How};
use crate::intake;
use crate::problem::{Problem, ProblemKind};
use crate::run_state::Talk;
use crate::worktree;

/// An answer cut off more often than this in a row will not come to an end.
const MOST_CUT: usize = 8;

/// Appends results with everything their desk work amounts to, in one change. What somebody else
/// changed in the meantime makes the call an error, and nothing of it is kept.
pub(super) async fn keep(run: &mut Active, finished: Vec<Finished>) -> Result<(), Problem> {
    for Finished {
        call,
        tool,
        result,
        how,
        staged,
    } in finished
    {
        let tool = tool.to_owned();
        let mut facts = staged;
        if how == How::Performed && !run.state.read_secrets && run.state.brings_secrets(&call, &result) {
            facts.push(secrets_read(run, &call).await?);
        }
        facts.extend(result.violations.iter().map(|what| Fact::Violated {
            call: call.clone(),
            what: what.clone(),
        }));
        if result.then != Then::Waits {
            facts.push(Fact::ToolFinished {
                call: call.clone(),
                tool: tool.clone(),
                result,
                how,
            });
        }
        match run.record(facts).await {
            Err(problem) if matches!(problem.kind, ProblemKind::Stale | ProblemKind::Refused) => {
                let result = ToolResult::error(problem.message);
                run.record(vec![Fact::ToolFinished {
                    call,
                    tool,
                    result,
                    how,
                }])
                .await?;
            }
            other => other?,
        }
    }
    Ok(())
}

/// From now on what leaves the thread, and the one it works for, is asked about.
async fn secrets_read(run: &Active, call: &str) -> Result<Fact, Problem> {
    let thread = run.state.start.thread.clone();
    let row = run.inner.journal.store().get(store::Table::Thread, &thread).await?;
    Ok(Fact::SecretsRead {
        call: call.to_owned(),
        parent: row.and_then(|row| row.text("parent").map(str::to_owned)),
        thread,
    })
}

/// Decides what follows when every call of the last response has its result.
pub(super) async fn settle(run: &mut Active) -> Result<Flow, Problem> {
    let Some(Talk::Response(_, stop, calls)) = run.state.talk.last() else {
        return Ok(Flow::Goes);
    };
    if calls.is_empty() {
        let stop = stop.clone();
        return model_stopped(run, &stop).await;
    }
    match run.state.then() {
        Then::GoOn | Then::NextResponse | Then::Waits | Then::Condensed => match run.state.start.mistakes {
            Some(limit) if run.state.mistakes >= limit => end(run, Ending::MistakeLimit).await,
            _ => repeated(run).await,
        },
        Then::Delivered => end(run, Ending::Delivered).await,
        Then::Declined => end(run, Ending::Declined).await,
        Then::Exited => end(run, Ending::Exited).await,
        Then::HandedOver => hand_over(run).await,
        Then::StepDone => Ok(Flow::StepEnded),
    }
}

/// Tells the model once that it repeats itself, and ends a run that does so all the same. Whoever
/// takes the mistake limit away takes this one away too.
async fn repeated(run: &mut Active) -> Result<Flow, Problem> {
    match repetition::of(&run.state.talk) {
        Repetition::Loops if run.state.start.mistakes.is_some() => return end(run, Ending::Looping).await,
        Repetition::Tell(text) => {
            run.inner
                .notice("The model makes the same call again and again; it was told so.");
            run.record(vec![Fact::Told { text }]).await?;
        }
        Repetition::Loops | Repetition::None => {}
    }
    Ok(Flow::Goes)
}

/// Goes on with an answer that the output limit cut off, as often as that brings something.
async fn carry_on(run: &mut Active) -> Result<Flow, Problem> {
    let limit = run.chosen.settings.max_output;
    let limit = limit.map_or_else(
        || "its limit".to_owned(),
        |tokens| format!("its limit of {tokens} tokens"),
    );
    let cut = assemble::cut_in_row(&run.state.talk);
    if run.state.last_said().is_empty() || cut > MOST_CUT {
        let message = format!("the answer reached {limit} without coming to an end: `max_output` is too small for it");
        return fail(run, ErrorFamily::Unknown, message).await;
    }
    run.inner.notice(format!("The answer reached {limit}; it goes on."));
    let text = assemble::GO_ON.to_owned();
    run.record(vec![Fact::Told { text }]).await?;
    Ok(Flow::Goes)
}

/// Whether the model is asked again: its provider wants that, or the window was full and is emptied first.
pub(super) fn goes_on(stop: &StopReason) -> bool {
    matches!(stop, StopReason::Pause | StopReason::ContextExceeded)
}

async fn model_stopped(run: &mut Active, stop: &StopReason) -> Result<Flow, Problem> {
    match stop {
        StopReason::Refusal => return fail(run, ErrorFamily::Refusal, "the model declined to answer".to_owned()).await,
        StopReason::MaxTokens => return carry_on(run).await,
        stop if goes_on(stop) => return Ok(Flow::Goes),
        _ => {}
    }
    if matches!(run.spec.recipe().role, Role::Step { .. }) {
        return Ok(Flow::StepEnded);
    }
    let at = AtStop {
        delivered: false,
        exit_open: intake::open_exit(&run.inner, &run.state.start).await?.is_some(),
        nudged: run.state.nudged,
        no_approver_denial: run.state.had_no_approver(),
    };
    match when_model_stops(&run.spec, at) {
        Next::Nudge => {
            let text = run.spec.profile().nudge.to_owned();
            run.record(vec![Fact::Nudged { text }]).await?;
            Ok(Flow::Goes)
        }
        Next::End(Ending::Waiting) => wait(run).await,
        Next::End(ending) => end(run, ending).await,
    }
}

/// Halts until a person answers.
pub(super) async fn wait(run: &mut Active) -> Result<Flow, Problem> {
    if !run.state.paused {
        let conclusion = conclude(Ending::Waiting);
        run.record(vec![Fact::RunPaused {
            conclusion,
            summary: "Waiting for you.".to_owned(),
        }])
        .await?;
    }
    Ok(Flow::Waits)
}

/// Ends the run because of a fault.
pub(super) async fn fail(run: &mut Active, family: ErrorFamily, message: String) -> Result<Flow, Problem> {
    finish(run, Ending::Failed(family), message).await
}

/// Ends the run because a person stopped it. A run that carries out a plan only halts: the plan
/// goes on with it later.
pub(crate) async fn cancel(run: &mut Active) -> Result<Flow, Problem> {
    if run.state.start.orchestration.is_some() {
        return Ok(Flow::Waits);
    }
    finish(run, Ending::Cancelled, "Stopped.".to_owned()).await
}

/// Ends the run as its contract has it.
pub(crate) async fn end(run: &mut Active, ending: Ending) -> Result<Flow, Problem> {
    worktree::observe_end(run).await?;
    let ending = match ending {
        Ending::Delivered | Ending::Denied => {
            let ending = checks::after_stop(run, ending).await?;
            if !run.state.checks.is_empty() {
                worktree::observe_end(run).await?;
            }
            ending
        }
        other => other,
    };
    let summary = summary(run, ending);
    finish(run, ending, summary).await
}

/// Ends the run so.
pub(super) async fn finish(run: &mut Active, ending: Ending, summary: String) -> Result<Flow, Problem> {
    checkpoint::after_run(&run.inner, &run.state.start.run, &run.state.start.thread).await?;
    let follow_up = match ending {
        Ending::Exited => Some(clock::new_id('r')),
        _ => None,
    };
    let further = match &follow_up {
        Some(id) => intake::after_exit(run, id).await?,
        None => Vec::new(),
    };
    ended(run, ending, summary, follow_up, further).await
}

/// Ends the run, and a fresh thread goes on with the text that the person agreed to.
async fn hand_over(run: &mut Active) -> Result<Flow, Problem> {
    checkpoint::after_run(&run.inner, &run.state.start.run, &run.state.start.thread).await?;
    let (id, thread) = (clock::new_id('r'), clock::new_id('t'));
    let further = intake::handed_over(run, &id, &thread).await?;
    let summary = format!("A fresh thread goes on: {thread}.");
    ended(run, Ending::Delivered, summary, Some(id), further).await
}

/// Appends the end of a run with what it starts.
async fn ended(
    run: &mut Active,
    ending: Ending,
    summary: String,
    follow_up: Option<String>,
    further: Vec<Fact>,
) -> Result<Flow, Problem> {
    let mut facts = vec![Fact::RunEnded {
        conclusion: conclude(ending),
        summary,
        follow_up,
    }];
    facts.extend(further);
    run.record(facts).await?;
    Ok(Flow::Ended)
}

/// The limit the run has reached, if any.
pub(super) fn limit_reached(run: &Active) -> Option<Ending> {
    let start = &run.state.start;
    let tokens = start.tokens.is_some_and(|limit| run.state.usage.total() >= limit);
    let minutes = start.minutes.is_some_and(|limit| {
        clock::now_ms().saturating_sub(run.state.started_ms)
            >= i64::try_from(limit).unwrap_or(i64::MAX).saturating_mul(60_000)
    });
    (tokens || minutes).then_some(Ending::OverBudget)
}

fn summary(run: &Active, ending: Ending) -> String {
    match ending {
        Ending::Unmet => run.spec.profile().unmet.to_owned(),
        Ending::Delivered => format!("Delivered the {}.", run.spec.profile().deliverable),
        Ending::Declined => "Ended without a delivery: none is needed.".to_owned(),
        Ending::Exited => "Left the mode, as granted.".to_owned(),
        Ending::CheckUnmet => match run.state.checks.last() {
            Some(check) if check.exit != Some(0) => format!("The check failed: {}", check.command),
            _ => "No file changed.".to_owned(),
        },
        Ending::Denied => "Nothing was delivered: a call was denied because nobody could be asked.".to_owned(),
        Ending::OverBudget => "The budget is spent.".to_owned(),
        Ending::MistakeLimit => {
            format!(
                "Stopped after {} responses in a row without one good call.",
                run.state.mistakes
            )
        }
        Ending::Looping => "Stopped: the same calls again and again, although the model was told.".to_owned(),
        Ending::Waiting | Ending::Switched | Ending::Failed(_) | Ending::Cancelled => String::new(),
    }
}
