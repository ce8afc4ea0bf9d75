//! Moving a file forward through formats, with one more than there is yet.

use sqlx::sqlite::SqliteConnectOptions;

use super::*;

async fn empty() -> SqliteConnection {
    SqliteConnectOptions::new().in_memory(true).connect().await.unwrap()
}

async fn format(connection: &mut SqliteConnection) -> i64 {
    sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(connection)
        .await
        .unwrap()
}

#[tokio::test]
async fn each_format_is_applied_once_in_order_and_content_stays() {
    let path = Path::new("journal.db");
    let formats = [
        MIGRATIONS[0],
        "ALTER TABLE lease ADD COLUMN note TEXT; UPDATE lease SET note = name",
        "CREATE TABLE later (id TEXT PRIMARY KEY) STRICT; INSERT INTO later SELECT note FROM lease",
    ];
    let mut connection = empty().await;
    migrate(&mut connection, path, &formats[..1]).await.unwrap();
    assert_eq!(format(&mut connection).await, 1);
    sqlx::raw_sql("INSERT INTO lease (name, epoch) VALUES ('kept', 3)")
        .execute(&mut connection)
        .await
        .unwrap();

    for _ in 0..2 {
        migrate(&mut connection, path, &formats).await.unwrap();
        assert_eq!(format(&mut connection).await, 3);
    }
    let carried: Vec<String> = sqlx::query_scalar("SELECT id FROM later")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    assert_eq!(carried, ["kept"]);

    let older = migrate(&mut connection, path, &formats[..2]).await;
    assert!(matches!(older, Err(StoreError::Newer { found: 3, known: 2, .. })));
}

#[tokio::test]
async fn a_format_that_fails_is_undone_with_the_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    std::fs::write(&path, "").unwrap();
    let mut connection = connect(&path, Duration::ZERO).await.unwrap();
    begin(&mut connection, Durability::Full).await.unwrap();
    let formats = [MIGRATIONS[0], "CREATE TABLE half (id TEXT); SELECT nonsense"];
    assert!(migrate(&mut connection, &path, &formats).await.is_err());
    rollback(&mut connection).await.unwrap();
    assert!(matches!(shape(&mut connection).await, Ok(Shape::Empty)));
}
