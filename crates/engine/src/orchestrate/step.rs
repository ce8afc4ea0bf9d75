//! One step: its message enters a run, the run is driven, what was observed is booked to the step.

use std::fmt::Write as _;
use std::sync::Arc;

use modes::{Autonomy, Role};
use serde::Deserialize;
use serde_json::Value;
use store::{Query, Row, Table};
use tokio_util::sync::CancellationToken;
use work::pipeline::StepState;
use work::plan::{self, Node, StepKey, step_message};
use work::text::framed;

use super::reads_only;
use crate::clock;
use crate::config::RunOptions;
use crate::drive;
use crate::fact::{Entry, Fact, OrchestrationStart};
use crate::inner::Inner;
use crate::intake::{self, NewRun};
use crate::journal::Change;
use crate::problem::{Problem, ProblemKind};
use crate::run_state::RunState;
use crate::turn::{Flow, assemble};
use crate::worktree;

/// A step as its row has it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct StepRow {
    pub state: StepState,
    #[serde(skip)]
    pub run: Option<String>,
    pub before: Option<String>,
    pub after: Option<String>,
    #[serde(default)]
    pub files: Vec<String>,
    pub evidence: Option<String>,
    pub output: Option<Value>,
    pub commit: Option<String>,
    /// Whether its work has landed, whole or in part.
    #[serde(default)]
    pub landed: bool,
    /// Files it changed that were not committed.
    #[serde(default)]
    pub left: Vec<String>,
}

impl Default for StepRow {
    fn default() -> StepRow {
        StepRow {
            state: StepState::Pending,
            run: None,
            before: None,
            after: None,
            files: Vec::new(),
            evidence: None,
            output: None,
            commit: None,
            landed: false,
            left: Vec::new(),
        }
    }
}

impl StepRow {
    pub(super) fn of(row: &Row) -> Result<StepRow, Problem> {
        let step: StepRow = crate::projection::body(row)?;
        Ok(StepRow {
            run: row.text("run").map(str::to_owned),
            ..step
        })
    }
}

/// Begins a step: one change holds the step's start and its message. Returns the run.
pub(super) async fn begin(inner: &Inner, start: &OrchestrationStart, node: &Node) -> Result<String, Problem> {
    let reads = reads_only(node.kind);
    let before = worktree::snapshot(inner).await?.map(|snapshot| snapshot.tree);
    let context = worktree::context(inner).await?;
    let cursor = assemble::cursor(inner, &start.thread, Some(&start.orchestration)).await?;
    let text = format!(
        "{}{}",
        step_message(&start.definition.goal, node),
        results(inner, start, node).await?
    );
    let entry = Entry {
        id: clock::new_id('m'),
        text,
        typed: false,
        context,
        step: Some(node.key.to_string()),
        files: node.files.clone(),
        cursor,
    };
    let known = if reads { None } else { work_run(inner, start).await? };
    let mut change = inner.journal.change("").await?;
    let run = if let Some(run) = known {
        change.about(&run);
        change.record(&Fact::Entered(entry)).await?;
        run
    } else {
        begin_run(inner, &mut change, start, reads, entry).await?
    };
    change
        .record(&Fact::StepMoved {
            orchestration: start.orchestration.clone(),
            step: node.key.to_string(),
            state: StepState::Running { run: run.clone() },
            run: Some(run.clone()),
            before,
            after: None,
            files: Vec::new(),
            evidence: None,
            output: None,
        })
        .await?;
    change.commit().await?;
    Ok(run)
}

/// Starts the run of a step: the one of all work steps, or a reading step's own in its own thread.
async fn begin_run(
    inner: &Inner,
    change: &mut Change,
    start: &OrchestrationStart,
    reads: bool,
    entry: Entry,
) -> Result<String, Problem> {
    let space = change
        .get(Table::Space, &start.space)
        .await?
        .ok_or_else(|| Problem::new(ProblemKind::Store, format!("space {} is missing", start.space)))?;
    let thread = if reads {
        intake::opened(change, &start.space, Some(start.thread.clone())).await?
    } else {
        start.thread.clone()
    };
    let options = RunOptions {
        attendance: inner.config.attendance,
        ..RunOptions::default()
    };
    let new = NewRun {
        role: Role::Step {
            files: None,
            read_only: reads,
        },
        orchestration: Some(start.orchestration.clone()),
        autonomy: Some(autonomy(start.definition.options.autonomy)),
        fresh_context: reads || start.definition.options.context == plan::Context::Fresh,
        ..NewRun::main(&space, thread, &options, entry)
    };
    intake::begin(inner, change, new).await
}

