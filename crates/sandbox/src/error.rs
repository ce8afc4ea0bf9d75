//! Why a process was not started, or could not be followed to its end.

use std::path::PathBuf;

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
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::System { doing, source }
    }
}
