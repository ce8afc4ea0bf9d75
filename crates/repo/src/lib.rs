//! Git: reading, staging, committing, snapshots of a dirty tree and what changed between two; and
//! checkpoints of all that a worktree holds.
//!
//! *Invariant*: git runs only through `git`, inside the walls, on a git directory of our own making
//! that borrows objects and references of the real one: no configuration, hook, attribute or
//! alternate of a repository is ever loaded. *Invariant*: reading changes nothing, the index
//! included. Knows no mode, tool, run or plan but the trailers it writes.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

mod checkout;
pub mod checkpoint;
mod error;
mod git;
mod identity;
mod ignores;
mod land;
mod listing;
mod pushing;
mod quiet;
mod read;
mod recorded;
mod revision;
mod settings;
mod snapshot;
mod unreadable;
mod write;

pub use checkout::Checkout;
pub use error::RepoError;
pub use git::Git;
pub use identity::{Identity, identity};
pub use ignores::Ignores;
pub use land::{StepCommit, commit_step};
pub use read::{Read, ReadOutput, read};
pub use recorded::{Names, Recorded};
pub use revision::{Head, head};
pub use snapshot::{Change, ChangedPath, Snapshot, changed_between, snapshot};
pub use write::{Committed, commit, stage};
