//! The statements that append events and read them back. Does not know who asks or why.

use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection};

use crate::error::StoreError;
use crate::event::{Event, Head, NewEvent, Provenance};
use crate::key::{Digest, JournalKey, Sealed};

const EVENTS: &str = "SELECT number, stream, version, kind, reported_by, time_ms, payload_hash, link, body \
     FROM event LEFT JOIN payload ON payload.hash = event.payload_hash";

/// The end of the journal as the head row states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tip {
    pub(crate) number: u64,
    pub(crate) link: Digest,
}

impl Tip {
    /// The end of a journal without events.
    pub(crate) fn before_all(key: &JournalKey) -> Self {
        Self {
            number: 0,
            link: key.genesis(),
        }
    }
}

impl From<Tip> for Head {
    fn from(tip: Tip) -> Self {
        Self {
            number: tip.number,
            link: hex::encode(tip.link),
        }
    }
}

/// An event as it lies in the database. The payload is bytes: a text that was tampered with need not
/// be text any more.
pub(crate) struct StoredEvent {
    pub(crate) number: u64,
    pub(crate) stream: String,
    pub(crate) version: u64,
    pub(crate) kind: String,
    pub(crate) provenance: Provenance,
    pub(crate) time_ms: i64,
    pub(crate) payload_hash: Digest,
    pub(crate) link: Digest,
    pub(crate) body: Option<Vec<u8>>,
}

impl StoredEvent {
    pub(crate) fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let reporter: Option<String> = row.try_get("reported_by")?;
        Ok(Self {
            number: natural(row, "number")?,
            stream: row.try_get("stream")?,
            version: natural(row, "version")?,
            kind: row.try_get("kind")?,
            provenance: reporter.map_or(Provenance::Observed, Provenance::ReportedBy),
            time_ms: row.try_get("time_ms")?,
            payload_hash: digest(row, "payload_hash")?,
            link: digest(row, "link")?,
            body: row.try_get_unchecked("body")?,
        })
    }

    /// The link this event must carry if it follows `previous` as event `number`.
    pub(crate) fn link_as(&self, key: &JournalKey, number: u64, previous: &Digest) -> Digest {
        let sealed = Sealed {
            number,
            stream: &self.stream,
            version: self.version,
            kind: &self.kind,
            provenance: &self.provenance,
            time_ms: self.time_ms,
            payload_hash: &self.payload_hash,
        };
        key.link(previous, &sealed)
    }

    pub(crate) fn payload_is_intact(&self, key: &JournalKey) -> bool {
        self.body
            .as_ref()
            .is_none_or(|body| key.payload_hash(body) == self.payload_hash)
    }

    fn open(self, key: &JournalKey) -> Result<Event, StoreError> {
        let altered = |problem: &str| StoreError::EventAltered {
            number: self.number,
            problem: problem.to_owned(),
        };
        if !self.payload_is_intact(key) {
            return Err(altered("its payload does not have its hash"));
        }
        let payload = self
            .body
            .as_deref()
            .map(serde_json::from_slice)
            .transpose()
            .map_err(|problem| altered(&problem.to_string()))?;
        Ok(Event {
            number: self.number,
            stream: self.stream,
            version: self.version,
            kind: self.kind,
            provenance: self.provenance,
            time_ms: self.time_ms,
            payload_hash: hex::encode(self.payload_hash),
            payload,
            link: hex::encode(self.link),
        })
    }
}

fn natural(row: &SqliteRow, column: &str) -> Result<u64, sqlx::Error> {
    let stored: i64 = row.try_get(column)?;
    u64::try_from(stored).map_err(|source| sqlx::Error::ColumnDecode {
        index: column.to_owned(),
        source: source.into(),
    })
}

fn digest(row: &SqliteRow, column: &str) -> Result<Digest, sqlx::Error> {
    let stored: &[u8] = row.try_get(column)?;
    Digest::try_from(stored).map_err(|source| sqlx::Error::ColumnDecode {
        index: column.to_owned(),
        source: source.into(),
    })
}

