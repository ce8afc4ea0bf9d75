//! The laws of the one decision.

use proptest::prelude::*;
use proptest::sample::select;
use stance_modes::{
    Answer, Approver, Autonomy, Judged, Layer, Role, RuleText, RunRecipe, Scope, Target, Verdict, WallsStanding,
};

use crate::drawn::{call, open_recipe, recipe, rule, spec, strictness};

fn layer(judged: &Judged) -> Layer {
    match judged {
        Judged::Permit(permit) => permit.layer(),
        Judged::Question(question) => question.layer,
        Judged::Refusal(refusal) => refusal.layer,
    }
}

fn with_rules(recipe: &RunRecipe, more: impl IntoIterator<Item = RuleText>) -> RunRecipe {
    let mut recipe = recipe.clone();
    recipe.rules.extend(more);
    recipe
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_not_in_the_surface_is_refused(recipe in recipe(), call in call()) {
        let spec = spec(recipe);
        let judged = call.judged(&spec);
        prop_assert_eq!(spec.surface().find(call.tool.name).is_err(), layer(&judged) == Layer::Surface);
        prop_assert!(layer(&judged) != Layer::Surface || strictness(&judged) == 2);
    }

    #[test]
    fn a_refused_effect_is_never_permitted(recipe in recipe(), call in call(), allow in any::<bool>()) {
        let spec = spec(recipe);
        let proposed = call.proposed();
        let answer = Answer { digest: proposed.digest(), allow, message: None };
        let refused = !proposed.effects().intersection(spec.capability().refused()).is_empty();
        let never = call.targets.iter().any(|target| match target {
            Target::Never { .. } => true,
            Target::Write { path, .. } | Target::Delete { path, .. } => path.starts_with(".git/"),
            _ => false,
        });
        if (refused || never) && !spec.pinned(call.tool) {
            let judged = call.answered(&spec, &answer);
            prop_assert_eq!(strictness(&judged), 2);
            let ceilings = [Layer::Surface, Layer::Ceiling, Layer::Never];
            prop_assert!(ceilings.contains(&layer(&judged)), "{:?}", judged);
        }
    }

    #[test]
    fn what_is_pinned_always_runs(recipe in recipe(), call in call(), allow in any::<bool>()) {
        let spec = spec(recipe);
        if spec.pinned(call.tool) {
            let answer = Answer { digest: call.proposed().digest(), allow, message: None };
            for judged in [call.judged(&spec), call.answered(&spec, &answer)] {
                prop_assert_eq!((strictness(&judged), layer(&judged)), (0, Layer::Pinned));
            }
        }
    }

    #[test]
    fn a_deny_rule_of_any_scope_beats_all_below_the_pinned(recipe in open_recipe(), call in call(), scope in 0..6_usize) {
        let effects = call.proposed().effects();
        if let Some(effect) = effects.iter().next() {
            let scope = crate::drawn::SCOPES[scope];
            let text = format!("effect({effect})");
            let deny = RuleText { scope, verdict: Verdict::Deny, text, place: "here".to_owned() };
            let spec = spec(with_rules(&recipe, [deny]));
            let answer = Answer { digest: call.proposed().digest(), allow: true, message: None };
            let judged = call.answered(&spec, &answer);
            prop_assert_eq!(strictness(&judged), if spec.pinned(call.tool) { 0 } else { 2 });
            let denying = [Layer::Pinned, Layer::Surface, Layer::Ceiling, Layer::Never, Layer::DenyRule];
            prop_assert!(denying.contains(&layer(&judged)), "{:?}", judged);
        }
    }

    #[test]
    fn a_deny_rule_more_never_softens(recipe in open_recipe(), call in call(), mut rule in rule()) {
        rule.verdict = Verdict::Deny;
        let before = call.judged(&spec(recipe.clone()));
        let after = call.judged(&spec(with_rules(&recipe, [rule])));
        prop_assert!(strictness(&after) >= strictness(&before), "{before:?} became {after:?}");
    }

    #[test]
    fn acting_freely_only_turns_questions_into_permits(mut recipe in recipe(), call in call()) {
        recipe.approver = Approver::Person;
        recipe.autonomy = Autonomy::ActWithApproval;
        let asking = call.judged(&spec(recipe.clone()));
        recipe.autonomy = Autonomy::ActFreely;
        let free = call.judged(&spec(recipe.clone()));
        match asking {
            Judged::Question(_) => prop_assert_eq!((strictness(&free), layer(&free)), (0, Layer::ActFreely)),
            other => prop_assert_eq!((strictness(&other), layer(&other)), (strictness(&free), layer(&free))),
        }
        recipe.autonomy = Autonomy::ProposeOnly;
        let proposing = call.judged(&spec(recipe));
        let gated = call.tool.tier > stance_modes::Tier::Read || !call.proposed().effects().is_empty();
        prop_assert!(!gated || strictness(&proposing) == 2 || layer(&proposing) == Layer::Pinned);
    }

    #[test]
    fn an_answer_counts_for_the_digest_it_was_shown_with(mut recipe in open_recipe(), call in call()) {
        recipe.approver = Approver::Person;
        recipe.autonomy = Autonomy::ActWithApproval;
        let spec = spec(recipe);
        let unanswered = call.judged(&spec);
        let mut other = call.clone();
        other.arguments = serde_json::json!({ "number": 7 });
        let foreign = Answer { digest: other.proposed().digest(), allow: true, message: None };
        prop_assert_eq!(strictness(&call.answered(&spec, &foreign)), strictness(&unanswered));
        if let Judged::Question(question) = unanswered {
            prop_assert_eq!(&question.digest, &call.proposed().digest());
            let yes = Answer { digest: question.digest.clone(), allow: true, message: None };
            prop_assert_eq!(layer(&call.answered(&spec, &yes)), Layer::Answer);
            prop_assert_eq!(strictness(&call.answered(&spec, &yes)), 0);
            let no = Answer { allow: false, message: Some("not today".to_owned()), ..yes };
            let Judged::Refusal(refusal) = call.answered(&spec, &no) else { panic!("a no let it through") };
            prop_assert!(refusal.reason.contains("not today"), "{}", refusal.reason);
        }
    }

    #[test]
    fn a_question_is_asked_only_where_somebody_can_answer(recipe in recipe(), call in call()) {
        let judged = call.judged(&spec(recipe.clone()));
        if let Judged::Question(question) = &judged {
            prop_assert!(recipe.approver != Approver::Nobody);
            prop_assert!(!question.asks.is_empty());
            prop_assert!([Layer::Rule, Layer::Step, Layer::BuiltIn].contains(&question.layer));
            prop_assert_eq!(question.layer == Layer::Rule, question.asks.iter().any(|ask| ask.rule.is_some()));
        }
        if layer(&judged) == Layer::NoApprover {
            prop_assert_eq!(recipe.approver, Approver::Nobody);
        }
    }

    #[test]
    fn the_rule_that_a_refusal_names_does_let_the_call_through(mut recipe in open_recipe(), call in call()) {
        recipe.autonomy = Autonomy::ActWithApproval;
        recipe.approver = Approver::Person;
        let Judged::Question(question) = call.judged(&spec(recipe.clone())) else { return Ok(()) };
        recipe.approver = Approver::Nobody;
        let Judged::Refusal(refusal) = call.judged(&spec(recipe.clone())) else { panic!("nobody was asked") };
        prop_assert_eq!(refusal.layer, Layer::NoApprover);

        let named: Vec<&str> = question.asks.iter().map(|ask| ask.allowed_by.as_str()).collect();
        let quoted: Vec<String> = named.iter().map(|rule| format!("--allow '{}'", rule.replace('\'', r"'\''"))).collect();
        let allow = named.iter().map(|text| RuleText {
            scope: Scope::Run,
            verdict: Verdict::Allow,
            text: (*text).to_owned(),
            place: "--allow".to_owned(),
        });
        let given = call.judged(&spec(with_rules(&recipe, allow)));
        if refusal.reason.contains("No --allow") {
            prop_assert_eq!(layer(&given), Layer::NoApprover, "{}", refusal.reason);
            prop_assert!(question.asks.iter().any(|ask| ask.rule.is_some()), "{}", refusal.reason);
        } else {
            let expected = format!("A person allows it with {}.", quoted.join(" "));
            prop_assert!(refusal.reason.ends_with(&expected), "{}", refusal.reason);
            prop_assert_eq!((strictness(&given), layer(&given)), (0, Layer::Rule), "{}", refusal.reason);
        }
    }

    #[test]
    fn with_no_rule_the_named_rule_always_lets_it_through(mut recipe in open_recipe(), call in call()) {
        recipe.rules.clear();
        recipe.autonomy = Autonomy::ActWithApproval;
        recipe.approver = Approver::Nobody;
        if let Judged::Refusal(refusal) = call.judged(&spec(recipe)) {
            prop_assert!(refusal.layer != Layer::NoApprover || !refusal.reason.contains("No --allow"), "{}", refusal.reason);
        }
    }

    #[test]
    fn a_step_only_adds_questions_about_what_it_does_not_name(mut recipe in open_recipe(), call in call()) {
        recipe.role = Role::Step { files: None, read_only: false };
        let run = spec(recipe);
        let step = run.within_step(vec!["nowhere/at/all".to_owned()]);
        let (before, after) = (call.judged(&run), call.judged(&step));
        prop_assert!(strictness(&after) >= strictness(&before), "{before:?} became {after:?}");
        if strictness(&after) > strictness(&before) {
            prop_assert!(matches!(layer(&after), Layer::Step | Layer::Rule | Layer::NoApprover), "{after:?}");
            prop_assert!(!call.paths().is_empty());
        }
        let (of_run, of_step) = (run.surface(), step.surface());
        prop_assert_eq!(of_run.tools(), of_step.tools());
        prop_assert_eq!(run.containment(), step.containment());
        prop_assert!(run.digest() != step.digest());
    }

    #[test]
    fn a_main_run_has_no_step(mut recipe in recipe(), call in call()) {
        recipe.role = Role::Main;
        let run = spec(recipe);
        let same = run.within_step(vec!["src".to_owned()]);
        prop_assert_eq!(run.digest(), same.digest());
        prop_assert_eq!(strictness(&call.judged(&run)), strictness(&call.judged(&same)));
    }

    #[test]
    fn nothing_starts_where_no_wall_stands(mut recipe in recipe(), call in call()) {
        recipe.walls = WallsStanding::Absent;
        let spec = spec(recipe);
        let judged = call.judged(&spec);
        let starts = call.proposed().effects().contains(stance_modes::Effect::ProcessSpawn);
        if (starts || call.tool.needs_inspection) && !spec.pinned(call.tool) {
            prop_assert_eq!(strictness(&judged), 2);
        }
    }

    #[test]
    fn without_proven_walls_a_program_asks_and_no_throw_away_view_exists(
        mut recipe in open_recipe(),
        walls in select(vec![WallsStanding::Partial, WallsStanding::Outer, WallsStanding::Off]),
        call in call(),
    ) {
        recipe.rules.clear();
        recipe.walls = walls;
        recipe.autonomy = Autonomy::ActWithApproval;
        recipe.approver = Approver::Person;
        let spec = spec(recipe);
        let starts = call.proposed().effects().contains(stance_modes::Effect::ProcessSpawn);
        if call.tool.needs_inspection && !spec.pinned(call.tool) {
            prop_assert_eq!(layer(&call.judged(&spec)), Layer::Surface);
        } else if starts && !spec.pinned(call.tool) {
            match call.judged(&spec) {
                Judged::Question(question) => prop_assert!(
                    question.asks.iter().any(|ask| ask.what.contains("approvals are not protected")), "{:?}", question
                ),
                judged => prop_assert_eq!(strictness(&judged), 2),
            }
        }
    }

    #[test]
    fn a_secret_is_read_unasked_as_its_reading_is_judged(recipe in recipe()) {
        let spec = spec(recipe);
        let row = stance_modes::descriptor("read_file").unwrap();
        let call = stance_modes::ProposedCall::new(row, "call", serde_json::Value::Null)
            .with_effect(stance_modes::Effect::SecretAccess)
            .with_target(Target::Read { path: "a/.env".to_owned() });
        let judged = stance_modes::judge(&spec, call, None);
        prop_assert_eq!(spec.reads_unasked("a/.env"), strictness(&judged) == 0);
    }

    #[test]
    fn a_record_says_what_the_decision_says(recipe in recipe(), call in call()) {
        let judged = call.judged(&spec(recipe));
        let proposed = call.proposed();
        let record = judged.record(call.tool.name, proposed.digest(), proposed.effects());
        prop_assert_eq!(record.layer, layer(&judged));
        prop_assert_eq!(record.decision as u8, strictness(&judged));
        let proven = proposed.deletes_held().next().is_some();
        prop_assert_eq!(record.reason.is_empty(), strictness(&judged) == 0 && !proven);
        let kept: stance_modes::DecisionRecord =
            serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
        prop_assert_eq!(kept, record);
    }
}
