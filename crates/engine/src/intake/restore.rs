//! Restoring a checkpoint, undo and redo: files in the checkout's turn, the conversation by a fact that
//! is only appended. Modes, plans, approvals and answers stay as they are, and where they differ from
//! the moment gone back to is said.

use std::path::PathBuf;

use modes::{Ending, Mode, conclude};
use repo::checkpoint::{Difference, PutBack, Taken, within};
use store::{Query, Row, Table};

use crate::checkpoint::{self, Kept};
use crate::command::{Done, Extent};
use crate::conversation::{self, Spoken};
use crate::fact::{Fact, Moment, RewindBy};
use crate::inner::Inner;
use crate::lease;
use crate::orchestrate;
use crate::problem::{Problem, ProblemKind};

/// Paths that are named in one sentence.
const NAMED: usize = 5;

/// What is to be restored.
struct Wish {
    kept: Option<Kept>,
    /// Of the files these; all when there are none.
    paths: Vec<PathBuf>,
    /// The digest of the differences that a person was shown.
    shown: Option<String>,
    /// The thread to be rewound, and to which event.
    rewind: Option<(String, u64)>,
    by: RewindBy,
}

/// Restores a checkpoint that a person named.
pub(super) async fn restore(
    inner: &Inner,
    id: &str,
    extent: Extent,
    paths: Vec<PathBuf>,
    shown: Option<String>,
) -> Result<Done, Problem> {
    let paths = checkpoint::of_checkout(inner, &paths)?;
    let kept = checkpoint::named(inner, id).await?;
    let rewind = match (&kept.taken.thread, extent) {
        (_, Extent::Files) => None,
        (Some(thread), Extent::Thread | Extent::Both) => Some((thread.clone(), point(inner, &kept).await?)),
        (None, Extent::Thread | Extent::Both) => {
            return Err(
                Problem::usage(format!("checkpoint {} belongs to no thread", kept.taken.checkpoint))
                    .hint(format!("`stance checkpoint restore {} --files`", kept.taken.checkpoint)),
            );
        }
    };
    let kept = (extent != Extent::Thread).then_some(kept);
    let wish = Wish {
        kept,
        paths,
        shown,
        rewind,
        by: RewindBy::Restore,
    };
    in_turn(inner, wish).await
}

/// Undoes the newest run of a thread: what it changed in files, and its part of the conversation.
pub(super) async fn undo(inner: &Inner, thread: &str) -> Result<Done, Problem> {
    let now = conversation::before(inner, thread, u64::MAX).await?;
    let Some((started, run)) = now.last() else {
        return Err(Problem::usage("there is nothing to undo in this thread"));
    };
    let (kept, paths) = of_run(inner, run).await?;
    let wish = Wish {
        kept,
        paths,
        shown: None,
        rewind: Some((thread.to_owned(), *started)),
        by: RewindBy::Undo,
    };
    in_turn(inner, wish).await
}

/// Brings back what was undone last, as long as nothing was said since.
pub(super) async fn redo(inner: &Inner, thread: &str) -> Result<Done, Problem> {
    let runs = conversation::runs(inner, thread).await?;
    let rewound = conversation::rewindings(inner, thread).await?;
    let Some(id) = conversation::to_redo(&runs, &rewound) else {
        return Err(Problem::usage("nothing was undone last in this thread"));
    };
    let kept = checkpoint::named(inner, &id).await?;
    let point = kept.number;
    let then = conversation::before(inner, thread, point).await?;
    let undone = match then.last() {
        Some((_, run)) => of_run(inner, run).await?,
        None => (None, Vec::new()),
    };
    let wish = Wish {
        kept: undone.0.map(|_| kept),
        paths: undone.1,
        shown: None,
        rewind: Some((thread.to_owned(), point)),
        by: RewindBy::Redo,
    };
    in_turn(inner, wish).await
}

/// The checkpoint before a run and the paths it changed; no path where its end was not seen, which
/// stands for all of them. Neither when it changed nothing.
async fn of_run(inner: &Inner, run: &str) -> Result<(Option<Kept>, Vec<PathBuf>), Problem> {
    let kept = checkpoint::all(inner).await?;
    let before = checkpoint::of_run(&kept, run, Moment::BeforeRun).cloned();
    match checkpoint::changes_of(inner, &kept, run).await? {
        Some(paths) if paths.is_empty() => Ok((None, paths)),
        paths => Ok((before, paths.unwrap_or_default())),
    }
}

