//! Who drives what: one process a run, one writer a checkout. A holder that died gives way at once;
//! whoever waits says for whom.

use std::time::Duration;

use store::LeaseOutcome;
use tokio_util::sync::CancellationToken;

use crate::clock;
use crate::inner::Inner;
use crate::problem::Problem;

/// How often a waiting writer looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Takes a lease that nobody else may share. A living holder is a refusal.
pub(crate) async fn take(inner: &Inner, name: &str, what: &str) -> Result<(), Problem> {
    match inner.journal.store().try_lease(name, &inner.holder, clock::is_alive).await? {
        LeaseOutcome::Taken { .. } => Ok(()),
        LeaseOutcome::Held(holder) if holder == inner.holder => Ok(()),
        LeaseOutcome::Held(holder) => {
            Err(Problem::refused(format!("{what} is carried out by process {} already", holder.pid)))
        }
    }
}

/// Takes a checkout's turn; waits for whoever has it. False: the person stopped waiting.
pub(crate) async fn turn_of_checkout(
    inner: &Inner,
    run: &str,
    stop: &CancellationToken,
) -> Result<bool, Problem> {
    let holder = store::Holder { label: run.to_owned(), ..inner.holder.clone() };
    let mut told = false;
    loop {
        match inner.journal.store().try_lease(&checkout(inner), &holder, clock::is_alive).await? {
            LeaseOutcome::Taken { .. } => return Ok(true),
            LeaseOutcome::Held(other) if other == holder => return Ok(true),
            LeaseOutcome::Held(other) => {
                if !told {
                    inner.notice(format!(
                        "Waiting for run {} (process {}), which is writing in this checkout.",
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

/// Gives a checkout's turn back.
pub(crate) async fn checkout_done(inner: &Inner, run: &str) -> Result<(), Problem> {
    let holder = store::Holder { label: run.to_owned(), ..inner.holder.clone() };
    inner.journal.store().release(&checkout(inner), &holder).await?;
    Ok(())
}

/// Gives a lease back.
pub(crate) async fn give_back(inner: &Inner, name: &str) -> Result<(), Problem> {
    inner.journal.store().release(name, &inner.holder).await?;
    Ok(())
}

fn checkout(inner: &Inner) -> String {
    format!("checkout/{}", inner.worktree.display())
}
