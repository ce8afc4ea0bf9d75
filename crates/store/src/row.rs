//! Rows of the read tables: what they look like to a caller and how they are written and found.
//! Table and column names in a statement come from the declared lists only, values are always bound.

use std::collections::BTreeMap;
use std::iter;

use serde_json::{Map, Value};
use sqlx::query::Query as Statement;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{AssertSqlSafe, Row as _, Sqlite, SqliteConnection};

use crate::error::StoreError;
use crate::sqlite::INSERTION_ORDER;
use crate::table::{CellKind, Table};

/// The content of one column of one row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// Nothing.
    Null,
    /// UTF-8 text.
    Text(String),
    /// A signed integer; a flag is 0 or 1.
    Integer(i64),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<bool> for Cell {
    fn from(flag: bool) -> Self {
        Self::Integer(flag.into())
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(content: Option<T>) -> Self {
        content.map_or(Self::Null, Into::into)
    }
}

/// One row of a read table. A column that is not set is null.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The key of the row in its table.
    pub id: String,
    /// Everything that has no column of its own.
    pub body: Value,
    columns: BTreeMap<String, Cell>,
}

impl Row {
    /// A row with no column set and an empty object as its body.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            body: Value::Object(Map::new()),
            columns: BTreeMap::new(),
        }
    }

    /// The same row with a column set. Names are checked when the row is put.
    #[must_use]
    pub fn with(mut self, column: &str, content: impl Into<Cell>) -> Self {
        self.set(column, content);
        self
    }

    /// The same row with another body.
    #[must_use]
    pub fn with_body(mut self, body: Value) -> Self {
        self.body = body;
        self
    }

    /// Sets a column; null clears it. Names are checked when the row is put.
    pub fn set(&mut self, column: &str, content: impl Into<Cell>) {
        match content.into() {
            Cell::Null => self.columns.remove(column),
            content => self.columns.insert(column.to_owned(), content),
        };
    }

    /// The content of a column; null when it is not set.
    pub fn cell(&self, column: &str) -> &Cell {
        self.columns.get(column).unwrap_or(&Cell::Null)
    }

    /// The text in a column, if it holds one.
    pub fn text(&self, column: &str) -> Option<&str> {
        match self.cell(column) {
            Cell::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The integer in a column, if it holds one.
    pub fn integer(&self, column: &str) -> Option<i64> {
        match self.cell(column) {
            Cell::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// Whether a column holds an integer that is not 0.
    pub fn flag(&self, column: &str) -> bool {
        self.integer(column).is_some_and(|number| number != 0)
    }
}

/// Which rows of one table are wanted: all whose columns equal the given contents, by `created_ms`
/// where the table has it, then in the order they were first put.
#[derive(Clone, Debug)]
pub struct Query {
    table: Table,
    equals: Vec<(String, Cell)>,
    newest_first: bool,
    limit: Option<u32>,
}

impl Query {
    /// All rows of a table.
    pub fn all(table: Table) -> Self {
        Self {
            table,
            equals: Vec::new(),
            newest_first: false,
            limit: None,
        }
    }

    /// Only rows where the column (or `id`) holds this; null finds rows where it is not set.
    #[must_use]
    pub fn having(mut self, column: &str, content: impl Into<Cell>) -> Self {
        self.equals.push((column.to_owned(), content.into()));
        self
    }

    /// The same order backwards.
    #[must_use]
    pub fn newest_first(mut self) -> Self {
        self.newest_first = true;
        self
    }

    /// At most so many rows.
    #[must_use]
    pub fn limit(mut self, rows: u32) -> Self {
        self.limit = Some(rows);
        self
    }

    fn statement(&self) -> Result<String, StoreError> {
        let mut conditions = Vec::new();
        let mut place = 0;
        for (name, content) in &self.equals {
            let name = declared(self.table, name)?;
            conditions.push(if *content == Cell::Null {
                format!("{name} IS NULL")
            } else {
                place += 1;
                format!("{name} = ${place}")
            });
        }
        let direction = if self.newest_first { "DESC" } else { "ASC" };
        let order = match self.table.column("created_ms") {
            Some(created) => format!("{} {direction}, {INSERTION_ORDER}", created.name),
            None => INSERTION_ORDER.to_owned(),
        };
        let selection = selection(self.table);
        let filter = if conditions.is_empty() {
            String::new()
        } else {
            format!("WHERE {}", conditions.join(" AND "))
        };
        let limit = self.limit.map_or(i64::MAX, i64::from);
        Ok(format!(
            "{selection} {filter} ORDER BY {order} {direction} LIMIT {limit}"
        ))
    }
}

fn selection(table: Table) -> String {
    let names = names(table).join(", ");
    format!("SELECT {names} FROM {}", table.name())
}

/// All columns in the order of the statements: the key, the declared ones, the body.
fn names(table: Table) -> Vec<&'static str> {
    let declared = table.columns().iter().map(|column| column.name);
    iter::once("id").chain(declared).chain(["body"]).collect()
}

/// The declared spelling of a column that may stand in a condition.
fn declared(table: Table, name: &str) -> Result<&'static str, StoreError> {
    if name == "id" {
        return Ok("id");
    }
    let column = table.column(name).ok_or_else(|| StoreError::Column {
        table: table.name(),
        column: name.to_owned(),
        problem: "the table has no such column",
    })?;
    Ok(column.name)
}

fn bind<'q>(
    statement: Statement<'q, Sqlite, SqliteArguments>,
    content: &'q Cell,
) -> Statement<'q, Sqlite, SqliteArguments> {
    match content {
        Cell::Null => statement.bind(None::<&str>),
        Cell::Text(text) => statement.bind(text.as_str()),
        Cell::Integer(number) => statement.bind(number),
    }
}

