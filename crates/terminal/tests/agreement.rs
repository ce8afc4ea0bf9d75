//! The agreement test: whatever a drawn run may not do, every layer says so. The judge refuses it,
//! the surface lacks it, the prompt does not name it, the real binary's doors do not list it, and a
//! process inside the real walls of that run cannot do it; and what a run may do, it can.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test fails by panicking and acts on real files and processes"
)]

#[path = "agreement/drawn.rs"]
mod drawn;
#[path = "agreement/ground.rs"]
mod ground;
#[path = "agreement/walled.rs"]
mod walled;

use std::collections::BTreeSet;

use drawn::{Call, attempt, call, main_run, recipe, rules, tool};
use ground::{Door, Ground};
use modes::{Built, Effect, Inspection, Judged, Mode, Posture, RunRecipe, descriptor, model_view, run_spec};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use walled::Walled;

#[test]
fn every_layer_says_the_same() {
    let ground = Ground::new();
    let doors = ground.doors();
    let built = Built::new(doors.values().flat_map(|door| &door.tools).map(String::as_str)).unwrap();
    assert_eq!(doors.len(), 4);
    for name in ["execute_command", "write_to_file", "git_write", "submit_plan"] {
        assert!(
            built.contains(descriptor(name).unwrap()),
            "without {name} too little is tried"
        );
    }

    try_all(512, (recipe(), call()), |(recipe, call)| {
        judge_surface_and_prompt(recipe, &built, &call);
    });
    for (mode, door) in &doors {
        door_offers_the_surface(door, *mode, &built);
    }
    let modes = select(Mode::all().to_vec());
    try_all(48, (modes, tool(), rules()), |(mode, tool, rules)| {
        if let Ok(spec) = run_spec(
            RunRecipe {
                rules,
                ..main_run(mode)
            },
            &built,
        ) {
            ground.explains_as_the_judge_decides(&spec, tool);
        }
    });
    let walled = Walled::new(&ground);
    try_all(96, (recipe(), attempt()), |(recipe, attempt)| {
        if let Ok(spec) = run_spec(recipe, &built) {
            walled.agrees(&spec, &attempt);
        }
    });
}

fn try_all<S: Strategy>(cases: u32, strategy: S, check: impl Fn(S::Value)) {
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(&strategy, |value| {
        check(value);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

fn judge_surface_and_prompt(recipe: RunRecipe, built: &Built, call: &Call) {
    let Ok(spec) = run_spec(recipe, built) else {
        return;
    };
    let row = descriptor(call.tool).unwrap();
    let offered = spec.surface().find(call.tool).is_ok();
    let view = model_view(&spec);
    let named = view
        .preamble()
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .any(|word| word == call.tool);
    assert_eq!(named, offered, "{} in the prompt:\n{}", call.tool, view.preamble());
    assert_eq!(view.tools().contains(&row), offered, "{}", call.tool);

    let judged = call.judged(&spec);
    let refused = matches!(judged, Judged::Refusal(_));
    assert!(offered || refused, "{} is not in the surface: {judged:?}", call.tool);
    if refused || spec.pinned(row) {
        return;
    }
    // What may happen, even after a question, is within what the walls of the run hold open.
    let effects = call
        .effects
        .iter()
        .fold(row.effects, |effects, effect| effects.with(*effect));
    assert!(
        effects.intersection(spec.capability().refused()).is_empty(),
        "{judged:?}"
    );
    if row.mutates_worktree || effects.contains(Effect::ProcessSpawn) || effects.contains(Effect::GitCommit) {
        assert_eq!(spec.containment().worktree(), Posture::Writable, "{judged:?}");
    }
}

fn door_offers_the_surface(door: &Door, mode: Mode, built: &Built) {
    // The door of these tests has settings that say nothing of it.
    let recipe = RunRecipe {
        inspection: Inspection::Unasked,
        ..main_run(mode)
    };
    match run_spec(recipe, built) {
        Ok(spec) => {
            let surface = spec.surface();
            let offered: BTreeSet<&str> = surface.tools().iter().map(|tool| tool.name).collect();
            assert_eq!(
                door.tools.iter().map(String::as_str).collect::<BTreeSet<_>>(),
                offered,
                "{mode}"
            );
            for (tool, why) in surface.absent() {
                let said = door.absent.get(tool.name);
                assert!(said.is_some(), "{mode} says nothing of {}", tool.name);
                assert!(
                    !built.contains(tool) || said == Some(&why.to_string()),
                    "{mode} {}: {said:?}",
                    tool.name
                );
            }
            assert_eq!(door.prompt, model_view(&spec).preamble(), "{mode}");
        }
        Err(refused) => {
            assert_eq!(door.not_startable.as_deref(), Some(refused.to_string().as_str()));
            assert!(
                door.tools.is_empty() && door.prompt.is_empty(),
                "{mode} offers what it cannot start"
            );
        }
    }
}
