//! What a run owes before it is done, and what each ending means: one row of the outcome table a
//! function arm.

use serde::{Deserialize, Serialize};

use crate::spec::RunSpec;

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($variant:ident $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "each variant is the word it is stored and shown as")]
        pub enum $name { $($variant),+ }

        impl $name {
            /// The word stored and shown.
            pub const fn word(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }
    };
}

words! {
    /// What came of a run.
    Outcome {
        Delivered "delivered", Declined "declined", Exited "exited", Switched "switched", Waiting "waiting",
        Empty "empty", Denied "denied", OverBudget "over_budget", Stopped "stopped", Failed "failed",
        Cancelled "cancelled",
    }
}
words! {
    /// Where a run is in its life.
    Status {
        Pending "pending", Running "running", Waiting "waiting", Completed "completed", Cancelled "cancelled",
        Error "error",
    }
}
words! {
    /// How alive a run is.
    Liveness {
        Alive "alive", Productive "productive", Completed "completed", Blocked "blocked", Empty "empty",
        Looping "looping", Failed "failed", Stalled "stalled", Dead "dead",
    }
}
words! {
    /// What kind of fault ended a run.
    ErrorFamily {
        TransientUpstream "transient_upstream", SandboxInfrastructure "sandbox_infrastructure",
        BudgetExceeded "budget_exceeded", ProcessLost "process_lost", SilentRun "silent_run", Auth "auth",
        ContextOverflow "context_overflow", Refusal "refusal", Unknown "unknown",
    }
}

/// How a run came to its end or its halt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The required verb succeeded, or a mode without one came to its end.
    Delivered,
    /// The typed, honest end without a delivery.
    Declined,
    /// It waits for a person: a reply, an answer, a permission, a plan exit.
    Waiting,
    /// A granted plan exit was consumed.
    Exited,
    /// The person switched the mode while it waited.
    Switched,
    /// It stopped without the required verb, after the reminder.
    Unmet,
    /// A check failed, or no file changed where one had to.
    CheckUnmet,
    /// Nobody could be asked and nothing was delivered.
    Denied,
    /// A fault.
    Failed(ErrorFamily),
    /// A budget is spent.
    OverBudget,
    /// Too many responses in a row without one good call.
    MistakeLimit,
    /// The same calls again and again, although the model was told.
    Looping,
    /// A person stopped it.
    Cancelled,
}

/// A row of the outcome table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conclusion {
    /// What came of it.
    pub outcome: Outcome,
    /// Where the run is.
    pub status: Status,
    /// How alive it is.
    pub liveness: Liveness,
    /// The kind of fault, if one.
    pub error_family: Option<ErrorFamily>,
}

/// The outcome table.
pub const fn conclude(ending: Ending) -> Conclusion {
    use {ErrorFamily as E, Liveness as L, Outcome as O, Status as S};
    let (outcome, status, liveness, error_family) = match ending {
        Ending::Delivered => (O::Delivered, S::Completed, L::Completed, None),
        Ending::Declined => (O::Declined, S::Completed, L::Completed, None),
        Ending::Waiting => (O::Waiting, S::Waiting, L::Blocked, None),
        Ending::Exited => (O::Exited, S::Completed, L::Completed, None),
        Ending::Switched => (O::Switched, S::Completed, L::Completed, None),
        Ending::Unmet => (O::Empty, S::Completed, L::Empty, Some(E::SilentRun)),
        Ending::CheckUnmet => (O::Empty, S::Completed, L::Empty, None),
        Ending::Denied => (O::Denied, S::Completed, L::Blocked, None),
        Ending::Failed(family) => (O::Failed, S::Error, L::Failed, Some(family)),
        Ending::OverBudget => (O::OverBudget, S::Error, L::Failed, Some(E::BudgetExceeded)),
        Ending::MistakeLimit => (O::Stopped, S::Error, L::Failed, Some(E::Unknown)),
        Ending::Looping => (O::Stopped, S::Error, L::Looping, Some(E::Unknown)),
        Ending::Cancelled => (O::Cancelled, S::Cancelled, L::Failed, None),
    };
    Conclusion {
        outcome,
        status,
        liveness,
        error_family,
    }
}

impl Outcome {
    /// The exit code of a command whose run came to this.
    pub const fn exit_code(self) -> u8 {
        match self {
            Outcome::Delivered | Outcome::Declined | Outcome::Exited | Outcome::Switched => 0,
            Outcome::Failed => 1,
            Outcome::Empty => 3,
            Outcome::Denied => 4,
            Outcome::OverBudget => 5,
            Outcome::Stopped => 6,
            Outcome::Waiting => 7,
            Outcome::Cancelled => 130,
        }
    }
}

/// What is known when a model stops without a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four independent facts, read together once"
)]
pub struct AtStop {
    /// The required verb, or a verb that ends the run, succeeded.
    pub delivered: bool,
    /// A plan exit was requested and is undecided.
    pub exit_open: bool,
    /// The reminder was already given.
    pub nudged: bool,
    /// A call was denied because nobody could be asked.
    pub no_approver_denial: bool,
}

/// What follows when the model stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// One reminder, then another request.
    Nudge,
    /// The run ends so.
    End(Ending),
}

/// Decides what follows when the model of a run stops.
pub fn when_model_stops(spec: &RunSpec, at: AtStop) -> Next {
    if at.delivered {
        return Next::End(Ending::Delivered);
    }
    match spec.required() {
        Some(_) if at.exit_open => Next::End(Ending::Waiting),
        Some(_) if at.nudged => Next::End(Ending::Unmet),
        Some(_) => Next::Nudge,
        None if at.no_approver_denial => Next::End(Ending::Denied),
        None => Next::End(Ending::Delivered),
    }
}
