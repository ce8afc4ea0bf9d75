//! Leases: who works on what, so that two processes never do the same work. Has no view of other
//! processes: whether a holder still lives is judged by the caller.

use serde::{Deserialize, Serialize};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use crate::error::StoreError;

/// Who holds a lease. Process number, start time and boot together name one process for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub pid: u32,
    /// When the process started, in the kernel's ticks since boot.
    pub start_ticks: u64,
    /// Which boot of which machine.
    pub boot_id: String,
    /// What a person who has to wait is told.
    pub label: String,
}

/// What came of asking for a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseOutcome {
    /// It is ours.
    Taken {
        /// Grows with every taking of this lease; a holder with a smaller one has been replaced.
        epoch: u64,
    },
    /// Somebody living holds it, perhaps the asker itself.
    Held(Holder),
}

/// The state of a lease that was taken at least once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// How often it was taken.
    pub epoch: u64,
    /// Who holds it now.
    pub holder: Option<Holder>,
}

fn read(row: &SqliteRow) -> Result<Lease, sqlx::Error> {
    let pid: Option<i64> = row.try_get("pid")?;
    let start_ticks: Option<i64> = row.try_get("start_ticks")?;
    let boot_id: Option<String> = row.try_get("boot_id")?;
    let label: Option<String> = row.try_get("label")?;
    let holder = match (pid, start_ticks, boot_id, label) {
        (Some(pid), Some(start_ticks), Some(boot_id), Some(label)) => Some(Holder {
            pid: u32::try_from(pid).unwrap_or_default(),
            start_ticks: start_ticks.cast_unsigned(),
            boot_id,
            label,
        }),
        _ => None,
    };
    let epoch: i64 = row.try_get("epoch")?;
    Ok(Lease {
        epoch: epoch.unsigned_abs(),
        holder,
    })
}

pub(crate) async fn lease(connection: &mut SqliteConnection, name: &str) -> Result<Option<Lease>, StoreError> {
    let row = sqlx::query("SELECT epoch, pid, start_ticks, boot_id, label FROM lease WHERE name = $1")
        .bind(name)
        .fetch_optional(connection)
        .await?;
    Ok(row.as_ref().map(read).transpose()?)
}

pub(crate) async fn try_lease(
    connection: &mut SqliteConnection,
    name: &str,
    holder: &Holder,
    is_alive: impl FnOnce(&Holder) -> bool,
) -> Result<LeaseOutcome, StoreError> {
    let present = lease(connection, name).await?;
    if let Some(Lease {
        holder: Some(other), ..
    }) = &present
        && is_alive(other)
    {
        return Ok(LeaseOutcome::Held(other.clone()));
    }
    let epoch = present.map_or(0, |lease| lease.epoch) + 1;
    sqlx::query(
        "INSERT INTO lease (name, epoch, pid, start_ticks, boot_id, label) \
         VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch, pid = excluded.pid, \
         start_ticks = excluded.start_ticks, boot_id = excluded.boot_id, label = excluded.label",
    )
    .bind(name)
    .bind(crate::journal::stored_integer(epoch)?)
    .bind(i64::from(holder.pid))
    .bind(holder.start_ticks.cast_signed())
    .bind(&holder.boot_id)
    .bind(&holder.label)
    .execute(connection)
    .await?;
    Ok(LeaseOutcome::Taken { epoch })
}

/// Frees the lease if this very holder has it; whether it had.
pub(crate) async fn release(
    connection: &mut SqliteConnection,
    name: &str,
    holder: &Holder,
) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "UPDATE lease SET pid = NULL, start_ticks = NULL, boot_id = NULL, label = NULL \
         WHERE name = $1 AND pid = $2 AND start_ticks = $3 AND boot_id = $4 AND label = $5",
    )
    .bind(name)
    .bind(i64::from(holder.pid))
    .bind(holder.start_ticks.cast_signed())
    .bind(&holder.boot_id)
    .bind(&holder.label)
    .execute(connection)
    .await?;
    Ok(done.rows_affected() > 0)
}
