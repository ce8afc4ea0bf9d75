//! The words of `thread`.

use clap::Subcommand;

/// `thread`.
#[derive(Debug, Subcommand)]
pub(crate) enum ThreadAct {
    /// Shows a thread as the journal has it, what was compacted and undone included.
    Show {
        /// The thread; without one, the newest of this checkout's current space.
        thread: Option<String>,
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
}
