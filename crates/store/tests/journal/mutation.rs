//! The law of the journal: whatever single stored field is changed in whatever way, it is found.

use std::path::PathBuf;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};
use stance_store::{Fault, NewEvent, Provenance, Store};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{append, event, key, raw};

const EVENTS: i64 = 6;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// A closed journal file to be copied.
static ORIGINAL: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    RUNTIME.block_on(async {
        let store = Store::open(&path, key()).await.unwrap();
        for number in 1..=EVENTS {
            let new = event("stream", "kind", json!({ "number": number }));
            let provenance = Provenance::ReportedBy("adapter".to_owned());
            append(&store, NewEvent { provenance, ..new }).await;
        }
        store.close().await.unwrap();
    });
    (folder, path)
});

/// Which stored field to change.
#[derive(Clone, Copy, Debug)]
enum Field {
    Integer(&'static str),
    Text(&'static str),
    Blob(&'static str),
    Payload,
}

fn fields() -> impl Strategy<Value = Field> {
    prop_oneof![
        Just(Field::Integer("number")),
        Just(Field::Integer("version")),
        Just(Field::Integer("time_ms")),
        Just(Field::Text("stream")),
        Just(Field::Text("kind")),
        Just(Field::Text("reported_by")),
        Just(Field::Blob("payload_hash")),
        Just(Field::Blob("link")),
        Just(Field::Payload),
    ]
}

/// Changes bytes of one field of one event; `false` when the database itself refuses the change.
async fn mutate(connection: &mut SqliteConnection, number: i64, field: Field, place: usize, mask: u8) -> bool {
    let (table, column, of_event) = match field {
        Field::Integer(column) | Field::Text(column) | Field::Blob(column) => ("event", column, "number = $1"),
        Field::Payload => (
            "payload",
            "body",
            "hash = (SELECT payload_hash FROM event WHERE number = $1)",
        ),
    };
    let select = format!("SELECT CAST({column} AS BLOB), {column} FROM {table} WHERE {of_event}");
    let row = sqlx::query(AssertSqlSafe(select))
        .bind(number)
        .fetch_one(&mut *connection)
        .await
        .unwrap();
    let update = |value: &str| AssertSqlSafe(format!("UPDATE {table} SET {column} = {value} WHERE {of_event}"));
    let done = if let Field::Integer(_) = field {
        let stored: i64 = row.get(1);
        let changed = stored ^ (i64::from(mask) << (8 * (place % 8)));
        sqlx::query(update("$2"))
            .bind(number)
            .bind(changed)
            .execute(connection)
            .await
    } else {
        let mut bytes: Vec<u8> = row.get(0);
        let place = place % bytes.len();
        bytes[place] ^= mask;
        let value = match field {
            Field::Blob(_) => "$2",
            _ => "CAST($2 AS TEXT)",
        };
        sqlx::query(update(value))
            .bind(number)
            .bind(bytes)
            .execute(connection)
            .await
    };
    done.is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn any_change_of_any_byte_of_an_event_is_found(
        number in 1..=EVENTS,
        field in fields(),
        place in 0_usize..64,
        mask in 1_u8..,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        std::fs::copy(&ORIGINAL.1, &path).unwrap();
        let (changed, verification) = RUNTIME.block_on(async {
            let mut connection = raw(&path).await;
            let changed = mutate(&mut connection, number, field, place, mask).await;
            connection.close().await.unwrap();
            let store = Store::open(&path, key()).await.unwrap();
            (changed, store.verify(None).await.unwrap())
        });
        if !changed {
            prop_assert_eq!(verification.fault, None);
            return Ok(());
        }
        let number = number.unsigned_abs();
        let expected = match field {
            Field::Integer("number") => {
                prop_assert!(verification.fault.is_some());
                return Ok(());
            }
            Field::Payload => Fault::PayloadChanged { number },
            _ => Fault::HeaderChanged { number },
        };
        prop_assert_eq!(verification.fault, Some(expected));
        prop_assert_eq!(verification.events, number - 1);
    }
}
