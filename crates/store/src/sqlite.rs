//! Everything that is special to `SQLite`: how a connection is opened, the table definitions, how a
//! transaction begins, how a copy is made and what its errors mean. All other statements of the
//! room are one text that another database understands too.
//!
//! The `SQLite` driver is used directly, not sqlx's `Any`: `Any` takes its options only as a URL, so
//! neither pragmas nor odd paths pass through it, and it converts whole rows at once, so one
//! tampered cell would hide the event it belongs to behind a driver error.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions};
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection, SqlitePool};

use crate::error::StoreError;

/// Marks a `SQLite` file as one of our journals ("Stnc").
const APPLICATION_ID: i64 = 0x5374_6e63;

/// The table definitions of every released format, oldest first; the format number is the position.
pub(crate) const MIGRATIONS: &[&str] = &[include_str!("sqlite/0001.sql"), include_str!("sqlite/0002.sql")];

/// Orders rows of a read table as they were first put.
pub(crate) const INSERTION_ORDER: &str = "rowid";

const READERS: u32 = 4;

/// Until what SQLite refused without waiting is asked once more.
const AGAIN: Duration = Duration::from_millis(5);

/// How much a commit survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The death of the process at any moment.
    #[default]
    Normal,
    /// The loss of power too: the commit waits for the disk.
    Full,
}

/// The shape a file was found in.
enum Shape {
    Empty,
    Journal { format: i64 },
    Foreign,
}

fn options(path: &Path, wait: Duration) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .busy_timeout(wait)
        .foreign_keys(true)
        .pragma("trusted_schema", "OFF")
        .pragma("cell_size_check", "ON")
        .disable_statement_logging()
}

/// Opens a connection that may write. Removed content is overwritten with zeros in the file.
pub(crate) async fn connect(path: &Path, wait: Duration) -> Result<SqliteConnection, StoreError> {
    let options = options(path, wait)
        .journal_mode(SqliteJournalMode::Wal)
        .pragma("secure_delete", "ON");
    let mut tries = wait.as_millis() / AGAIN.as_millis();
    loop {
        // The change of a new file to WAL does not wait for another process that does the same:
        // SQLite fears that each waits for the other, and refuses at once.
        match options.connect().await.map_err(StoreError::from) {
            Err(StoreError::Locked) if tries > 0 => {
                tries -= 1;
                tokio::time::sleep(AGAIN).await;
            }
            connected => return connected,
        }
    }
}

/// Connections that only read, opened when first needed.
pub(crate) fn readers(path: &Path, wait: Duration) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(wait)
        .test_before_acquire(false)
        .connect_lazy_with(options(path, wait).pragma("query_only", "ON"))
}

/// Opens one connection that only reads, outside the pool.
pub(crate) async fn connect_reader(path: &Path, wait: Duration) -> Result<SqliteConnection, StoreError> {
    let connected = options(path, wait).pragma("query_only", "ON").connect().await;
    connected.map_err(|error| match explain(error) {
        StoreError::Database(error) if kind(&error) == Some(CANNOT_OPEN) => StoreError::Unopenable {
            path: path.to_owned(),
            source: std::io::Error::other(error),
        },
        other => other,
    })
}

/// Begins a writing transaction; waits for other writers, not for readers.
pub(crate) async fn begin(connection: &mut SqliteConnection, durability: Durability) -> Result<(), StoreError> {
    // SQLite refuses to change this inside a transaction.
    let statements = match durability {
        Durability::Normal => "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE",
        Durability::Full => "PRAGMA synchronous = FULL; BEGIN IMMEDIATE",
    };
    sqlx::raw_sql(statements).execute(connection).await?;
    Ok(())
}

/// Begins a reading transaction: everything read in it is of one moment.
pub(crate) async fn begin_snapshot(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    sqlx::raw_sql("BEGIN").execute(connection).await?;
    Ok(())
}

pub(crate) async fn commit(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    sqlx::raw_sql("COMMIT").execute(connection).await?;
    Ok(())
}

pub(crate) async fn rollback(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    sqlx::raw_sql("ROLLBACK").execute(connection).await?;
    Ok(())
}

/// Refuses a file that is not ours or is newer than we are, before anything in it is changed.
pub(crate) async fn inspect(path: &Path, wait: Duration) -> Result<(), StoreError> {
    let mut connection = connect_reader(path, wait).await?;
    // Another process may be creating the tables right now: look at one moment only.
    begin_snapshot(&mut connection).await?;
    refuse_unknown(&mut connection, path, MIGRATIONS).await?;
    Ok(())
}

