//! Every fault is found, all at once, and named.

use proptest::prelude::*;
use serde_json::json;
use stance_work::plan::{NodeKind, PlanContent, PlanDraft, SchemaFault, ValidPlan, Violation, limits, validate};

use crate::fixtures::{draft, full_draft, node, plan};

fn faults(draft: PlanDraft) -> Vec<Violation> {
    validate(draft).expect_err("the plan should be refused")
}

fn sentences(draft: PlanDraft) -> String {
    faults(draft)
        .iter()
        .fold(String::new(), |text, fault| text + &fault.to_string() + "\n")
}

#[test]
fn a_plan_with_every_field_is_taken_as_it_was_written() {
    let plan = validate(full_draft()).unwrap();
    assert_eq!(plan.goal(), "The parser reads empty input");
    let fix = plan.node("fix").unwrap();
    assert_eq!(fix.kind, NodeKind::Work);
    assert_eq!(fix.depends_on[0].as_str(), "look");
    assert_eq!(fix.files.as_ref().unwrap().len(), 2);
    let mut again = PlanDraft::from(plan.content());
    again.nodes[1].priority = None;
    assert_eq!(again, full_draft());
}

#[test]
fn an_empty_submission_names_what_is_missing() {
    let empty: PlanDraft = serde_json::from_str("{}").unwrap();
    assert_eq!(faults(empty), [Violation::EmptyGoal, Violation::NoSteps]);
    let bare: PlanDraft = serde_json::from_str(r#"{"goal":"g","nodes":[{}]}"#).unwrap();
    insta::assert_snapshot!(sentences(bare), @r"
    step number 1 has no title
    step number 1: the kind is missing; use one of work, research, discussion, synthesis
    step number 1 has no key
    ");
}

#[test]
fn a_field_nobody_knows_is_named_where_it_stands() {
    for text in [
        r#"{"goal":"g","nodes":[],"risks":[]}"#,
        r#"{"goal":"g","nodes":[{"key":"a","risks":[]}]}"#,
        r#"{"goal":"g","clarifications":[{"question":"q","answer":"a","risks":1}]}"#,
    ] {
        let error = serde_json::from_str::<PlanDraft>(text).unwrap_err().to_string();
        assert!(error.contains("unknown field `risks`"), "{error}");
    }
    let error = serde_json::from_str::<PlanDraft>(r#"{"clarifications":[{"question":"q"}]}"#)
        .unwrap_err()
        .to_string();
    assert!(error.contains("missing field `answer`"), "{error}");
}

#[test]
fn a_value_of_the_wrong_type_is_named_where_it_stands() {
    let check = |arguments: serde_json::Value, expected: &str| {
        assert_eq!(PlanDraft::read(&arguments).unwrap_err().to_string(), expected);
    };
    check(json!({"goal": 5}), "goal: invalid type: integer `5`, expected a string");
    check(
        json!({"goal": "g", "nodes": [{"key": "a"}, {"key": "b", "files": [null]}]}),
        "nodes[1].files[0]: invalid type: null, expected a string",
    );
    check(
        json!({"checks": "cargo test"}),
        "checks: invalid type: string \"cargo test\", expected a sequence",
    );
    check(
        json!({"clarifications": [{"question": "q"}]}),
        "clarifications[0]: missing field `answer`",
    );
    let read = PlanDraft::read(&serde_json::to_value(full_draft()).unwrap());
    assert_eq!(read.unwrap(), full_draft());
}

#[test]
fn all_faults_come_in_one_list_that_names_the_keys() {
    let mut bad = full_draft();
    bad.goal = "  ".to_owned();
    bad.checks.push(String::new());
    bad.nodes[0].kind = "hack".to_owned();
    bad.nodes[0].priority = Some("asap".to_owned());
    bad.nodes[0].depends_on = vec!["fix".to_owned(), "nowhere".to_owned()];
    bad.nodes[0].files = Some(vec!["/etc/passwd".to_owned(), "a/../../b".to_owned(), String::new()]);
    bad.nodes[0].output_schema = Some(json!({"$ref": "http://127.0.0.1/x"}));
    bad.nodes[0].provenance[0].kind = "dream".to_owned();
    bad.nodes[1].title = "\n".to_owned();
    let mut twice = node("fix", &[]);
    twice.title = "t".repeat(201);
    bad.nodes.push(twice);
    bad.nodes.push(node("no spaces", &[]));
    bad.nodes.push(node(&"k".repeat(65), &[]));
    insta::assert_snapshot!(sentences(bad), @r"
    the goal is empty: say what shall be true once the plan is carried out
    check number 2 is empty
    step `fix`: the kind `hack` is unknown; use one of work, research, discussion, synthesis
    step `fix`: the priority `asap` is unknown; use one of none, low, medium, high, urgent
    step `fix`: the provenance kind `dream` is unknown; use one of symbol, file, message, goal, answer
    step `fix`: the file `/etc/passwd` is absolute; name it relative to the workspace
    step `fix`: the file `a/../../b` contains `..`; name it from the workspace down
    step `fix`: the file `` is empty
    step `fix`: output_schema has `$ref` with the target `http://127.0.0.1/x`: only targets inside the schema, beginning with `#`, are taken; nothing is fetched
    step `look` has no title
    step `fix`: the title is 201 characters long; at most 200 are taken
    step number 3: the key `fix` is taken by step number 1
    step `no spaces`: a key has ASCII letters, digits, `-` and `_` only, and begins with a letter or a digit
    step `kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk…`: the key has 65 characters; at most 64 are taken
    step `fix` depends on itself
    step `fix` depends on `nowhere`, which is not a step of this plan
    ");
}

#[test]
fn a_cycle_is_named_once_the_rest_is_sound() {
    let circle = vec![
        node("a", &["c"]),
        node("b", &["a"]),
        node("c", &["b"]),
        node("d", &["c"]),
    ];
    assert_eq!(
        sentences(draft(circle.clone())),
        "these steps wait for each other: `a` → `c` → `b` → `a`: remove one of these dependencies\n"
    );
    let mut unsound = circle;
    unsound[3].depends_on.push("nowhere".to_owned());
    let found = faults(draft(unsound));
    assert!(
        matches!(found.as_slice(), [Violation::UnknownDependency { .. }]),
        "{found:?}"
    );
}

#[test]
fn a_plan_that_changes_nothing_is_refused() {
    let mut research = node("a", &[]);
    research.kind = "research".to_owned();
    assert_eq!(faults(draft(vec![research.clone()])), [Violation::NoWorkStep]);
    // With an unknown kind among them nobody can say whether one works.
    let mut odd = node("b", &[]);
    odd.kind = "Work".to_owned();
    let found = faults(draft(vec![research, odd]));
    assert!(matches!(found.as_slice(), [Violation::UnknownKind { .. }]), "{found:?}");
}

#[test]
fn code_dumps_are_flagged_in_the_step_and_in_the_plan() {
    let fence = |lines: usize| format!("```\n{}```", "let x = 1;\n".repeat(lines));
    let with = |lines: &[usize]| {
        draft(
            lines
                .iter()
                .enumerate()
                .map(|(place, &lines)| {
                    let mut node = node(&format!("n{place}"), &[]);
                    node.description = fence(lines);
                    node
                })
                .collect(),
        )
    };
    assert!(validate(with(&[40, 40])).is_ok());
    insta::assert_snapshot!(sentences(with(&[400])), @r"
    the plan holds 400 lines in code fences; at most 80 are taken: say what to write, not the code itself
    step `n0` holds 400 lines in code fences; at most 40 are taken: say what to write, not the code itself
    ");
    assert_eq!(faults(with(&[40, 40, 1])), [Violation::FencedPlan { lines: 81 }]);
    let mut in_acceptance = with(&[40]);
    in_acceptance.nodes[0].acceptance = Some(fence(1));
    let found = faults(in_acceptance);
    assert!(
        matches!(found.as_slice(), [Violation::FencedStep { lines: 41, .. }]),
        "{found:?}"
    );
    let mut in_goal = with(&[41]);
    in_goal.nodes[0].description = String::new();
    in_goal.goal = fence(81);
    assert_eq!(faults(in_goal), [Violation::FencedPlan { lines: 81 }]);
}

#[test]
fn files_stay_inside_the_workspace_on_every_system() {
    for (file, good) in [
        ("src/main.rs", true),
        ("a b/ü.txt", true),
        ("..hidden/x..y", true),
        ("", false),
        (" ", false),
        ("/", false),
        ("\\\\host\\share", false),
        ("C:\\x", false),
        ("c:x", false),
        ("..", false),
        ("a/..", false),
        ("a\\..\\b", false),
        ("a\0b", false),
        ("a\nb", false),
    ] {
        let mut node = node("a", &[]);
        node.files = Some(vec![file.to_owned()]);
        let result = validate(draft(vec![node]));
        assert_eq!(result.is_ok(), good, "{file:?}");
        if let Err(found) = result {
            assert!(matches!(found.as_slice(), [Violation::File { .. }]), "{found:?}");
        }
    }
}

#[test]
fn each_limit_holds_exactly() {
    let check = |change: &dyn Fn(&mut PlanDraft, usize), limit: usize| {
        let mut draft = full_draft();
        change(&mut draft, limit);
        assert!(validate(draft.clone()).is_ok(), "{limit} should be taken");
        change(&mut draft, limit + 1);
        let found = faults(draft);
        assert_eq!(found.len(), 1, "{found:?}");
        let sentence = found[0].to_string();
        assert!(
            sentence.contains(&(limit + 1).to_string()) && sentence.contains(&limit.to_string()),
            "{sentence}"
        );
    };
    check(&|draft, size| draft.goal = "x".repeat(size), limits::GOAL_BYTES);
    check(
        &|draft, size| draft.nodes[0].title = "ü".repeat(size),
        limits::TITLE_CHARACTERS,
    );
    check(
        &|draft, size| draft.nodes[0].role = Some("r".repeat(size)),
        limits::ROLE_CHARACTERS,
    );
    check(
        &|draft, size| draft.nodes[0].key = "k".repeat(size),
        limits::KEY_CHARACTERS,
    );
    check(
        &|draft, size| draft.nodes[0].description = "x".repeat(size),
        limits::DESCRIPTION_BYTES,
    );
    check(
        &|draft, size| draft.nodes[0].acceptance = Some("x".repeat(size)),
        limits::ACCEPTANCE_BYTES,
    );
    check(
        &|draft, size| draft.nodes[0].files = Some(vec!["x".to_owned(); size]),
        limits::FILES,
    );
    check(
        &|draft, size| draft.nodes[0].provenance = vec![draft.nodes[0].provenance[0].clone(); size],
        limits::PROVENANCE,
    );
    check(
        &|draft, size| draft.nodes[0].provenance[0].reference = "x".repeat(size),
        limits::PROVENANCE_BYTES,
    );
    check(&|draft, size| draft.checks = vec!["x".to_owned(); size], limits::CHECKS);
    check(&|draft, size| draft.checks[0] = "x".repeat(size), limits::CHECK_BYTES);
    check(
        &|draft, size| draft.clarifications = vec![draft.clarifications[0].clone(); size],
        limits::CLARIFICATIONS,
    );
    check(
        &|draft, size| draft.clarifications[0].answer = "x".repeat(size),
        limits::CLARIFICATION_BYTES,
    );
    check(
        &|draft, size| draft.nodes = (0..size).map(|place| node(&format!("n{place}"), &[])).collect(),
        limits::STEPS,
    );
}

#[test]
fn hostile_words_cannot_act_from_inside_a_violation() {
    let mut hostile = node("a\u{1b}[2J\u{202e}", &["\u{9b}x\r\n"]);
    hostile.kind = "\u{200b}\n".repeat(500);
    let text = sentences(draft(vec![hostile]));
    assert!(text.lines().all(|line| !line.chars().any(char::is_control)), "{text}");
    assert!(!text.contains(['\u{202e}', '\u{200b}']), "{text}");
    assert!(text.contains("\\u{1b}[2J\\u{202e}"), "{text}");
    assert!(text.len() < 3000, "{}", text.len());
}

#[test]
fn nobody_vouches_for_their_own_plan() {
    let mut claiming = full_draft();
    claiming.nodes[0].provenance[0].trusted = true;
    let plan = validate(claiming).unwrap();
    assert!(!plan.nodes()[0].provenance[0].trusted);
    let known = plan.with_trust(|key, provenance| key.as_str() == "fix" && provenance.reference == "parser::parse");
    assert!(known.nodes()[0].provenance[0].trusted);
}

#[test]
fn repeated_dependencies_are_one() {
    let plan = plan(vec![node("a", &["b", "b"]), node("b", &[])]);
    assert_eq!(plan.nodes()[0].depends_on.len(), 1);
}

#[test]
fn a_stored_plan_reads_back_and_a_spoilt_one_does_not() {
    let plan = validate(full_draft()).unwrap().with_trust(|_, _| true);
    let stored = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<ValidPlan>(&stored).unwrap(), plan);
    let mut spoilt: PlanContent = serde_json::from_str(&stored).unwrap();
    spoilt.nodes[1].depends_on = vec![spoilt.nodes[0].key.clone()];
    let error = serde_json::from_value::<ValidPlan>(serde_json::to_value(&spoilt).unwrap())
        .unwrap_err()
        .to_string();
    assert!(error.contains("`fix` → `look` → `fix`"), "{error}");
    assert!(serde_json::from_str::<ValidPlan>(&stored.replace("\"look\"", "\"lo ok\"")).is_err());
}

/// A fault to plant in a step, and how it must show.
type Planting = (fn(&mut PlanDraft, usize), fn(&Violation, &str) -> bool);

fn is_about(step: &stance_work::plan::StepLabel, key: &str) -> bool {
    step.key == key
}

const PLANTINGS: [Planting; 9] = [
    (
        |draft, at| draft.nodes[at].title.clear(),
        |fault, key| matches!(fault, Violation::EmptyTitle { step } if is_about(step, key)),
    ),
    (
        |draft, at| draft.nodes[at].kind = "w".into(),
        |fault, key| matches!(fault, Violation::UnknownKind { step, .. } if is_about(step, key)),
    ),
    (
        |draft, at| draft.nodes[at].priority = Some("p".into()),
        |fault, key| matches!(fault, Violation::UnknownPriority { step, .. } if is_about(step, key)),
    ),
    (
        |draft, at| draft.nodes[at].depends_on.push("nowhere".into()),
        |fault, key| {
            matches!(fault, Violation::UnknownDependency { step, dependency }
                if is_about(step, key) && dependency == "nowhere")
        },
    ),
    (
        |draft, at| {
            let key = draft.nodes[at].key.clone();
            draft.nodes[at].depends_on.push(key);
        },
        |fault, key| matches!(fault, Violation::SelfDependency { step } if is_about(step, key)),
    ),
    (
        |draft, at| draft.nodes[at].files = Some(vec!["/x".into()]),
        |fault, key| matches!(fault, Violation::File { step, .. } if is_about(step, key)),
    ),
    (
        |draft, at| draft.nodes[at].output_schema = Some(json!({"$ref": "file:///x"})),
        |fault, key| {
            matches!(fault, Violation::OutputSchema { step, fault: SchemaFault::Outside { .. } }
                if is_about(step, key))
        },
    ),
    (
        |draft, at| draft.nodes[at].description = format!("~~~\n{}", "x\n".repeat(50)),
        |fault, key| matches!(fault, Violation::FencedStep { step, .. } if is_about(step, key)),
    ),
    (
        |draft, at| {
            let again = draft.nodes[at].clone();
            draft.nodes.push(again);
        },
        |fault, key| matches!(fault, Violation::DuplicateKey { key: taken, .. } if taken == key),
    ),
];

proptest! {
    #[test]
    fn every_planted_fault_is_found_and_named(
        plan in crate::fixtures::plans(),
        planted in prop::collection::vec((0..PLANTINGS.len(), any::<prop::sample::Index>()), 1..6),
    ) {
        let mut draft = PlanDraft::from(plan.content());
        let size = draft.nodes.len();
        let mut expected = Vec::new();
        for (which, at) in planted {
            let at = at.index(size);
            PLANTINGS[which].0(&mut draft, at);
            expected.push((which, draft.nodes[at].key.clone()));
        }
        let found = faults(draft);
        for (which, key) in expected {
            prop_assert!(found.iter().any(|fault| PLANTINGS[which].1(fault, &key)), "{which} {key} {found:?}");
            prop_assert!(
                found.iter().any(|fault| PLANTINGS[which].1(fault, &key) && fault.to_string().contains(&key))
            );
        }
    }

    #[test]
    fn a_closed_circle_is_always_found(plan in crate::fixtures::plans()) {
        let mut draft = PlanDraft::from(plan.content());
        let order: Vec<String> = plan.in_order().iter().map(|node| node.key.to_string()).collect();
        // Chain all steps, then let the first need the last.
        for node in &mut draft.nodes {
            let place = order.iter().position(|key| *key == node.key).unwrap();
            let before = order[(place + order.len() - 1) % order.len()].clone();
            if !node.depends_on.contains(&before) {
                node.depends_on.push(before);
            }
        }
        let found = faults(draft.clone());
        if order.len() == 1 {
            let alone = matches!(found.as_slice(), [Violation::SelfDependency { .. }]);
            prop_assert!(alone);
        } else {
            let [Violation::Cycle { keys }] = found.as_slice() else { panic!("{found:?}") };
            // What is named is a cycle indeed.
            for (place, key) in keys.iter().enumerate() {
                let next = &keys[(place + 1) % keys.len()];
                let node = draft.nodes.iter().find(|node| node.key == *key).unwrap();
                prop_assert!(node.depends_on.contains(next));
            }
        }
    }
}
