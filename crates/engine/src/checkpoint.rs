//! Checkpoints of the checkout around runs: taken, kept in the journal, forgotten in time. It must not
//! know how a tree is walked or put back, nor what a conversation is.

pub(crate) mod look;

use std::path::{Component, Path, PathBuf};

use modes::Posture;
use repo::checkpoint::{Checkpoints, Difference, Taken, within};
use store::Table;

use crate::active::Active;
use crate::clock;
use crate::fact::{CheckpointTaken, Fact, LeftOut, Moment};
use crate::inner::Inner;
use crate::lease;
use crate::problem::{Problem, ProblemKind};

/// The stream of all checkpoints of a workspace.
pub(crate) const STREAM: &str = "checkpoints";

/// Paths that are named in the journal as not held; more are counted.
const NAMED: usize = 200;

/// So many checkpoints are kept in the end.
const KEPT: usize = 100;

/// So many pile up before some are forgotten, so that not every run has to look.
const MOST: usize = 120;

/// Older ones are forgotten, in milliseconds: thirty days.
const OLDEST_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

/// Paths a person named, as those of the checkout; one that lies elsewhere is no path to restore.
pub(crate) fn of_checkout(inner: &Inner, named: &[PathBuf]) -> Result<Vec<PathBuf>, Problem> {
    let of_it = |path: &PathBuf| {
        let inside = path.strip_prefix(&inner.worktree).unwrap_or(path);
        let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if inside.components().all(plain) {
            Ok(inside.to_owned())
        } else {
            let named = path.display();
            Err(Problem::usage(format!("{named} does not lie in this checkout"))
                .hint("name paths from the root of the checkout, without `..`."))
        }
    };
    named.iter().map(of_it).collect()
}

/// Refuses a named path of which there is nothing, neither now nor in what is compared with it.
pub(crate) fn known(inner: &Inner, named: &[PathBuf], differences: &[Difference]) -> Result<(), Problem> {
    let unknown = named.iter().find(|path| {
        let itself = std::slice::from_ref(*path);
        let differs = differences.iter().any(|one| within(&one.path, itself));
        !differs && inner.worktree.join(path).symlink_metadata().is_err()
    });
    match unknown {
        None => Ok(()),
        Some(path) => Err(Problem::usage(format!(
            "there is no {} in this checkout, and the checkpoint has none either",
            path.display()
        ))
        .hint("`stance checkpoint diff ID` names what is in it.")),
    }
}

/// What a run in hand knows of its checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Held {
    /// Nobody looked yet.
    Unknown,
    /// This one was taken before its first change.
    Before(String),
    /// None could be taken.
    None,
}

/// A checkpoint as the journal has it.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    /// The number of its event.
    pub number: u64,
    pub time_ms: i64,
    pub taken: CheckpointTaken,
}

/// Every checkpoint that is not forgotten, oldest first.
pub(crate) async fn all(inner: &Inner) -> Result<Vec<Kept>, Problem> {
    let mut kept: Vec<Kept> = Vec::new();
    for (number, time_ms, fact) in inner.journal.facts(STREAM).await? {
        match fact {
            Fact::CheckpointTaken(taken) => kept.push(Kept {
                number,
                time_ms,
                taken: *taken,
            }),
            Fact::CheckpointsForgotten { checkpoints } => {
                kept.retain(|one| !checkpoints.contains(&one.taken.checkpoint));
            }
            _ => {}
        }
    }
    Ok(kept)
}

/// The checkpoint a person names; `last` is the newest one before a run of this checkout.
pub(crate) async fn named(inner: &Inner, id: &str) -> Result<Kept, Problem> {
    let kept = all(inner).await?;
    let here = inner.worktree.display().to_string();
    let found = match id {
        "last" => kept
            .into_iter()
            .rev()
            .find(|one| one.taken.moment == Moment::BeforeRun && one.taken.worktree == here),
        id => kept.into_iter().find(|one| one.taken.checkpoint == id),
    };
    found.ok_or_else(|| {
        Problem::usage(match id {
            "last" => "no run has changed anything in this checkout yet, so there is no checkpoint".to_owned(),
            id => format!("there is no checkpoint {id} in this workspace"),
        })
        .hint("`stance checkpoint list` shows what there is.")
    })
}