/// The event that a checkpoint's conversation stood before.
async fn point(inner: &Inner, kept: &Kept) -> Result<u64, Problem> {
    if kept.taken.moment != Moment::BeforeRun {
        return Ok(kept.number);
    }
    match &kept.taken.run {
        Some(run) => conversation::began(inner, run).await,
        None => Ok(kept.number),
    }
}

/// Nobody else writes in the checkout meanwhile.
async fn in_turn(inner: &Inner, wish: Wish) -> Result<Done, Problem> {
    if let Some(kept) = &wish.kept
        && kept.taken.worktree != inner.worktree.display().to_string()
    {
        return Err(Problem::usage(format!(
            "checkpoint {} is one of the checkout {}",
            kept.taken.checkpoint, kept.taken.worktree
        ))
        .hint("start the command there."));
    }
    let writer = "a restored checkpoint";
    lease::turn_of_checkout_now(inner, writer).await?;
    let done = restored(inner, wish).await;
    lease::checkout_done(inner, writer).await?;
    done
}

async fn restored(inner: &Inner, wish: Wish) -> Result<Done, Problem> {
    let left_out = match &wish.rewind {
        Some((thread, point)) => left_out(inner, thread, *point).await?,
        None => Vec::new(),
    };
    let thread = wish.rewind.as_ref().map(|(thread, _)| thread.as_str());
    let (before, present) = checkpoint::take(inner, Moment::BeforeRestore, None, thread).await?;
    let put_back = match &wish.kept {
        Some(kept) => Some(put_back(inner, kept, present, &wish).await?),
        None => None,
    };
    note(inner, &wish, &before, put_back.as_ref(), &left_out).await?;
    let mut said = Vec::new();
    if let Some(put_back) = &put_back {
        said.push(match put_back.restored.len() {
            0 => "No file had to be restored.".to_owned(),
            1 => "1 path is as it was.".to_owned(),
            many => format!("{many} paths are as they were."),
        });
    }
    if let Some((thread, point)) = &wish.rewind {
        let now = conversation::before(inner, thread, u64::MAX).await?;
        said.push(match now.last() {
            Some((_, run)) => format!("Thread {thread} goes on after run {run}."),
            None => format!("Thread {thread} begins anew."),
        });
        said.extend(standing(inner, thread, *point).await?);
    }
    let extent = match (&wish.kept, &wish.rewind) {
        (_, None) => "",
        (Some(_), Some(_)) => " --both",
        (None, Some(_)) => " --thread",
    };
    said.push(format!(
        "`stance checkpoint restore {}{extent}` brings back what was here.",
        before.taken.checkpoint
    ));
    match put_back {
        Some(put_back) if !put_back.left.is_empty() => Err(stayed(&put_back, said)),
        _ => Ok(Done::Said(said)),
    }
}

async fn put_back(inner: &Inner, kept: &Kept, present: Taken, wish: &Wish) -> Result<PutBack, Problem> {
    let differences = checkpoint::differences(inner, &present.tree, &kept.taken.tree).await?;
    if wish.by == RewindBy::Restore {
        checkpoint::known(inner, &wish.paths, &differences)?;
    }
    if let Some(shown) = &wish.shown {
        let now = checkpoint::look::digest_of_differences(&named_of(differences, &wish.paths));
        if now != *shown {
            return Err(Problem::new(
                ProblemKind::Stale,
                "the files changed since they were shown; nothing was restored",
            )
            .hint(format!(
                "look again: `stance checkpoint diff {} --now`",
                kept.taken.checkpoint
            )));
        }
    }
    let (tree, paths) = (kept.taken.tree.clone(), wish.paths.clone());
    checkpoint::in_turn(inner, move |checkpoints| checkpoints.put_back(&tree, &present, &paths)).await
}

/// Of differences those that a restoring of these paths is about.
pub(crate) fn named_of(differences: Vec<Difference>, paths: &[PathBuf]) -> Vec<Difference> {
    differences
        .into_iter()
        .filter(|difference| within(&difference.path, paths))
        .collect()
}

