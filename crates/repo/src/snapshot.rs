//! A dirty worktree kept as a tree: base commit plus uncommitted and untracked files, written to an
//! object folder of ours. The user's `.git`, references and index are not touched. Files are taken
//! byte by byte: no filter, no line-end conversion.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sandbox::{Finished, private_folder};

use crate::git::{Operation, Writes};
use crate::listing::{LIST, Listing};
use crate::revision::head;
use crate::unreadable::unreadable;
use crate::{Checkout, Git, RepoError};

/// A worktree at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The commit that was checked out; none on a branch without one.
    pub base: Option<String>,
    /// The tree of everything that is not ignored. Its objects are in the store or the repository.
    pub tree: String,
    /// What differs from the base.
    pub changed: Vec<ChangedPath>,
    /// Files that could not be read, by path. The tree holds what was known of them before: their
    /// entry in the snapshot before this one, else in the base, else nothing.
    pub unreadable: Vec<PathBuf>,
}

impl Snapshot {
    /// The snapshot of which only the tree is known: enough to compare it with another.
    pub fn of_tree(tree: impl Into<String>) -> Self {
        Self {
            base: None,
            tree: tree.into(),
            changed: Vec::new(),
            unreadable: Vec::new(),
        }
    }
}

/// How a path differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is only in the later one.
    Added,
    /// Its content or mode differs.
    Modified,
    /// It is only in the earlier one.
    Deleted,
}

/// A path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedPath {
    /// Beneath the worktree.
    pub path: PathBuf,
    /// How.
    pub change: Change,
    /// The id of the later content; none if deleted.
    pub content: Option<String>,
}

/// Takes a snapshot. `store` is a folder of ours, private to this checkout and outside of it; it
/// keeps the objects and an index that makes the next snapshot cheap. One at a time a store.
pub async fn snapshot(git: &Git, checkout: &Checkout, store: &Path) -> Result<Snapshot, RepoError> {
    let store = prepare(store)?;
    let base = head(git, checkout).await?.id;
    let followed = store.join("index").exists();
    // The index still holds the snapshot before this one.
    let former = if followed {
        written(git, checkout, &store).await.ok()
    } else {
        None
    };
    let mut start: Vec<OsString> = vec!["read-tree".into()];
    match &base {
        // Over an index of ours this keeps what is known of files that did not change.
        Some(id) if followed => start.extend(["--reset".into(), id.into()]),
        Some(id) => start.push(id.into()),
        None => start.push("--empty".into()),
    }
    run(git, checkout, &store, start, Vec::new()).await?;
    // Compares contents without writing them, so that only changed files become objects of ours.
    let refresh = ["update-index", "-q", "--refresh"].map(OsString::from);
    let refresh = operation(checkout, &store, refresh.to_vec(), Vec::new());
    git.attempt_in(&git.scratch()?, refresh).await?;

    let list = operation(checkout, &store, LIST.map(OsString::from).to_vec(), Vec::new());
    let listed = git.run(list).await?;
    // Git says aloud which folders it could not enter; it lists nothing of what is in them.
    let complete = listed.stderr.bytes.is_empty();
    let mut listing = Listing::new(&checkout.worktree, &whole(listed)?);
    let mut done = put_in(git, checkout, &store, &listing).await;
    let mut left_out = BTreeSet::new();
    if done.is_err() || !complete {
        // One file that cannot be read makes git refuse them all.
        let known = entries(git, checkout, &store, former.as_deref()).await;
        let asked = listing.names().iter().chain(known.keys()).cloned().collect();
        left_out = unreadable(git, checkout, asked).await?;
        if !left_out.is_empty() {
            listing.leave_out(&left_out);
            done = put_in(git, checkout, &store, &listing).await;
            restore(git, checkout, &store, &known, &left_out).await?;
        }
    }
    done?;
    let tree = written(git, checkout, &store).await?;
    let earlier = base.as_deref().unwrap_or(checkout.settings.empty_tree());
    let changed = compare(git, checkout, &store, earlier, &tree).await?;
    Ok(Snapshot {
        base,
        tree,
        changed,
        unreadable: left_out.iter().map(|name| OsStr::from_bytes(name).into()).collect(),
    })
}

/// What differs between two snapshots of the same store, by path.
pub async fn changed_between(
    git: &Git,
    checkout: &Checkout,
    store: &Path,
    earlier: &Snapshot,
    later: &Snapshot,
) -> Result<Vec<ChangedPath>, RepoError> {
    compare(git, checkout, &prepare(store)?, &earlier.tree, &later.tree).await
}

async fn put_in(git: &Git, checkout: &Checkout, store: &Path, listing: &Listing) -> Result<(), RepoError> {
    for (arguments, names) in listing.steps() {
        run(git, checkout, store, arguments, names).await?;
    }
    Ok(())
}