/// The checkpoint of a run at a moment: before its first change, or after its end.
pub(crate) fn of_run<'a>(kept: &'a [Kept], run: &str, moment: Moment) -> Option<&'a Kept> {
    kept.iter()
        .rev()
        .find(|one| one.taken.moment == moment && one.taken.run.as_deref() == Some(run))
}

/// Takes a checkpoint, once before the first call of a run that could change the checkout.
pub(crate) async fn before_run(run: &mut Active) -> Result<(), Problem> {
    if run.held != Held::Unknown || run.spec.containment().worktree() != Posture::Writable {
        return Ok(());
    }
    let start = run.state.start.clone();
    let known = all(&run.inner).await?;
    run.held = match of_run(&known, &start.run, Moment::BeforeRun) {
        Some(kept) => Held::Before(kept.taken.checkpoint.clone()),
        None => match take(&run.inner, Moment::BeforeRun, Some(&start.run), Some(&start.thread)).await {
            Ok((kept, _)) => {
                forget(&run.inner).await?;
                Held::Before(kept.taken.checkpoint)
            }
            Err(problem) => {
                run.inner.notice(format!(
                    "No checkpoint could be taken, so what this run changes cannot be brought back: {problem}"
                ));
                Held::None
            }
        },
    };
    Ok(())
}

/// Takes a checkpoint at the end of a run that has one from its beginning.
pub(crate) async fn after_run(inner: &Inner, run: &str, thread: &str) -> Result<(), Problem> {
    let kept = all(inner).await?;
    let begun = of_run(&kept, run, Moment::BeforeRun).is_some();
    if !begun || of_run(&kept, run, Moment::AfterRun).is_some() {
        return Ok(());
    }
    if let Err(problem) = take(inner, Moment::AfterRun, Some(run), Some(thread)).await {
        inner.notice(format!("What this run changed cannot be told exactly: {problem}"));
    }
    Ok(())
}

/// Of paths about to be deleted those that no checkpoint holds, after one more was taken.
pub(crate) async fn not_held<'a>(run: &Active, paths: &[&'a str]) -> Result<Vec<&'a str>, Problem> {
    let start = &run.state.start;
    let taken = take(
        &run.inner,
        Moment::BeforeDeletion,
        Some(&start.run),
        Some(&start.thread),
    )
    .await;
    let Ok((kept, _)) = taken else {
        return Ok(paths.to_vec());
    };
    let checkpoints = of(&run.inner)?;
    let mut missing = Vec::new();
    for path in paths {
        if !checkpoints.holds(&kept.taken.tree, Path::new(path))? {
            missing.push(*path);
        }
    }
    Ok(missing)
}

/// Takes a checkpoint and keeps it in the journal. One before a deletion that equals the newest is
/// that one.
pub(crate) async fn take(
    inner: &Inner,
    moment: Moment,
    run: Option<&str>,
    thread: Option<&str>,
) -> Result<(Kept, Taken), Problem> {
    let taken = look(inner).await?;
    let worktree = inner.worktree.display().to_string();
    if moment == Moment::BeforeDeletion
        && let Some(newest) = all(inner)
            .await?
            .into_iter()
            .rev()
            .find(|one| one.taken.worktree == worktree)
        && newest.taken.tree == taken.tree
    {
        return Ok((newest, taken));
    }
    let named = taken.left.iter().take(NAMED);
    let fact = CheckpointTaken {
        checkpoint: clock::new_id('c'),
        tree: taken.tree.clone(),
        worktree,
        moment,
        run: run.map(str::to_owned),
        thread: thread.map(str::to_owned),
        files: taken.files,
        left: named
            .map(|left| LeftOut {
                path: left.path.display().to_string(),
                why: left.why,
            })
            .collect(),
        left_more: taken.left.len().saturating_sub(NAMED),
    };
    let mut change = inner.journal.change(run.unwrap_or_default()).await?;
    let number = change.record(&Fact::CheckpointTaken(Box::new(fact.clone()))).await?;
    change.commit().await?;
    let kept = Kept {
        number,
        time_ms: clock::now_ms(),
        taken: fact,
    };
    Ok((kept, taken))
}

