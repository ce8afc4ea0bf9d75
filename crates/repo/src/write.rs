//! Staging and committing. No hook runs, no signature is made, no filter is called; the branch moves
//! only from where the caller saw it.

use std::ffi::OsString;
use std::path::PathBuf;

use sandbox::Scratch;

use crate::git::{OWN_INDEX, Operation};
use crate::listing::{LIST, Listing};
use crate::revision::{beneath, head, is_id, not_busy};
use crate::{Checkout, Git, Identity, RepoError};

/// The trailer that ties a commit to a plan's step. Only `commit_step` writes it.
pub(crate) const TRAILER: &str = "Stance-Plan";

/// A commit that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// Its id.
    pub id: String,
    /// The branch it is on.
    pub branch: String,
}

/// Puts the present state of these paths (files or folders) into the index, deletions included.
/// Ignored files are left out. Returns what was staged.
pub async fn stage(git: &Git, checkout: &Checkout, paths: &[PathBuf]) -> Result<Vec<PathBuf>, RepoError> {
    let scratch = git.scratch()?;
    let listing = changed(git, checkout, &scratch, paths, None).await?;
    update_index(git, checkout, &scratch, &listing, None).await?;
    Ok(listing.paths())
}

/// Commits the index, or with `paths` the present state of these alone, on the current branch.
/// `expected_head` is the commit the caller saw, none for a branch without one.
pub async fn commit(
    git: &Git,
    checkout: &Checkout,
    message: &str,
    paths: Option<&[PathBuf]>,
    author: &Identity,
    expected_head: Option<&str>,
) -> Result<Committed, RepoError> {
    let claims = message.lines().any(|line| {
        line.trim_start()
            .get(..TRAILER.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(TRAILER))
    });
    if claims {
        return Err(RepoError::ForeignTrailer(TRAILER));
    }
    commit_as(git, checkout, message, paths, author, author, expected_head).await
}

pub(crate) async fn commit_as(
    git: &Git,
    checkout: &Checkout,
    message: &str,
    paths: Option<&[PathBuf]>,
    author: &Identity,
    committer: &Identity,
    expected_head: Option<&str>,
) -> Result<Committed, RepoError> {
    if message.trim().is_empty() || message.contains('\0') {
        return Err(RepoError::Message);
    }
    not_busy(checkout)?;
    let now = head(git, checkout).await?;
    let branch = now.branch.ok_or(RepoError::DetachedHead)?;
    if now.id.as_deref() != expected_head {
        let or_none = |id: Option<&str>| id.unwrap_or("no commit").to_owned();
        return Err(RepoError::HeadMoved {
            expected: or_none(expected_head),
            found: or_none(now.id.as_deref()),
        });
    }
    let scratch = git.scratch()?;
    let (tree, staged) = match paths {
        None => (write_tree(git, checkout, &scratch, None).await?, None),
        Some(paths) => {
            let own = Some(OWN_INDEX);
            let start = now.id.as_deref().unwrap_or("--empty");
            run(git, checkout, &scratch, ["read-tree", start], own).await?;
            let listing = changed(git, checkout, &scratch, paths, own).await?;
            update_index(git, checkout, &scratch, &listing, own).await?;
            (write_tree(git, checkout, &scratch, own).await?, Some(listing))
        }
    };
    if let Some(id) = &now.id {
        let before = run(git, checkout, &scratch, ["rev-parse", &format!("{id}^{{tree}}")], None).await?;
        if before.trim() == tree {
            return Err(RepoError::NothingToCommit);
        }
    }
    let mut arguments = vec!["commit-tree", tree.as_str()];
    arguments.extend(now.id.iter().flat_map(|id| ["-p", id]));
    let mut operation =
        Operation::write(checkout, "make a commit", arguments).with_stdin(format!("{}\n", message.trim_end()));
    operation.environment.extend(author.variables("AUTHOR"));
    operation.environment.extend(committer.variables("COMMITTER"));
    let id = git.run_in(&scratch, operation).await?.stdout.text().trim().to_owned();

    let reference = format!("refs/heads/{branch}");
    let nothing = "0".repeat(id.len());
    let old = now.id.as_deref().unwrap_or(&nothing);
    let subject = format!("commit: {}", message.lines().next().unwrap_or_default());
    let mut operation = Operation::write(
        checkout,
        "move the branch",
        ["update-ref", "-m", &subject, &reference, &id, old],
    );
    operation.environment.extend(committer.variables("COMMITTER"));
    git.run_in(&scratch, operation).await?;
    if let Some(listing) = staged {
        update_index(git, checkout, &scratch, &listing, None).await?;
    }
    Ok(Committed { id, branch })
}

