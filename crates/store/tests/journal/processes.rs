//! Several processes on one file. The test binary starts itself again as the other process.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::json;
use stance_store::{Durability, Query, Row, Store, Table};

use crate::{event, key};

const FILE: &str = "STANCE_TEST_JOURNAL";
const PART: &str = "STANCE_TEST_PART";

/// Starts this binary again to run one test, which finds its part in the environment.
pub(crate) fn start(test: &str, file: &Path, part: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(FILE, file)
        .env(PART, part)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// The part this process was started to play.
pub(crate) fn part() -> Option<(std::path::PathBuf, String)> {
    let file = std::env::var_os(FILE)?;
    Some((file.into(), std::env::var(PART).ok()?))
}

pub(crate) fn end(mut child: Child) -> ExitStatus {
    child.wait().unwrap()
}

const TRANSACTIONS: u64 = 40;
const WRITERS: [&str; 4] = ["a", "b", "c", "d"];

/// Each transaction appends two events and counts on its row, which only holds if nothing is lost.
async fn write(store: &Store, name: &str) {
    for turn in 1..=TRANSACTIONS {
        let mut writer = store.begin(Durability::Normal).await.unwrap();
        let counter = writer.get(Table::Thread, "shared").await.unwrap();
        let count = counter.map_or(0, |row| row.integer("created_ms").unwrap());
        let row = Row::new("shared").with("created_ms", count + 1);
        writer.put(Table::Thread, &row).await.unwrap();
        for step in ["first", "second"] {
            let payload = json!({ "writer": name, "turn": turn, "step": step });
            writer.append(event(name, "written", payload)).await.unwrap();
        }
        writer.commit().await.unwrap();
    }
}

#[tokio::test]
async fn processes_and_handles_that_write_at_once_lose_nothing() {
    const THIS: &str = "processes::processes_and_handles_that_write_at_once_lose_nothing";
    if let Some((path, name)) = part() {
        let store = Store::open(&path, key()).await.unwrap();
        write(&store, &name).await;
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let children = [WRITERS[0], WRITERS[1]].map(|name| start(THIS, &path, name));
    let (one, other) = tokio::join!(Store::open(&path, key()), Store::open(&path, key()));
    let (one, other) = (one.unwrap(), other.unwrap());
    tokio::join!(write(&one, WRITERS[2]), write(&other, WRITERS[3]));
    for child in children {
        assert!(end(child).success());
    }

    let total = TRANSACTIONS * 2 * WRITERS.len() as u64;
    let events = one.events_after(0, u32::MAX).await.unwrap();
    let numbers: Vec<_> = events.iter().map(|event| event.number).collect();
    assert_eq!(numbers, (1..=total).collect::<Vec<_>>());
    for pair in events.chunks(2) {
        assert_eq!(pair[0].stream, pair[1].stream, "a transaction was torn");
    }
    for name in WRITERS {
        let stream = one.stream(name, 0).await.unwrap();
        let versions: Vec<_> = stream.iter().map(|event| event.version).collect();
        assert_eq!(versions, (1..=TRANSACTIONS * 2).collect::<Vec<_>>());
        for (turn, pair) in (1..).zip(stream.chunks(2)) {
            let expected = |step| Some(json!({ "writer": name, "turn": turn, "step": step }));
            assert_eq!(pair[0].payload, expected("first"));
            assert_eq!(pair[1].payload, expected("second"));
        }
    }
    let counter = &one.find(&Query::all(Table::Thread)).await.unwrap()[0];
    let count = i64::try_from(TRANSACTIONS * WRITERS.len() as u64).unwrap();
    assert_eq!(counter.integer("created_ms"), Some(count));
    let verification = other.verify(None).await.unwrap();
    assert_eq!((verification.events, verification.fault), (total, None));
}
