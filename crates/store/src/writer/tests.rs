//! What only the writing connection itself can tell: its durability, and failures of the disk.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::{Durability, Store};

fn note(text: &str) -> NewEvent {
    NewEvent {
        stream: "s".to_owned(),
        kind: "noted".to_owned(),
        provenance: Provenance::Observed,
        time_ms: 0,
        payload: json!({ "text": text }),
    }
}

async fn open() -> (TempDir, PathBuf, Store) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let store = open_impatiently(&path).await;
    (folder, path, store)
}

/// Opens a store that does not wait for other writers.
async fn open_impatiently(path: &std::path::Path) -> Store {
    let key = JournalKey::new([7; 32]);
    Store::open_within(path, key, Duration::from_millis(20)).await.unwrap()
}

async fn pragma(writer: &mut Writer, name: &'static str) -> String {
    let row = sqlx::query(sqlx::AssertSqlSafe(format!(
        "SELECT CAST({name} AS TEXT) FROM pragma_{name}"
    )))
    .fetch_one(&mut writer.connection)
    .await
    .unwrap();
    sqlx::Row::get(&row, 0)
}

#[tokio::test]
async fn each_transaction_is_as_durable_as_it_asked_for() {
    let (_folder, _path, store) = open().await;
    for (durability, synchronous) in [
        (Durability::Normal, "1"),
        (Durability::Full, "2"),
        (Durability::Normal, "1"),
    ] {
        let mut writer = store.begin(durability).await.unwrap();
        assert_eq!(pragma(&mut writer, "synchronous").await, synchronous);
        writer.append(note("x")).await.unwrap();
        assert_eq!(pragma(&mut writer, "synchronous").await, synchronous);
        writer.commit().await.unwrap();
    }
    let mut writer = store.begin(Durability::Full).await.unwrap();
    assert_eq!(pragma(&mut writer, "journal_mode").await, "wal");
    assert_eq!(pragma(&mut writer, "foreign_keys").await, "1");
    assert_eq!(pragma(&mut writer, "secure_delete").await, "1");
    drop(writer);
    let writer = &mut store.begin(Durability::Full).await.unwrap();
    assert_eq!(pragma(writer, "synchronous").await, "2");
}

#[tokio::test]
async fn a_full_disk_is_named_and_the_next_transaction_works() {
    let (_folder, _path, store) = open().await;
    let mut writer = store.begin(Durability::Normal).await.unwrap();
    writer.append(note("acknowledged")).await.unwrap();
    writer.commit().await.unwrap();

    let mut writer = store.begin(Durability::Normal).await.unwrap();
    sqlx::raw_sql("PRAGMA max_page_count = 1")
        .execute(&mut writer.connection)
        .await
        .unwrap();
    writer.append(note("small")).await.unwrap();
    let refusal = writer.append(note(&"large ".repeat(100_000))).await;
    assert!(matches!(refusal, Err(StoreError::DiskFull)), "{refusal:?}");
    drop(writer);

    let mut writer = store.begin(Durability::Normal).await.unwrap();
    assert_eq!(writer.append(note("after")).await.unwrap().number, 2);
    writer.commit().await.unwrap();
    let verification = store.verify(None).await.unwrap();
    assert_eq!((verification.events, verification.fault), (2, None));
}

#[tokio::test]
async fn a_writer_that_waited_in_vain_is_told_that_the_journal_is_locked() {
    let (_folder, path, store) = open().await;
    let other = open_impatiently(&path).await;
    let mut writer = store.begin(Durability::Normal).await.unwrap();
    writer.append(note("first")).await.unwrap();
    // Neither another process nor another task of this one gets in.
    for store in [&other, &store] {
        let refusal = store.begin(Durability::Normal).await;
        assert!(matches!(refusal, Err(StoreError::Locked)), "{refusal:?}");
        assert_eq!(store.head().await.unwrap().number, 0);
    }
    writer.commit().await.unwrap();
    let mut writer = other.begin(Durability::Normal).await.unwrap();
    assert_eq!(writer.append(note("second")).await.unwrap().number, 2);
    writer.commit().await.unwrap();
    assert_eq!(store.head().await.unwrap().number, 2);
}
