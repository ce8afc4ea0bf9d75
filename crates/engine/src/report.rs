//! Reports: what a run or an orchestration came to, put together from the journal.

use std::sync::Arc;

use modes::{Conclusion, Decision, Ending, ErrorFamily, Layer, Liveness, Outcome, Status, conclude, run_spec};
use store::{Query, Row, Table};
use work::pipeline::StepState;
use work::plan::Landing;

use crate::active::words;
use crate::clock;
use crate::fact::OrchestrationStart;
use crate::inbox;
use crate::inner::Inner;
use crate::mcp;
use crate::orchestrate;
use crate::problem::Problem;
use crate::run_state::RunState;
use crate::view::{
    CheckRun, Cost, Denial, Details, HostRefused, LandingReport, ModelUsed, OrchestrationReport, PlanBrief, RunReport,
    StepReport,
};

/// The report of a run as it stands, with the run that followed it.
pub(crate) async fn of_run(inner: &Arc<Inner>, run: &str) -> Result<RunReport, Problem> {
    let state = inner.run(run).await?;
    let mut report = bare(inner, &state).await?;
    if let Some(next) = &state.follow_up {
        report.follow_up = Some(Box::new(Box::pin(of_run(inner, next)).await?));
    }
    Ok(report)
}

async fn bare(inner: &Arc<Inner>, state: &RunState) -> Result<RunReport, Problem> {
    let start = &state.start;
    let conclusion = state.conclusion.unwrap_or_else(under_way);
    let spec = run_spec(start.recipe.clone(), &mcp::built(&inner.toolbox, &start.servers))
        .map_err(|refused| Problem::refused(refused.to_string()))?;
    Ok(RunReport {
        outcome: conclusion.outcome,
        run_id: start.run.clone(),
        space_id: start.space.clone(),
        thread_id: start.thread.clone(),
        mode: start.recipe.mode.stored().to_owned(),
        label: spec.label(),
        walls: start.recipe.walls,
        model: model(state),
        summary: state.summary.clone(),
        text: state.last_text(),
        plan: plan_of(inner, start).await?,
        orchestration: None,
        review: None,
        denials: denials(state),
        hosts_refused: state.refused_hosts.values().cloned().collect(),
        thread_holds_secrets: inner.thread_holds_secrets(&start.thread).await?,
        files_changed: state.changed.clone(),
        checks: state.checks.clone(),
        usage: state.usage,
        cost: cost(&start.model, &model(state), &state.usage),
        duration_ms: clock::now_ms() - state.started_ms,
        pending: inbox::of_thread(inner, &start.thread).await?,
        audit_head: inner.journal.store().head().await?.to_string(),
        details: Details {
            status: conclusion.status,
            liveness: conclusion.liveness,
            error_family: conclusion.error_family,
        },
        follow_up: None,
    })
}

/// The model that a run asked, and the one that answered.
pub(crate) fn model(state: &RunState) -> ModelUsed {
    ModelUsed {
        configured: words(&state.start.model),
        actual: state.actual_model.clone(),
    }
}

/// What these tokens cost, where the price of the model that answered is known.
pub(crate) fn cost(asked: &llm::ModelSettings, used: &ModelUsed, usage: &llm::Usage) -> Cost {
    let model = used.actual.as_deref().unwrap_or(&asked.model);
    let amount = llm::Price::at(&asked.provider, model).map(|price| price.of(usage));
    Cost {
        amount,
        currency: "USD".to_owned(),
        known: amount.is_some(),
    }
}

/// A run that was cut off and has no ending yet.
const fn under_way() -> Conclusion {
    Conclusion {
        outcome: Outcome::Failed,
        status: Status::Running,
        liveness: Liveness::Stalled,
        error_family: Some(ErrorFamily::ProcessLost),
    }
}

async fn plan_of(inner: &Inner, start: &crate::fact::RunStart) -> Result<Option<PlanBrief>, Problem> {
    let plans = Query::all(Table::Plan)
        .having("thread", start.thread.as_str())
        .newest_first();
    let rows = inner.journal.store().find(&plans).await?;
    for row in rows {
        let revision = crate::intake::decide::newest_revision(inner, &row).await?;
        if start.orchestration.is_some() || revision.run.as_deref() == Some(&start.run) {
            return Ok(Some(brief(&row, revision.content.revision)));
        }
    }
    Ok(None)
}

fn brief(row: &Row, revision: u32) -> PlanBrief {
    PlanBrief {
        id: row.id.clone(),
        revision,
        digest: row.text("digest").unwrap_or_default().to_owned(),
        status: row.text("status").unwrap_or_default().to_owned(),
    }
}

fn denials(state: &RunState) -> Vec<Denial> {
    state
        .all_calls()
        .filter_map(|call| call.decided.as_ref())
        .filter(|record| {
            record.decision == Decision::Deny && !matches!(record.layer, Layer::NotStarted | Layer::Arguments)
        })
        .map(|record| Denial {
            tool: record.tool.clone(),
            arguments_digest: record.digest.clone(),
            effects: record.effects,
            layer: record.layer,
            reason: record.reason.clone(),
        })
        .collect()
}

