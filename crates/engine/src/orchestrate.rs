//! Carrying out an approved plan: what to do next is decided by the pure scheduler, each act is a
//! fact, and after a crash the next call goes on from the facts.

mod finish;
mod landing;
mod step;

use std::collections::BTreeMap;
use std::sync::Arc;

use store::{Query, Row, Table};
use tokio_util::sync::CancellationToken;
use work::orchestration::OrchestrationDefinition;
use work::pipeline::{Decision, StepState, decide};
use work::plan::{NodeKind, StepKey};

use crate::fact::OrchestrationStart;
use crate::inner::Inner;
use crate::lease;
use crate::problem::{Problem, ProblemKind};
use crate::projection::body;
use crate::turn::Flow;

pub(crate) use finish::{all_changed, checks_so_far, report, summary};
pub(crate) use step::StepRow;

/// The steps of an orchestration, by key.
pub(crate) type Steps = BTreeMap<StepKey, StepRow>;

/// What an orchestration was started with.
pub(crate) async fn started(inner: &Inner, id: &str) -> Result<OrchestrationStart, Problem> {
    body(&row(inner, id).await?)
}

/// The row of an orchestration.
pub(crate) async fn row(inner: &Inner, id: &str) -> Result<Row, Problem> {
    let row = inner.journal.store().get(Table::Orchestration, id).await?;
    row.ok_or_else(|| Problem::usage(format!("there is no orchestration {id} in this workspace")))
}

/// The steps of an orchestration, by key.
pub(crate) async fn steps(inner: &Inner, id: &str) -> Result<BTreeMap<StepKey, StepRow>, Problem> {
    let rows = inner
        .journal
        .store()
        .find(&Query::all(Table::Step).having("orchestration", id))
        .await?;
    rows.iter()
        .map(|row| {
            let key = StepKey::parse(row.text("key").unwrap_or_default())
                .map_err(|error| Problem::new(ProblemKind::Store, error.to_string()))?;
            Ok((key, StepRow::of(row)?))
        })
        .collect()
}

/// Drives an orchestration until it ends or waits.
pub(crate) async fn drive(inner: &Arc<Inner>, id: &str, stop: CancellationToken) -> Result<Flow, Problem> {
    if has_ended(inner, id).await? {
        return Ok(Flow::Ended);
    }
    let start = started(inner, id).await?;
    let (name, writer) = (format!("orchestration/{id}"), format!("plan {}", start.plan));
    lease::take(inner, &name, &writer).await?;
    let flow = in_turn(inner, &start, &writer, stop).await;
    lease::give_back(inner, &name).await?;
    flow
}

/// Whether nothing of an orchestration is left to drive.
pub(crate) async fn has_ended(inner: &Inner, id: &str) -> Result<bool, Problem> {
    Ok(row(inner, id).await?.text("status") != Some("executing"))
}

/// Has the checkout's turn from the first snapshot to the last, so that nothing another writer did
/// is taken for a step's.
async fn in_turn(
    inner: &Arc<Inner>,
    start: &OrchestrationStart,
    writer: &str,
    stop: CancellationToken,
) -> Result<Flow, Problem> {
    if !lease::turn_of_checkout(inner, writer, &stop).await? {
        return Ok(Flow::Waits);
    }
    let flow = driven(inner, start, stop).await;
    lease::checkout_done(inner, writer).await?;
    flow
}

async fn driven(inner: &Arc<Inner>, start: &OrchestrationStart, stop: CancellationToken) -> Result<Flow, Problem> {
    let id = start.orchestration.as_str();
    // Another process may have driven it to its end before this one got it.
    if has_ended(inner, id).await? {
        return Ok(Flow::Ended);
    }
    loop {
        landing::land(inner, start).await?;
        let steps = steps(inner, id).await?;
        let states: BTreeMap<StepKey, StepState> = steps
            .iter()
            .map(|(key, step)| (key.clone(), step.state.clone()))
            .collect();
        let flow = match decide(&start.definition, &states, 1) {
            Decision::Start(keys) => match keys.first() {
                Some(key) => begin(inner, start, key, &stop).await?,
                None => return Err(stuck(id)),
            },
            Decision::Wait => match under_way(&start.definition, &steps) {
                Some((key, step)) => step::go_on(inner, start, &key, &step, &stop).await?,
                None => return Err(stuck(id)),
            },
            Decision::Finished(outcome) => {
                finish::finish(inner, start, &steps, &outcome).await?;
                return Ok(Flow::Ended);
            }
        };
        match flow {
            Flow::Waits => return Ok(Flow::Waits),
            _ if stop.is_cancelled() => return Ok(Flow::Waits),
            _ => {}
        }
    }
}

async fn begin(
    inner: &Arc<Inner>,
    start: &OrchestrationStart,
    key: &StepKey,
    stop: &CancellationToken,
) -> Result<Flow, Problem> {
    let node = start
        .definition
        .step(key.as_str())
        .ok_or_else(|| stuck(&start.orchestration))?;
    let run = step::begin(inner, start, node).await?;
    let step = StepRow {
        run: Some(run),
        ..StepRow::default()
    };
    step::go_on(inner, start, key, &step, stop).await
}

fn under_way(definition: &OrchestrationDefinition, steps: &BTreeMap<StepKey, StepRow>) -> Option<(StepKey, StepRow)> {
    definition.steps.iter().find_map(|node| {
        let step = steps.get(&node.key)?;
        matches!(step.state, StepState::Running { .. } | StepState::Waiting).then(|| (node.key.clone(), step.clone()))
    })
}

/// Whether a step only reads.
pub(crate) fn reads_only(kind: NodeKind) -> bool {
    kind != NodeKind::Work
}

fn stuck(id: &str) -> Problem {
    Problem::new(
        ProblemKind::Store,
        format!("orchestration {id} has nothing to do and is not finished"),
    )
    .hint("`stance audit verify` tells whether its record was changed.")
}