/// One change: what was put back, runs that nobody drives and that are left out end, the conversation
/// stands where it stood.
async fn note(
    inner: &Inner,
    wish: &Wish,
    before: &Kept,
    put_back: Option<&PutBack>,
    left_out: &[Row],
) -> Result<(), Problem> {
    let who = inner.config.operator.clone();
    let checkpoint = wish.kept.as_ref().map(|kept| kept.taken.checkpoint.clone());
    let mut change = inner.journal.lasting_change("").await?;
    if let (Some(put_back), Some(checkpoint)) = (put_back, &checkpoint) {
        let left = put_back.left.iter().map(|(path, _)| path.display().to_string());
        change
            .record(&Fact::FilesRestored {
                checkpoint: checkpoint.clone(),
                before: before.taken.checkpoint.clone(),
                restored: put_back.restored.len(),
                left: left.collect(),
                who: who.clone(),
            })
            .await?;
    }
    for row in left_out.iter().filter(|row| unfinished(row)) {
        change.about(&row.id);
        change
            .record(&Fact::RunEnded {
                conclusion: conclude(Ending::Cancelled),
                summary: "Stopped: its thread was rewound.".to_owned(),
                follow_up: None,
            })
            .await?;
    }
    if let Some((thread, point)) = &wish.rewind {
        change
            .record(&Fact::ThreadRewound {
                thread: thread.clone(),
                point: *point,
                checkpoint,
                before: before.taken.checkpoint.clone(),
                by: wish.by,
                who,
            })
            .await?;
    }
    change.commit().await
}

fn unfinished(row: &Row) -> bool {
    matches!(row.text("status"), Some("running" | "waiting"))
}

/// The runs that a rewinding leaves out. One that somebody drives, or that carries out a plan which has
/// not ended, is a refusal.
async fn left_out(inner: &Inner, thread: &str, point: u64) -> Result<Vec<Row>, Problem> {
    let now = conversation::before(inner, thread, u64::MAX).await?;
    let then = conversation::before(inner, thread, point).await?;
    let gone = |spoken: &&Spoken| !then.contains(spoken);
    let mut rows = Vec::new();
    for (_, run) in now.iter().filter(gone) {
        let row = super::row(inner, Table::Run, run, "run").await?;
        if let Some(plan) = super::answer::plan_of(&row)
            && !orchestrate::has_ended(inner, &plan).await?
        {
            return Err(Problem::refused(format!(
                "run {run} of this thread carries out a plan that has not ended"
            ))
            .hint(format!(
                "`stance run --resume {run}` goes on with it; `--files` leaves the thread alone."
            )));
        }
        if unfinished(&row) {
            super::answer::refuse_driven(inner, run).await?;
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Where what stays differs from the moment gone back to: the space's mode, the thread's plans.
async fn standing(inner: &Inner, thread: &str, point: u64) -> Result<Vec<String>, Problem> {
    let store = inner.journal.store();
    let mut said = Vec::new();
    let row = store.get(Table::Thread, thread).await?;
    let space = row.as_ref().and_then(|row| row.text("space")).unwrap_or_default();
    let mut then = None;
    let mut now = None;
    for (number, _, fact) in inner.journal.facts(&format!("space/{space}")).await? {
        let (Fact::SpaceOpened { mode, .. } | Fact::ModeChanged { to: mode, .. }) = fact else {
            continue;
        };
        if number < point {
            then = Some(mode.clone());
        }
        now = Some(mode);
    }
    if let (Some(then), Some(now)) = (&then, &now)
        && then != now
    {
        let shown =
            |word: &str| Mode::from_stored(Some(word)).map_or_else(|_| word.to_owned(), |mode| mode.to_string());
        said.push(format!(
            "Space {space} was in {} then; it stays in {}.",
            shown(then),
            shown(now)
        ));
    }
    for plan in store.find(&Query::all(Table::Plan).having("thread", thread)).await? {
        let facts = inner.journal.facts(&format!("plan/{}", plan.id)).await?;
        let moved = |fact: &Fact| matches!(fact, Fact::PlanSubmitted(_) | Fact::PlanMoved { .. });
        if facts.iter().any(|(number, _, fact)| *number > point && moved(fact)) {
            let status = plan.text("status").unwrap_or_default();
            said.push(format!("Plan {} moved on since then; it stays {status}.", plan.id));
        }
    }
    Ok(said)
}

/// Something could not be restored: what, why, and what was done all the same.
fn stayed(put_back: &PutBack, said: Vec<String>) -> Problem {
    let named: Vec<String> = put_back
        .left
        .iter()
        .take(NAMED)
        .map(|(path, why)| format!("{} ({why})", path.display()))
        .collect();
    let more = match put_back.left.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let problem = Problem::refused(format!("{}{more} could not be restored.", named.join(", ")));
    said.into_iter().fold(problem, Problem::hint)
}