/// The database's integer for a count of ours.
pub(crate) fn stored_integer(count: u64) -> Result<i64, StoreError> {
    i64::try_from(count).map_err(|_| StoreError::TooLarge(count))
}

fn open(key: &JournalKey, row: &SqliteRow) -> Result<Event, StoreError> {
    match StoredEvent::read(row) {
        Ok(stored) => stored.open(key),
        Err(problem) => Err(StoreError::EventAltered {
            number: natural(row, "number")?,
            problem: problem.to_string(),
        }),
    }
}

/// Writes the head row of a new journal, or makes sure that an old one was begun with this key.
pub(crate) async fn found_with(connection: &mut SqliteConnection, key: &JournalKey) -> Result<bool, StoreError> {
    sqlx::query(
        "INSERT INTO journal (one, number, link, key_check) VALUES (1, 0, $1, $2) \
         ON CONFLICT (one) DO NOTHING",
    )
    .bind(key.genesis().as_slice())
    .bind(key.check().as_slice())
    .execute(&mut *connection)
    .await?;
    let check: Vec<u8> = sqlx::query_scalar("SELECT key_check FROM journal")
        .fetch_one(connection)
        .await?;
    Ok(check == key.check())
}

/// Whether the file is a copy that nobody has taken note of.
pub(crate) async fn is_from_backup(connection: &mut SqliteConnection) -> Result<bool, StoreError> {
    let flag: Option<i64> = sqlx::query_scalar("SELECT from_backup FROM journal")
        .fetch_optional(connection)
        .await?;
    Ok(flag.is_some_and(|flag| flag != 0))
}

pub(crate) async fn forget_backup(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    sqlx::query("UPDATE journal SET from_backup = 0")
        .execute(connection)
        .await?;
    Ok(())
}

/// What the head row says.
pub(crate) async fn tip(connection: &mut SqliteConnection) -> Result<Tip, StoreError> {
    let row = sqlx::query("SELECT number, link FROM journal")
        .fetch_optional(connection)
        .await?
        .ok_or(StoreError::HeadMismatch)?;
    read_tip(&row).map_err(|_| StoreError::HeadMismatch)
}

fn read_tip(row: &SqliteRow) -> Result<Tip, sqlx::Error> {
    Ok(Tip {
        number: natural(row, "number")?,
        link: digest(row, "link")?,
    })
}

/// The number and link of the last event there is, or of nothing.
async fn last(connection: &mut SqliteConnection, key: &JournalKey) -> Result<Tip, StoreError> {
    let row = sqlx::query("SELECT number, link FROM event ORDER BY number DESC LIMIT 1")
        .fetch_optional(connection)
        .await?;
    match row {
        Some(row) => read_tip(&row).map_err(|_| StoreError::HeadMismatch),
        None => Ok(Tip::before_all(key)),
    }
}

/// The head to append to. A journal whose head row was moved is not extended: that would bury the
/// evidence under valid links.
pub(crate) async fn tip_for_append(connection: &mut SqliteConnection, key: &JournalKey) -> Result<Tip, StoreError> {
    let stated = tip(connection).await?;
    if stated == last(connection, key).await? {
        Ok(stated)
    } else {
        Err(StoreError::HeadMismatch)
    }
}

/// The version of the last event in a stream; 0 when it has none.
pub(crate) async fn version(connection: &mut SqliteConnection, stream: &str) -> Result<u64, StoreError> {
    let version: i64 = sqlx::query_scalar("SELECT COALESCE(MAX(version), 0) FROM event WHERE stream = $1")
        .bind(stream)
        .fetch_one(connection)
        .await?;
    Ok(version.unsigned_abs())
}

