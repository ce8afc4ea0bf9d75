//! Choosing steps and fixing their order.

use std::collections::BTreeSet;

use proptest::prelude::*;
use stance_work::plan::{
    ApprovalOptions, Chosen, CompileRefused, Context, Landing, Selection, SelectionError, ValidPlan, compile, select,
};

use crate::fixtures::{definition, key, node, plan, plans};

fn options() -> ApprovalOptions {
    ApprovalOptions::with_landing(Landing::Checkout)
}

fn keys(list: &[&str]) -> Selection {
    Selection::Keys(list.iter().map(|&key| key.to_owned()).collect())
}

fn sample() -> ValidPlan {
    plan(vec![
        node("d", &["b", "c"]),
        node("c", &["a"]),
        node("b", &["a"]),
        node("a", &[]),
        node("e", &[]),
    ])
}

fn order_of(plan: &ValidPlan, chosen: &Chosen) -> Vec<String> {
    compile("p", plan, chosen, &options())
        .unwrap()
        .steps
        .iter()
        .map(|step| step.key.to_string())
        .collect()
}

#[test]
fn a_closed_choice_is_taken_and_the_rest_waits() {
    let plan = sample();
    let chosen = select(&plan, &keys(&["b", "a", "b"])).unwrap();
    assert_eq!(chosen.chosen(), [key("b"), key("a")]);
    assert_eq!(chosen.deferred(), [key("d"), key("c"), key("e")]);
    assert_eq!(order_of(&plan, &chosen), ["a", "b"]);
    let all = select(&plan, &Selection::All).unwrap();
    assert_eq!(all.chosen().len(), 5);
    assert!(all.deferred().is_empty());
}

#[test]
fn an_open_choice_names_everything_that_is_missing() {
    let error = select(&sample(), &keys(&["d", "e"])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "chosen steps need a (for b), b (for d), c (for d), not chosen"
    );
    let error = select(&sample(), &keys(&["b", "x\u{1b}", "y"])).unwrap_err();
    assert_eq!(error.to_string(), "the plan has no step x\\u{1b}, y");
    assert_eq!(select(&sample(), &keys(&[])), Err(SelectionError::Nothing));
}

#[test]
fn the_order_is_by_dependency_and_then_as_written() {
    let plan = sample();
    assert_eq!(
        order_of(&plan, &select(&plan, &Selection::All).unwrap()),
        ["a", "c", "b", "d", "e"]
    );
}

#[test]
fn only_a_chain_of_one_role_is_small() {
    let chain = plan(vec![node("b", &["a"]), node("a", &[]), node("c", &["b"])]);
    let small = definition(&chain);
    assert!(small.sequential && !small.parallel_ignored && !small.roles_ignored);
    assert!(small.notices().is_empty());

    let wide = definition(&sample());
    assert!(!wide.sequential && wide.parallel_ignored && !wide.roles_ignored);
    assert!(wide.notices()[0].contains("one after the other"));

    let mut writer = node("b", &["a"]);
    writer.role = Some("writer".into());
    let roles = definition(&plan(vec![node("a", &[]), writer]));
    assert!(!roles.sequential && !roles.parallel_ignored && roles.roles_ignored);
    assert!(roles.notices()[0].contains("several roles"));

    // What was not chosen does not count.
    let part = compile(
        "p",
        &sample(),
        &select(&sample(), &keys(&["a", "b"])).unwrap(),
        &options(),
    )
    .unwrap();
    assert!(part.sequential && !part.parallel_ignored);
    assert_eq!(part.deferred.len(), 3);
}

#[test]
fn what_is_not_built_is_refused_in_words() {
    let plan = sample();
    let chosen = select(&plan, &Selection::All).unwrap();
    for landing in [Landing::Branch, Landing::PullRequest] {
        let refusal = compile("p", &plan, &chosen, &ApprovalOptions { landing, ..options() }).unwrap_err();
        assert_eq!(refusal, CompileRefused::LandingNotBuilt { landing });
        assert_eq!(
            refusal.to_string(),
            format!("landing `{landing}` is not built yet: choose `checkout` or `commits`")
        );
    }
    let context = Context::Compact;
    let refusal = compile("p", &plan, &chosen, &ApprovalOptions { context, ..options() }).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "context `compact` is not built yet: choose `keep` or `fresh`"
    );
    for taken in [
        ApprovalOptions {
            landing: Landing::Commits,
            ..options()
        },
        ApprovalOptions {
            context: Context::Fresh,
            ..options()
        },
        ApprovalOptions {
            save_only: true,
            model: Some("m".into()),
            ..options()
        },
    ] {
        assert_eq!(compile("p", &plan, &chosen, &taken).unwrap().options, taken);
    }
}

#[test]
fn a_choice_made_for_another_plan_is_refused() {
    let chosen = select(&sample(), &keys(&["a", "b"])).unwrap();
    let refuse = |nodes| compile("p", &plan(nodes), &chosen, &options()).unwrap_err();
    // A step that was chosen is gone; a step that nobody decided about is new; a dependency is new.
    assert_eq!(refuse(vec![node("a", &[])]), CompileRefused::AnotherPlan);
    let mut nodes = vec![
        node("d", &[]),
        node("c", &[]),
        node("b", &["a"]),
        node("a", &[]),
        node("e", &[]),
    ];
    nodes.push(node("f", &[]));
    assert_eq!(refuse(nodes.clone()), CompileRefused::AnotherPlan);
    nodes.pop();
    nodes[3].depends_on = vec!["e".into()];
    assert_eq!(refuse(nodes), CompileRefused::AnotherPlan);
}

#[test]
fn a_definition_reads_back_as_it_was_stored() {
    let definition = definition(&sample());
    let stored = serde_json::to_string(&definition).unwrap();
    assert_eq!(
        serde_json::from_str::<stance_work::orchestration::OrchestrationDefinition>(&stored).unwrap(),
        definition
    );
}

proptest! {
    #[test]
    fn compiling_is_deterministic_and_keeps_every_step_after_its_needs(plan in plans()) {
        let one = definition(&plan);
        let again: ValidPlan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
        prop_assert_eq!(serde_json::to_string(&one).unwrap(), serde_json::to_string(&definition(&again)).unwrap());
        let mut done = BTreeSet::new();
        for step in &one.steps {
            prop_assert!(step.depends_on.iter().all(|needed| done.contains(needed)));
            prop_assert!(done.insert(step.key.clone()));
        }
        prop_assert_eq!(done.len(), plan.nodes().len());
    }

    #[test]
    fn choosing_what_was_named_missing_makes_any_choice_closed(
        plan in plans(),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 1..5),
    ) {
        let mut wanted: Vec<String> =
            picks.iter().map(|pick| pick.get(plan.nodes()).key.to_string()).collect();
        if let Err(error) = select(&plan, &Selection::Keys(wanted.clone())) {
            let SelectionError::NotClosed(missing) = error else { panic!("{error}") };
            for gap in &missing {
                prop_assert!(plan.node(gap.needed_by.as_str()).unwrap().depends_on.contains(&gap.step));
                prop_assert!(!wanted.contains(&gap.step.to_string()));
            }
            wanted.extend(missing.into_iter().map(|gap| gap.step.to_string()));
        }
        let chosen = select(&plan, &Selection::Keys(wanted)).unwrap();
        prop_assert_eq!(chosen.chosen().len() + chosen.deferred().len(), plan.nodes().len());
        prop_assert!(compile("p", &plan, &chosen, &options()).is_ok());
    }
}
