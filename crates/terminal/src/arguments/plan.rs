//! The words of `plan`.

use clap::{Args, Subcommand, ValueEnum};
use work::plan::{AfterPlan, Autonomy, Context, Landing};

use super::ModelArguments;
use super::run::Approvals;
use super::words::Named;

/// `plan`.
#[derive(Debug, Subcommand)]
pub(crate) enum PlanAct {
    /// Lists the plans of this workspace.
    List {
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Shows a plan with the digest that approves it.
    Show {
        /// The plan.
        id: String,
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Comments a plan or one of its steps.
    Comment(CommentArguments),
    /// Approves exactly what was shown, and carries it out.
    Approve(Box<ApproveArguments>),
    /// Rejects a plan, or sends it back for changes.
    Reject(RejectArguments),
    /// Goes on with an approved plan, or starts one that was saved only.
    Run {
        /// The plan.
        id: String,
        /// What happens to a permission when nobody is here: it is denied, or the work waits.
        #[arg(long, value_name = "HOW")]
        approvals: Option<Approvals>,
        /// Prints one JSON object at the end.
        #[arg(long)]
        json: bool,
        /// The model.
        #[command(flatten)]
        model: ModelArguments,
    },
}

/// `plan comment`.
#[derive(Debug, Args)]
pub(crate) struct CommentArguments {
    /// The plan.
    pub(crate) id: String,
    /// The comment.
    pub(crate) text: String,
    /// The step it is about; without one, the whole plan.
    #[arg(long, value_name = "KEY")]
    pub(crate) step: Option<String>,
    /// The words it is about, exactly as they stand in the plan.
    #[arg(long, value_name = "WORDS")]
    pub(crate) quote: Option<String>,
}

/// `plan reject`.
#[derive(Debug, Args)]
pub(crate) struct RejectArguments {
    /// ID@DIGEST as it was shown; a bare ID only at a terminal.
    #[arg(value_name = "ID@DIGEST")]
    pub(crate) named: Named,
    /// Why; the agent reads it.
    #[arg(long, value_name = "REASON")]
    pub(crate) because: Option<String>,
    /// Sends it back with the comments instead, for another revision.
    #[arg(long)]
    pub(crate) changes: bool,
    /// The model that revises it.
    #[command(flatten)]
    pub(crate) model: ModelArguments,
}

/// `plan approve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  stance plan approve ID@DIGEST
  stance plan approve ID@DIGEST --landing commits --only parser,tests
  stance plan approve ID@DIGEST --save-only, then later: stance plan run ID")]
pub(crate) struct ApproveArguments {
    /// ID@DIGEST as `plan show` prints it; a bare ID only at a terminal.
    #[arg(value_name = "ID@DIGEST")]
    pub(crate) named: Named,
    /// How the result lands.
    #[arg(long, value_name = "HOW")]
    pub(crate) landing: Option<LandingWord>,
    /// Keeps the decision and starts nothing; `plan run` starts it later.
    #[arg(long)]
    pub(crate) save_only: bool,
    /// What of the conversation the work begins with.
    #[arg(long, value_name = "WHAT", default_value = "keep")]
    pub(crate) context: ContextWord,
    /// How freely the runs of this plan act.
    #[arg(long, value_name = "HOW", default_value = "act_with_approval")]
    pub(crate) autonomy: AutonomyWord,
    /// Only these steps, by key; what they depend on must be among them.
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// The mode of the space once the work ends.
    #[arg(long, value_name = "MODE", default_value = "agent")]
    pub(crate) after_plan: AfterPlanWord,
    /// What happens to a permission when nobody is here: it is denied, or the work waits.
    #[arg(long, value_name = "HOW")]
    pub(crate) approvals: Option<Approvals>,
    /// Prints one JSON object at the end.
    #[arg(long)]
    pub(crate) json: bool,
    /// The model.
    #[command(flatten)]
    pub(crate) model: ModelArguments,
}

/// Declares the words of an option of `work::plan`.
macro_rules! words {
    ($($name:ident for $target:ident { $($(#[doc = $about:literal])* $word:literal $variant:ident),+ })+) => {$(
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        pub(crate) enum $name { $($(#[doc = $about])* #[value(name = $word)] $variant),+ }

        impl From<$name> for $target {
            fn from(word: $name) -> $target {
                match word { $($name::$variant => $target::$variant),+ }
            }
        }
    )+};
}

words! {
    LandingWord for Landing {
        /// Uncommitted in this checkout, as if you had typed it.
        "checkout" Checkout,
        /// A commit for each step, on the branch that is checked out.
        "commits" Commits
    }
    ContextWord for Context {
        /// All of it.
        "keep" Keep,
        /// The plan alone.
        "fresh" Fresh
    }
    AutonomyWord for Autonomy {
        /// They ask when it matters.
        "act_with_approval" ActWithApproval,
        /// They never ask.
        "act_freely" ActFreely
    }
    AfterPlanWord for AfterPlan {
        /// It stays as the work leaves it.
        "agent" Agent,
        /// It goes back to planning.
        "plan" Plan
    }
}