/// Appends behind `tip`, which must be the head of the journal in this transaction.
pub(crate) async fn append(
    connection: &mut SqliteConnection,
    key: &JournalKey,
    tip: &mut Tip,
    version: u64,
    new: NewEvent,
) -> Result<Event, StoreError> {
    let number = tip.number + 1;
    let body = serde_json::to_string(&new.payload)?;
    let payload_hash = key.payload_hash(body.as_bytes());
    let sealed = Sealed {
        number,
        stream: &new.stream,
        version,
        kind: &new.kind,
        provenance: &new.provenance,
        time_ms: new.time_ms,
        payload_hash: &payload_hash,
    };
    let link = key.link(&tip.link, &sealed);
    let reporter = match &new.provenance {
        Provenance::Observed => None,
        Provenance::ReportedBy(reporter) => Some(reporter.as_str()),
    };
    sqlx::query("INSERT INTO payload (hash, body) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING")
        .bind(payload_hash.as_slice())
        .bind(&body)
        .execute(&mut *connection)
        .await?;
    sqlx::query(
        "INSERT INTO event (number, stream, version, kind, reported_by, time_ms, payload_hash, link) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(stored_integer(number)?)
    .bind(&new.stream)
    .bind(stored_integer(version)?)
    .bind(&new.kind)
    .bind(reporter)
    .bind(new.time_ms)
    .bind(payload_hash.as_slice())
    .bind(link.as_slice())
    .execute(&mut *connection)
    .await?;
    sqlx::query("UPDATE journal SET number = $1, link = $2")
        .bind(stored_integer(number)?)
        .bind(link.as_slice())
        .execute(connection)
        .await?;
    *tip = Tip { number, link };
    Ok(Event {
        number,
        stream: new.stream,
        version,
        kind: new.kind,
        provenance: new.provenance,
        time_ms: new.time_ms,
        payload_hash: hex::encode(payload_hash),
        payload: Some(new.payload),
        link: hex::encode(link),
    })
}

/// The events of a stream behind a version, oldest first.
pub(crate) async fn stream(
    connection: &mut SqliteConnection,
    key: &JournalKey,
    stream: &str,
    after_version: u64,
) -> Result<Vec<Event>, StoreError> {
    let statement = format!("{EVENTS} WHERE stream = $1 AND version > $2 ORDER BY version");
    let rows = sqlx::query(AssertSqlSafe(statement))
        .bind(stream)
        .bind(stored_integer(after_version)?)
        .fetch_all(connection)
        .await?;
    rows.iter().map(|row| open(key, row)).collect()
}

/// The next events behind a number, as they lie in the database.
pub(crate) async fn rows_after(
    connection: &mut SqliteConnection,
    number: i64,
    limit: u32,
) -> Result<Vec<SqliteRow>, StoreError> {
    let statement = format!("{EVENTS} WHERE number > $1 ORDER BY number LIMIT $2");
    Ok(sqlx::query(AssertSqlSafe(statement))
        .bind(number)
        .bind(limit)
        .fetch_all(connection)
        .await?)
}

/// The next events behind a number, oldest first.
pub(crate) async fn events_after(
    connection: &mut SqliteConnection,
    key: &JournalKey,
    number: u64,
    limit: u32,
) -> Result<Vec<Event>, StoreError> {
    let rows = rows_after(connection, stored_integer(number)?, limit).await?;
    rows.iter().map(|row| open(key, row)).collect()
}

/// The payload of that hash, unless there never was one or retention has removed it.
pub(crate) async fn payload(
    connection: &mut SqliteConnection,
    key: &JournalKey,
    hash: &str,
) -> Result<Option<serde_json::Value>, StoreError> {
    let Ok(wanted) = hex::decode(hash) else {
        return Ok(None);
    };
    let row = sqlx::query("SELECT body FROM payload WHERE hash = $1")
        .bind(&wanted)
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let body: Vec<u8> = row.try_get_unchecked("body")?;
    if key.payload_hash(&body).as_slice() != wanted {
        return Err(StoreError::PayloadAltered(hash.to_owned()));
    }
    Ok(Some(serde_json::from_slice(&body)?))
}
