//! What starts next, from any state and on any graph.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use stance_work::orchestration::OrchestrationDefinition;
use stance_work::pipeline::{Decision, Ending, NotRun, Outcome, StepState, decide, not_run};
use stance_work::plan::StepKey;

use crate::fixtures::{definition, key, node, plan, plans};

type States = BTreeMap<StepKey, StepState>;

fn diamond() -> OrchestrationDefinition {
    definition(&plan(vec![
        node("a", &[]),
        node("b", &["a"]),
        node("c", &["a"]),
        node("d", &["b", "c"]),
    ]))
}

fn states(list: &[(&str, StepState)]) -> States {
    list.iter().map(|(step, state)| (key(step), state.clone())).collect()
}

fn running() -> StepState {
    StepState::Running { run: "r".into() }
}

fn failed() -> StepState {
    StepState::Failed {
        reason: "tests fail".into(),
    }
}

fn start(steps: &[&str]) -> Decision {
    Decision::Start(steps.iter().map(|step| key(step)).collect())
}

#[test]
fn steps_start_when_their_needs_are_done_and_the_limit_allows() {
    use StepState::{Done, Waiting};
    let check = |list: &[(&str, StepState)], limit, expected| {
        assert_eq!(decide(&diamond(), &states(list), limit), expected, "{list:?} {limit}");
    };
    check(&[], 1, start(&["a"]));
    check(&[], 0, Decision::Wait);
    check(&[("a", running())], 8, Decision::Wait);
    check(&[("a", Waiting)], 8, Decision::Wait);
    check(&[("a", Done)], 1, start(&["b"]));
    check(&[("a", Done)], 8, start(&["b", "c"]));
    check(&[("a", Done), ("b", running())], 1, Decision::Wait);
    check(&[("a", Done), ("b", Waiting)], 1, Decision::Wait);
    check(&[("a", Done), ("b", running())], 2, start(&["c"]));
    check(&[("a", Done), ("b", Done), ("c", Done)], 1, start(&["d"]));
    check(&[("stranger", Done)], 1, start(&["a"]));
}

#[test]
fn a_failed_step_takes_its_dependants_along_and_no_others() {
    use StepState::Done;
    let failing = states(&[("a", Done), ("b", failed())]);
    assert_eq!(decide(&diamond(), &failing, 1), start(&["c"]));
    let after = states(&[("a", Done), ("b", failed()), ("c", Done)]);
    let because = NotRun::Needs {
        step: key("b"),
        what: "failed: tests fail".into(),
    };
    assert_eq!(because.to_string(), "it needs b, which failed: tests fail");
    assert_eq!(
        decide(&diamond(), &after, 1),
        Decision::Finished(Outcome {
            ending: Ending::Failed,
            not_run: BTreeMap::from([(key("d"), because)])
        })
    );
    // The reason names the step that failed, however far away it is.
    let first = not_run(&diamond(), &states(&[("a", failed())]));
    assert_eq!(first.len(), 3);
    assert!(
        first
            .values()
            .all(|reason| matches!(reason, NotRun::Needs { step, .. } if *step == key("a")))
    );
}

#[test]
fn the_ending_is_the_whole_in_one_word() {
    use StepState::{Cancelled, Deferred, Done, Skipped};
    let ending = |b: StepState, c: StepState, d: StepState| {
        let states = states(&[("a", Done), ("b", b), ("c", c), ("d", d)]);
        match decide(&diamond(), &states, 1) {
            Decision::Finished(outcome) => outcome.ending,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(ending(Done, Done, Done), Ending::Completed);
    assert_eq!(ending(Done, Done, Deferred), Ending::Completed);
    assert_eq!(ending(Done, failed(), Skipped), Ending::Failed);
    assert_eq!(ending(Done, Skipped, StepState::Pending), Ending::Failed);
    assert_eq!(ending(failed(), Cancelled, Cancelled), Ending::Cancelled);
    assert_eq!(ending(Done, Done, failed()), Ending::Failed);
}

#[test]
fn deferred_and_skipped_steps_say_why_others_did_not_run() {
    use StepState::{Deferred, Done, Skipped};
    let reasons = |b| not_run(&diamond(), &states(&[("a", Done), ("b", b)]));
    assert_eq!(reasons(Deferred)[&key("b")].to_string(), "it was not approved yet");
    assert_eq!(
        reasons(Deferred)[&key("d")].to_string(),
        "it needs b, which was not approved yet"
    );
    assert_eq!(reasons(Skipped)[&key("b")].to_string(), "it was skipped");
    assert_eq!(reasons(Skipped)[&key("d")].to_string(), "it needs b, which was skipped");
}

proptest! {
    /// Drives a random plan to its end: each step ends as `fates` says, running steps end in an order of
    /// their own.
    #[test]
    fn work_always_ends_and_never_out_of_order(
        plan in plans(),
        limit in 1_usize..5,
        fates in prop::collection::vec(0_u8..10, 12),
        turns in prop::collection::vec(any::<prop::sample::Index>(), 12),
    ) {
        let definition = definition(&plan);
        let mut states = States::new();
        let mut begun = BTreeSet::new();
        let mut under_way: Vec<StepKey> = Vec::new();
        let mut ended = 0;
        let outcome = loop {
            match decide(&definition, &states, limit) {
                Decision::Start(steps) => {
                    prop_assert!(!steps.is_empty());
                    for step in steps {
                        prop_assert!(begun.insert(step.clone()), "{} began twice", step);
                        let needs = &definition.step(step.as_str()).unwrap().depends_on;
                        prop_assert!(needs.iter().all(|needed| states.get(needed) == Some(&StepState::Done)));
                        states.insert(step.clone(), running());
                        under_way.push(step);
                    }
                    prop_assert!(under_way.len() <= limit);
                }
                Decision::Wait => {
                    prop_assert!(!under_way.is_empty(), "waits for nothing");
                    let step = under_way.remove(turns[ended].index(under_way.len()));
                    states.insert(step, match fates[ended] {
                        0 => failed(),
                        1 => StepState::Cancelled,
                        _ => StepState::Done,
                    });
                    ended += 1;
                }
                Decision::Finished(outcome) => break outcome,
            }
        };
        prop_assert!(under_way.is_empty());
        // Each step either began or has a reason why not, never both.
        let not_begun: BTreeSet<StepKey> = outcome.not_run.keys().cloned().collect();
        prop_assert!(begun.is_disjoint(&not_begun));
        prop_assert_eq!(begun.len() + not_begun.len(), definition.steps.len());
        let all_done = states.len() == definition.steps.len()
            && states.values().all(|state| *state == StepState::Done);
        prop_assert_eq!(outcome.ending == Ending::Completed, all_done);
        let stored = serde_json::to_string(&(&states, &outcome)).unwrap();
        prop_assert_eq!(serde_json::from_str::<(States, Outcome)>(&stored).unwrap(), (states, outcome));
    }
}