/// The report of an orchestration as it stands.
pub(crate) async fn of_orchestration(inner: &Arc<Inner>, id: &str, stopped: bool) -> Result<RunReport, Problem> {
    let start = orchestrate::started(inner, id).await?;
    let steps = orchestrate::steps(inner, id).await?;
    let row = orchestrate::row(inner, id).await?;
    let status = row.text("status").unwrap_or_default().to_owned();
    let Some(last) = steps.values().filter_map(|step| step.run.clone()).max() else {
        return Err(Problem::refused(format!("orchestration {id} has not begun")));
    };
    let runs = runs_of(inner, &start, &steps).await?;
    let state = runs
        .last()
        .ok_or_else(|| Problem::refused(format!("orchestration {id} has no run {last}")))?;
    let mut report = bare(inner, state).await?;
    for earlier in runs.iter().rev().skip(1) {
        report.denials.splice(0..0, denials(earlier));
        let more = earlier
            .refused_hosts
            .values()
            .filter(|one| !report.hosts_refused.iter().any(|known| known.host == one.host));
        let more: Vec<HostRefused> = more.cloned().collect();
        report.hosts_refused.extend(more);
        report.usage += earlier.usage;
        if earlier.start.thread != state.start.thread {
            report
                .pending
                .extend(inbox::of_thread(inner, &earlier.start.thread).await?);
        }
    }
    report.summary = orchestrate::summary(inner, id).await?.unwrap_or_default();
    if report.summary.is_empty() {
        report.summary = orchestrate::report(inner, &start, &steps, None, None)
            .await?
            .to_string();
    }
    let mut outcomes = orchestrate::checks_so_far(inner, id).await?;
    report.checks = start
        .definition
        .checks
        .iter()
        .filter_map(|command| outcomes.remove_entry(command))
        .map(|(command, exit)| CheckRun { command, exit })
        .collect();
    let after = row.body.get("after").and_then(serde_json::Value::as_str);
    report.files_changed = orchestrate::all_changed(inner, &start, &steps, after)
        .await?
        .into_iter()
        .collect();
    conclude_orchestration(&mut report, &status, stopped);
    report.orchestration = Some(OrchestrationReport {
        id: id.to_owned(),
        plan_id: start.plan.clone(),
        status,
        steps: step_reports(&start, &steps),
        landing: landing(&start, &steps),
    });
    Ok(report)
}

async fn runs_of(
    inner: &Inner,
    start: &OrchestrationStart,
    steps: &orchestrate::Steps,
) -> Result<Vec<RunState>, Problem> {
    let mut runs: Vec<RunState> = Vec::new();
    for node in &start.definition.steps {
        let Some(run) = steps.get(&node.key).and_then(|step| step.run.as_ref()) else {
            continue;
        };
        if runs.iter().all(|state| &state.start.run != run) {
            runs.push(inner.run(run).await?);
        }
    }
    Ok(runs)
}

fn conclude_orchestration(report: &mut RunReport, status: &str, stopped: bool) {
    let failed_check = report.checks.iter().any(|check| check.exit != Some(0));
    let conclusion = match status {
        "completed" => conclude(Ending::Delivered),
        "failed" if failed_check => conclude(Ending::CheckUnmet),
        "failed" if report.details.status == Status::Cancelled || stopped => conclude(Ending::Cancelled),
        "failed" if report.details.status == Status::Error => Conclusion {
            outcome: Outcome::Failed,
            status: Status::Error,
            liveness: report.details.liveness,
            error_family: report.details.error_family,
        },
        "failed" => conclude(Ending::Failed(ErrorFamily::Unknown)),
        _ if stopped => conclude(Ending::Cancelled),
        _ => conclude(Ending::Waiting),
    };
    report.outcome = conclusion.outcome;
    report.details = Details {
        status: conclusion.status,
        liveness: conclusion.liveness,
        error_family: conclusion.error_family,
    };
}

fn step_reports(start: &OrchestrationStart, steps: &orchestrate::Steps) -> Vec<StepReport> {
    let in_order = start
        .definition
        .steps
        .iter()
        .map(|node| &node.key)
        .chain(&start.definition.deferred);
    in_order
        .filter_map(|key| Some((key, steps.get(key)?)))
        .map(|(key, step)| StepReport {
            key: key.to_string(),
            status: crate::projection::state_word(&step.state).unwrap_or_default(),
            run_id: step.run.clone(),
            files_changed: step.files.clone(),
            evidence: step.evidence.clone(),
            reason: match &step.state {
                StepState::Failed { reason } => Some(reason.clone()),
                _ => None,
            },
            commit: step.commit.clone(),
        })
        .collect()
}

fn landing(start: &OrchestrationStart, steps: &orchestrate::Steps) -> LandingReport {
    let kind = start.definition.options.landing;
    let reference = match kind {
        Landing::Commits => start
            .definition
            .steps
            .iter()
            .rev()
            .find_map(|node| steps.get(&node.key)?.commit.clone()),
        _ => None,
    };
    LandingReport {
        kind: kind.to_string(),
        reference,
    }
}
