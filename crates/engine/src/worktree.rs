//! What changed in the checkout, as observed: snapshots before and after, never what a tool or a
//! model says of itself.

use repo::Snapshot;

use crate::active::Active;
use crate::fact::Fact;
use crate::inner::Inner;
use crate::lease;
use crate::problem::Problem;

/// Files that cannot be read and are named.
const NAMED: usize = 5;

/// A checkout that changes while it is looked at is looked at so often.
const TRIES: u32 = 3;

/// The state of the checkout now; none outside a repository.
pub(crate) async fn snapshot(inner: &Inner) -> Result<Option<Snapshot>, Problem> {
    let Some((git, checkout)) = inner.repository() else {
        return Ok(None);
    };
    let turn = lease::turn_of_snapshots(inner).await?;
    let mut taken = repo::snapshot(git, checkout, &inner.home.objects()).await;
    for _ in 1..TRIES {
        if taken.is_err() {
            taken = repo::snapshot(git, checkout, &inner.home.objects()).await;
        }
    }
    lease::snapshot_done(inner, &turn).await?;
    let taken = taken?;
    if !taken.unreadable.is_empty() {
        let names: Vec<String> = taken
            .unreadable
            .iter()
            .take(NAMED)
            .map(|path| path.display().to_string())
            .collect();
        inner.notice(format!(
            "{} files cannot be read, so changes of them are not seen: {}",
            taken.unreadable.len(),
            names.join(", ")
        ));
    }
    Ok(Some(taken))
}

/// The tree of a snapshot that holds more than its commit; none when nothing is uncommitted.
pub(crate) fn dirty_tree(snapshot: Option<&Snapshot>) -> Option<String> {
    snapshot
        .filter(|snapshot| !snapshot.changed.is_empty())
        .map(|snapshot| snapshot.tree.clone())
}

/// Paths that differ between two trees of ours, sorted.
pub(crate) async fn changed(inner: &Inner, before: &str, after: &str) -> Result<Vec<String>, Problem> {
    let Some((git, checkout)) = inner.repository() else {
        return Ok(Vec::new());
    };
    if before == after {
        return Ok(Vec::new());
    }
    let (before, after) = (Snapshot::of_tree(before), Snapshot::of_tree(after));
    let paths = repo::changed_between(git, checkout, &inner.home.objects(), &before, &after).await?;
    let mut names: Vec<String> = paths.iter().map(|changed| changed.path.display().to_string()).collect();
    names.sort();
    Ok(names)
}

/// Keeps the state of the checkout before the first call of a run that could change it.
pub(crate) async fn remember_start(run: &mut Active) -> Result<(), Problem> {
    if run.state.before_tree.is_some() {
        return Ok(());
    }
    let Some(snapshot) = snapshot(&run.inner).await? else {
        return Ok(());
    };
    let (before, after) = (snapshot.tree.clone(), snapshot.tree);
    run.record(vec![Fact::ChangesObserved {
        before,
        after,
        files: Vec::new(),
    }])
    .await
}

/// Observes what the run changed, when it could have changed anything.
pub(crate) async fn observe_end(run: &mut Active) -> Result<(), Problem> {
    let Some(before) = run.state.before_tree.clone() else {
        return Ok(());
    };
    let Some(snapshot) = snapshot(&run.inner).await? else {
        return Ok(());
    };
    let files = changed(&run.inner, &before, &snapshot.tree).await?;
    run.record(vec![Fact::ChangesObserved {
        before,
        after: snapshot.tree,
        files,
    }])
    .await
}

/// Where a plan begins: what its landing must leave alone.
#[derive(Debug, Default)]
pub(crate) struct Ground {
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// What a person has uncommitted, where the landing is going to commit.
    pub dirty: Vec<String>,
}

/// The ground of a plan that is about to begin.
pub(crate) async fn ground(inner: &Inner, commits: bool) -> Result<Ground, Problem> {
    let Some((git, checkout)) = inner.repository() else {
        return Ok(Ground::default());
    };
    let branch = repo::head(git, checkout).await?.branch;
    let dirty = if commits { snapshot(inner).await? } else { None };
    let dirty = dirty.map_or_else(Vec::new, |snapshot| {
        snapshot
            .changed
            .iter()
            .map(|changed| changed.path.display().to_string())
            .collect()
    });
    Ok(Ground { branch, dirty })
}

/// "starts from main 3f2a1c + 2 changed files", for people.
pub(crate) async fn words(inner: &Inner, snapshot: Option<&Snapshot>) -> Result<String, Problem> {
    let (Some(snapshot), Some((git, checkout))) = (snapshot, inner.repository()) else {
        return Ok("starts from the folder as it is".to_owned());
    };
    let head = repo::head(git, checkout).await?;
    let branch = head.branch.unwrap_or_else(|| "no branch".to_owned());
    let commit: String = head.id.as_deref().unwrap_or("no commit").chars().take(9).collect();
    Ok(match snapshot.changed.len() {
        0 => format!("starts from {branch} {commit}"),
        1 => format!("starts from {branch} {commit} + 1 changed file"),
        more => format!("starts from {branch} {commit} + {more} changed files"),
    })
}

/// Facts about the place for the model; rides at the end of an entering message.
pub(crate) async fn context(inner: &Inner) -> Result<String, Problem> {
    let folder = inner.worktree.display();
    let Some((git, checkout)) = inner.repository() else {
        return Ok(format!("<place>folder {folder}, no git repository</place>"));
    };
    let head = repo::head(git, checkout).await?;
    let branch = head.branch.unwrap_or_else(|| "none".to_owned());
    let commit = head.id.unwrap_or_else(|| "none".to_owned());
    Ok(format!(
        "<place>folder {folder}, branch {branch}, commit {commit}</place>"
    ))
}
