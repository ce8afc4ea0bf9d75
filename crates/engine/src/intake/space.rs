//! Opening spaces and switching their mode.

use modes::{Ending, Mode, conclude};
use store::{Query, Row, Table};
use tools::ToolResult;

use super::message::{NewRun, begin};
use super::{message, resolved, voided_exits};
use crate::clock;
use crate::command::{Address, Done};
use crate::config::RunOptions;
use crate::fact::{Fact, How};
use crate::inner::Inner;
use crate::journal::Change;
use crate::problem::Problem;
use crate::turn::assemble;
use crate::worktree;

/// Opens a fresh space in a mode.
pub(super) async fn open(inner: &Inner, mode: Mode) -> Result<String, Problem> {
    let mut change = inner.journal.lasting_change("").await?;
    let space = opened(inner, &mut change, mode, false).await?;
    change.commit().await?;
    Ok(space)
}

/// Opens a space within a change.
pub(super) async fn opened(inner: &Inner, change: &mut Change, mode: Mode, current: bool) -> Result<String, Problem> {
    let space = clock::new_id('s');
    change
        .record(&Fact::SpaceOpened {
            space: space.clone(),
            mode: mode.stored().to_owned(),
            checkout: inner.worktree.display().to_string(),
            current,
        })
        .await?;
    Ok(space)
}

/// The checkout's current space within a change; opened in Agent mode on first use.
pub(crate) async fn current(inner: &Inner, change: &mut Change) -> Result<Row, Problem> {
    let here = Query::all(Table::Space)
        .having("checkout", inner.worktree.display().to_string())
        .having("current", 1_i64);
    if let Some(row) = change.find(&here).await?.into_iter().next() {
        return Ok(row);
    }
    let space = opened(inner, change, modes::without_space(), true).await?;
    change
        .get(Table::Space, &space)
        .await?
        .ok_or_else(|| Problem::refused("the space could not be opened"))
}

/// Switches the mode of a space. The same mode is a no-op; a reply that waits is answered by it.
pub(super) async fn switch(
    inner: &Inner,
    space: Option<String>,
    to: Mode,
    draft: Option<String>,
    options: RunOptions,
) -> Result<Done, Problem> {
    if let Some(space) = &space {
        super::row(inner, Table::Space, space, "space").await?;
    }
    let context = worktree::context(inner).await?;
    let mut change = inner.journal.lasting_change("").await?;
    let row = match &space {
        Some(space) => change
            .get(Table::Space, space)
            .await?
            .ok_or_else(|| Problem::usage("the space is gone"))?,
        None => current(inner, &mut change).await?,
    };
    let mut said = Vec::new();
    let mut answered = None;
    if Mode::from_stored(row.text("mode")) == Ok(to) {
        said.push(format!("Space {} is in {to} already.", row.id));
    } else {
        let row = moved(inner, &mut change, &row, to).await?;
        said.push(format!("Space {} is in {to} now.", row.id));
        let running = Query::all(Table::Run)
            .having("space", row.id.as_str())
            .having("status", "running");
        if !change.find(&running).await?.is_empty() {
            said.push("The run under way finishes in its own mode; your next message runs in the new one.".to_owned());
        }
        answered = answer_reply(inner, &mut change, &row, draft.as_deref(), &options, context).await?;
    }
    let thread = message::newest_thread(&mut change, &row.id).await?;
    change.commit().await?;
    match (answered, draft) {
        (Some(run), _) => Ok(Done::Run { run, notices: said }),
        (None, None) => Ok(Done::Said(said)),
        (None, Some(text)) => {
            let to = thread.map_or(Address::Space(row.id), Address::Thread);
            match message::send(inner, to, text, options).await? {
                Done::Run { run, notices } => {
                    said.extend(notices);
                    Ok(Done::Run { run, notices: said })
                }
                other => Ok(other),
            }
        }
    }
}

async fn moved(inner: &Inner, change: &mut Change, row: &Row, to: Mode) -> Result<Row, Problem> {
    let who = &inner.config.operator;
    for fact in voided_exits(change, &row.id, who, "the mode was switched").await? {
        change.record(&fact).await?;
    }
    change
        .record(&Fact::ModeChanged {
            space: row.id.clone(),
            from: row.text("mode").map(str::to_owned),
            to: to.stored().to_owned(),
            who: who.clone(),
            why: "a person switched it".to_owned(),
        })
        .await?;
    change
        .get(Table::Space, &row.id)
        .await?
        .ok_or_else(|| Problem::usage("the space is gone"))
}

/// A reply that waits in the space gets its one result, its run ends as switched, and a run in the
/// new mode starts in the same thread with the draft as its message.
async fn answer_reply(
    inner: &Inner,
    change: &mut Change,
    space: &Row,
    draft: Option<&str>,
    options: &RunOptions,
    context: String,
) -> Result<Option<String>, Problem> {
    let open = Query::all(Table::Waiting)
        .having("kind", "reply")
        .having("space", space.id.as_str())
        .having("status", "open")
        .newest_first();
    let Some(reply) = change.find(&open).await?.into_iter().next() else {
        return Ok(None);
    };
    let (Some(run), Some(thread)) = (reply.text("run"), reply.text("thread")) else {
        return Ok(None);
    };
    let call = reply
        .body
        .get("call")
        .and_then(serde_json::Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let follow_up = clock::new_id('r');
    let shown = resolved(space)?;
    let answer = match draft {
        Some(_) => format!("The person switched to {shown}; their message follows."),
        None => format!("The person switched to {shown}."),
    };
    change.about(run);
    for fact in [
        Fact::QuestionAnswered {
            question: reply.id.clone(),
            call: call.clone(),
            answer: answer.clone(),
            typed: false,
            who: inner.config.operator.clone(),
        },
        Fact::ToolFinished {
            call,
            tool: "plan_mode_respond".to_owned(),
            result: ToolResult::text(answer),
            how: How::Answered,
        },
        Fact::RunEnded {
            conclusion: conclude(Ending::Switched),
            summary: format!("Switched to {shown}."),
            follow_up: Some(follow_up.clone()),
        },
    ] {
        change.record(&fact).await?;
    }
    let cursor = assemble::cursor(inner, thread, None).await?;
    let text = draft.unwrap_or("Go on in this mode.").to_owned();
    let new = NewRun {
        id: Some(follow_up),
        ..NewRun::main(
            space,
            thread.to_owned(),
            options,
            message::entry(text, !options.piped, context, cursor),
        )
    };
    begin(inner, change, new).await.map(Some)
}