/// Brings the tables to the newest format. Two processes may do this at the same moment.
/// Must run inside a writing transaction.
pub(crate) async fn migrate(
    connection: &mut SqliteConnection,
    path: &Path,
    migrations: &[&'static str],
) -> Result<(), StoreError> {
    let present = refuse_unknown(connection, path, migrations).await?;
    for (format, definition) in (1_i64..).zip(migrations) {
        if format > present {
            sqlx::raw_sql(*definition).execute(&mut *connection).await?;
            let mark = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {format}");
            sqlx::raw_sql(sqlx::AssertSqlSafe(mark))
                .execute(&mut *connection)
                .await?;
        }
    }
    Ok(())
}

/// The format the file has, 0 when it is empty.
async fn refuse_unknown(
    connection: &mut SqliteConnection,
    path: &Path,
    migrations: &[&'static str],
) -> Result<i64, StoreError> {
    let known = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    match shape(connection).await? {
        Shape::Empty => Ok(0),
        Shape::Journal { format } if format <= known => Ok(format),
        Shape::Journal { format } => Err(StoreError::Newer {
            path: path.to_owned(),
            found: format,
            known,
        }),
        Shape::Foreign => Err(StoreError::NotAJournal(path.to_owned())),
    }
}

async fn shape(connection: &mut SqliteConnection) -> Result<Shape, StoreError> {
    let application: i64 = sqlx::query_scalar("PRAGMA application_id")
        .fetch_one(&mut *connection)
        .await?;
    let format: i64 = sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(&mut *connection)
        .await?;
    let objects: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM sqlite_schema")
        .fetch_one(connection)
        .await?;
    Ok(match (application, format, objects) {
        (APPLICATION_ID, 1.., _) => Shape::Journal { format },
        (0, 0, 0) => Shape::Empty,
        _ => Shape::Foreign,
    })
}

/// The name of a table, index, trigger or view that is not as our definitions make it.
pub(crate) async fn foreign_definition(connection: &mut SqliteConnection) -> Result<Option<String>, StoreError> {
    let mut pristine = SqliteConnectOptions::new()
        .in_memory(true)
        .disable_statement_logging()
        .connect()
        .await?;
    migrate(&mut pristine, Path::new(":memory:"), MIGRATIONS).await?;
    let ours = definitions(&mut pristine).await?;
    let theirs = definitions(connection).await?;
    Ok(ours.symmetric_difference(&theirs).next().map(|(name, _)| name.clone()))
}

async fn definitions(connection: &mut SqliteConnection) -> Result<BTreeSet<(String, Option<String>)>, StoreError> {
    let definitions =
        sqlx::query_as("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_stat%' ESCAPE '!'")
            .fetch_all(connection)
            .await?;
    Ok(definitions.into_iter().collect())
}

/// Checks pages, indices and types of the whole file.
pub(crate) async fn check_pages(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let finding: String = sqlx::query_scalar("PRAGMA integrity_check(1)")
        .fetch_one(connection)
        .await?;
    if finding == "ok" {
        Ok(())
    } else {
        Err(StoreError::Corrupt(finding))
    }
}

/// Writes a whole, compact copy into the empty file `to` while others go on working, and marks it
/// as a copy.
pub(crate) async fn copy_into(from: &Path, to: &Path, wait: Duration) -> Result<(), StoreError> {
    let name = to.to_str().ok_or_else(|| StoreError::Unopenable {
        path: to.to_owned(),
        source: std::io::Error::other("its name is not UTF-8"),
    })?;
    let mut original = options(from, wait).connect().await?;
    sqlx::query("VACUUM INTO $1").bind(name).execute(&mut original).await?;
    original.close().await?;
    let mut copy = options(to, wait).connect().await?;
    sqlx::query("UPDATE journal SET from_backup = 1")
        .execute(&mut copy)
        .await?;
    copy.close().await?;
    Ok(())
}

const CANNOT_OPEN: i32 = 14;

/// The primary result code of an error, if it came from the database. Codes: sqlite.org/rescode.html.
fn kind(error: &sqlx::Error) -> Option<i32> {
    let code = error.as_database_error()?.code()?;
    Some(code.parse::<i32>().ok()? & 0xff)
}

/// Tells apart what a person can do something about.
pub(crate) fn explain(error: sqlx::Error) -> StoreError {
    if matches!(error, sqlx::Error::PoolTimedOut) {
        return StoreError::Locked;
    }
    let Some(database) = error.as_database_error() else {
        return StoreError::Database(error);
    };
    let message = database.message().to_owned();
    match kind(&error) {
        Some(5 | 6) => StoreError::Locked,
        Some(13) => StoreError::DiskFull,
        Some(8) => StoreError::ReadOnly(message),
        Some(11 | 26) => StoreError::Corrupt(message),
        _ => StoreError::Database(error),
    }
}

#[cfg(test)]
mod tests;