fn read(table: Table, stored: &SqliteRow) -> Result<Row, StoreError> {
    let id: String = stored.try_get("id")?;
    let body: String = stored.try_get("body")?;
    let body = serde_json::from_str(&body).map_err(|problem| StoreError::UnreadableRow {
        table: table.name(),
        id: id.clone(),
        problem: problem.to_string(),
    })?;
    let mut row = Row::new(id).with_body(body);
    for column in table.columns() {
        match column.kind {
            CellKind::Text => row.set(column.name, stored.try_get::<Option<String>, _>(column.name)?),
            CellKind::Integer => row.set(column.name, stored.try_get::<Option<i64>, _>(column.name)?),
        }
    }
    Ok(row)
}

pub(crate) async fn get(connection: &mut SqliteConnection, table: Table, id: &str) -> Result<Option<Row>, StoreError> {
    let statement = format!("{} WHERE id = $1", selection(table));
    let stored = sqlx::query(AssertSqlSafe(statement))
        .bind(id)
        .fetch_optional(connection)
        .await?;
    stored.map(|stored| read(table, &stored)).transpose()
}

pub(crate) async fn find(connection: &mut SqliteConnection, query: &Query) -> Result<Vec<Row>, StoreError> {
    let mut statement = sqlx::query(AssertSqlSafe(query.statement()?));
    for (_, content) in &query.equals {
        if *content != Cell::Null {
            statement = bind(statement, content);
        }
    }
    let stored = statement.fetch_all(connection).await?;
    stored.iter().map(|stored| read(query.table, stored)).collect()
}

/// Inserts the row or replaces the whole row of that id.
pub(crate) async fn put(connection: &mut SqliteConnection, table: Table, row: &Row) -> Result<(), StoreError> {
    refuse_misfits(table, row)?;
    let names = names(table);
    let places: Vec<_> = (1..=names.len()).map(|place| format!("${place}")).collect();
    let updates: Vec<_> = names.iter().map(|name| format!("{name} = excluded.{name}")).collect();
    let statement = format!(
        "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT (id) DO UPDATE SET {}",
        table.name(),
        names.join(", "),
        places.join(", "),
        updates.join(", "),
    );
    let body = serde_json::to_string(&row.body)?;
    let mut statement = sqlx::query(AssertSqlSafe(statement)).bind(&row.id);
    for column in table.columns() {
        statement = bind(statement, row.cell(column.name));
    }
    statement.bind(body).execute(connection).await?;
    Ok(())
}

fn refuse_misfits(table: Table, row: &Row) -> Result<(), StoreError> {
    let misfit = |column: &str, problem| StoreError::Column {
        table: table.name(),
        column: column.to_owned(),
        problem,
    };
    for (name, content) in &row.columns {
        let column = table
            .column(name)
            .ok_or_else(|| misfit(name, "the table has no such column"))?;
        match (column.kind, content) {
            (CellKind::Text, Cell::Text(_)) | (CellKind::Integer, Cell::Integer(_)) => {}
            (CellKind::Text, _) => return Err(misfit(name, "it holds text")),
            (CellKind::Integer, _) => return Err(misfit(name, "it holds an integer")),
        }
    }
    let missing = table
        .columns()
        .iter()
        .find(|column| column.required && *row.cell(column.name) == Cell::Null);
    match missing {
        Some(column) => Err(misfit(column.name, "it must be set")),
        None => Ok(()),
    }
}

/// Whether there was such a row.
pub(crate) async fn delete(connection: &mut SqliteConnection, table: Table, id: &str) -> Result<bool, StoreError> {
    let statement = format!("DELETE FROM {} WHERE id = $1", table.name());
    let done = sqlx::query(AssertSqlSafe(statement))
        .bind(id)
        .execute(connection)
        .await?;
    Ok(done.rows_affected() > 0)
}

pub(crate) async fn clear_all(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    for table in Table::ALL {
        let statement = format!("DELETE FROM {}", table.name());
        sqlx::query(AssertSqlSafe(statement)).execute(&mut *connection).await?;
    }
    Ok(())
}
