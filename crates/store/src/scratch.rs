//! Parts of answers that are still streaming in. They are no part of the journal: the transaction
//! that appends the whole answer clears them.

use sqlx::SqliteConnection;

use crate::error::StoreError;

/// Adds the next part.
pub(crate) async fn put(connection: &mut SqliteConnection, stream: &str, text: &str) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO scratch (stream, part, text) \
         SELECT $1, COALESCE(MAX(part), 0) + 1, $2 FROM scratch WHERE stream = $1",
    )
    .bind(stream)
    .bind(text)
    .execute(connection)
    .await?;
    Ok(())
}

/// All parts in order.
pub(crate) async fn get(connection: &mut SqliteConnection, stream: &str) -> Result<Vec<String>, StoreError> {
    Ok(
        sqlx::query_scalar("SELECT text FROM scratch WHERE stream = $1 ORDER BY part")
            .bind(stream)
            .fetch_all(connection)
            .await?,
    )
}

pub(crate) async fn clear(connection: &mut SqliteConnection, stream: &str) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM scratch WHERE stream = $1")
        .bind(stream)
        .execute(connection)
        .await?;
    Ok(())
}
