//! A process that is killed around a commit: what was acknowledged is there, nothing else is.

use std::os::unix::process::ExitStatusExt as _;

use serde_json::json;
use stance_store::{Durability, FaultMoment, FaultPoint, Row, Store, Table};

use crate::processes::{end, part, start};
use crate::{append, event, key};

const SIGKILL: i32 = 9;
const THIS: &str = "kill_points::a_kill_leaves_whole_transactions";

/// Three transactions of an `asked` and a `done` event with a row, an effect after each.
async fn work(store: &Store, point: FaultPoint) {
    let path = store.path().to_owned();
    store.arm_fault(point);
    for turn in 1..=3_i64 {
        let mut writer = store.begin(Durability::Normal).await.unwrap();
        writer.append(event("run", "asked", json!(turn))).await.unwrap();
        writer.append(event("run", "done", json!(turn))).await.unwrap();
        let row = Row::new("run").with("created_ms", turn);
        writer.put(Table::Thread, &row).await.unwrap();
        writer.commit().await.unwrap();
        store.fault_between("done");
        std::fs::write(path.with_extension("effect"), turn.to_string()).unwrap();
    }
}

fn point(part: &str) -> FaultPoint {
    let (when, occurrence) = part.split_once(' ').unwrap();
    FaultPoint {
        kind: "done".to_owned(),
        when: match when {
            "before" => FaultMoment::BeforeCommit,
            "after" => FaultMoment::AfterCommit,
            _ => FaultMoment::BeforeEffect,
        },
        occurrence: occurrence.parse().unwrap(),
    }
}

/// Transactions and effects left behind by a process killed there; `None` when it lived.
async fn check(part: &str, expect: Option<(u64, u64)>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let status = end(start(THIS, &path, part));
    match expect {
        Some(_) => assert_eq!(status.signal(), Some(SIGKILL), "{part}"),
        None => assert!(status.success(), "{part}"),
    }
    let (transactions, effects) = expect.unwrap_or((3, 3));

    let store = Store::open(&path, key()).await.unwrap();
    let verification = store.verify(None).await.unwrap();
    assert_eq!(verification.fault, None, "{part}");
    assert_eq!(verification.events, transactions * 2, "{part}");
    let row = store.get(Table::Thread, "run").await.unwrap();
    let turn = row.map_or(0, |row| row.integer("created_ms").unwrap());
    assert_eq!(turn.unsigned_abs(), transactions, "{part}");
    let effect = std::fs::read_to_string(path.with_extension("effect"));
    assert_eq!(effect.map_or(0, |text| text.parse().unwrap()), effects, "{part}");
    let next = append(&store, event("run", "asked", json!("again"))).await;
    assert_eq!(next.number, transactions * 2 + 1, "{part}");
}

#[tokio::test]
async fn a_kill_leaves_whole_transactions() {
    if let Some((path, part)) = part() {
        let store = Store::open(&path, key()).await.unwrap();
        work(&store, point(&part)).await;
        return;
    }
    check("before 1", Some((0, 0))).await;
    check("before 2", Some((1, 1))).await;
    check("after 1", Some((1, 0))).await;
    check("after 3", Some((3, 2))).await;
    check("between 2", Some((2, 1))).await;
    check("before 4", None).await;
}
