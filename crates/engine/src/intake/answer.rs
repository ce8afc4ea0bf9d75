//! Answers to what waits, going on with runs, and stopping them.

use modes::{Ending, conclude};
use serde::Deserialize;
use store::{Query, Row, Table};
use tools::{Proposal, Then, ToolResult};

use super::{message, permission};
use crate::clock;
use crate::command::{Address, Done, PersonAnswer};
use crate::config::RunOptions;
use crate::fact::{Fact, How};
use crate::inner::Inner;
use crate::orchestrate;
use crate::problem::{Problem, ProblemKind};
use crate::projection::body;
use crate::proposal;

/// Answers a permission or a question.
pub(super) async fn answer(
    inner: &Inner,
    id: &str,
    digest: Option<&str>,
    answer: PersonAnswer,
) -> Result<Done, Problem> {
    let row = super::row(inner, Table::Waiting, id, "waiting thing").await?;
    let run = row.text("run").unwrap_or_default().to_owned();
    let facts = match (row.text("kind"), answer) {
        (Some("permission"), answer @ (PersonAnswer::Allow { .. } | PersonAnswer::Deny { .. })) => {
            permission::answered(inner, &row, digest, answer)?
        }
        (Some("permission"), PersonAnswer::Text(_) | PersonAnswer::Piped(_)) => {
            return Err(Problem::usage(format!("{id} is a permission: it takes allow or deny")));
        }
        (_, PersonAnswer::Text(text)) => answered(inner, &row, &text, true)?,
        (_, PersonAnswer::Piped(text)) => answered(inner, &row, &text, false)?,
        (_, _) => {
            return Err(Problem::usage(format!(
                "{id} is a question: it takes an answer in words"
            )));
        }
    };
    let mut change = inner.journal.lasting_change(&run).await?;
    let now = change.get(Table::Waiting, id).await?;
    if now.as_ref().and_then(|row| row.text("status")) != Some("open") {
        return Err(Problem::new(
            ProblemKind::Stale,
            format!("{id} waits no longer: it was answered or its run ended"),
        )
        .hint("`stance inbox` shows what waits now."));
    }
    for fact in facts {
        change.record(&fact).await?;
    }
    let started = change.get(Table::Run, &run).await?;
    change.commit().await?;
    Ok(going_on(started.as_ref(), run))
}

/// What is driven so that a run goes on: the plan it carries out, or the run itself.
fn going_on(started: Option<&Row>, run: String) -> Done {
    match started.and_then(plan_of) {
        Some(orchestration) => Done::Orchestration {
            orchestration,
            notices: Vec::new(),
        },
        None => Done::Run {
            run,
            notices: Vec::new(),
        },
    }
}

/// The orchestration a run carries out steps of.
pub(super) fn plan_of(run: &Row) -> Option<String> {
    run.body
        .get("orchestration")
        .and_then(serde_json::Value::as_str)
        .map(str::to_owned)
}

async fn carries_on(inner: &Inner, orchestration: Option<&str>) -> Result<bool, Problem> {
    match orchestration {
        Some(orchestration) => Ok(!orchestrate::has_ended(inner, orchestration).await?),
        None => Ok(false),
    }
}

fn plan_goes_first(run: &str) -> Problem {
    Problem::refused(format!(
        "run {run} carries out a plan that has not ended: it goes on first"
    ))
    .hint(format!(
        "`stance run --resume {run}` without a message, then send yours."
    ))
}

/// What the row of a question says of the call that asked it.
#[derive(Deserialize)]
struct Asking {
    call: String,
    #[serde(default)]
    proposal: Option<Proposal>,
}

fn answered(inner: &Inner, row: &Row, text: &str, typed: bool) -> Result<Vec<Fact>, Problem> {
    let Asking { call, proposal } = body(row)?;
    let (tool, result) = match proposal {
        Some(proposal) => (proposal::tool(proposal), proposal::answered(proposal, text)),
        None => (
            if row.text("kind") == Some("reply") {
                "plan_mode_respond"
            } else {
                "ask_user"
            },
            // What stands behind the question was written without the answer.
            ToolResult::text(format!("The person answered: {text}")).then(Then::NextResponse),
        ),
    };
    Ok(vec![
        Fact::QuestionAnswered {
            question: row.id.clone(),
            call: call.clone(),
            answer: text.to_owned(),
            typed,
            who: inner.config.operator.clone(),
        },
        Fact::ToolFinished {
            call,
            tool: tool.to_owned(),
            result,
            how: How::Answered,
        },
    ])
}

