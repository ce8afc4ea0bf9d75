//! A copy made while work goes on.

use serde_json::json;
use stance_store::{Durability, Store, StoreError};
use std::os::unix::fs::PermissionsExt as _;

use crate::{Journal, append, event, key};

#[tokio::test]
async fn a_backup_is_whole_private_and_knows_that_it_is_one() {
    let journal = Journal::with_events(4).await;
    let head = journal.store.head().await.unwrap();
    let copy = journal.folder.path().join("copy of 'it'?#.db");

    // A transaction under way neither blocks the copy nor gets into it.
    let mut writer = journal.store.begin(Durability::Normal).await.unwrap();
    writer.append(event("odd", "noted", json!("later"))).await.unwrap();
    journal.store.backup(&copy).await.unwrap();
    writer.commit().await.unwrap();
    assert!(!journal.store.is_from_backup().await.unwrap());

    let mode = std::fs::metadata(&copy).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let restored = Store::open(&copy, key()).await.unwrap();
    assert_eq!(restored.head().await.unwrap(), head);
    let verification = restored.verify(Some(&head)).await.unwrap();
    assert_eq!((verification.events, verification.fault), (4, None));

    assert!(restored.is_from_backup().await.unwrap());
    let mut writer = restored.begin(Durability::Full).await.unwrap();
    writer.forget_backup().await.unwrap();
    writer.commit().await.unwrap();
    assert!(!restored.is_from_backup().await.unwrap());
    assert_eq!(append(&restored, event("odd", "k", json!(1))).await.number, 5);
}

#[tokio::test]
async fn a_backup_never_overwrites() {
    let journal = Journal::with_events(1).await;
    let there = journal.folder.path().join("precious");
    std::fs::write(&there, "content").unwrap();
    let refusal = journal.store.backup(&there).await;
    assert!(matches!(refusal, Err(StoreError::Unopenable { .. })));
    assert_eq!(std::fs::read(&there).unwrap(), b"content");
}