/// The checkout as it is now, kept for the moment and noted nowhere.
pub(crate) async fn look(inner: &Inner) -> Result<Taken, Problem> {
    in_turn(inner, |checkpoints| checkpoints.take(clock::now_ms())).await
}

/// What differs between two trees.
pub(crate) async fn differences(inner: &Inner, earlier: &str, later: &str) -> Result<Vec<Difference>, Problem> {
    let (earlier, later) = (earlier.to_owned(), later.to_owned());
    in_turn(inner, move |checkpoints| checkpoints.differences(&earlier, &later)).await
}

/// What a run changed, as far as checkpoints tell: none where its end was not seen.
pub(crate) async fn changes_of(inner: &Inner, kept: &[Kept], run: &str) -> Result<Option<Vec<PathBuf>>, Problem> {
    let before = of_run(kept, run, Moment::BeforeRun);
    let Some((before, after)) = before.zip(of_run(kept, run, Moment::AfterRun)) else {
        return Ok(None);
    };
    let changed = differences(inner, &before.taken.tree, &after.taken.tree).await?;
    Ok(Some(changed.into_iter().map(|one| one.path).collect()))
}

/// Does something with the checkpoints of this checkout in the workspace's one turn to do so, off the
/// runtime's own threads.
pub(crate) async fn in_turn<T: Send + 'static>(
    inner: &Inner,
    act: impl FnOnce(&Checkpoints) -> Result<T, repo::RepoError> + Send + 'static,
) -> Result<T, Problem> {
    let checkpoints = of(inner)?;
    let turn = lease::turn_of_snapshots(inner).await?;
    let done = tokio::task::spawn_blocking(move || act(&checkpoints)).await;
    lease::snapshot_done(inner, &turn).await?;
    let done = done.map_err(|failure| Problem::new(ProblemKind::Machine, failure.to_string()))?;
    Ok(done?)
}

fn of(inner: &Inner) -> Result<Checkpoints, Problem> {
    Ok(Checkpoints::of(
        &inner.home.checkpoints(),
        &inner.worktree,
        inner.hidden(),
    )?)
}

/// Forgets the oldest when there are too many, and those that are too old; never one whose run has not
/// ended.
async fn forget(inner: &Inner) -> Result<(), Problem> {
    let kept = all(inner).await?;
    let old = clock::now_ms().saturating_sub(OLDEST_MS);
    if kept.len() <= MOST && kept.first().is_none_or(|oldest| oldest.time_ms >= old) {
        return Ok(());
    }
    let many = kept.len().saturating_sub(KEPT);
    let mut forgotten = Vec::new();
    let mut trees = Vec::new();
    for (index, one) in kept.iter().enumerate() {
        let goes = (kept.len() > MOST && index < many) || one.time_ms < old;
        if goes && ended(inner, one.taken.run.as_deref()).await? {
            forgotten.push(one.taken.checkpoint.clone());
        } else {
            trees.push(one.taken.tree.clone());
        }
    }
    if forgotten.is_empty() {
        return Ok(());
    }
    let mut change = inner.journal.change("").await?;
    change
        .record(&Fact::CheckpointsForgotten { checkpoints: forgotten })
        .await?;
    change.commit().await?;
    in_turn(inner, move |checkpoints| checkpoints.sweep(&trees)).await
}

async fn ended(inner: &Inner, run: Option<&str>) -> Result<bool, Problem> {
    let Some(run) = run else { return Ok(true) };
    let row = inner.journal.store().get(Table::Run, run).await?;
    Ok(row.is_none_or(|row| !matches!(row.text("status"), Some("running" | "waiting"))))
}
