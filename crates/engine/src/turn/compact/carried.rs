//! What of a thread goes on when its conversation is compacted, from the journal and in our words: where
//! it belongs, its plan, its todo list, what waits for the person, what they answered, what is watched.

use std::fmt::Write as _;

use store::{Query, Table};
use tools::TodoStatus;
use work::plan::show;

use crate::active::Active;
use crate::conversation;
use crate::inbox;
use crate::intake::comments;
use crate::intake::decide::newest_revision;
use crate::problem::Problem;
use crate::projection::column;
use crate::run_state::RunState;

/// Columns of a plan as the model reads it.
const WIDTH: usize = 100;

/// All of it, as it stands now.
pub(super) async fn of(run: &Active) -> Result<String, Problem> {
    let earlier = earlier(run).await?;
    let mut text = place(run).await?;
    if run.inner.thread_holds_secrets(&run.state.start.thread).await? {
        text.push_str("Secrets were read in this thread: what leaves it is asked about.\n");
    }
    text.push_str(&todo(&run.state, &earlier));
    text.push_str(&waiting(run).await?);
    text.push_str(&plan(run).await?);
    for answer in &run.state.answers {
        let _ = writeln!(text, "The person answered a question: {answer}");
    }
    if run.state.entry().is_none()
        && let Some(entry) = earlier.iter().rev().find_map(RunState::entry)
    {
        let _ = writeln!(text, "The person's last message, which has its answer: {}", entry.text);
    }
    Ok(text)
}

/// The runs of the conversation before this one, oldest first.
async fn earlier(run: &Active) -> Result<Vec<RunState>, Problem> {
    let (inner, start) = (&run.inner, &run.state.start);
    if start.fresh_context {
        return Ok(Vec::new());
    }
    conversation::shown(inner, &start.thread, conversation::began(inner, &start.run).await?).await
}

async fn place(run: &Active) -> Result<String, Problem> {
    let start = &run.state.start;
    let store = run.inner.journal.store();
    let mut text = format!("This is run {} of thread {}", start.run, start.thread);
    let row = store.get(Table::Thread, &start.thread).await?;
    if let Some(parent) = row.as_ref().and_then(|row| row.text("parent")) {
        let _ = write!(text, ", which works for thread {parent}");
    }
    if let Some(step) = run.state.entry().and_then(|entry| entry.step.as_ref()) {
        let _ = write!(text, ", at step {step} of an approved plan");
    }
    text.push_str(".\n");
    let children = Query::all(Table::Run).having("parent", start.run.as_str());
    for child in store.find(&children).await? {
        let _ = writeln!(
            text,
            "Run {} works for it and is {}.",
            child.id,
            child.text("status").unwrap_or_default()
        );
    }
    Ok(text)
}

/// The newest todo list of the thread.
fn todo(state: &RunState, earlier: &[RunState]) -> String {
    let lists = earlier.iter().chain([state]).rev().map(|state| &state.todo);
    let Some(items) = lists.into_iter().find(|items| !items.is_empty()) else {
        return String::new();
    };
    let mut text = "Todo list:\n".to_owned();
    for item in items {
        let sign = match item.status {
            TodoStatus::Done => "[x]",
            TodoStatus::InProgress => "[>]",
            TodoStatus::Pending => "[ ]",
        };
        let _ = writeln!(text, "{sign} {} ({})", item.text, item.id);
    }
    text
}

async fn waiting(run: &Active) -> Result<String, Problem> {
    let mut text = String::new();
    for pending in inbox::of_thread(&run.inner, &run.state.start.thread).await? {
        let _ = writeln!(
            text,
            "Waits for the person: {} {}: {}",
            pending.kind, pending.id, pending.title
        );
    }
    Ok(text)
}

/// The newest plan of the thread, whole.
async fn plan(run: &Active) -> Result<String, Problem> {
    let plans = Query::all(Table::Plan)
        .having("thread", run.state.start.thread.as_str())
        .newest_first()
        .limit(1);
    let Some(row) = run.inner.journal.store().find(&plans).await?.into_iter().next() else {
        return Ok(String::new());
    };
    let revision = newest_revision(&run.inner, &row).await?;
    let number = revision.content.revision;
    let comments = comments(&run.inner, &row.id, number).await?;
    let status = row.text("status").unwrap_or_default();
    Ok(format!(
        "Plan {}, revision {number}, {status}:\n{}\n",
        row.id,
        show(&revision.content, column(&row, "status")?, &comments, WIDTH)
    ))
}
