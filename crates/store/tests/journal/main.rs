//! The store on real files: what callers rely on, and what an attacker with the file in hand tries.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types
)]

mod appending;
mod backup;
mod kill_points;
mod leases;
mod mutation;
mod opening;
mod processes;
mod read_tables;
mod retention;
mod tampering;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, SqliteConnection};
use stance_store::{Durability, Event, JournalKey, NewEvent, Provenance, Store};
use tempfile::TempDir;

fn key() -> JournalKey {
    JournalKey::new([7; 32])
}

/// A journal in a folder that goes away with it.
struct Journal {
    store: Store,
    path: PathBuf,
    folder: TempDir,
}

impl Journal {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("workspace/journal.db");
        let store = Store::open(&path, key()).await.unwrap();
        Self { store, path, folder }
    }

    /// A journal of `count` events, alternating between streams `odd` and `even`.
    async fn with_events(count: u64) -> Self {
        let journal = Self::new().await;
        let mut writer = journal.store.begin(Durability::Normal).await.unwrap();
        for number in 1..=count {
            let stream = if number % 2 == 1 { "odd" } else { "even" };
            writer
                .append(event(stream, "noted", json!({ "text": format!("note {number}") })))
                .await
                .unwrap();
        }
        writer.commit().await.unwrap();
        journal
    }

    /// Does to the file what anybody can who may write to it.
    async fn tamper(&self, statements: &str) {
        tamper(&self.path, statements).await;
    }
}

fn event(stream: &str, kind: &str, payload: Value) -> NewEvent {
    NewEvent {
        stream: stream.to_owned(),
        kind: kind.to_owned(),
        provenance: Provenance::Observed,
        time_ms: 1_700_000_000_000,
        payload,
    }
}

async fn append(store: &Store, new: NewEvent) -> Event {
    let mut writer = store.begin(Durability::Normal).await.unwrap();
    let event = writer.append(new).await.unwrap();
    writer.commit().await.unwrap();
    event
}

async fn raw(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .connect()
        .await
        .unwrap()
}

async fn tamper(path: &Path, statements: &str) {
    let mut connection = raw(path).await;
    sqlx::raw_sql(AssertSqlSafe(statements))
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}
