//! The end of an orchestration: commits where the landing wants them, the plan's checks, the report.

use std::collections::{BTreeMap, BTreeSet};

use modes::{Ending as RunEnding, Mode, conclude, run_spec};
use store::Table;
use work::pipeline::{Ending, Outcome, StepState};
use work::plan::{AfterPlan, CheckOutcome, PlanMove, Report, StepKey, StepRecord, StepStatus, Verdict};

use super::landing;
use super::step::{self, StepRow};
use crate::checkpoint;
use crate::checks;
use crate::fact::{Fact, OrchestrationStart};
use crate::inner::Inner;
use crate::problem::Problem;
use crate::worktree;

/// The fact that ends a run whose steps are done.
pub(super) fn run_done() -> Fact {
    Fact::RunEnded {
        conclusion: conclude(RunEnding::Delivered),
        summary: "The steps are done.".to_owned(),
        follow_up: None,
    }
}

/// Runs the plan's checks and ends the orchestration.
pub(super) async fn finish(
    inner: &Inner,
    start: &OrchestrationStart,
    steps: &BTreeMap<StepKey, StepRow>,
    outcome: &Outcome,
) -> Result<(), Problem> {
    let run = step::work_run(inner, start).await?;
    if let Some(run) = &run {
        inner.mcp.end(run).await;
    }
    if outcome.ending == Ending::Completed {
        run_checks(inner, start).await?;
    }
    let after = worktree::snapshot(inner).await?.map(|snapshot| snapshot.tree);
    let report = report(inner, start, steps, Some(outcome), after.as_deref()).await?;
    let completed =
        matches!(report.verdict(), Verdict::Done | Verdict::Unverified) && landing::all_landed(start, steps);
    let head = match inner.repository() {
        Some((git, checkout)) => repo::head(git, checkout).await?.id,
        None => None,
    };
    if let Some(run) = &run {
        checkpoint::after_run(inner, run, &start.thread).await?;
    }
    let mut change = inner.journal.lasting_change("").await?;
    if let Some(run) = run {
        change.about(&run);
        change.record(&run_done()).await?;
    }
    change
        .record(&Fact::OrchestrationEnded {
            orchestration: start.orchestration.clone(),
            completed,
            summary: format!("{report}{}", landing::left(start, steps)),
            head,
            after,
        })
        .await?;
    let moved = if completed { PlanMove::Complete } else { PlanMove::Fail };
    change
        .record(&Fact::PlanMoved {
            plan: start.plan.clone(),
            moved,
            who: "stance".to_owned(),
            why: None,
        })
        .await?;
    if start.definition.options.after_plan == AfterPlan::Plan {
        let to = Mode::chosen("plan").map_err(|refused| Problem::usage(refused.to_string()))?;
        let space = change.get(Table::Space, &start.space).await?;
        change
            .record(&Fact::ModeChanged {
                space: start.space.clone(),
                from: space.and_then(|row| row.text("mode").map(str::to_owned)),
                to: to.stored().to_owned(),
                who: start.who.clone(),
                why: "the approval said so for when the work ends".to_owned(),
            })
            .await?;
    }
    change.commit().await
}

/// Checks that have not run yet, each once, in the containment the work had.
async fn run_checks(inner: &Inner, start: &OrchestrationStart) -> Result<(), Problem> {
    let known = checks_so_far(inner, &start.orchestration).await?;
    let Some(run) = a_run_of(inner, start).await? else {
        return Ok(());
    };
    let recipe = inner.run(&run).await?.start.recipe;
    let spec = run_spec(recipe, inner.toolbox.built()).map_err(|refused| Problem::refused(refused.to_string()))?;
    for command in start
        .definition
        .checks
        .iter()
        .filter(|command| !known.contains_key(*command))
    {
        let (exit, output) = checks::check(inner, &spec, &run, command).await?;
        let mut change = inner.journal.change("").await?;
        change
            .record(&Fact::PlanCheckRan {
                orchestration: start.orchestration.clone(),
                command: command.clone(),
                exit,
                output,
            })
            .await?;
        change.commit().await?;
    }
    Ok(())
}

