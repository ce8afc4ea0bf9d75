//! The outcome table, row by row, and what follows when a model stops.

use stance_modes::{
    AtStop, Ending, ErrorFamily, Mode, Next, Outcome, Role, RunRecipe, UnresolvedMode, after_approval, conclude,
    when_model_stops,
};

use crate::drawn::spec;
use crate::rules::at;

#[test]
fn each_ending_has_its_row() {
    use ErrorFamily::{BudgetExceeded, SilentRun, TransientUpstream, Unknown};
    let failed = Ending::Failed(TransientUpstream);
    let table = [
        (Ending::Delivered, "delivered completed completed", None, 0),
        (Ending::Declined, "declined completed completed", None, 0),
        (Ending::Waiting, "waiting waiting blocked", None, 7),
        (Ending::Exited, "exited completed completed", None, 0),
        (Ending::Switched, "switched completed completed", None, 0),
        (Ending::Unmet, "empty completed empty", Some(SilentRun), 3),
        (Ending::CheckUnmet, "empty completed empty", None, 3),
        (Ending::Denied, "denied completed blocked", None, 4),
        (failed, "failed error failed", Some(TransientUpstream), 1),
        (Ending::OverBudget, "over_budget error failed", Some(BudgetExceeded), 5),
        (Ending::MistakeLimit, "stopped error failed", Some(Unknown), 6),
        (Ending::Looping, "stopped error looping", Some(Unknown), 6),
        (Ending::Cancelled, "cancelled cancelled failed", None, 130),
    ];
    for (ending, words, family, exit) in table {
        let row = conclude(ending);
        let found = [row.outcome.word(), row.status.word(), row.liveness.word()].join(" ");
        assert_eq!(
            (found.as_str(), row.error_family, row.outcome.exit_code()),
            (words, family, exit),
            "{ending:?}"
        );
        let stored = serde_json::to_value(row).unwrap();
        assert_eq!(stored["outcome"], row.outcome.word());
        assert_eq!(stored["liveness"], row.liveness.word());
        assert_eq!(serde_json::from_value::<stance_modes::Conclusion>(stored).unwrap(), row);
    }
}

#[test]
fn only_what_was_delivered_or_honestly_ended_exits_with_nought() {
    let good = [
        Outcome::Delivered,
        Outcome::Declined,
        Outcome::Exited,
        Outcome::Switched,
    ];
    for outcome in [
        Outcome::Waiting,
        Outcome::Empty,
        Outcome::Denied,
        Outcome::OverBudget,
        Outcome::Stopped,
    ] {
        assert_ne!(outcome.exit_code(), 0, "{outcome:?}");
    }
    assert!(good.iter().all(|outcome| outcome.exit_code() == 0));
}

#[test]
fn a_run_that_owes_a_verb_is_reminded_once() {
    for mode in ["plan", "orchestrate"].map(|word| Mode::chosen(word).unwrap()) {
        let spec = spec(at(mode, &[]));
        let at = |delivered, exit_open, nudged| {
            when_model_stops(
                &spec,
                AtStop {
                    delivered,
                    exit_open,
                    nudged,
                    no_approver_denial: true,
                },
            )
        };
        assert_eq!(at(false, false, false), Next::Nudge, "{mode}");
        assert_eq!(at(false, false, true), Next::End(Ending::Unmet), "{mode}");
        assert_eq!(at(true, false, false), Next::End(Ending::Delivered), "{mode}");
        assert_eq!(at(true, true, true), Next::End(Ending::Delivered), "{mode}");
        // An open exit is waited for, with no reminder before it.
        assert_eq!(at(false, true, false), Next::End(Ending::Waiting), "{mode}");
        assert_eq!(at(false, true, true), Next::End(Ending::Waiting), "{mode}");
    }
}

#[test]
fn a_run_that_owes_nothing_ends_as_delivered_unless_it_was_denied() {
    let plan = Mode::chosen("plan").unwrap();
    let recipes = [
        at(after_approval(), &[]),
        at(Mode::named("review").unwrap(), &[]),
        RunRecipe {
            read_only_once: true,
            ..at(plan, &[])
        },
        RunRecipe {
            role: Role::Step {
                files: None,
                read_only: true,
            },
            ..at(plan, &[])
        },
    ];
    for recipe in recipes {
        let spec = spec(recipe);
        let at = |delivered, no_approver_denial| {
            when_model_stops(
                &spec,
                AtStop {
                    delivered,
                    no_approver_denial,
                    ..AtStop::default()
                },
            )
        };
        assert_eq!(at(false, false), Next::End(Ending::Delivered));
        assert_eq!(at(false, true), Next::End(Ending::Denied));
        assert_eq!(at(true, true), Next::End(Ending::Delivered));
    }
}

#[test]
fn a_stored_fault_is_no_mode() {
    for fault in ["", "agent", "Plan", "plan\n", "review ", "readonly"] {
        assert_eq!(
            Mode::from_stored(Some(fault)),
            Err(UnresolvedMode {
                stored: fault.to_owned()
            })
        );
        assert!(serde_json::from_value::<Mode>(fault.into()).is_err(), "{fault:?}");
    }
    assert_eq!(Mode::from_stored(None), Ok(after_approval()));
}