/// Writes our index as a tree.
async fn written(git: &Git, checkout: &Checkout, store: &Path) -> Result<String, RepoError> {
    let tree = run(git, checkout, store, vec!["write-tree".into()], Vec::new()).await?;
    Ok(String::from_utf8_lossy(&tree).trim().to_owned())
}

/// The entries of a tree of ours: by name, `MODE TYPE ID`. None where it is not there any more.
async fn entries(git: &Git, checkout: &Checkout, store: &Path, tree: Option<&str>) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let Some(tree) = tree else {
        return BTreeMap::new();
    };
    let list = ["ls-tree", "-r", "-z", tree].map(OsString::from).to_vec();
    let listed = run(git, checkout, store, list, Vec::new()).await.unwrap_or_default();
    let entries = listed.split(|byte| *byte == 0).filter_map(|entry| {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        let (facts, name) = entry.split_at_checked(tab)?;
        Some((name.get(1..)?.to_owned(), facts.to_owned()))
    });
    entries.collect()
}

/// Gives unreadable files the entries they had.
async fn restore(
    git: &Git,
    checkout: &Checkout,
    store: &Path,
    known: &BTreeMap<Vec<u8>, Vec<u8>>,
    unreadable: &BTreeSet<Vec<u8>>,
) -> Result<(), RepoError> {
    let mut lines = Vec::new();
    for name in unreadable {
        if let Some(facts) = known.get(name) {
            lines.extend([facts.as_slice(), b"\t", name, b"\0"].concat());
        }
    }
    let restore = ["update-index", "-z", "--index-info"].map(OsString::from).to_vec();
    run(git, checkout, store, restore, lines).await?;
    Ok(())
}

fn prepare(store: &Path) -> Result<PathBuf, RepoError> {
    let store = private_folder(store)?;
    private_folder(&store.join("objects"))?;
    Ok(store)
}

fn operation<'a>(checkout: &'a Checkout, store: &Path, arguments: Vec<OsString>, stdin: Vec<u8>) -> Operation<'a> {
    Operation {
        writes: Writes::Store(store.to_owned()),
        stdin,
        ..Operation::read(checkout, "keep the state of the worktree", arguments)
    }
}

async fn run(
    git: &Git,
    checkout: &Checkout,
    store: &Path,
    arguments: Vec<OsString>,
    stdin: Vec<u8>,
) -> Result<Vec<u8>, RepoError> {
    whole(git.run(operation(checkout, store, arguments, stdin)).await?)
}

/// What a process printed, all of it.
fn whole(finished: Finished) -> Result<Vec<u8>, RepoError> {
    if finished.stdout.dropped > 0 {
        return Err(RepoError::Git {
            doing: "list so many files",
            exit: 0,
        });
    }
    Ok(finished.stdout.bytes)
}

async fn compare(
    git: &Git,
    checkout: &Checkout,
    store: &Path,
    earlier: &str,
    later: &str,
) -> Result<Vec<ChangedPath>, RepoError> {
    let arguments = [
        "diff-tree",
        "-r",
        "-z",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        earlier,
        later,
    ];
    let raw = run(git, checkout, store, arguments.map(OsString::from).to_vec(), Vec::new()).await?;
    Ok(parse(&raw))
}

/// Pairs of `:MODE MODE ID ID LETTER` and a path, each ended by NUL.
fn parse(raw: &[u8]) -> Vec<ChangedPath> {
    let mut fields = raw.split(|byte| *byte == 0);
    let mut changed = Vec::new();
    while let (Some(facts), Some(path)) = (fields.next(), fields.next()) {
        let facts = String::from_utf8_lossy(facts);
        let mut facts = facts.split(' ').skip(3);
        let (Some(content), Some(letter)) = (facts.next(), facts.next()) else {
            break;
        };
        let change = match letter {
            "A" => Change::Added,
            "D" => Change::Deleted,
            _ => Change::Modified,
        };
        changed.push(ChangedPath {
            path: OsStr::from_bytes(path).into(),
            change,
            content: (change != Change::Deleted).then(|| content.to_owned()),
        });
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_differences_are_parsed() {
        let raw = b":000000 100644 0000 abcd A\0a b\0:100644 000000 abcd 0000 D\0c\0:100644 100755 ab ab M\0d\0";
        let changed = parse(raw);
        let seen: Vec<_> = changed
            .iter()
            .map(|one| (one.path.to_str().unwrap(), one.change, one.content.as_deref()))
            .collect();
        assert_eq!(
            seen,
            [
                ("a b", Change::Added, Some("abcd")),
                ("c", Change::Deleted, None),
                ("d", Change::Modified, Some("ab"))
            ]
        );
    }
}
