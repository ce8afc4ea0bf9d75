//! The database of a place as it lies on the disk, for what no command prints: which events were
//! appended, and what becomes of a stored value that nobody would write.

use std::path::PathBuf;

use serde_json::Value;
use sqlx::{Connection as _, Row as _, SqliteConnection};

use crate::support::Place;

/// One event as it is stored.
#[derive(Debug)]
pub(crate) struct Happened {
    pub(crate) stream: String,
    pub(crate) kind: String,
    pub(crate) details: Value,
}

impl Place {
    /// Every event of the workspace, in order.
    pub(crate) fn journal(&self) -> Vec<Happened> {
        on_database(self, async |database| {
            let rows = sqlx::query(
                "SELECT event.stream, event.kind, payload.body FROM event \
                 JOIN payload ON payload.hash = event.payload_hash ORDER BY event.number",
            )
            .fetch_all(database)
            .await
            .unwrap();
            rows.iter()
                .map(|row| Happened {
                    stream: row.get(0),
                    kind: row.get(1),
                    details: serde_json::from_str(row.get(2)).unwrap(),
                })
                .collect()
        })
    }

    /// The details of the events of one kind in one stream, in order.
    pub(crate) fn happened(&self, stream: &str, kind: &str) -> Vec<Value> {
        let mut journal = self.journal();
        journal.retain(|event| event.stream == stream && event.kind == kind);
        journal.into_iter().map(|event| event.details).collect()
    }

    /// The mode that every request of a run stated, in order.
    pub(crate) fn modes_requested(&self, run: &str) -> Vec<String> {
        let requests = self.happened(&format!("run/{run}"), "requested");
        requests
            .iter()
            .map(|request| request["mode"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Every result a call of a tool got in a run: whether it is an error, and its words.
    pub(crate) fn results(&self, run: &str, tool: &str) -> Vec<(bool, String)> {
        let mut results = self.happened(&format!("run/{run}"), "tool_finished");
        results.retain(|result| result["tool"] == tool);
        results
            .iter()
            .map(|finished| {
                let result = &finished["result"];
                let words = result["content"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter_map(|part| part["text"].as_str());
                (
                    result["is_error"].as_bool().unwrap(),
                    words.collect::<Vec<_>>().join("\n"),
                )
            })
            .collect()
    }

    /// Stores a mode word as no version of the program would.
    pub(crate) fn corrupt_mode(&self, space: &str, word: &str) {
        on_database(self, async |database| {
            let done = sqlx::query("UPDATE space SET mode = $1 WHERE id = $2")
                .bind(word)
                .bind(space);
            assert_eq!(done.execute(database).await.unwrap().rows_affected(), 1);
        });
    }
}

/// The one database of the place's one workspace.
fn file(place: &Place) -> PathBuf {
    let workspaces = std::fs::read_dir(place.stance_home().join("workspaces")).unwrap();
    let mut found = workspaces
        .map(|entry| entry.unwrap().path().join("journal.db"))
        .filter(|file| file.is_file());
    let file = found.next().unwrap();
    assert_eq!(found.next(), None);
    file
}

fn on_database<T>(place: &Place, act: impl AsyncFnOnce(&mut SqliteConnection) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let address = format!("sqlite://{}", file(place).display());
        let mut database = SqliteConnection::connect(&address).await.unwrap();
        let come = act(&mut database).await;
        database.close().await.unwrap();
        come
    })
}
