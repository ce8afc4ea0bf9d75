//! Everything that can go wrong with a repository, in our own words: git's are never passed on,
//! because a repository can choose what they say.

use std::path::PathBuf;

use sandbox::SandboxError;

/// Why something was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    /// No folder from here to the root of the file system holds a `.git`.
    #[error("{} is not in a git repository", .0.display())]
    NoRepository(PathBuf),
    /// The folder is a repository without a worktree.
    #[error("{} is a bare repository: there is no worktree", .0.display())]
    Bare(PathBuf),
    /// The repository is laid out in a way that is not trusted.
    #[error("{}: {why}", path.display())]
    Layout {
        /// The file or folder at fault.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
        /// What the person can do, where something can be done.
        hint: Option<&'static str>,
    },
    /// A revision that is not one.
    #[error("no commit is named {0:?}")]
    NoSuchRevision(String),
    /// A path that is not beneath the worktree, or not a plain one.
    #[error("{0:?} is not a path in this repository")]
    Path(String),
    /// There is no such file at that place.
    #[error("{0:?} does not exist there")]
    NoSuchPath(String),
    /// There is no commit yet.
    #[error("the branch has no commit yet")]
    Unborn,
    /// No branch is checked out.
    #[error("no branch is checked out: a commit would belong to none")]
    DetachedHead,
    /// The repository is in the middle of something.
    #[error("{0} is under way: finish or abort it first")]
    Busy(&'static str),
    /// HEAD is not where the caller saw it.
    #[error("HEAD moved: expected {expected}, found {found}")]
    HeadMoved {
        /// The commit that the caller built on.
        expected: String,
        /// Where HEAD is.
        found: String,
    },
    /// The file can only be committed by running a program of the repository.
    #[error("{path:?} is kept through the filter {filter:?}, which is not run")]
    Filtered {
        /// The path, beneath the worktree.
        path: String,
        /// The filter's name.
        filter: String,
    },
    /// There is nothing to commit.
    #[error("nothing to commit")]
    NothingToCommit,
    /// The message is empty or not text, or a plan's name is not one word.
    #[error("a commit needs a message of plain text")]
    Message,
    /// The message claims what only an approved plan's landing may say.
    #[error("the trailer {0} is set by Stance alone")]
    ForeignTrailer(&'static str),
    /// Another git process holds a lock.
    #[error("another git process is writing to this repository")]
    Locked,
    /// An object is not in the repository: a shallow or partial clone, or a broken one.
    #[error("an object is missing from this repository; nothing was fetched")]
    ObjectMissing,
    /// Name and mail for a commit are not usable.
    #[error("the {0} of an author must be one line of text without < and >")]
    Identity(&'static str),
    /// Git took too long.
    #[error("git did not finish in time")]
    TimedOut,
    /// Anything else that git refused; its exit code.
    #[error("git could not {doing} (exit code {exit})")]
    Git {
        /// What it was to do.
        doing: &'static str,
        /// Its exit code.
        exit: i32,
    },
    /// A file of the repository could not be read by us.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// A worktree of more files than a checkpoint takes.
    #[error("the folder holds more than {0} files")]
    TooManyFiles(u64),
    /// What a checkpoint keeps is not what it was.
    #[error("a checkpoint is damaged: {0}")]
    Damaged(String),
    /// The walls.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
}

impl RepoError {
    /// What the person can do about it, in one sentence; none where the words say it already or
    /// nothing is known to help.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Layout { hint, .. } => *hint,
            Self::Bare(_) => Some("Make a worktree with `git worktree add FOLDER` and work there."),
            Self::Unborn => Some("Make a first commit: `git commit --allow-empty`."),
            Self::DetachedHead => Some("Put HEAD on a branch: `git switch -c NAME`."),
            Self::Locked => {
                Some("Wait for it to end; if none runs any more, remove the `.lock` file it left in `.git`.")
            }
            _ => None,
        }
    }
}
