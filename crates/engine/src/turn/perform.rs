//! Permitted calls are performed, each through its tool, with its permit alone.

use futures_util::StreamExt as _;
use futures_util::stream;
use modes::Tier;
use tools::{Then, ToolResult};

use super::judge::Allowed;
use crate::active::Active;
use crate::checkpoint;
use crate::desk::RunDesk;
use crate::fact::{Fact, How};
use crate::problem::Problem;
use crate::worktree;

/// A call that ran, with the facts its desk work amounts to.
pub(super) struct Finished {
    pub call: String,
    pub tool: &'static str,
    pub result: ToolResult,
    pub how: How,
    pub staged: Vec<Fact>,
}

/// What a call that was cut off is shown as.
const INTERRUPTED: &str = "Interrupted: Stance stopped while this ran, and what it did is unknown. Look at the state \
                           of things before you do it again; it was not run again.";

/// Performs calls that may run; several only when they may run together.
pub(super) async fn perform(run: &mut Active, calls: Vec<Allowed>) -> Result<Vec<Finished>, Problem> {
    if calls.iter().any(|call| call.permit.tool().tier > Tier::Read) {
        checkpoint::before_run(run).await?;
        worktree::remember_start(run).await?;
    }
    let shared: &Active = run;
    let lost = lost(shared, &calls).await?;
    let performing = calls.into_iter().map(|call| one(shared, call, &lost));
    stream::iter(performing)
        .buffered(4)
        .collect::<Vec<_>>()
        .await
        .into_iter()
        .collect()
}

/// Paths that were judged as held by a checkpoint, about to be deleted, and are not.
async fn lost(run: &Active, calls: &[Allowed]) -> Result<Vec<String>, Problem> {
    let deleted: Vec<&str> = calls.iter().flat_map(|call| call.permit.deletes_held()).collect();
    if deleted.is_empty() {
        return Ok(Vec::new());
    }
    let lost = checkpoint::not_held(run, &deleted).await?;
    Ok(lost.into_iter().map(str::to_owned).collect())
}

async fn one(run: &Active, call: Allowed, lost: &[String]) -> Result<Finished, Problem> {
    let Allowed { state, permit } = call;
    let row = permit.tool();
    let id = state.call.id.clone();
    let run_id = &run.state.start.run;
    let changes_something = row.tier > Tier::Read;
    if changes_something && state.started && run.inner.home.has_begun(run_id, &id) {
        let result = ToolResult::error(INTERRUPTED);
        return Ok(Finished {
            call: id,
            tool: row.name,
            result,
            how: How::Interrupted,
            staged: Vec::new(),
        });
    }
    if let Some(path) = permit.deletes_held().find(|path| lost.iter().any(|lost| lost == path)) {
        let result = ToolResult::error(format!(
            "Nothing was done: {path} was to be deleted because a checkpoint holds it, and none could be taken that does."
        ));
        return Ok(Finished {
            call: id,
            tool: row.name,
            result,
            how: How::Refused,
            staged: Vec::new(),
        });
    }
    if changes_something {
        run.inner.home.mark_begun(run_id, &id)?;
    }
    let Some(tool) = run.toolbox.find(row) else {
        return Err(Problem::refused(format!("the tool {} is not built", row.name)));
    };
    let desk = RunDesk::new(run);
    let result = tool.execute(permit, &run.scope, &desk).await;
    let mut staged = desk.into_staged();
    if result.is_error {
        // What was spent is spent, also by a call that came to nothing.
        staged.retain(|fact| matches!(fact, Fact::AskedAside(_)));
    }
    let how = if result.then == Then::Waits {
        How::NotStarted
    } else {
        How::Performed
    };
    Ok(Finished {
        call: id,
        tool: row.name,
        result,
        how,
        staged,
    })
}
