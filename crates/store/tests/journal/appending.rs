//! Events get their place in the journal and come back as they went in.

use serde_json::json;
use stance_store::{Durability, Head, NewEvent, Provenance, StoreError};

use crate::{Journal, append, event};

#[tokio::test]
async fn numbers_run_through_the_journal_and_versions_through_each_stream() {
    let journal = Journal::with_events(5).await;
    let events = journal.store.events_after(0, 100).await.unwrap();
    let places: Vec<_> = events
        .iter()
        .map(|event| (event.number, event.stream.as_str(), event.version))
        .collect();
    assert_eq!(
        places,
        [
            (1, "odd", 1),
            (2, "even", 1),
            (3, "odd", 2),
            (4, "even", 2),
            (5, "odd", 3)
        ]
    );

    let odd = journal.store.stream("odd", 1).await.unwrap();
    assert_eq!(odd, [events[2].clone(), events[4].clone()]);
    assert_eq!(journal.store.events_after(2, 2).await.unwrap(), events[2..4]);
    assert_eq!(journal.store.stream("unknown", 0).await.unwrap(), []);
}

#[tokio::test]
async fn an_event_comes_back_as_it_went_in() {
    let journal = Journal::new().await;
    let payload = json!({ "z": 1, "a": [null, true, 1.5, "é\u{0}\n\u{1F980}"], "big": u64::MAX });
    let new = NewEvent {
        stream: "run/ä'; DROP TABLE event; --".to_owned(),
        kind: "tool.finished".to_owned(),
        provenance: Provenance::ReportedBy("adapter".to_owned()),
        time_ms: -5,
        payload: payload.clone(),
    };
    let appended = append(&journal.store, new.clone()).await;
    assert_eq!(appended.payload.as_ref(), Some(&payload));
    assert_eq!(appended.provenance, new.provenance);
    assert_eq!(appended.time_ms, -5);

    let read = journal.store.stream(&new.stream, 0).await.unwrap();
    assert_eq!(read, std::slice::from_ref(&appended));
    // The order of keys is the caller's, not the alphabet's.
    assert_eq!(
        serde_json::to_string(&read[0].payload).unwrap(),
        serde_json::to_string(&payload).unwrap()
    );
    let stored = journal.store.payload(&appended.payload_hash).await.unwrap();
    assert_eq!(stored, Some(payload));
    assert_eq!(journal.store.payload("no hash").await.unwrap(), None);
}

#[tokio::test]
async fn nothing_is_seen_before_the_commit_or_left_after_a_drop() {
    let journal = Journal::with_events(2).await;
    let before = journal.store.head().await.unwrap();

    let mut writer = journal.store.begin(Durability::Normal).await.unwrap();
    let third = writer.append(event("odd", "noted", json!("lost"))).await.unwrap();
    assert_eq!(third.number, 3);
    assert_eq!(writer.head().await.unwrap().number, 3);
    assert_eq!(writer.stream("odd", 1).await.unwrap(), std::slice::from_ref(&third));
    assert_eq!(journal.store.head().await.unwrap(), before);
    drop(writer);

    let fourth = append(&journal.store, event("odd", "noted", json!("kept"))).await;
    assert_eq!((fourth.number, fourth.version), (3, 2));
    assert_ne!(fourth.link, third.link);
    assert_eq!(journal.store.payload(&third.payload_hash).await.unwrap(), None);

    let mut writer = journal.store.begin(Durability::Normal).await.unwrap();
    writer.append(event("odd", "noted", json!("undone"))).await.unwrap();
    writer.rollback().await.unwrap();
    assert_eq!(journal.store.head().await.unwrap().number, 3);
    assert_eq!(journal.store.verify(None).await.unwrap().fault, None);
}

#[tokio::test]
async fn an_append_that_expects_another_version_is_refused_and_harmless() {
    let journal = Journal::with_events(3).await;
    let mut writer = journal.store.begin(Durability::Full).await.unwrap();
    let late = writer.append_expecting(1, event("odd", "noted", json!(1))).await;
    assert!(matches!(
        late,
        Err(StoreError::VersionConflict {
            expected: 1,
            actual: 2,
            ..
        })
    ));
    let good = writer
        .append_expecting(2, event("odd", "noted", json!(2)))
        .await
        .unwrap();
    let first = writer
        .append_expecting(0, event("new", "noted", json!(3)))
        .await
        .unwrap();
    writer.commit().await.unwrap();
    assert_eq!((good.number, good.version), (4, 3));
    assert_eq!((first.number, first.version), (5, 1));
}

#[tokio::test]
async fn the_head_is_the_last_event_and_survives_being_printed() {
    let journal = Journal::new().await;
    assert_eq!(journal.store.head().await.unwrap().number, 0);
    let last = append(&journal.store, event("s", "k", json!({}))).await;
    let head = journal.store.head().await.unwrap();
    assert_eq!(head.to_string(), format!("1:{}", last.link));
    assert_eq!(head.to_string().parse::<Head>().unwrap(), head);
    assert_eq!(last.link.len(), 64);
    for text in ["", "1", "1:", "x:00", "1:zz", &format!("-1:{}", last.link)] {
        assert!(
            matches!(text.parse::<Head>(), Err(StoreError::MalformedHead(_))),
            "{text}"
        );
    }
}

#[tokio::test]
async fn equal_payloads_are_stored_once_and_read_twice() {
    let journal = Journal::new().await;
    let first = append(&journal.store, event("a", "k", json!({ "same": 1 }))).await;
    let second = append(&journal.store, event("b", "k", json!({ "same": 1 }))).await;
    assert_eq!(first.payload_hash, second.payload_hash);
    assert_ne!(first.link, second.link);
    let events = journal.store.events_after(0, 9).await.unwrap();
    assert_eq!(events[1].payload, Some(json!({ "same": 1 })));
    // The hash alone does not betray a short payload.
    let plain = blake3::hash(br#"{"same":1}"#).to_hex();
    assert_ne!(first.payload_hash, plain.as_str());
}

#[tokio::test]
async fn streamed_parts_go_in_the_transaction_that_appends_the_answer() {
    let journal = Journal::new().await;
    let store = &journal.store;
    store.scratch_put("run/1", "Hel").await.unwrap();
    store.scratch_put("run/2", "other").await.unwrap();
    store.scratch_put("run/1", "lo").await.unwrap();
    assert_eq!(store.scratch_get("run/1").await.unwrap(), ["Hel", "lo"]);

    let mut writer = store.begin(Durability::Normal).await.unwrap();
    writer.append(event("run/1", "response", json!("Hello"))).await.unwrap();
    writer.scratch_clear("run/1").await.unwrap();
    assert_eq!(store.scratch_get("run/1").await.unwrap(), ["Hel", "lo"]);
    writer.commit().await.unwrap();

    assert!(store.scratch_get("run/1").await.unwrap().is_empty());
    assert_eq!(store.scratch_get("run/2").await.unwrap(), ["other"]);
    assert_eq!(store.head().await.unwrap().number, 1);
}
