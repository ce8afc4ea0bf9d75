//! "Waiting for you": everything that waits for a person, oldest first.

use modes::Ask;
use serde_json::Value;
use store::{Query, Row, Table};
use work::approval::ApprovalStatus;

use crate::clock;
use crate::inner::Inner;
use crate::mcp;
use crate::problem::Problem;
use crate::projection::word;
use crate::view::{AskedIn, Pending};

/// Everything that waits in the workspace.
pub(crate) async fn all(inner: &Inner) -> Result<Vec<Pending>, Problem> {
    let store = inner.journal.store();
    let open = Query::all(Table::Waiting).having("status", "open");
    let mut rows = store.find(&open).await?;
    let pending = Query::all(Table::Approval).having("status", word(&ApprovalStatus::Pending)?);
    rows.extend(store.find(&pending).await?);
    rows.sort_by_key(|row| row.integer("created_ms"));
    let rows: Vec<Pending> = rows
        .iter()
        .map(|row| {
            if row.text("subject").is_some() {
                approval(row)
            } else {
                waiting(row)
            }
        })
        .collect();
    Ok(rows.into_iter().chain(mcp::pending(inner)).collect())
}

/// Everything that waits in a thread.
pub(crate) async fn of_thread(inner: &Inner, thread: &str) -> Result<Vec<Pending>, Problem> {
    Ok(all(inner)
        .await?
        .into_iter()
        .filter(|pending| pending.is_of(thread))
        .collect())
}

fn waiting(row: &Row) -> Pending {
    let kind = row.text("kind").unwrap_or_default();
    let (title, lines) = if kind == "permission" {
        permission(&row.body)
    } else {
        question(&row.body)
    };
    Pending {
        kind: kind.to_owned(),
        id: row.id.clone(),
        digest: row.text("digest").unwrap_or_default().to_owned(),
        title,
        run_id: row.text("run").map(str::to_owned),
        plan_id: None,
        asked_in: Some(asked_in(row)),
        rules: kept_by_a_yes(&row.body),
        lines,
    }
}

fn asked_in(row: &Row) -> AskedIn {
    let since_ms = row.integer("created_ms").unwrap_or_default();
    AskedIn {
        thread_id: row.text("thread").unwrap_or_default().to_owned(),
        space_id: row.text("space").unwrap_or_default().to_owned(),
        since_ms,
        waiting_ms: clock::now_ms() - since_ms,
    }
}

fn permission(body: &Value) -> (String, Vec<String>) {
    let tool = body.get("tool").and_then(Value::as_str).unwrap_or_default();
    let mut lines: Vec<String> = body
        .get("asks")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|ask| ask.get("what").and_then(Value::as_str))
        .map(|what| format!("it would {what}"))
        .collect();
    for (name, value) in body.get("arguments").and_then(Value::as_object).into_iter().flatten() {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        lines.push(format!("{name}: {text}"));
    }
    (tool.to_owned(), lines)
}

/// The rules a yes would become, where each thing asked about may be remembered.
fn kept_by_a_yes(body: &Value) -> Vec<String> {
    let asks: Vec<Ask> = body
        .get("asks")
        .and_then(|asks| serde_json::from_value(asks.clone()).ok())
        .unwrap_or_default();
    if asks.iter().all(|ask| ask.rememberable) {
        asks.into_iter().map(|ask| ask.allowed_by).collect()
    } else {
        Vec::new()
    }
}

fn question(body: &Value) -> (String, Vec<String>) {
    let asked = body.get("asked");
    let text = asked
        .and_then(|asked| asked.get("question"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    let options = asked.and_then(|asked| asked.get("options")).and_then(Value::as_array);
    let lines = options
        .into_iter()
        .flatten()
        .filter_map(|option| option.get("label").and_then(Value::as_str).map(str::to_owned))
        .collect();
    (text.to_owned(), lines)
}

fn approval(row: &Row) -> Pending {
    let kind = row.text("kind").unwrap_or_default();
    Pending {
        kind: kind.to_owned(),
        id: row.id.clone(),
        digest: row.text("digest").unwrap_or_default().to_owned(),
        title: row
            .body
            .get("title")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        run_id: row.text("run").map(str::to_owned),
        plan_id: (kind == "plan").then(|| row.text("subject").unwrap_or_default().to_owned()),
        asked_in: Some(asked_in(row)),
        rules: kept_by_a_yes(&row.body),
        lines: Vec::new(),
    }
}
