//! Surface, prompt and containment are drawn from one declaration, so they agree.

use proptest::prelude::*;
use proptest::sample::subsequence;
use stance_modes::{
    Built, Mode, Network, Posture, Role, RunRecipe, RunSpec, RunSpecRefused, descriptor, descriptors, model_view,
    profile, run_spec,
};

use crate::drawn::{mode, recipe, spec};

/// Every word of the text that is the name of some tool.
fn tools_named(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| descriptors().iter().any(|row| row.name == *word))
        .collect()
}

fn built() -> impl Strategy<Value = Built> {
    let names: Vec<&'static str> = descriptors().iter().map(|row| row.name).collect();
    let count = names.len();
    subsequence(names, 0..=count)
        .prop_shuffle()
        .prop_map(|names| Built::new(names).unwrap())
}

fn names(spec: &RunSpec) -> Vec<&'static str> {
    spec.surface().tools().iter().map(|tool| tool.name).collect()
}

proptest! {
    #[test]
    fn a_run_whose_contract_cannot_be_met_does_not_start(recipe in recipe(), built in built()) {
        let required = spec(recipe.clone()).required();
        let has = |verb: &str| built.rows().iter().any(|row| row.name == verb);
        match run_spec(recipe, &built) {
            Ok(_) => prop_assert!(required.is_none_or(has)),
            Err(RunSpecRefused::RequiredVerbMissing { verb, .. }) => {
                prop_assert_eq!(Some(verb), required);
                prop_assert!(!has(verb));
            }
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn the_prompt_names_no_tool_the_run_has_not(recipe in recipe(), built in built()) {
        let Ok(spec) = run_spec(recipe, &built) else { return Ok(()) };
        let view = model_view(&spec);
        let has = names(&spec);
        for name in tools_named(view.preamble()) {
            prop_assert!(has.contains(&name), "{name} in:\n{}", view.preamble());
        }
        for name in &has {
            prop_assert!(tools_named(view.preamble()).contains(name), "{name} not in:\n{}", view.preamble());
        }
        let surface = spec.surface();
        prop_assert_eq!(view.tools(), surface.tools());
    }

    #[test]
    fn the_prompt_says_mode_verb_and_count(recipe in recipe()) {
        let spec = spec(recipe);
        let view = model_view(&spec);
        let lines: Vec<&str> = view.preamble().lines().collect();
        prop_assert_eq!(lines[0], format!("# Mode: {}", spec.label()));
        prop_assert!(spec.label().starts_with(&spec.mode().to_string()));
        let count = format!("You have {} tools: ", names(&spec).len());
        prop_assert!(view.preamble().contains(&count), "{}", view.preamble());
        for verb in spec.required().into_iter().chain(spec.exit()) {
            prop_assert!(view.preamble().contains(&format!("`{verb}`")), "{verb}");
        }
        prop_assert_eq!(view.preamble().contains("Prose is not delivery"), spec.required().is_some());
        prop_assert_eq!(view.preamble().contains("ask with `ask_user`"), spec.invites_questions());
        let reads_only = spec.containment().worktree() == Posture::ReadOnly;
        prop_assert_eq!(view.preamble().contains("There is no tool here that writes files"), reads_only);
    }

    #[test]
    fn a_surface_is_every_tool_once_with_a_reason_for_each_absence(recipe in recipe(), built in built()) {
        let Ok(spec) = run_spec(recipe, &built) else { return Ok(()) };
        let surface = spec.surface();
        let mut all: Vec<&str> = names(&spec);
        all.extend(surface.absent().iter().map(|(tool, _)| tool.name));
        all.sort_unstable();
        let mut expected: Vec<&str> = descriptors().iter().map(|row| row.name).collect();
        expected.sort_unstable();
        prop_assert_eq!(all, expected);
        let order: Vec<_> = built.rows().iter().filter(|row| surface.tools().contains(row)).copied().collect();
        prop_assert_eq!(surface.tools(), order);
        for (tool, absence) in surface.absent() {
            let sentence = surface.find(tool.name).unwrap_err().to_string();
            prop_assert_eq!(sentence, format!("unknown tool {}: not in {}: {absence}", tool.name, spec.label()));
        }
    }

    #[test]
    fn what_the_surface_holds_the_capability_lets_through(recipe in recipe()) {
        let spec = spec(recipe);
        let reads_only = spec.containment().worktree() == Posture::ReadOnly;
        for tool in spec.surface().tools() {
            prop_assert!(spec.pinned(tool) || tool.effects.intersection(spec.capability().refused()).is_empty());
            prop_assert!(!(reads_only && tool.mutates_worktree), "{}", tool.name);
        }
        prop_assert_eq!(spec.containment().worktree(), spec.capability().worktree());
        prop_assert_eq!(spec.containment().network(), spec.capability().network());
        prop_assert!(!reads_only || spec.containment().network() == Network::None);
    }

    #[test]
    fn a_step_owns_no_verb_and_no_contract(mut recipe in recipe(), read_only in any::<bool>()) {
        recipe.role = Role::Step { files: None, read_only };
        let spec = spec(recipe);
        prop_assert_eq!((spec.required(), spec.exit(), spec.verbs().len()), (None, None, 0));
        let verbs: Vec<&str> = Mode::all().into_iter().flat_map(|mode| profile(mode).verbs).copied().collect();
        prop_assert!(names(&spec).iter().all(|name| !verbs.contains(name)));
        let pinned: Vec<&str> = descriptors().iter().filter(|row| spec.pinned(row)).map(|row| row.name).collect();
        prop_assert_eq!(pinned, ["ask_user"]);
    }

    #[test]
    fn a_verb_of_another_mode_says_whose_it_is(recipe in recipe(), mode in mode()) {
        let spec = spec(RunRecipe { role: Role::Main, ..recipe });
        for verb in profile(mode).verbs {
            let found = spec.surface().find(verb).map(|tool| tool.name);
            if mode != spec.mode() {
                let sentence = found.unwrap_err().to_string();
                prop_assert!(sentence.ends_with(&format!("it belongs to {mode}")), "{sentence}");
            } else if spec.pinned(descriptor(verb).unwrap()) {
                prop_assert_eq!(found, Ok(*verb));
            }
        }
    }
}

#[test]
fn a_name_that_no_tool_has_is_said_to_be_unknown() {
    let recipe = crate::rules::at(stance_modes::after_approval(), &[]);
    for name in ["run_terminal_cmd", "", "Write", "write_to_file "] {
        let sentence = spec(recipe.clone()).surface().find(name).unwrap_err().to_string();
        assert_eq!(
            sentence,
            format!("unknown tool {name:?}: this run (Agent) has no such tool")
        );
    }
}

#[test]
fn the_first_of_two_equal_names_wins_and_a_foreign_name_is_no_tool() {
    let built = Built::new(["git_read", "read_file", "git_read"]).unwrap();
    let names: Vec<&str> = built.rows().iter().map(|row| row.name).collect();
    assert_eq!(names, ["git_read", "read_file"]);
    assert_eq!(
        Built::new(["read_file", "bash"]).unwrap_err().to_string(),
        "the tool bash has no row in the table of tools"
    );
}

#[test]
fn a_narrowed_run_says_by_what() {
    use stance_modes::Cause;
    let plan = Mode::chosen("plan").unwrap();
    let base = crate::rules::at(stance_modes::after_approval(), &[]);
    let label = |change: &dyn Fn(&mut RunRecipe)| {
        let mut recipe = base.clone();
        change(&mut recipe);
        spec(recipe).label()
    };
    assert_eq!(label(&|_| {}), "Agent");
    assert_eq!(label(&|recipe| recipe.chain = vec![Cause::Run(base.mode)]), "Agent");
    assert_eq!(
        label(&|recipe| recipe.chain = vec![Cause::Run(plan)]),
        "Agent, read-only: started before the approval"
    );
    assert_eq!(
        label(&|recipe| recipe.read_only_once = true),
        "Agent, read-only this once"
    );
    assert_eq!(
        label(&|recipe| recipe.role = Role::Step {
            files: None,
            read_only: true
        }),
        "Agent, read-only step"
    );
    assert_eq!(label(&|recipe| recipe.mode = plan), "Plan (read-only)");
    let review = Mode::named("review").unwrap();
    assert_eq!(
        label(&|recipe| (recipe.mode, recipe.chain) = (plan, vec![Cause::Run(review)])),
        "Plan (read-only)"
    );
}
