//! Which files are opened, which are refused, and that a refused one is left as it was.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use futures_util::future::join_all;
use serde_json::json;
use stance_store::{JournalKey, Query, Store, StoreError, Table};

use crate::{Journal, append, event, key, tamper};

#[tokio::test]
async fn the_file_and_its_companions_are_for_their_owner_alone() {
    let journal = Journal::with_events(1).await;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode();
    let folder = journal.path.parent().unwrap();
    assert_eq!(mode(folder) & 0o777, 0o700);
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()) & 0o777, 0o600);
        files += 1;
    }
    assert!(files >= 2, "the write-ahead log is missing");
}

#[tokio::test]
async fn a_closed_journal_opens_again_with_everything_in_it() {
    let journal = Journal::with_events(3).await;
    let before = journal.store.events_after(0, 10).await.unwrap();
    journal.store.close().await.unwrap();
    let store = Store::open(&journal.path, key()).await.unwrap();
    assert_eq!(store.events_after(0, 10).await.unwrap(), before);
    assert_eq!(append(&store, event("odd", "k", json!(1))).await.number, 4);
}

#[tokio::test]
async fn many_may_create_the_same_journal_at_once() {
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let creators = (0..8).map(|_| {
            let path = path.clone();
            tokio::spawn(async move {
                let store = Store::open(&path, key()).await.unwrap();
                append(&store, event("s", "k", json!(1))).await.number
            })
        });
        let numbers: BTreeSet<_> = join_all(creators).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(numbers, (1..=8).collect());
        let store = Store::open(&path, key()).await.unwrap();
        let verification = store.verify(None).await.unwrap();
        assert_eq!((verification.events, verification.fault), (8, None));
    }
}

#[tokio::test]
async fn another_key_is_refused() {
    let journal = Journal::with_events(1).await;
    let stranger = Store::open(&journal.path, JournalKey::new([8; 32])).await;
    assert!(matches!(stranger, Err(StoreError::WrongKey(ref path)) if *path == journal.path));
    let right = JournalKey::from_hex(&format!(" {}\n", "07".repeat(32))).unwrap();
    assert!(Store::open(&journal.path, right).await.is_ok());
    assert!(matches!(JournalKey::from_hex("07"), Err(StoreError::MalformedKey)));
    assert_eq!(format!("{:?}", key()), "JournalKey(secret)");
}

#[tokio::test]
async fn a_newer_file_is_refused_and_left_alone() {
    let journal = Journal::with_events(1).await;
    journal.store.clone().close().await.unwrap();
    tamper(&journal.path, "PRAGMA user_version = 999; CREATE TABLE future (x)").await;
    let before = std::fs::read(&journal.path).unwrap();
    let refusal = Store::open(&journal.path, key()).await.unwrap_err();
    assert!(matches!(refusal, StoreError::Newer { found: 999, .. }));
    assert!(refusal.to_string().contains("has format 999"), "{refusal}");
    assert_eq!(std::fs::read(&journal.path).unwrap(), before);
}

#[tokio::test]
async fn a_file_of_somebody_else_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("browser.db");
    tamper(&database, "CREATE TABLE history (url TEXT)").await;
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "not a database at all, only a long enough text. ".repeat(40)).unwrap();
    for path in [database, text] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let before = std::fs::read(&path).unwrap();
        let refusal = Store::open(&path, key()).await.unwrap_err();
        assert!(
            matches!(refusal, StoreError::NotAJournal(_) | StoreError::Corrupt(_)),
            "{refusal}"
        );
        assert_eq!(std::fs::read(&path).unwrap(), before);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644);
    }
}

#[tokio::test]
async fn a_place_that_cannot_hold_a_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    for path in [folder.path().to_owned(), blocked.join("journal.db")] {
        let refusal = Store::open(&path, key()).await.unwrap_err();
        assert!(
            matches!(refusal, StoreError::Unopenable { path: ref named, .. } if *named == path),
            "{refusal}"
        );
    }
}

#[tokio::test]
async fn a_damaged_page_is_a_clear_error() {
    let journal = Journal::with_events(400).await;
    journal.store.clone().close().await.unwrap();
    let mut bytes = std::fs::read(&journal.path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0x5a);
    std::fs::write(&journal.path, bytes).unwrap();
    let store = Store::open(&journal.path, key()).await.unwrap();
    assert!(matches!(store.verify(None).await, Err(StoreError::Corrupt(_))));
}

/// A file as version 1 left it: key 07…07, four events, one payload removed, one row of each sort.
#[tokio::test]
async fn a_file_of_version_one_is_brought_forward() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    tamper(&path, include_str!("version-1.sql")).await;
    let store = Store::open(&path, key()).await.unwrap();
    let head = "4:6c4547daa635f59fb6149ce30afb66596d79e3001ead5e208c272bc96b678d05"
        .parse()
        .unwrap();
    let verification = store.verify(Some(&head)).await.unwrap();
    assert_eq!(verification.fault, None);
    assert_eq!((verification.events, verification.removed_payloads), (4, 1));
    for table in Table::ALL {
        let rows = store.find(&Query::all(table)).await.unwrap();
        // Rules came with version 2.
        assert_eq!(rows.len(), usize::from(table != Table::Rule), "{}", table.name());
    }
    assert_eq!(store.lease("run/1").await.unwrap().unwrap().epoch, 1);
    assert_eq!(append(&store, event("run/1", "noted", json!(1))).await.version, 4);
}
