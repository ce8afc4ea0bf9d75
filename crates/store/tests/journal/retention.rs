//! Payloads go, headers stay, and the journal says so.

use serde_json::json;
use stance_store::{Durability, Event, Fault, NewEvent, RETENTION_KIND, RETENTION_STREAM};

use crate::{Journal, append, event};

async fn noted(journal: &Journal, time_ms: i64, text: &str) -> Event {
    let new = event("notes", "noted", json!({ "text": text }));
    append(&journal.store, NewEvent { time_ms, ..new }).await
}

async fn prune(journal: &Journal, before_ms: i64) -> u64 {
    let mut writer = journal.store.begin(Durability::Normal).await.unwrap();
    let pruned = writer.prune_payloads(before_ms, 1_000).await.unwrap();
    writer.commit().await.unwrap();
    pruned.map_or(0, |pruned| {
        assert_eq!(pruned.event.kind, RETENTION_KIND);
        assert_eq!(pruned.event.stream, RETENTION_STREAM);
        pruned.payloads
    })
}

#[tokio::test]
async fn old_payloads_are_removed_and_the_journal_still_verifies() {
    let journal = Journal::new().await;
    let secret = "a line that must be gone from the file";
    noted(&journal, 10, secret).await;
    noted(&journal, 20, "shared").await;
    noted(&journal, 30, "shared").await;
    noted(&journal, 5, "old but appended late").await;
    let head = journal.store.head().await.unwrap();

    assert_eq!(prune(&journal, 25).await, 2);
    let events = journal.store.stream("notes", 0).await.unwrap();
    let kept: Vec<_> = events.iter().map(|event| event.payload.is_some()).collect();
    assert_eq!(kept, [false, true, true, false]);
    assert_eq!(events[0].kind, "noted");

    let verification = journal.store.verify(Some(&head)).await.unwrap();
    assert_eq!(verification.fault, None);
    assert_eq!((verification.events, verification.removed_payloads), (5, 2));

    // A second round with nothing to do leaves no trace; the admission itself is never removed.
    assert_eq!(prune(&journal, 25).await, 0);
    assert_eq!(journal.store.head().await.unwrap().number, 5);
    assert_eq!(prune(&journal, 5_000).await, 1);
    let verification = journal.store.verify(Some(&head)).await.unwrap();
    assert_eq!((verification.fault, verification.removed_payloads), (None, 4));

    journal.store.clone().close().await.unwrap();
    let bytes = std::fs::read(&journal.path).unwrap();
    let gone = !bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
    assert!(gone, "the removed payload can still be read from the file");
}

#[tokio::test]
async fn a_payload_that_retention_does_not_answer_for_is_found() {
    let journal = Journal::new().await;
    noted(&journal, 10, "old").await;
    noted(&journal, 30, "young").await;
    prune(&journal, 25).await;
    noted(&journal, 10, "appended after the removal").await;
    journal
        .tamper("DELETE FROM payload WHERE body LIKE '%after the removal%'")
        .await;
    let found = journal.store.verify(None).await.unwrap();
    assert_eq!(found.fault, Some(Fault::PayloadRemoved { number: 4 }));
    journal.tamper("DELETE FROM payload WHERE body LIKE '%young%'").await;
    let found = journal.store.verify(None).await.unwrap();
    assert_eq!(found.fault, Some(Fault::PayloadRemoved { number: 2 }));
}

#[tokio::test]
async fn a_forged_admission_covers_nothing() {
    let journal = Journal::with_events(4).await;
    journal
        .tamper(
            "INSERT INTO payload VALUES (x'01', '{\"before_ms\":9000000000000,\"payloads\":1}'); \
             UPDATE event SET kind = 'payloads_removed', payload_hash = x'01' WHERE number = 4; \
             DELETE FROM payload WHERE hash = (SELECT payload_hash FROM event WHERE number = 2)",
        )
        .await;
    let found = journal.store.verify(None).await.unwrap();
    assert_eq!(found.fault, Some(Fault::PayloadRemoved { number: 2 }));
}
