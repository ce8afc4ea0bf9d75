//! What operators ask for becomes facts here: checked against what is stored, in the transaction
//! that changes it.

mod answer;
mod changes;
mod compact;
pub(crate) mod decide;
mod exits;
mod follow;
mod message;
mod permission;
mod policy;
mod restore;
mod space;

use modes::Mode;
use store::{Query, Row, Table};
use work::approval::ApprovalMove;

use crate::command::{About, Command, Done};
use crate::fact::Fact;
use crate::inner::Inner;
use crate::mcp;
use crate::problem::{Problem, ProblemKind};
use crate::trust;

pub(crate) use changes::comments;
pub(crate) use exits::{exit_of_this_stay, open_exit, voided_exits};
pub(crate) use follow::{after_exit, handed_over};
pub(crate) use message::{NewRun, begin, opened, would_start};
pub(crate) use restore::named_of;
pub(crate) use space::current;

/// Carries out one act of an operator.
pub(crate) async fn carry_out(inner: &Inner, command: Command) -> Result<Done, Problem> {
    match command {
        Command::OpenSpace { mode } => space::open(inner, mode).await.map(Done::Space),
        Command::Send { to, text, options } => message::send(inner, to, text, options).await,
        Command::Compact { thread, keep, options } => compact::compact(inner, &thread, keep, options).await,
        Command::Resume { id, text, options } => answer::resume(inner, &id, text, options).await,
        Command::Answer { id, digest, answer } => answer::answer(inner, &id, digest.as_deref(), answer).await,
        Command::SwitchMode {
            space,
            to,
            draft,
            options,
        } => space::switch(inner, space, to, draft, options).await,
        Command::Decide { about, verdict } => match about {
            About::Approval(id) => decide::approval(inner, &id, verdict).await,
            About::Plan(id) => decide::plan(inner, &id, verdict).await,
        },
        Command::KeepRule { text, verdict } => policy::keep(inner, text, verdict).await,
        Command::ForgetRule { text } => policy::forget(inner, &text).await,
        Command::RunPlan { plan } => decide::run_plan(inner, &plan).await,
        Command::Comment {
            plan,
            node,
            quote,
            text,
        } => changes::comment(inner, &plan, node, quote, text).await,
        Command::RestoreCheckpoint {
            checkpoint,
            extent,
            paths,
            shown,
        } => restore::restore(inner, &checkpoint, extent, paths, shown).await,
        Command::Undo { thread } => restore::undo(inner, &thread).await,
        Command::Redo { thread } => restore::redo(inner, &thread).await,
        Command::Stop { run } => answer::stop(inner, &run).await,
        Command::Trust { what, content, digest } => {
            trust::trust(&inner.journal, &inner.config.operator, &what, &content, &digest)
                .await
                .map(Done::Said)
        }
        Command::AllowServer { name, digest, mode } => mcp::allow(inner, &name, &digest, mode).await.map(Done::Said),
        Command::ForgetServer { name } => mcp::forget(inner, &name).await.map(Done::Said),
        Command::TrustServer { name, tools } => mcp::believe(inner, &name, tools).await.map(Done::Said),
        Command::LogOutOfServer { name } => mcp::log_out(inner, &name).map(Done::Said),
        Command::ForgetTrust { what } => trust::forget(&inner.journal, &inner.config.operator, &what)
            .await
            .map(Done::Said),
    }
}

/// The stay of a space in its mode: the number of the event that began it.
pub(crate) async fn epoch(inner: &Inner, space: &str) -> Result<u64, Problem> {
    let row = row(inner, Table::Space, space, "space").await?;
    row.body
        .get("epoch")
        .and_then(serde_json::Value::as_u64)
        .ok_or_else(|| Problem::new(ProblemKind::Store, format!("space {space} has no stay")))
}

/// A row a person named; a wrong id is told with ids that are near.
pub(crate) async fn row(inner: &Inner, table: Table, id: &str, what: &str) -> Result<Row, Problem> {
    let store = inner.journal.store();
    if let Some(row) = store.get(table, id).await? {
        return Ok(row);
    }
    let rows = store.find(&Query::all(table).newest_first().limit(500)).await?;
    let near: Vec<&str> = rows
        .iter()
        .map(|row| row.id.as_str())
        .filter(|known| alike(known, id))
        .take(3)
        .collect();
    let problem = Problem::usage(format!("there is no {what} {id} in this workspace"));
    let list = if what == "plan" { "plan" } else { "space" };
    Err(match near.as_slice() {
        [] => problem.hint(format!("`stance {list} list` shows what there is.")),
        near => problem.hint(format!("near: {}", near.join(", "))),
    })
}

/// Whether two ids differ in two places at most, or one begins the other.
fn alike(known: &str, typed: &str) -> bool {
    let differing =
        known.bytes().zip(typed.bytes()).filter(|(a, b)| a != b).count() + known.len().abs_diff(typed.len());
    differing <= 2 || (typed.len() >= 3 && known.starts_with(typed))
}

/// The fact that moves an approval, about the digest its row holds.
pub(crate) fn approval_moved(row: &Row, moved: ApprovalMove, who: &str, how: &str, reason: Option<&str>) -> Fact {
    Fact::ApprovalMoved {
        approval: row.id.clone(),
        moved,
        who: who.to_owned(),
        how: how.to_owned(),
        digest: row.text("digest").unwrap_or_default().to_owned(),
        reason: reason.map(str::to_owned),
        options: None,
    }
}

/// The mode of a space row, or the problem that names the space, the value and the repair.
pub(crate) fn resolved(row: &Row) -> Result<Mode, Problem> {
    Mode::from_stored(row.text("mode")).map_err(|unresolved| {
        Problem::new(
            ProblemKind::Store,
            format!("space {}: {unresolved}; nothing is started in it", row.id),
        )
        .hint(format!(
            "`stance space mode {} plan` (or agent, orchestrate) sets it.",
            row.id
        ))
    })
}