async fn a_run_of(inner: &Inner, start: &OrchestrationStart) -> Result<Option<String>, Problem> {
    let steps = super::steps(inner, &start.orchestration).await?;
    let works = start
        .definition
        .steps
        .iter()
        .filter(|node| !super::reads_only(node.kind));
    Ok(works
        .filter_map(|node| steps.get(&node.key))
        .find_map(|step| step.run.clone()))
}

/// Checks that have run: exit code by command.
pub(crate) async fn checks_so_far(
    inner: &Inner,
    orchestration: &str,
) -> Result<BTreeMap<String, Option<i32>>, Problem> {
    let facts = inner.journal.facts(&format!("orchestration/{orchestration}")).await?;
    Ok(facts
        .into_iter()
        .filter_map(|(_, _, fact)| match fact {
            Fact::PlanCheckRan { command, exit, .. } => Some((command, exit)),
            _ => None,
        })
        .collect())
}

/// The report as it stands: every step tied to what was observed.
pub(crate) async fn report(
    inner: &Inner,
    start: &OrchestrationStart,
    steps: &BTreeMap<StepKey, StepRow>,
    outcome: Option<&Outcome>,
    after: Option<&str>,
) -> Result<Report, Problem> {
    let mut records = BTreeMap::new();
    for (key, step) in steps {
        let status = match &step.state {
            StepState::Done => StepStatus::Done,
            StepState::Failed { reason } => StepStatus::Failed { reason: reason.clone() },
            StepState::Cancelled => StepStatus::Cancelled,
            _ => match outcome.and_then(|outcome| outcome.not_run.get(key)) {
                Some(why) => StepStatus::NotRun {
                    reason: why.to_string(),
                },
                None => continue,
            },
        };
        records.insert(
            key.clone(),
            StepRecord {
                status,
                run: step.run.clone(),
                files: step.files.clone(),
                commits: step.commit.clone().into_iter().collect(),
                evidence: step.evidence.clone().into_iter().collect(),
            },
        );
    }
    let changed = all_changed(inner, start, steps, after).await?;
    let outcomes = checks_so_far(inner, &start.orchestration)
        .await?
        .into_iter()
        .map(|(command, exit)| {
            let outcome = match exit {
                Some(code) => CheckOutcome::Exited { code },
                None => CheckOutcome::Killed {
                    reason: "it ran into its time limit".to_owned(),
                },
            };
            (command, outcome)
        })
        .collect();
    Ok(Report::assemble(&start.definition, &records, &changed, &outcomes))
}

/// Every file that differs between the beginning of the first step and `after`, the end of the whole,
/// or the end of the last step while the whole has none.
pub(crate) async fn all_changed(
    inner: &Inner,
    start: &OrchestrationStart,
    steps: &BTreeMap<StepKey, StepRow>,
    after: Option<&str>,
) -> Result<BTreeSet<String>, Problem> {
    let in_order = || start.definition.steps.iter().filter_map(|node| steps.get(&node.key));
    let first = in_order().find_map(|step| step.before.clone());
    let last = after
        .map(str::to_owned)
        .or_else(|| in_order().rev().find_map(|step| step.after.clone()));
    match (first, last) {
        (Some(first), Some(last)) => Ok(worktree::changed(inner, &first, &last).await?.into_iter().collect()),
        _ => Ok(in_order().flat_map(|step| step.files.clone()).collect()),
    }
}

/// The words of an orchestration that ended.
pub(crate) async fn summary(inner: &Inner, orchestration: &str) -> Result<Option<String>, Problem> {
    let facts = inner.journal.facts(&format!("orchestration/{orchestration}")).await?;
    Ok(facts.into_iter().rev().find_map(|(_, _, fact)| match fact {
        Fact::OrchestrationEnded { summary, .. } => Some(summary),
        _ => None,
    }))
}
