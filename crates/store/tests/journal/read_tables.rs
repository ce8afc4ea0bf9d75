//! Rows of the read tables, and that no name can smuggle a statement in.

use serde_json::json;
use sqlx::Row as _;
use stance_store::{Cell, Durability, Query, Row, StoreError, Table};

use crate::{Journal, event, raw};

fn run(id: &str, space: &str, status: &str, created_ms: i64) -> Row {
    Row::new(id)
        .with("space", space)
        .with("status", status)
        .with("created_ms", created_ms)
        .with_body(json!({ "label": id }))
}

async fn put_all(journal: &Journal, table: Table, rows: &[Row]) {
    let mut writer = journal.store.begin(Durability::Normal).await.unwrap();
    for row in rows {
        writer.put(table, row).await.unwrap();
    }
    writer.commit().await.unwrap();
}

#[tokio::test]
async fn a_row_is_put_replaced_whole_found_and_deleted() {
    let journal = Journal::new().await;
    let first = run("r1", "s1", "running", 10).with("parent", "r0");
    put_all(&journal, Table::Run, std::slice::from_ref(&first)).await;
    let read = journal.store.get(Table::Run, "r1").await.unwrap().unwrap();
    assert_eq!(read, first);
    assert_eq!(read.text("status"), Some("running"));
    assert_eq!(read.integer("created_ms"), Some(10));
    assert_eq!(read.cell("thread"), &Cell::Null);

    let replaced = run("r1", "s1", "completed", 10);
    put_all(&journal, Table::Run, std::slice::from_ref(&replaced)).await;
    let read = journal.store.get(Table::Run, "r1").await.unwrap().unwrap();
    assert_eq!(read, replaced);
    assert_eq!(read.text("parent"), None);

    let mut writer = journal.store.begin(Durability::Normal).await.unwrap();
    assert!(writer.delete(Table::Run, "r1").await.unwrap());
    assert!(!writer.delete(Table::Run, "r1").await.unwrap());
    assert_eq!(writer.get(Table::Run, "r1").await.unwrap(), None);
    assert!(journal.store.get(Table::Run, "r1").await.unwrap().is_some());
    writer.commit().await.unwrap();
    assert_eq!(journal.store.get(Table::Run, "r1").await.unwrap(), None);
}

async fn check(journal: &Journal, query: Query, expect: &[&str]) {
    let found = journal.store.find(&query).await.unwrap();
    let ids: Vec<_> = found.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, expect, "{query:?}");
}

#[tokio::test]
async fn a_query_filters_orders_and_limits() {
    let journal = Journal::new().await;
    let rows = [
        run("late", "s1", "running", 30),
        run("early", "s1", "running", 10),
        run("other", "s2", "running", 20),
        run("done", "s1", "completed", 40).with("parent", "early"),
        run("same-a", "s1", "running", 50),
        run("same-b", "s1", "running", 50),
    ];
    put_all(&journal, Table::Run, &rows).await;
    let all = Query::all(Table::Run);
    check(
        &journal,
        all.clone(),
        &["early", "other", "late", "done", "same-a", "same-b"],
    )
    .await;
    check(
        &journal,
        all.clone().newest_first().limit(3),
        &["same-b", "same-a", "done"],
    )
    .await;
    let busy = all.clone().having("space", "s1").having("status", "running");
    check(&journal, busy, &["early", "late", "same-a", "same-b"]).await;
    check(&journal, all.clone().having("parent", "early"), &["done"]).await;
    check(
        &journal,
        all.clone().having("parent", None::<&str>).having("space", "s2"),
        &["other"],
    )
    .await;
    check(&journal, all.clone().having("created_ms", 50_i64).limit(1), &["same-a"]).await;
    check(&journal, all.clone().having("id", "late"), &["late"]).await;
    check(&journal, all.having("space", "s1' OR '1'='1"), &[]).await;
}

#[tokio::test]
async fn a_table_without_times_keeps_the_order_of_first_putting() {
    let journal = Journal::new().await;
    let step = |id: &str, status: &str| {
        Row::new(id)
            .with("orchestration", "o")
            .with("key", id)
            .with("status", status)
    };
    let rows = [
        step("c", "waiting"),
        step("a", "waiting"),
        step("b", "waiting"),
        step("a", "done"),
    ];
    put_all(&journal, Table::Step, &rows).await;
    let found = journal.store.find(&Query::all(Table::Step)).await.unwrap();
    let seen: Vec<_> = found
        .iter()
        .map(|row| (row.id.as_str(), row.text("status").unwrap()))
        .collect();
    assert_eq!(seen, [("c", "waiting"), ("a", "done"), ("b", "waiting")]);
}

