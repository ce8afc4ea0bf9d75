//! `policy`: rules as people name them. It must not know where rules are kept.

use clap::{Args, Subcommand};
use modes::Verdict;

use super::{ExplainArguments, words};

/// `policy`.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyAct {
    /// Lists every rule in force and everything that holds without one, in the order they are asked.
    List {
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Sets a rule: `npm run *`, `edit(GLOB)`, `read(GLOB)`, `net(HOST)`, `mcp(SERVER/TOOL)`,
    /// `effect(NAME)`.
    Set {
        /// The rule.
        rule: String,
        /// allow, ask, plan or deny.
        #[arg(value_parser = words::verdict)]
        verdict: Verdict,
        #[command(flatten)]
        kept: Kept,
    },
    /// Unsets a rule.
    Unset {
        /// The rule, as it was set.
        rule: String,
        #[command(flatten)]
        kept: Kept,
    },
    /// Says what would be decided; the same as `explain`.
    Probe(ExplainArguments),
}

/// Where a rule is kept.
#[derive(Debug, Args)]
pub(crate) struct Kept {
    /// For this workspace, which is also what is meant without a flag.
    #[arg(long, conflicts_with = "person")]
    pub(crate) workspace: bool,
    /// In your own settings file, for everything you do.
    #[arg(long)]
    pub(crate) person: bool,
}
