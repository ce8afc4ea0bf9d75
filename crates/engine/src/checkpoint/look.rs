//! Checkpoints as doors show them: the list, and what differs.

use std::path::PathBuf;

use repo::checkpoint::Difference;
use store::Table;

use super::{Kept, all, differences, known, look, named, of_checkout, of_run};
use crate::fact::Moment;
use crate::inner::Inner;
use crate::intake::named_of;
use crate::problem::Problem;
use crate::view::{CheckpointChanges, CheckpointView, FileChange};

/// Every checkpoint, newest first.
pub(crate) async fn list(inner: &Inner) -> Result<Vec<CheckpointView>, Problem> {
    let mut views = Vec::new();
    for kept in all(inner).await?.into_iter().rev() {
        views.push(view(inner, kept).await?);
    }
    Ok(views)
}

async fn view(inner: &Inner, kept: Kept) -> Result<CheckpointView, Problem> {
    let run = match &kept.taken.run {
        Some(run) => inner.journal.store().get(Table::Run, run).await?,
        None => None,
    };
    let title = run
        .as_ref()
        .and_then(|row| row.body.get("title"))
        .and_then(serde_json::Value::as_str);
    Ok(CheckpointView {
        id: kept.taken.checkpoint,
        taken_ms: kept.time_ms,
        moment: kept.taken.moment,
        run_id: kept.taken.run,
        title: title.map(str::to_owned),
        thread_id: kept.taken.thread,
        checkout: kept.taken.worktree,
        files: kept.taken.files,
        left_out: kept.taken.left,
        left_out_more: kept.taken.left_more,
    })
}

/// What the run of a checkpoint changed; with `now`, or where the run's end was not seen, what
/// restoring the checkpoint would change in the checkout as it is.
pub(crate) async fn changes(
    inner: &Inner,
    id: &str,
    now: bool,
    paths: &[PathBuf],
) -> Result<CheckpointChanges, Problem> {
    let paths = &of_checkout(inner, paths)?;
    let kept = named(inner, id).await?;
    let taken = all(inner).await?;
    let after = match (&kept.taken.run, kept.taken.moment) {
        (Some(run), Moment::BeforeRun) if !now => of_run(&taken, run, Moment::AfterRun),
        _ => None,
    };
    let (differences, until) = if let Some(after) = after {
        let differences = differences(inner, &kept.taken.tree, &after.taken.tree).await?;
        (differences, Some(after.taken.checkpoint.clone()))
    } else {
        let present = look(inner).await?;
        (differences(inner, &present.tree, &kept.taken.tree).await?, None)
    };
    known(inner, paths, &differences)?;
    let differences = named_of(differences, paths);
    let digest = digest_of_differences(&differences);
    Ok(CheckpointChanges {
        id: kept.taken.checkpoint.clone(),
        until,
        changes: differences
            .into_iter()
            .map(|one| FileChange {
                path: one.path.display().to_string(),
                change: one.change,
            })
            .collect(),
        left_out: kept.taken.left,
        left_out_more: kept.taken.left_more,
        digest,
    })
}

/// What a person who saw these differences agrees to.
pub(crate) fn digest_of_differences(differences: &[Difference]) -> String {
    let lines: Vec<serde_json::Value> = differences
        .iter()
        .map(|one| serde_json::json!([one.path.as_os_str().as_encoded_bytes(), one.change, one.earlier]))
        .collect();
    modes::digest(&serde_json::Value::Array(lines))
}