#[tokio::test]
async fn a_name_that_is_not_declared_or_a_value_that_does_not_fit_is_refused() {
    let journal = Journal::new().await;
    let good = run("r", "s", "running", 1);
    let misfits = [
        good.clone().with("colour", "red"),
        good.clone().with("status = 'x'; DROP TABLE run; --", "red"),
        good.clone().with("body", "{}"),
        good.clone().with("status", 1_i64),
        good.clone().with("created_ms", "now"),
        good.clone().with("status", Cell::Null),
    ];
    let mut writer = journal.store.begin(Durability::Normal).await.unwrap();
    for row in &misfits {
        let refusal = writer.put(Table::Run, row).await;
        assert!(
            matches!(refusal, Err(StoreError::Column { table: "run", .. })),
            "{row:?}"
        );
    }
    writer.put(Table::Run, &good).await.unwrap();
    writer.commit().await.unwrap();

    for name in ["colour", "1=1 OR status", "status; DROP TABLE run", "ID", ""] {
        let query = Query::all(Table::Run).having(name, "x");
        let refusal = journal.store.find(&query).await;
        assert!(matches!(refusal, Err(StoreError::Column { .. })), "{name}");
    }
    assert_eq!(journal.store.get(Table::Run, "r").await.unwrap(), Some(good));
}

#[tokio::test]
async fn every_table_has_the_columns_it_declares() {
    let journal = Journal::new().await;
    let mut connection = raw(&journal.path).await;
    for table in Table::ALL {
        let found: Vec<_> = sqlx::query("SELECT name, type, \"notnull\" FROM pragma_table_info($1)")
            .bind(table.name())
            .fetch_all(&mut connection)
            .await
            .unwrap()
            .iter()
            .map(|row| (row.get::<String, _>(0), row.get::<String, _>(1), row.get::<bool, _>(2)))
            .collect();
        let mut declared = vec![("id".to_owned(), "TEXT".to_owned(), true)];
        declared.extend(table.columns().iter().map(|column| {
            (
                column.name.to_owned(),
                format!("{:?}", column.kind).to_uppercase(),
                column.required,
            )
        }));
        declared.push(("body".to_owned(), "TEXT".to_owned(), true));
        assert_eq!(found, declared, "{}", table.name());
    }
}

#[tokio::test]
async fn read_tables_are_cleared_and_refilled_in_one_transaction() {
    let journal = Journal::with_events(2).await;
    let space = Row::new("s1")
        .with("mode", "plan")
        .with("current", true)
        .with("created_ms", 5_i64);
    put_all(&journal, Table::Space, std::slice::from_ref(&space)).await;
    put_all(&journal, Table::Run, &[run("r1", "s1", "running", 6)]).await;
    let before = journal.store.find(&Query::all(Table::Run)).await.unwrap();

    let mut writer = journal.store.begin(Durability::Normal).await.unwrap();
    writer.clear_read_tables().await.unwrap();
    for table in Table::ALL {
        assert_eq!(writer.find(&Query::all(table)).await.unwrap(), []);
    }
    assert_eq!(writer.events_after(0, 10).await.unwrap().len(), 2);
    writer.put(Table::Run, &run("r1", "s1", "running", 6)).await.unwrap();
    writer.append(event("odd", "refolded", json!({}))).await.unwrap();
    writer.commit().await.unwrap();

    assert_eq!(journal.store.find(&Query::all(Table::Run)).await.unwrap(), before);
    assert_eq!(journal.store.get(Table::Space, "s1").await.unwrap(), None);
}

#[tokio::test]
async fn an_operator_can_read_and_change_a_column_with_any_tool() {
    let journal = Journal::new().await;
    let space = Row::new("s1")
        .with("mode", "plan")
        .with("current", true)
        .with("created_ms", 5_i64);
    put_all(&journal, Table::Space, &[space]).await;
    journal.tamper("UPDATE space SET mode = 'PLAN'").await;
    let read = journal.store.get(Table::Space, "s1").await.unwrap().unwrap();
    assert_eq!(read.text("mode"), Some("PLAN"));
    assert!(read.flag("current"));

    journal.tamper("UPDATE space SET body = '{'").await;
    let unreadable = journal.store.get(Table::Space, "s1").await;
    assert!(matches!(
        unreadable,
        Err(StoreError::UnreadableRow { table: "space", ref id, .. }) if id == "s1"
    ));
}
