//! One writing transaction. Everything done through it appears together at commit, or never.

use serde_json::Value;
use sqlx::SqliteConnection;
use tokio::sync::OwnedMutexGuard;

use crate::error::StoreError;
use crate::event::{Event, Head, NewEvent, Provenance};
use crate::journal::{self, Tip};
use crate::key::JournalKey;
use crate::lease::{self, Holder, Lease, LeaseOutcome};
use crate::retention::{self, Pruned, RETENTION_KIND, RETENTION_STREAM, Removal};
use crate::row::{self, Query, Row};
use crate::scratch;
use crate::sqlite;
use crate::table::Table;

/// The place where the one writing connection rests between transactions.
pub(crate) type Berth = OwnedMutexGuard<Option<SqliteConnection>>;

/// A writing transaction; other writers wait until it ends. Dropping it undoes everything.
///
/// A transaction that did not end well takes its connection with it: closing the connection is the
/// one way to undo that needs no waiting and cannot fail.
#[must_use = "dropping a writer undoes everything done through it"]
#[derive(Debug)]
pub struct Writer {
    connection: SqliteConnection,
    berth: Berth,
    key: JournalKey,
    tip: Option<Tip>,
    #[cfg(feature = "faults")]
    pub(crate) faults: crate::faults::Trigger,
}

impl Writer {
    pub(crate) fn new(
        connection: SqliteConnection,
        berth: Berth,
        key: JournalKey,
        #[cfg(feature = "faults")] faults: crate::faults::Trigger,
    ) -> Self {
        Self {
            connection,
            berth,
            key,
            tip: None,
            #[cfg(feature = "faults")]
            faults,
        }
    }

    /// Appends an event at the end of the journal and of its stream.
    pub async fn append(&mut self, event: NewEvent) -> Result<Event, StoreError> {
        let version = journal::version(&mut self.connection, &event.stream).await?;
        self.append_behind(version, event).await
    }

    /// Appends an event if its stream is still at version `expected` (0: has no event yet).
    pub async fn append_expecting(&mut self, expected: u64, event: NewEvent) -> Result<Event, StoreError> {
        let actual = journal::version(&mut self.connection, &event.stream).await?;
        if actual != expected {
            return Err(StoreError::VersionConflict {
                stream: event.stream,
                expected,
                actual,
            });
        }
        self.append_behind(actual, event).await
    }

    async fn append_behind(&mut self, version: u64, event: NewEvent) -> Result<Event, StoreError> {
        let mut tip = match self.tip {
            Some(tip) => tip,
            None => journal::tip_for_append(&mut self.connection, &self.key).await?,
        };
        let event = journal::append(&mut self.connection, &self.key, &mut tip, version + 1, event).await?;
        self.tip = Some(tip);
        #[cfg(feature = "faults")]
        self.faults.appended(&event.kind);
        Ok(event)
    }

    /// The end of the journal as this transaction sees it.
    pub async fn head(&mut self) -> Result<Head, StoreError> {
        Ok(journal::tip(&mut self.connection).await?.into())
    }

    /// The events of a stream behind a version, oldest first.
    pub async fn stream(&mut self, stream: &str, after_version: u64) -> Result<Vec<Event>, StoreError> {
        journal::stream(&mut self.connection, &self.key, stream, after_version).await
    }

    /// At most `limit` events behind a number, oldest first.
    pub async fn events_after(&mut self, number: u64, limit: u32) -> Result<Vec<Event>, StoreError> {
        journal::events_after(&mut self.connection, &self.key, number, limit).await
    }

    /// Puts a whole row: inserts it or replaces the one of its id.
    pub async fn put(&mut self, table: Table, row: &Row) -> Result<(), StoreError> {
        row::put(&mut self.connection, table, row).await
    }

    /// The row of that id.
    pub async fn get(&mut self, table: Table, id: &str) -> Result<Option<Row>, StoreError> {
        row::get(&mut self.connection, table, id).await
    }