const fn autonomy(chosen: plan::Autonomy) -> Autonomy {
    match chosen {
        plan::Autonomy::ActWithApproval => Autonomy::ActWithApproval,
        plan::Autonomy::ActFreely => Autonomy::ActFreely,
    }
}

/// The one run that carries out the work steps, once it has begun and while it can go on.
pub(super) async fn work_run(inner: &Inner, start: &OrchestrationStart) -> Result<Option<String>, Problem> {
    let runs = Query::all(Table::Run)
        .having("thread", start.thread.as_str())
        .newest_first();
    let rows = inner.journal.store().find(&runs).await?;
    Ok(rows
        .into_iter()
        .filter(|row| matches!(row.text("status"), Some("running" | "waiting")))
        .find(|row| row.body.get("orchestration").and_then(Value::as_str) == Some(&start.orchestration))
        .map(|row| row.id))
}

/// What the reading steps a step depends on came to, as quoted data.
async fn results(inner: &Inner, start: &OrchestrationStart, node: &Node) -> Result<String, Problem> {
    let steps = super::steps(inner, &start.orchestration).await?;
    let mut text = String::new();
    for key in &node.depends_on {
        let reads = start
            .definition
            .step(key.as_str())
            .is_some_and(|node| reads_only(node.kind));
        let (true, Some(step)) = (reads, steps.get(key)) else {
            continue;
        };
        let mut found = step.evidence.clone().unwrap_or_default();
        if let Some(output) = &step.output {
            found.push('\n');
            found.push_str(&output.to_string());
        }
        let _ = write!(
            text,
            "\nWhat step {key} found, as data:\n{}\n",
            framed(&found, "  │ ", 100)
        );
    }
    Ok(text)
}

/// Goes on with a step under way until it ends or waits.
pub(super) async fn go_on(
    inner: &Arc<Inner>,
    start: &OrchestrationStart,
    key: &StepKey,
    step: &StepRow,
    stop: &CancellationToken,
) -> Result<Flow, Problem> {
    let Some(run) = &step.run else {
        return Err(Problem::new(ProblemKind::Store, format!("step {key} has no run")));
    };
    let flow = drive::run(inner, run, stop.clone()).await?;
    let state = inner.run(run).await?;
    let ended = match flow {
        Flow::Waits | Flow::Goes => return Ok(Flow::Waits),
        Flow::StepEnded => delivered(start, key, &state),
        Flow::Ended if stop.is_cancelled() => StepState::Cancelled,
        Flow::Ended => StepState::Failed {
            reason: state.summary.clone(),
        },
    };
    book(inner, start, key, &state, ended).await?;
    Ok(Flow::StepEnded)
}

/// A step that promised an output and gave none is not done.
fn delivered(start: &OrchestrationStart, key: &StepKey, state: &RunState) -> StepState {
    let promised = start
        .definition
        .step(key.as_str())
        .is_some_and(|node| node.output_schema.is_some());
    let given = state.output.as_ref().is_some_and(|(output, _)| output.is_some());
    if promised && !given {
        StepState::Failed {
            reason: "it ended without the output the plan asks for".to_owned(),
        }
    } else {
        StepState::Done
    }
}

async fn book(
    inner: &Inner,
    start: &OrchestrationStart,
    key: &StepKey,
    run: &RunState,
    ended: StepState,
) -> Result<(), Problem> {
    let steps = super::steps(inner, &start.orchestration).await?;
    let before = steps.get(key).and_then(|step| step.before.clone());
    let after = worktree::snapshot(inner).await?.map(|snapshot| snapshot.tree);
    let files = match (&before, &after) {
        (Some(before), Some(after)) => worktree::changed(inner, before, after).await?,
        _ => run.changed.clone(),
    };
    let (output, evidence) = run.output.clone().unwrap_or_default();
    let said = Some(run.last_text()).filter(|text| !text.is_empty());
    let mut change = inner.journal.change(&run.start.run).await?;
    if !run.ended {
        change.record(&Fact::StepEnded { step: key.to_string() }).await?;
        let reads = start
            .definition
            .step(key.as_str())
            .is_some_and(|node| reads_only(node.kind));
        if reads {
            change.record(&super::finish::run_done()).await?;
            inner.mcp.end(&run.start.run).await;
        }
    }
    change
        .record(&Fact::StepMoved {
            orchestration: start.orchestration.clone(),
            step: key.to_string(),
            state: ended,
            run: Some(run.start.run.clone()),
            before,
            after,
            files,
            evidence: evidence.or(said),
            output,
        })
        .await?;
    change.commit().await
}
