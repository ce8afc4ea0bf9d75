//! Leaving plan mode: the one approval a stay and thread has, decided by a person, void when the
//! mode is left in any other way.

use store::{Query, Row, Table};
use work::approval::{ApprovalMove, ApprovalStatus};

use super::decide::decided;
use super::{approval_moved, epoch};
use crate::command::{Done, PersonDecision};
use crate::fact::{Fact, RunStart};
use crate::inner::Inner;
use crate::journal::Change;
use crate::problem::{Problem, ProblemKind};
use crate::projection::{column, word};

/// The newest plan exit of a run's thread in this stay, whatever its status.
pub(crate) async fn exit_of_this_stay(inner: &Inner, start: &RunStart) -> Result<Option<Row>, Problem> {
    let epoch = epoch(inner, &start.space).await?;
    let exits = Query::all(Table::Approval)
        .having("kind", "plan_exit")
        .having("thread", start.thread.as_str())
        .newest_first();
    let rows = inner.journal.store().find(&exits).await?;
    Ok(rows
        .into_iter()
        .find(|row| row.body.get("epoch").and_then(serde_json::Value::as_u64) == Some(epoch)))
}

/// The undecided plan exit of a run's thread in this stay.
pub(crate) async fn open_exit(inner: &Inner, start: &RunStart) -> Result<Option<Row>, Problem> {
    let newest = exit_of_this_stay(inner, start).await?;
    match newest {
        Some(row) if column::<ApprovalStatus>(&row, "status")? == ApprovalStatus::Pending => Ok(Some(row)),
        _ => Ok(None),
    }
}

/// Facts that void every undecided exit of a space's present stay.
pub(crate) async fn voided_exits(change: &mut Change, space: &str, who: &str, why: &str) -> Result<Vec<Fact>, Problem> {
    let open = Query::all(Table::Approval)
        .having("kind", "plan_exit")
        .having("space", space)
        .having("status", word(&ApprovalStatus::Pending)?);
    Ok(change
        .find(&open)
        .await?
        .into_iter()
        .map(|row| approval_moved(&row, ApprovalMove::Void, who, "mode change", Some(why)))
        .collect())
}

/// Decides a request to leave plan mode; a run that waits for it is told.
pub(super) async fn decide(inner: &Inner, row: &Row, verdict: PersonDecision) -> Result<Done, Problem> {
    let digest = row.text("digest").unwrap_or_default();
    if verdict.digest.len() < 12 || !digest.starts_with(&verdict.digest) {
        return Err(Problem::new(ProblemKind::Stale, "it changed, look again").hint("`stance inbox` shows what waits."));
    }
    let told = match (verdict.decision, &verdict.reason) {
        (ApprovalMove::Approve, _) => {
            "The person granted leaving plan mode: call `exit_plan_mode` once more to leave it.".to_owned()
        }
        (_, Some(reason)) => format!("The person wants to stay in plan mode. They said: {reason}"),
        (_, None) => "The person wants to stay in plan mode.".to_owned(),
    };
    let run = row.text("run").unwrap_or_default().to_owned();
    let mut change = inner.journal.lasting_change(&run).await?;
    decided(inner, &mut change, row, &verdict, None).await?;
    let waits = change
        .get(Table::Run, &run)
        .await?
        .is_some_and(|run| run.text("status") == Some("waiting"));
    if waits {
        change.record(&Fact::Told { text: told }).await?;
    }
    change.commit().await?;
    if waits {
        Ok(Done::Run {
            run,
            notices: Vec::new(),
        })
    } else {
        let word = if verdict.decision == ApprovalMove::Approve {
            "granted"
        } else {
            "refused"
        };
        Ok(Done::Said(vec![format!(
            "Leaving plan mode is {word}. Its run has ended; a further message goes on in the thread."
        )]))
    }
}
