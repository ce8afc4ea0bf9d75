//! How `checkpoint` is spelled.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What can be done with checkpoints.
#[derive(Debug, Subcommand)]
pub(crate) enum CheckpointAct {
    /// Lists checkpoints, newest first.
    List {
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Shows what the run of a checkpoint changed.
    Diff {
        /// The checkpoint, or `last`.
        id: String,
        /// Shows what restoring it would change in the checkout as it is.
        #[arg(long)]
        now: bool,
        /// Only these files and folders.
        paths: Vec<PathBuf>,
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Puts files, the conversation, or both back to a checkpoint.
    Restore(RestoreArguments),
}

/// `checkpoint restore`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stance checkpoint restore last
  stance checkpoint restore ID src/price.rs --yes
  stance checkpoint restore ID --both

What is there is kept as a checkpoint of its own first, so that a restoring can be undone. Modes, plans
and approvals stay as they are.")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "clap reads each option into a field of its own"
)]
pub(crate) struct RestoreArguments {
    /// The checkpoint, or `last`: the newest before a run.
    pub(crate) id: String,
    /// Only these files and folders.
    #[arg(conflicts_with_all = ["thread", "both"])]
    pub(crate) paths: Vec<PathBuf>,
    /// The files of the checkout; so it is when nothing is named.
    #[arg(long, conflicts_with_all = ["thread", "both"])]
    pub(crate) files: bool,
    /// The conversation of the thread.
    #[arg(long, conflicts_with = "both")]
    pub(crate) thread: bool,
    /// Files and conversation.
    #[arg(long)]
    pub(crate) both: bool,
    /// Does not ask.
    #[arg(long)]
    pub(crate) yes: bool,
}