/// The files beneath these paths that differ from the index. Refuses a path that is nowhere, and a
/// file that only a filter could commit rightly.
async fn changed(
    git: &Git,
    checkout: &Checkout,
    scratch: &Scratch,
    paths: &[PathBuf],
    index: Option<&str>,
) -> Result<Listing, RepoError> {
    let plain = beneath(paths)?;
    let list = LIST
        .into_iter()
        .map(OsString::from)
        .chain(plain.iter().cloned())
        .collect();
    let listed = bytes(git, checkout, scratch, list, Vec::new(), index).await?;
    let listing = Listing::new(&checkout.worktree, &listed);
    let known = listing.paths();
    for path in &plain {
        let there = checkout.worktree.join(path).symlink_metadata().is_ok();
        if !there && !known.iter().any(|listed| listed.starts_with(path)) {
            return Err(RepoError::NoSuchPath(path.to_string_lossy().into_owned()));
        }
    }
    let ask = ["check-attr", "-z", "--stdin", "filter"].map(OsString::from).to_vec();
    let attributes = bytes(git, checkout, scratch, ask, listing.files(), index).await?;
    let mut fields = attributes.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    while let (Some(path), Some(_), Some(filter)) = (fields.next(), fields.next(), fields.next()) {
        if !matches!(filter.as_ref(), "unspecified" | "unset") {
            let (path, filter) = (path.into_owned(), filter.into_owned());
            return Err(RepoError::Filtered { path, filter });
        }
    }
    Ok(listing)
}

async fn update_index(
    git: &Git,
    checkout: &Checkout,
    scratch: &Scratch,
    listing: &Listing,
    index: Option<&str>,
) -> Result<(), RepoError> {
    for (arguments, names) in listing.steps() {
        bytes(git, checkout, scratch, arguments, names, index).await?;
    }
    Ok(())
}

async fn write_tree(
    git: &Git,
    checkout: &Checkout,
    scratch: &Scratch,
    index: Option<&str>,
) -> Result<String, RepoError> {
    let tree = run(git, checkout, scratch, ["write-tree"], index)
        .await?
        .trim()
        .to_owned();
    if is_id(&tree) {
        Ok(tree)
    } else {
        Err(RepoError::Git {
            doing: "write a tree",
            exit: 0,
        })
    }
}

async fn run<const N: usize>(
    git: &Git,
    checkout: &Checkout,
    scratch: &Scratch,
    arguments: [&str; N],
    index: Option<&str>,
) -> Result<String, RepoError> {
    let arguments = arguments.map(OsString::from).to_vec();
    let answer = bytes(git, checkout, scratch, arguments, Vec::new(), index).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

async fn bytes(
    git: &Git,
    checkout: &Checkout,
    scratch: &Scratch,
    arguments: Vec<OsString>,
    stdin: Vec<u8>,
    index: Option<&str>,
) -> Result<Vec<u8>, RepoError> {
    let mut operation = Operation::write(checkout, "commit", arguments).with_stdin(stdin);
    if let Some(index) = index {
        operation = operation.with_variable("GIT_INDEX_FILE", index);
    }
    Ok(git.run_in(scratch, operation).await?.stdout.bytes)
}
