//! Removing old payloads. Headers are never removed, and what was removed is said in an event of its
//! own, so that the journal still verifies and a payload that merely vanished is found.

use serde::{Deserialize, Serialize};
use sqlx::{Row as _, SqliteConnection};

use crate::error::StoreError;
use crate::event::Event;
use crate::key::JournalKey;

/// The kind of the one event the store itself appends: payloads were removed.
pub const RETENTION_KIND: &str = "payloads_removed";

/// The stream of that event.
pub const RETENTION_STREAM: &str = "retention";

/// What retention did.
#[derive(Clone, Debug, PartialEq)]
pub struct Pruned {
    /// How many payloads are gone.
    pub payloads: u64,
    /// The event that says so.
    pub event: Event,
}

/// The payload of a retention event.
#[derive(Serialize, Deserialize)]
pub(crate) struct Removal {
    /// Payloads of events before this time may be missing.
    pub(crate) before_ms: i64,
    pub(crate) payloads: u64,
}

/// Removes every payload that only events before `before_ms` have; how many those were.
pub(crate) async fn remove_payloads(connection: &mut SqliteConnection, before_ms: i64) -> Result<u64, StoreError> {
    let done = sqlx::query(
        "DELETE FROM payload WHERE hash NOT IN \
         (SELECT payload_hash FROM event WHERE time_ms >= $1 OR kind = $2)",
    )
    .bind(before_ms)
    .bind(RETENTION_KIND)
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}

/// The removals the journal admits to. They are only worth what the links of the events are worth.
pub(crate) struct Admissions(Vec<(i64, Removal)>);

impl Admissions {
    pub(crate) async fn read(connection: &mut SqliteConnection, key: &JournalKey) -> Result<Self, StoreError> {
        let rows = sqlx::query(
            "SELECT number, payload_hash, body FROM event \
             JOIN payload ON payload.hash = event.payload_hash WHERE kind = $1",
        )
        .bind(RETENTION_KIND)
        .fetch_all(connection)
        .await?;
        let mut admissions = Vec::new();
        for row in rows {
            // A row that cannot be read is no admission; the walk over the events names it.
            let (Ok(number), Ok(hash), Ok(body)) = (
                row.try_get("number"),
                row.try_get::<Vec<u8>, _>("payload_hash"),
                row.try_get::<String, _>("body"),
            ) else {
                continue;
            };
            if key.payload_hash(body.as_bytes()).as_slice() == hash
                && let Ok(removal) = serde_json::from_str(&body)
            {
                admissions.push((number, removal));
            }
        }
        Ok(Self(admissions))
    }

    /// Whether a later event says that the payload of event `number` may be gone.
    pub(crate) fn cover(&self, number: u64, time_ms: i64) -> bool {
        self.0.iter().any(|(admission, removal)| {
            u64::try_from(*admission).is_ok_and(|admission| admission > number) && time_ms < removal.before_ms
        })
    }
}
