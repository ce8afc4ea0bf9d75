//! Why a process was not started, or could not be followed to its end.

use std::path::{Path, PathBuf};

/// Everything this room can fail with. A program that ran and failed is no error: see `Finished`.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A program of ours is not where a system keeps it.
    #[error("{name} was not found in {searched}")]
    ProgramMissing {
        /// Its name, such as `bwrap`.
        name: &'static str,
        /// The folders looked into.
        searched: String,
    },
    /// A program of ours could be replaced by somebody else, so it is not trusted.
    #[error("{} is not trusted: {why}", path.display())]
    ProgramNotTrusted {
        /// The program, or the folder above it that is at fault.
        path: PathBuf,
        /// What makes it replaceable.
        why: &'static str,
    },
    /// A place of the view is not usable.
    #[error("{}: {why}", path.display())]
    Place {
        /// The place.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A variable that would act on the walls themselves.
    #[error("the environment variable {0:?} cannot be handed to a walled process")]
    Environment(String),
    /// A shell line or an argument is too long, or holds a NUL byte.
    #[error("the program's arguments cannot be passed on: {0}")]
    Arguments(&'static str),
    /// The walls could not be put up on this host.
    #[error("the walls could not be put up: {0}")]
    WallsFailed(String),
    /// The walls stood but did not hold when tried from inside; the program was not started.
    #[error("boundary not proven: {0}")]
    BoundaryNotProven(String),
    /// A folder of a writable worktree could not be looked through for repositories and sockets.
    #[error(
        "{} cannot be looked through ({why}): move it out of the checkout, or make it readable for you", path.display()
    )]
    Unseen {
        /// The folder.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// After a process, something it may have planted still lies in the worktree. Nothing that
    /// writes is started there again before that is settled.
    #[error("what a command may not make could not be moved away: {}; remove it before git is used there", what.join("; "))]
    Planted {
        /// Each path, with the reason.
        what: Vec<String>,
    },
    /// The same of a process before: nothing was started now.
    #[error("an earlier command planted what could not be moved away: {}; remove it first", what.join("; "))]
    Unsettled {
        /// Each path, with the reason.
        what: Vec<String>,
    },
    /// Processes were killed and are still there.
    #[error("killed processes do not die")]
    Undying,
    /// Talking to the process failed.
    #[error("{doing}: {source}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// The operating system's answer.
        source: std::io::Error,
    },
}

impl SandboxError {
    pub(crate) fn unseen(path: &Path, why: impl std::fmt::Display) -> Self {
        Self::Unseen {
            path: path.to_owned(),
            why: why.to_string(),
        }
    }

    pub(crate) fn system(doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::System { doing, source }
    }
}
