//! Who drives what: one process a run, one writer a checkout, one snapshot at a time. A holder that died gives way at once;
//! whoever waits says for whom.

use std::time::Duration;

use store::{Holder, LeaseOutcome};
use tokio_util::sync::CancellationToken;

use crate::clock;
use crate::inner::Inner;
use crate::problem::Problem;

/// How often a waiting writer looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The lease of the folder that snapshots are kept in: it has one index.
const SNAPSHOTS: &str = "snapshots";

/// Takes a lease that nobody else may share. A living holder is a refusal.
pub(crate) async fn take(inner: &Inner, name: &str, what: &str) -> Result<(), Problem> {
    match inner
        .journal
        .store()
        .try_lease(name, &inner.holder, clock::is_alive)
        .await?
    {
        LeaseOutcome::Taken { .. } => Ok(()),
        LeaseOutcome::Held(holder) if holder == inner.holder => Ok(()),
        LeaseOutcome::Held(holder) => Err(Problem::refused(format!(
            "{what} is carried out by process {} already",
            holder.pid
        ))),
    }
}

/// Takes a checkout's turn to write for `writer`, a run or a plan in words that others who wait are
/// told, who may have it already; waits for whoever else has it. False: the person stopped waiting.
pub(crate) async fn turn_of_checkout(inner: &Inner, writer: &str, stop: &CancellationToken) -> Result<bool, Problem> {
    let holder = labelled(inner, writer);
    let mut told = false;
    loop {
        match inner
            .journal
            .store()
            .try_lease(&checkout(inner), &holder, clock::is_alive)
            .await?
        {
            LeaseOutcome::Taken { .. } => {
                if let Err(problem) = inner.recover().await {
                    checkout_done(inner, writer).await?;
                    return Err(problem);
                }
                return Ok(true);
            }
            LeaseOutcome::Held(other) if other == holder => return Ok(true),
            LeaseOutcome::Held(other) => {
                if !told {
                    inner.notice(format!(
                        "Waiting for {} (process {}), which is writing in this checkout.",
                        other.label, other.pid
                    ));
                    told = true;
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_AGAIN) => {}
            () = stop.cancelled() => return Ok(false),
        }
    }
}

/// Takes a checkout's turn for `writer` now, or says who has it.
pub(crate) async fn turn_of_checkout_now(inner: &Inner, writer: &str) -> Result<(), Problem> {
    let holder = labelled(inner, writer);
    match inner
        .journal
        .store()
        .try_lease(&checkout(inner), &holder, clock::is_alive)
        .await?
    {
        LeaseOutcome::Taken { .. } => Ok(()),
        LeaseOutcome::Held(other) => Err(Problem::refused(format!(
            "{} (process {}) is writing in this checkout",
            other.label, other.pid
        ))
        .hint("wait for its end, or stop it with Ctrl-C there.")),
    }
}

/// Gives a checkout's turn back.
pub(crate) async fn checkout_done(inner: &Inner, writer: &str) -> Result<(), Problem> {
    inner
        .journal
        .store()
        .release(&checkout(inner), &labelled(inner, writer))
        .await?;
    Ok(())
}

/// Takes the workspace's one turn to take a snapshot; waits for whoever has it, in this process or
/// another. Whoever took it gives it back with `snapshot_done`.
pub(crate) async fn turn_of_snapshots(inner: &Inner) -> Result<Holder, Problem> {
    let holder = labelled(inner, &clock::new_id('h'));
    while let LeaseOutcome::Held(_) = inner
        .journal
        .store()
        .try_lease(SNAPSHOTS, &holder, clock::is_alive)
        .await?
    {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Ok(holder)
}

/// Gives the turn to take snapshots back.
pub(crate) async fn snapshot_done(inner: &Inner, holder: &Holder) -> Result<(), Problem> {
    inner.journal.store().release(SNAPSHOTS, holder).await?;
    Ok(())
}

/// Gives a lease back.
pub(crate) async fn give_back(inner: &Inner, name: &str) -> Result<(), Problem> {
    inner.journal.store().release(name, &inner.holder).await?;
    Ok(())
}

fn labelled(inner: &Inner, label: &str) -> Holder {
    Holder {
        label: label.to_owned(),
        ..inner.holder.clone()
    }
}

fn checkout(inner: &Inner) -> String {
    format!("checkout/{}", inner.worktree.display())
}
