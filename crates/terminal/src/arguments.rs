//! The command line as people type it: words, flags and examples, and which flags contradict each
//! other. It must not know what the commands do.

mod checkpoint;
mod mcp;
mod models;
mod plan;
mod policy;
mod run;
mod thread;
mod words;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use modes::{Mode, Reach};

pub(crate) use checkpoint::{CheckpointAct, RestoreArguments};
pub(crate) use mcp::McpAct;
pub(crate) use models::ModelsAct;
pub(crate) use plan::{ApproveArguments, CommentArguments, PlanAct, RejectArguments};
pub(crate) use policy::{Kept, PolicyAct};
pub(crate) use run::{Approvals, Budget, RunArguments};
pub(crate) use thread::ThreadAct;
pub(crate) use words::Named;

/// A coding agent whose modes are enforced, not suggested.
#[derive(Debug, Parser)]
#[command(
    name = "stance",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  stance                                     talk in this checkout, line by line
  stance run --mode plan \"make login faster\"  get a plan; nothing is changed
  stance plan show ID                        read it, with the digest to approve
  stance plan approve ID@DIGEST              carry it out
  stance inbox                               what waits for you
  stance doctor                              walls, settings and models of this machine

`stance -p PROMPT` is the same as `stance run PROMPT`.
Exit codes: 0 go on · 1 error · 2 usage · 3 contract or check unmet · 4 nobody could be asked ·
5 budget · 6 mistakes · 7 waiting for you · 130 interrupted."
)]
pub(crate) struct Arguments {
    /// What to do; without one, a thread in this terminal.
    #[command(subcommand)]
    pub(crate) act: Option<Act>,
    /// The model of the thread.
    #[command(flatten)]
    pub(crate) model: ModelArguments,
}

impl Arguments {
    /// Reads the words behind the program's name.
    pub(crate) fn read(words: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Arguments, clap::Error> {
        let mut words: Vec<std::ffi::OsString> = words.into_iter().collect();
        if words.first().is_some_and(|word| word == "-p" || word == "--prompt") {
            words.insert(0, "run".into());
        }
        words.insert(0, "stance".into());
        Arguments::try_parse_from(words)
    }
}

/// Everything that can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Act {
    /// Sends one message and drives the run it starts.
    Run(Box<RunArguments>),
    /// Lists, shows, comments and decides plans, and carries them out.
    #[command(subcommand)]
    Plan(PlanAct),
    /// What waits for you: permissions, questions, plans.
    Inbox(InboxArguments),
    /// Lists and opens spaces, and sets their modes.
    #[command(subcommand)]
    Space(SpaceAct),
    /// Shows a thread: all that was said and done in it, and what it took by mode and model.
    #[command(subcommand)]
    Thread(ThreadAct),
    /// Shows or switches the mode of this checkout's current space.
    Mode(ModeArguments),
    /// What a run changed in files, and putting it back.
    #[command(subcommand)]
    Checkpoint(CheckpointAct),
    /// Shows what a mode permits, and how each layer enforces it.
    Profile(ProfileArguments),
    /// Says why a tool or a shell line would run, ask or be refused in a mode.
    Explain(ExplainArguments),
    /// Lists permission rules, sets and unsets them, and tries what they say.
    #[command(subcommand)]
    Policy(PolicyAct),
    /// Lists, allows and trusts MCP servers, whose tools runs may have.
    #[command(subcommand)]
    Mcp(McpAct),
    /// Lists providers and models, says which one a mode has, and tries it.
    #[command(subcommand)]
    Models(ModelsAct),
    /// Checks the journal, or prints its end to check against later.
    #[command(subcommand)]
    Audit(AuditAct),
    /// Shows what of the project's files waits for your trust, and takes your word on it.
    Trust(TrustArguments),
    /// Runs a line in a throw-away copy of this checkout, and tells what it wrote.
    Try(TryArguments),
    /// Tries the walls, reads the settings and finds spaces that need repair.
    Doctor(DoctorArguments),
    /// Measures what the modes hold: every known attempt to change the world, made on scratch ground.
    Conformance(ConformanceArguments),
    /// Shows the main job on a sample repository with a scripted model; needs no key.
    Demo,
    /// Prints the completion script of a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// Which model answers, above all settings.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ModelArguments {
    /// The model: a name together with --provider, `scripted:FILE` or `replay:FILE`. `record:FILE` keeps
    /// what the configured one answers.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Who answers, such as `anthropic`; `stance models list` has them all.
    #[arg(long, value_name = "NAME", requires = "model")]
    pub(crate) provider: Option<String>,
    /// Where the provider answers, when not at its own address.
    #[arg(long, value_name = "URL", requires = "provider")]
    pub(crate) base_url: Option<String>,
}

