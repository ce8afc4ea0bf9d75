//! What can be asked of a repository, and the answer as bounded text. Changes nothing: not the
//! index, not a time stamp.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::git::Operation;
use crate::revision::{beneath, one_beneath, resolve};
use crate::{Checkout, Git, RepoError};

/// A question. Revisions are names of commits (`HEAD~2`, a branch, an id), never ranges or options;
/// paths are beneath the worktree and taken literally. No paths means all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    /// Branch, staged, changed and untracked files, as `git status --porcelain --branch` has them.
    Status,
    /// Commits, newest first.
    Log {
        /// Where to start; HEAD if none.
        revision: Option<String>,
        /// Leave out what this one already has.
        since: Option<String>,
        /// Only commits that touch these.
        paths: Vec<PathBuf>,
        /// At most this many.
        count: u32,
    },
    /// A patch: index to worktree; HEAD to index if `staged`; `from` to worktree (to index if
    /// `staged`); or `from` to `to`.
    Diff {
        /// The older side.
        from: Option<String>,
        /// The newer side; needs `from`.
        to: Option<String>,
        /// The index instead of the worktree.
        staged: bool,
        /// Only these.
        paths: Vec<PathBuf>,
    },
    /// A commit with its patch, or with a path the content of that file in the commit.
    Show {
        /// The commit.
        revision: String,
        /// The file.
        path: Option<PathBuf>,
    },
    /// Who wrote each line.
    Blame {
        /// The file.
        path: PathBuf,
        /// As of this commit; the worktree if none.
        revision: Option<String>,
        /// First and last line, counted from 1.
        lines: Option<(u32, u32)>,
    },
    /// Local and remote branches with their commits.
    Branches,
    /// The newest commit that two have in common; empty if there is none.
    MergeBase {
        /// One.
        left: String,
        /// The other.
        right: String,
    },
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOutput {
    /// The first bytes as text.
    pub text: String,
    /// How many bytes more there were.
    pub dropped: u64,
}

const COMMIT: &str = "--format=commit %H%nAuthor: %an <%ae>%nDate:   %aI%n%n%w(0,4,4)%B";
/// For everything that makes patches.
const PATCH: [&str; 4] = [
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=all",
];

/// Answers a question with at most `limit` bytes.
pub async fn read(git: &Git, checkout: &Checkout, question: &Read, limit: usize) -> Result<ReadOutput, RepoError> {
    let id = async |revision: &str| resolve(git, checkout, revision).await.map(OsString::from);
    let arguments = match question {
        Read::Status => strings(&["status", "--porcelain=v1", "--branch", "--ignore-submodules=all"]),
        Read::Log {
            revision,
            since,
            paths,
            count,
        } => {
            let start = id(revision.as_deref().unwrap_or("HEAD")).await?;
            let mut arguments = strings(&["log", "--no-color", "--no-show-signature", COMMIT]);
            arguments.push(format!("--max-count={count}").into());
            arguments.push(start);
            if let Some(since) = since {
                let mut without = OsString::from("^");
                without.push(id(since).await?);
                arguments.push(without);
            }
            with_paths(arguments, paths)?
        }
        Read::Diff {
            from,
            to,
            staged,
            paths,
        } => {
            let mut arguments = strings(&["diff"]);
            arguments.extend(strings(&PATCH));
            if *staged {
                arguments.push("--cached".into());
            }
            if let Some(from) = from {
                arguments.push(id(from).await?);
            }
            match (from, to, staged) {
                (Some(_), Some(to), false) => arguments.push(id(to).await?),
                (_, Some(to), _) => return Err(RepoError::NoSuchRevision(to.clone())),
                (_, None, _) => (),
            }
            with_paths(arguments, paths)?
        }
        Read::Show { revision, path: None } => {
            let mut arguments = strings(&["show", "--no-show-signature", COMMIT]);
            arguments.extend(strings(&PATCH));
            arguments.push(id(revision).await?);
            with_paths(arguments, &[])?
        }
        Read::Show {
            revision,
            path: Some(path),
        } => {
            let mut object = id(revision).await?;
            object.push(":");
            object.push(one_beneath(path)?);
            let mut arguments = strings(&["cat-file", "blob"]);
            arguments.push(object);
            arguments
        }
        Read::Blame { path, revision, lines } => {
            let mut arguments = strings(&["blame", "--date=iso-strict"]);
            if let Some((first, last)) = lines {
                arguments.push(format!("-L{first},{last}").into());
            }
            if let Some(revision) = revision {
                arguments.push(id(revision).await?);
            }
            with_paths(arguments, std::slice::from_ref(path))?
        }
        Read::Branches => strings(&[
            "for-each-ref",
            "--format=%(HEAD) %(refname:short) %(objectname) %(committerdate:iso-strict)",
            "refs/heads",
            "refs/remotes",
        ]),
        Read::MergeBase { left, right } => {
            vec!["merge-base".into(), id(left).await?, id(right).await?]
        }
    };
    answer(git, checkout, question, arguments, limit).await
}

async fn answer(
    git: &Git,
    checkout: &Checkout,
    question: &Read,
    arguments: Vec<OsString>,
    limit: usize,
) -> Result<ReadOutput, RepoError> {
    let mut operation = Operation::read(checkout, "read the repository", arguments);
    operation.output = limit;
    let finished = git.attempt_in(&git.scratch()?, operation).await?;
    let missing = |path: &PathBuf| RepoError::NoSuchPath(path.to_string_lossy().into_owned());
    match (question, finished.exit) {
        (_, Some(0)) | (Read::MergeBase { .. }, Some(1)) => Ok(ReadOutput {
            text: finished.stdout.text(),
            dropped: finished.stdout.dropped,
        }),
        (Read::Show { path: Some(path), .. } | Read::Blame { path, .. }, exit) => {
            match crate::git::reworded("read the file", exit, &finished.stderr.text()) {
                RepoError::Git { .. } => Err(missing(path)),
                error => Err(error),
            }
        }
        (_, exit) => Err(crate::git::reworded(
            "read the repository",
            exit,
            &finished.stderr.text(),
        )),
    }
}

fn strings(texts: &[&str]) -> Vec<OsString> {
    texts.iter().map(OsString::from).collect()
}

fn with_paths(mut arguments: Vec<OsString>, paths: &[PathBuf]) -> Result<Vec<OsString>, RepoError> {
    arguments.push("--".into());
    arguments.extend(beneath(paths)?);
    Ok(arguments)
}