    /// The rows a query asks for.
    pub async fn find(&mut self, query: &Query) -> Result<Vec<Row>, StoreError> {
        row::find(&mut self.connection, query).await
    }

    /// Removes the row of that id; whether there was one.
    pub async fn delete(&mut self, table: Table, id: &str) -> Result<bool, StoreError> {
        row::delete(&mut self.connection, table, id).await
    }

    /// Empties every read table, so that they can be folded anew from the events.
    pub async fn clear_read_tables(&mut self) -> Result<(), StoreError> {
        row::clear_all(&mut self.connection).await
    }

    /// Adds the next streamed part.
    pub async fn scratch_put(&mut self, stream: &str, text: &str) -> Result<(), StoreError> {
        scratch::put(&mut self.connection, stream, text).await
    }

    /// The streamed parts so far, in order.
    pub async fn scratch_get(&mut self, stream: &str) -> Result<Vec<String>, StoreError> {
        scratch::get(&mut self.connection, stream).await
    }

    /// Removes the streamed parts, because the whole answer is appended or given up.
    pub async fn scratch_clear(&mut self, stream: &str) -> Result<(), StoreError> {
        scratch::clear(&mut self.connection, stream).await
    }

    /// Takes a lease unless a holder that lives, as judged by `is_alive`, has it. A holder does not
    /// get a lease twice: asking for one's own answers `Held`.
    pub async fn try_lease(
        &mut self,
        name: &str,
        holder: &Holder,
        is_alive: impl FnOnce(&Holder) -> bool,
    ) -> Result<LeaseOutcome, StoreError> {
        lease::try_lease(&mut self.connection, name, holder, is_alive).await
    }

    /// Frees a lease if this very holder has it; whether it had.
    pub async fn release(&mut self, name: &str, holder: &Holder) -> Result<bool, StoreError> {
        lease::release(&mut self.connection, name, holder).await
    }

    /// The state of a lease; `None` if it was never taken.
    pub async fn lease(&mut self, name: &str) -> Result<Option<Lease>, StoreError> {
        lease::lease(&mut self.connection, name).await
    }

    /// Removes the payloads that only events before `before_ms` have, and appends an event of
    /// [`RETENTION_KIND`] at `time_ms` that says so. `None` when there was nothing to remove.
    pub async fn prune_payloads(&mut self, before_ms: i64, time_ms: i64) -> Result<Option<Pruned>, StoreError> {
        let payloads = retention::remove_payloads(&mut self.connection, before_ms).await?;
        if payloads == 0 {
            return Ok(None);
        }
        let removal = Removal { before_ms, payloads };
        let event = self
            .append(NewEvent {
                stream: RETENTION_STREAM.to_owned(),
                kind: RETENTION_KIND.to_owned(),
                provenance: Provenance::Observed,
                time_ms,
                payload: serde_json::to_value(removal)?,
            })
            .await?;
        Ok(Some(Pruned { payloads, event }))
    }

    /// The payload stored under a hash.
    pub async fn payload(&mut self, hash: &str) -> Result<Option<Value>, StoreError> {
        journal::payload(&mut self.connection, &self.key, hash).await
    }

    /// Notes that everything was done that has to be done with a journal that comes from a backup.
    pub async fn forget_backup(&mut self) -> Result<(), StoreError> {
        journal::forget_backup(&mut self.connection).await
    }

    /// Makes everything visible and as durable as the transaction was begun for.
    pub async fn commit(mut self) -> Result<(), StoreError> {
        #[cfg(feature = "faults")]
        let strike = self.faults.strike();
        #[cfg(feature = "faults")]
        strike.before_commit();
        sqlite::commit(&mut self.connection).await?;
        #[cfg(feature = "faults")]
        strike.after_commit();
        *self.berth = Some(self.connection);
        Ok(())
    }

    /// Undoes everything and keeps the connection; dropping the writer undoes as well.
    pub async fn rollback(mut self) -> Result<(), StoreError> {
        sqlite::rollback(&mut self.connection).await?;
        *self.berth = Some(self.connection);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
