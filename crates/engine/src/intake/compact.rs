//! A person wants a conversation compacted: in the run that waits in it, else in a run of its own.

use store::Table;

use super::message::{First, NewRun, begin};
use crate::command::Done;
use crate::config::RunOptions;
use crate::conversation;
use crate::fact::Fact;
use crate::inner::Inner;
use crate::problem::Problem;
use crate::turn::assemble;

/// Compacts the conversation of a thread; `keep` is what the person wants kept above all.
pub(super) async fn compact(
    inner: &Inner,
    thread: &str,
    keep: Option<String>,
    options: RunOptions,
) -> Result<Done, Problem> {
    let row = super::row(inner, Table::Thread, thread, "thread").await?;
    let Some((_, newest)) = conversation::before(inner, thread, u64::MAX).await?.pop() else {
        return Err(Problem::usage(
            "there is nothing to compact: nothing was said in this thread",
        ));
    };
    let cursor = assemble::cursor(inner, thread, None).await?;
    let mut change = inner.journal.change(&newest).await?;
    let run = change.get(Table::Run, &newest).await?;
    match run.as_ref().and_then(|row| row.text("status")) {
        Some("running") => Err(Problem::refused(format!(
            "run {newest} is under way, or was cut off: it goes on first"
        ))
        .hint(format!("`stance run --resume {newest}` goes on with it."))),
        Some("waiting") => {
            let who = inner.config.operator.clone();
            change
                .record(&Fact::CompactionAsked {
                    keep,
                    who,
                    cursor: None,
                })
                .await?;
            change.commit().await?;
            Ok(Done::Said(vec![format!(
                "Run {newest} waits for you; the conversation is compacted before it goes on."
            )]))
        }
        _ => {
            let space = row.text("space").unwrap_or_default();
            let space = super::row(inner, Table::Space, space, "space").await?;
            let new = NewRun::opening(&space, thread.to_owned(), &options, First::Compaction { keep, cursor });
            let run = begin(inner, &mut change, new).await?;
            change.commit().await?;
            Ok(Done::Run {
                run,
                notices: Vec::new(),
            })
        }
    }
}
