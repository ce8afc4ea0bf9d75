//! Everything that can go wrong in the store, told apart by what a person can do about it.
//! Knows no wording of any door and no hint that names a command.

use std::path::PathBuf;

/// Why the store could not do what it was asked. Nothing acknowledged before is lost by any of these.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process or another writer kept the file longer than the store waits.
    #[error("the journal is locked by another writer")]
    Locked,
    /// The disk has no room for the change; the transaction is undone.
    #[error("the disk is full; the change was not stored")]
    DiskFull,
    /// The file may not be written to.
    #[error("the journal may only be read: {0}")]
    ReadOnly(String),
    /// The database file itself is damaged.
    #[error("the journal file is damaged: {0}")]
    Corrupt(String),
    /// The file is a database, or something else, that is not ours; it was not touched.
    #[error("{} is not a Stance journal", .0.display())]
    NotAJournal(PathBuf),
    /// The file was written by a newer version; it was not touched.
    #[error("{} has format {found}, this version knows formats up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format number found in it.
        found: i64,
        /// The newest format number this build can read.
        known: i64,
    },
    /// The file or its folder cannot be created or opened.
    #[error("{} cannot be opened: {source}", path.display())]
    Unopenable {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The journal was begun with another key than the one handed in.
    #[error("{} was written with another key", .0.display())]
    WrongKey(PathBuf),
    /// The head row and the last event disagree, so nothing may be appended.
    #[error("the head of the journal does not fit its last event; verify the journal")]
    HeadMismatch,
    /// A stored event cannot be read back as it was appended.
    #[error("event {number} is not what was appended: {problem}; verify the journal")]
    EventAltered {
        /// The event.
        number: u64,
        /// What does not fit.
        problem: String,
    },
    /// A stored payload does not have the hash it is stored under.
    #[error("payload {0} is not what was appended; verify the journal")]
    PayloadAltered(String),
    /// The stream has moved on since the caller looked.
    #[error("stream {stream} is at version {actual}, not {expected}")]
    VersionConflict {
        /// The stream.
        stream: String,
        /// The version the caller expected before its append.
        expected: u64,
        /// The version found.
        actual: u64,
    },
    /// The named table has no such column, or the value does not fit it.
    #[error("table {table}, column {column}: {problem}")]
    Column {
        /// The table.
        table: &'static str,
        /// The column as the caller spelt it.
        column: String,
        /// What does not fit.
        problem: &'static str,
    },
    /// A stored row cannot be read.
    #[error("table {table}, row {id}: {problem}")]
    UnreadableRow {
        /// The table.
        table: &'static str,
        /// The row.
        id: String,
        /// What does not fit.
        problem: String,
    },
    /// A text is not a head as `NUMBER:LINK`.
    #[error("`{0}` is not a journal head (NUMBER:LINK)")]
    MalformedHead(String),
    /// A journal key is not 64 hexadecimal digits.
    #[error("a journal key is 64 hexadecimal digits")]
    MalformedKey,
    /// A number does not fit the database's integers.
    #[error("{0} is too large to be stored")]
    TooLarge(u64),
    /// A value could not be written as JSON.
    #[error("value is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Anything else the database reports.
    #[error("database: {0}")]
    Database(#[source] sqlx::Error),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        crate::sqlite::explain(error)
    }
}
