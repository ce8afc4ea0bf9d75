//! There is no widen: whatever meets a capability comes out within it.

use proptest::prelude::*;
use stance_modes::{
    AllowList, Capability, Effect, Mode, RunRecipe, descriptors, narrow, profile, read_only_capability,
};

use crate::drawn::{chain, mode, recipe, role, spec};

fn capability() -> impl Strategy<Value = Capability> {
    prop::collection::vec(mode(), 1..4).prop_map(|modes| {
        let mut capabilities = modes.into_iter().map(|mode| profile(mode).capability);
        let first = capabilities.next().unwrap();
        capabilities.fold(first, |so_far, next| narrow(&so_far, &next))
    })
}

fn allows(capability: &Capability, name: &str) -> bool {
    capability.allow().admits(name) && !capability.deny().contains(name)
}

proptest! {
    #[test]
    fn narrowing_is_within_both_for_every_part(a in capability(), b in capability()) {
        let both = narrow(&a, &b);
        for side in [&a, &b] {
            prop_assert!(both.within(side));
            prop_assert!(both.max_tier() <= side.max_tier());
            prop_assert!(both.worktree() <= side.worktree());
            prop_assert!(both.network() <= side.network());
            prop_assert!(!both.inspection() || side.inspection());
            for effect in Effect::ALL {
                prop_assert!(both.refused().contains(effect) || !side.refused().contains(effect));
            }
            for tool in descriptors() {
                prop_assert!(!allows(&both, tool.name) || allows(side, tool.name), "{}", tool.name);
            }
        }
        // And nothing is taken that both give.
        for tool in descriptors() {
            prop_assert_eq!(allows(&both, tool.name), allows(&a, tool.name) && allows(&b, tool.name));
        }
        prop_assert_eq!(both.refused(), a.refused().union(b.refused()));
    }

    #[test]
    fn narrowing_has_no_order(a in capability(), b in capability(), c in capability()) {
        prop_assert_eq!(narrow(&a, &b), narrow(&b, &a));
        prop_assert_eq!(narrow(&narrow(&a, &b), &c), narrow(&a, &narrow(&b, &c)));
        prop_assert_eq!(&narrow(&a, &a), &a);
        prop_assert_eq!(a.within(&b), narrow(&a, &b) == a);
    }

    #[test]
    fn a_run_is_within_everything_that_caused_it(parent in recipe(), mode in mode(), role in role()) {
        let parent = spec(parent);
        let child = spec(RunRecipe { mode, role, chain: parent.passes_on(), ..parent.recipe().clone() });
        prop_assert!(child.capability().within(parent.capability()));
        prop_assert!(child.capability().within(&profile(mode).capability));
        prop_assert!(child.containment().worktree() <= parent.containment().worktree());
        prop_assert!(child.containment().network() <= parent.containment().network());
        let grandchild = spec(RunRecipe { chain: child.passes_on(), read_only_once: false, ..child.recipe().clone() });
        prop_assert!(grandchild.capability().within(parent.capability()));
    }

    #[test]
    fn a_longer_chain_gives_no_tool(recipe in recipe(), more in chain()) {
        let short = spec(recipe.clone());
        let long = spec(RunRecipe { chain: [recipe.chain.clone(), more].concat(), ..recipe });
        for tool in long.surface().tools() {
            prop_assert!(short.surface().find(tool.name).is_ok(), "{}", tool.name);
        }
    }

    #[test]
    fn reading_only_is_within_what_plan_may(mut recipe in recipe()) {
        recipe.read_only_once = true;
        let spec = spec(recipe);
        prop_assert!(spec.capability().within(&read_only_capability()));
        prop_assert!(spec.surface().tools().iter().all(|tool| !tool.mutates_worktree));
        prop_assert_eq!((spec.required(), spec.exit()), (None, None));
    }
}

#[test]
fn agent_is_the_top_and_no_list_is_wider_than_any_list() {
    let top = profile(stance_modes::after_approval()).capability;
    assert_eq!(top.allow(), &AllowList::Everything);
    for mode in Mode::all() {
        let capability = profile(mode).capability;
        // A throw-away view is what only read-only modes have: it is the one thing Agent lacks.
        let without_view = narrow(&capability, &top);
        assert!(without_view.within(&top) && !without_view.inspection(), "{mode}");
        assert_eq!(without_view.allow(), capability.allow(), "{mode}");
    }
}
