//! What somebody tries who may write to the file but does not have the key.

use serde_json::json;
use stance_store::{Durability, Fault, Head, StoreError};

use crate::{Journal, append, event};

const LAST: u64 = 8;

/// Tampers with a journal of eight events; the fault found, also against the true head.
async fn check(statements: &str, expect: Fault) {
    let journal = Journal::with_events(LAST).await;
    let sound = journal.store.verify(None).await.unwrap();
    assert_eq!((sound.events, sound.fault), (LAST, None));
    let head = journal.store.head().await.unwrap();
    assert_eq!(journal.store.verify(Some(&head)).await.unwrap().fault, None);

    journal.tamper(statements).await;
    let found = journal.store.verify(None).await.unwrap();
    assert_eq!(found.fault, Some(expect), "{statements}");
    assert!(found.events <= LAST);
    let against = journal.store.verify(Some(&head)).await.unwrap();
    assert!(against.fault.is_some(), "{statements}");
}

#[tokio::test]
async fn every_changed_field_of_a_header_is_found() {
    let changes = [
        "stream = 'evil'",
        "version = 99",
        "kind = 'approved'",
        "reported_by = 'somebody'",
        "time_ms = time_ms + 1",
        "payload_hash = zeroblob(32)",
        "payload_hash = (SELECT payload_hash FROM event WHERE number = 3)",
        "link = zeroblob(32)",
        "link = x'00'",
        "kind = CAST(x'ff' AS TEXT)",
    ];
    for change in changes {
        check(
            &format!("UPDATE event SET {change} WHERE number = 4"),
            Fault::HeaderChanged { number: 4 },
        )
        .await;
    }
}

#[tokio::test]
async fn a_changed_payload_is_found_and_never_handed_out() {
    let change = "UPDATE payload SET body = '{\"text\":\"forged\"}' WHERE hash = \
                  (SELECT payload_hash FROM event WHERE number = 4)";
    check(change, Fault::PayloadChanged { number: 4 }).await;
    let no_text = "UPDATE payload SET body = CAST(x'ff' AS TEXT) WHERE hash = \
                   (SELECT payload_hash FROM event WHERE number = 1)";
    check(no_text, Fault::PayloadChanged { number: 1 }).await;

    let journal = Journal::with_events(4).await;
    let fourth = journal.store.stream("even", 1).await.unwrap().remove(0);
    journal.tamper(change).await;
    assert!(matches!(
        journal.store.stream("even", 1).await,
        Err(StoreError::EventAltered { number: 4, .. })
    ));
    assert!(matches!(
        journal.store.payload(&fourth.payload_hash).await,
        Err(StoreError::PayloadAltered(_))
    ));
}

#[tokio::test]
async fn a_removed_payload_is_found() {
    check(
        "DELETE FROM payload WHERE hash = (SELECT payload_hash FROM event WHERE number = 2)",
        Fault::PayloadRemoved { number: 2 },
    )
    .await;
}

#[tokio::test]
async fn removed_events_are_found() {
    let removed = |first, last| Fault::Removed { first, last };
    check("DELETE FROM event WHERE number IN (4, 5)", removed(4, 5)).await;
    check("DELETE FROM event WHERE number = 1", removed(1, 1)).await;
    check(
        "DELETE FROM event WHERE number = 4; \
         UPDATE event SET number = -number WHERE number > 4; \
         UPDATE event SET number = -number - 1 WHERE number < 0; \
         UPDATE journal SET number = 7",
        Fault::HeaderChanged { number: 4 },
    )
    .await;
}

#[tokio::test]
async fn inserted_events_are_found() {
    let insert = |number: i64| {
        format!(
            "INSERT INTO event SELECT {number}, 'evil', 1, kind, reported_by, time_ms, payload_hash, link \
             FROM event WHERE number = 2"
        )
    };
    for number in [0, -7, 9] {
        check(&insert(number), Fault::Inserted { number }).await;
    }
    let shift = "UPDATE event SET number = -number WHERE number > 3; \
                 UPDATE event SET number = 1 - number WHERE number < 0; \
                 UPDATE journal SET number = 9;";
    check(&format!("{shift} {}", insert(4)), Fault::Inserted { number: 4 }).await;
}

#[tokio::test]
async fn exchanged_events_are_found() {
    check(
        "UPDATE event SET number = -1 WHERE number = 3; \
         UPDATE event SET number = 3 WHERE number = 5; \
         UPDATE event SET number = 5 WHERE number = -1",
        Fault::HeaderChanged { number: 3 },
    )
    .await;
}