/// `try`.
#[derive(Debug, Args)]
#[command(after_help = "\
The line sees this checkout, the compilers and the package caches, and may write everywhere in them: what it
writes is kept in memory and gone when it ends. There is no network. The exit code is the line's.

Examples:
  stance try 'cargo test'
  stance try 'npm test' --timeout 60
  stance try 'rm -rf src && make'")]
pub(crate) struct TryArguments {
    /// A line for bash.
    pub(crate) line: String,
    /// Seconds after which it is ended.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: u64,
    /// Prints one JSON object at the end and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `inbox`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  stance inbox
  stance inbox approve ID@DIGEST --resume
  stance inbox approve ID@DIGEST --run --as \"git log *\"
  stance inbox deny ID --because \"use the staging database\"
  stance inbox answer ID \"the second option\" --resume"
)]
pub(crate) struct InboxArguments {
    /// What to do; without one, everything that waits is gone through at a terminal, else listed.
    #[command(subcommand)]
    pub(crate) act: Option<InboxAct>,
    /// Lists what waits, also at a terminal.
    #[arg(long)]
    pub(crate) list: bool,
    /// Prints the list as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What can be done with something that waits.
#[derive(Debug, Subcommand)]
pub(crate) enum InboxAct {
    /// Says yes to exactly what was shown.
    Approve {
        /// ID@DIGEST as it was shown; a bare ID only at a terminal.
        #[arg(value_name = "ID@DIGEST")]
        named: Named,
        #[command(flatten)]
        reach: ReachArguments,
        #[command(flatten)]
        then: Then,
    },
    /// Says no.
    Deny {
        /// ID, or ID@DIGEST as it was shown.
        #[arg(value_name = "ID")]
        named: Named,
        #[command(flatten)]
        then: Then,
    },
    /// Answers a question.
    Answer {
        /// The question.
        id: String,
        /// The answer.
        text: String,
        #[command(flatten)]
        then: Then,
    },
}

/// How far a yes to a permission reaches; without a flag, this once.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ReachArguments {
    /// For every such call of the run.
    #[arg(long, conflicts_with = "always")]
    pub(crate) run: bool,
    /// For every such call in this workspace.
    #[arg(long)]
    pub(crate) always: bool,
    /// Keeps this rule instead of the call's exact words, such as `git log *`.
    #[arg(long = "as", value_name = "RULE")]
    pub(crate) words: Option<String>,
}

impl ReachArguments {
    /// Whether anything but a plain yes was said.
    pub(crate) const fn is_given(&self) -> bool {
        self.run || self.always || self.words.is_some()
    }

    /// The reach.
    pub(crate) const fn reach(&self) -> Reach {
        match (self.run, self.always) {
            (true, _) => Reach::Run,
            (_, true) => Reach::Workspace,
            _ => Reach::Once,
        }
    }
}

/// What happens after a decision.
#[derive(Debug, Args)]
pub(crate) struct Then {
    /// Why; whoever asked reads it.
    #[arg(long, value_name = "REASON")]
    pub(crate) because: Option<String>,
    /// Goes on with the work that waited.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Prints one JSON object about the work that went on.
    #[arg(long, requires = "resume")]
    pub(crate) json: bool,
    /// The model that goes on.
    #[command(flatten)]
    pub(crate) model: ModelArguments,
}