/// Goes on with a run: the id of a run, thread or space, or `last`.
pub(super) async fn resume(
    inner: &Inner,
    id: &str,
    text: Option<String>,
    options: RunOptions,
) -> Result<Done, Problem> {
    let row = newest_run(inner, id).await?;
    let plan = plan_of(&row);
    if let (Some(orchestration), None) = (&plan, &text) {
        return Ok(Done::Orchestration {
            orchestration: orchestration.clone(),
            notices: Vec::new(),
        });
    }
    let thread = row.text("thread").unwrap_or_default().to_owned();
    match (row.text("status"), text) {
        (Some("running"), None) => Ok(Done::Run {
            run: row.id,
            notices: vec!["Going on where it was interrupted.".to_owned()],
        }),
        (Some("running"), Some(_)) => {
            Err(
                Problem::refused(format!("run {} was interrupted: it goes on first", row.id)).hint(format!(
                    "`stance run --resume {}` without a message, then send yours.",
                    row.id
                )),
            )
        }
        (Some("waiting"), text) => waiting(inner, row, thread, text, options).await,
        (_, Some(_)) if carries_on(inner, plan.as_deref()).await? => Err(plan_goes_first(&row.id)),
        (_, Some(text)) => message::send(inner, Address::Thread(thread), text, options).await,
        (_, None) => Err(Problem::usage(format!("run {} has ended", row.id)).hint(format!(
            "`stance run --resume {} \"…\"` sends a further message to its thread.",
            row.id
        ))),
    }
}

async fn waiting(
    inner: &Inner,
    row: Row,
    thread: String,
    text: Option<String>,
    options: RunOptions,
) -> Result<Done, Problem> {
    let open = Query::all(Table::Waiting)
        .having("run", row.id.as_str())
        .having("status", "open");
    let waiting = inner.journal.store().find(&open).await?.into_iter().next();
    match (waiting, text) {
        (_, None) => Ok(Done::Run {
            run: row.id,
            notices: Vec::new(),
        }),
        (Some(waiting), Some(text)) if waiting.text("kind") != Some("permission") => {
            let words = if options.piped {
                PersonAnswer::Piped(text)
            } else {
                PersonAnswer::Text(text)
            };
            answer(inner, &waiting.id, None, words).await
        }
        (Some(waiting), Some(_)) => Err(Problem::refused(format!("a permission waits first: {}", waiting.id))
            .hint("`stance inbox` shows it; `stance inbox approve` or `deny` answers it.")),
        (None, Some(_)) if plan_of(&row).is_some() => Err(plan_goes_first(&row.id)),
        (None, Some(text)) => {
            stop(inner, &row.id).await?;
            message::send(inner, Address::Thread(thread), text, options).await
        }
    }
}

async fn newest_run(inner: &Inner, id: &str) -> Result<Row, Problem> {
    let store = inner.journal.store();
    let query = match id.split_once('_').map(|(letter, _)| letter) {
        _ if id == "last" => Query::all(Table::Run),
        Some("r") => return super::row(inner, Table::Run, id, "run").await,
        Some("t") => {
            super::row(inner, Table::Thread, id, "thread").await?;
            Query::all(Table::Run).having("thread", id)
        }
        Some("s") => {
            super::row(inner, Table::Space, id, "space").await?;
            Query::all(Table::Run).having("space", id)
        }
        _ => {
            return Err(Problem::usage(format!("{id:?} is no id of a run, thread or space"))
                .hint("`last` names the newest run; `stance space list` shows ids."));
        }
    };
    let rows = store.find(&query.newest_first()).await?;
    rows.into_iter()
        .find(|row| row.text("parent").is_none())
        .ok_or_else(|| {
            Problem::usage(match id {
                "last" => "nothing has run in this workspace yet".to_owned(),
                id => format!("nothing has run in {id} yet"),
            })
        })
}

/// Ends a run that nobody drives.
pub(super) async fn stop(inner: &Inner, run: &str) -> Result<Done, Problem> {
    let row = super::row(inner, Table::Run, run, "run").await?;
    if !matches!(row.text("status"), Some("running" | "waiting")) {
        return Err(Problem::refused(format!("run {run} has ended already")));
    }
    refuse_driven(inner, run).await?;
    let mut change = inner.journal.change(run).await?;
    let ended = Fact::RunEnded {
        conclusion: conclude(Ending::Cancelled),
        summary: "Stopped.".to_owned(),
        follow_up: None,
    };
    change.record(&ended).await?;
    change.commit().await?;
    inner.mcp.end(run).await;
    Ok(Done::Said(vec![format!("Run {run} is stopped.")]))
}

/// Refuses what is not done to a run that another process drives.
pub(super) async fn refuse_driven(inner: &Inner, run: &str) -> Result<(), Problem> {
    let lease = inner.journal.store().lease(&format!("run/{run}")).await?;
    match lease.and_then(|lease| lease.holder) {
        Some(holder) if holder != inner.holder && clock::is_alive(&holder) => {
            Err(Problem::refused(format!("run {run} is driven by process {}", holder.pid)).hint("press Ctrl-C there."))
        }
        _ => Ok(()),
    }
}