#[tokio::test]
async fn a_changed_head_row_or_definition_is_found() {
    let moved = Fault::HeadRowChanged { last: LAST };
    check("UPDATE journal SET number = 7", moved.clone()).await;
    check("UPDATE journal SET link = zeroblob(32)", moved.clone()).await;
    check("UPDATE journal SET link = x'01'", moved.clone()).await;
    check("DELETE FROM journal", moved).await;
    let changed = |name: &str| Fault::DefinitionChanged { name: name.to_owned() };
    check(
        "CREATE TRIGGER later AFTER INSERT ON event BEGIN \
         UPDATE space SET mode = 'agent'; END",
        changed("later"),
    )
    .await;
    check("DROP INDEX event_by_stream", changed("event_by_stream")).await;
}

#[tokio::test]
async fn links_recomputed_without_the_key_do_not_hold() {
    let journal = Journal::with_events(LAST).await;
    let body = r#"{"text":"forged"}"#;
    let hash = blake3::hash(body.as_bytes()).to_hex();
    let mut forgery = vec![format!("INSERT INTO payload VALUES (x'{hash}', '{body}')")];
    let mut previous = hash.to_string();
    for number in 5..=LAST {
        let link = blake3::hash(format!("{previous}{number}{hash}").as_bytes()).to_hex();
        forgery.push(format!("UPDATE event SET link = x'{link}' WHERE number = {number}"));
        previous = link.to_string();
    }
    forgery.push(format!(
        "UPDATE event SET payload_hash = x'{hash}' WHERE number = 5; \
         UPDATE journal SET link = x'{previous}'"
    ));
    journal.tamper(&forgery.join("; ")).await;
    let found = journal.store.verify(None).await.unwrap();
    assert_eq!(found.events, 4);
    assert_eq!(found.fault, Some(Fault::HeaderChanged { number: 5 }));
}

#[tokio::test]
async fn a_cut_tail_is_found_by_the_head_row_or_by_a_printed_head() {
    let cut = "DELETE FROM event WHERE number > 5";
    let expected = Fault::TailCut {
        last: 5,
        expected: LAST,
    };
    check(cut, expected.clone()).await;

    // With the head row moved back as well, only what was printed elsewhere can tell.
    let rewind = format!("{cut}; UPDATE journal SET number = 5, link = (SELECT link FROM event WHERE number = 5)");
    let journal = Journal::with_events(LAST).await;
    let printed = journal.store.head().await.unwrap().to_string();
    journal.tamper(&rewind).await;
    let printed: Head = printed.parse().unwrap();
    assert_eq!(journal.store.verify(None).await.unwrap().fault, None);
    let found = journal.store.verify(Some(&printed)).await.unwrap();
    assert_eq!(found.fault, Some(expected));

    // Growing over the cut does not hide it.
    for _ in 0..5 {
        append(&journal.store, event("odd", "noted", json!("another history"))).await;
    }
    let found = journal.store.verify(Some(&printed)).await.unwrap();
    assert_eq!(found.fault, Some(Fault::Rewritten { number: LAST }));
    assert_eq!(journal.store.verify(None).await.unwrap().fault, None);
}

#[tokio::test]
async fn an_older_head_still_holds_after_more_was_appended() {
    let journal = Journal::new().await;
    let empty = journal.store.head().await.unwrap();
    append(&journal.store, event("s", "k", json!(1))).await;
    let first = journal.store.head().await.unwrap();
    append(&journal.store, event("s", "k", json!(2))).await;
    for head in [empty, first] {
        assert_eq!(journal.store.verify(Some(&head)).await.unwrap().fault, None);
    }
}

#[tokio::test]
async fn a_journal_with_a_moved_head_is_not_extended() {
    for statement in [
        "DELETE FROM event WHERE number = 8",
        "UPDATE journal SET number = 3",
        "UPDATE journal SET link = zeroblob(32)",
        "DELETE FROM journal",
    ] {
        let journal = Journal::with_events(LAST).await;
        journal.tamper(statement).await;
        let mut writer = journal.store.begin(Durability::Normal).await.unwrap();
        let refusal = writer.append(event("odd", "noted", json!(0))).await;
        assert!(
            matches!(refusal, Err(StoreError::HeadMismatch)),
            "{statement}: {refusal:?}"
        );
    }
}

#[tokio::test]
async fn a_long_journal_is_walked_to_its_end() {
    let journal = Journal::with_events(1_300).await;
    journal.tamper("UPDATE event SET time_ms = 0 WHERE number = 1297").await;
    let found = journal.store.verify(None).await.unwrap();
    assert_eq!(found.events, 1_296);
    assert_eq!(found.fault, Some(Fault::HeaderChanged { number: 1_297 }));
}