/// `space`.
#[derive(Debug, Subcommand)]
pub(crate) enum SpaceAct {
    /// Lists the spaces of this workspace.
    List {
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Opens a fresh space.
    New {
        /// Its mode: agent, plan or orchestrate.
        #[arg(long, value_name = "MODE", default_value = "agent", value_parser = words::chosen_mode)]
        mode: Mode,
    },
    /// Sets the mode of a space, also of one whose stored mode cannot be read.
    Mode {
        /// The space.
        space: String,
        /// agent, plan or orchestrate.
        #[arg(value_parser = words::chosen_mode)]
        mode: Mode,
        /// The model that goes on when something waited for the switch.
        #[command(flatten)]
        model: ModelArguments,
    },
}

/// `mode`.
#[derive(Debug, Args)]
pub(crate) struct ModeArguments {
    /// agent, plan or orchestrate; without one, the current mode is shown.
    #[arg(value_parser = words::chosen_mode)]
    pub(crate) mode: Option<Mode>,
    /// Prints JSON.
    #[arg(long, conflicts_with = "mode")]
    pub(crate) json: bool,
    /// The model that goes on when something waited for the switch.
    #[command(flatten)]
    pub(crate) model: ModelArguments,
}

/// `profile`.
#[derive(Debug, Args)]
pub(crate) struct ProfileArguments {
    /// agent, plan, orchestrate or review; without one, that of the current space.
    #[arg(value_parser = words::named_mode)]
    pub(crate) mode: Option<Mode>,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `explain` and `policy probe`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stance explain write_to_file --mode plan
  stance explain 'cargo metadata' --mode plan
  stance policy probe 'read_file {\"path\": \".env\"}'")]
pub(crate) struct ExplainArguments {
    /// The name of a tool, a tool and its arguments as JSON, or a shell line.
    #[arg(value_name = "TOOL|LINE")]
    pub(crate) what: String,
    /// agent, plan, orchestrate or review; without one, that of the space.
    #[arg(long, value_name = "MODE", value_parser = words::named_mode, conflicts_with = "space")]
    pub(crate) mode: Option<Mode>,
    /// The space whose mode is meant, instead of the current one.
    #[arg(long, value_name = "ID")]
    pub(crate) space: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `audit`.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditAct {
    /// Checks that no event was changed, removed or inserted.
    Verify {
        /// The end of the journal as it was printed earlier: finds a cut tail too.
        #[arg(long, value_name = "HEAD")]
        head: Option<String>,
    },
    /// Prints the end of the journal. Keep it elsewhere, and verify against it later.
    Head,
}

/// `trust`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stance trust                 shows what waits; at a terminal it is asked about
  stance trust --yes DIGEST    trusts exactly what was shown with this digest
  stance trust --list
  stance trust --forget")]
pub(crate) struct TrustArguments {
    /// The folder of the project; without it, the one you are in.
    pub(crate) folder: Option<std::path::PathBuf>,
    /// Trusts what was shown with this digest, without asking.
    #[arg(long, value_name = "DIGEST", conflicts_with_all = ["list", "forget", "json"])]
    pub(crate) yes: Option<String>,
    /// Lists what is trusted, and by whom.
    #[arg(long, conflicts_with = "forget")]
    pub(crate) list: bool,
    /// Forgets all trust that was given here.
    #[arg(long, conflicts_with = "json")]
    pub(crate) forget: bool,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `conformance`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stance conformance builtin
  stance conformance builtin --mode plan --json
  stance conformance builtin --attempts mine.json

The exit code is 1 when something leaked.")]
pub(crate) struct ConformanceArguments {
    /// What is measured: `builtin`, the agent of Stance itself.
    #[arg(value_parser = ["builtin"])]
    pub(crate) target: String,
    /// plan, review or agent; without one, all three. Agent mode is measured with what reaches
    /// beyond the files of the worktree.
    #[arg(long, value_name = "MODE", value_parser = words::named_mode)]
    pub(crate) mode: Option<Mode>,
    /// Attempts of your own, made beside the built-in ones.
    #[arg(long, value_name = "FILE")]
    pub(crate) attempts: Option<std::path::PathBuf>,
    /// Prints JSON: one object for a mode, a list for all of them.
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests;
