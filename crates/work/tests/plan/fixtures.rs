//! Plans to try things on, fixed and random.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;
use stance_work::orchestration::OrchestrationDefinition;
use stance_work::plan::{
    ApprovalOptions, Base, Landing, NodeDraft, PlanDraft, RevisionContent, Selection, StepKey, ValidPlan, compile,
    select, validate,
};

pub(crate) fn node(key: &str, depends_on: &[&str]) -> NodeDraft {
    NodeDraft {
        key: key.to_owned(),
        title: format!("Do {key}"),
        kind: "work".to_owned(),
        depends_on: depends_on.iter().map(|&needed| needed.to_owned()).collect(),
        ..NodeDraft::default()
    }
}

pub(crate) fn draft(nodes: Vec<NodeDraft>) -> PlanDraft {
    PlanDraft {
        goal: "The parser reads empty input".to_owned(),
        nodes,
        ..PlanDraft::default()
    }
}

pub(crate) fn plan(nodes: Vec<NodeDraft>) -> ValidPlan {
    validate(draft(nodes)).unwrap()
}

/// A plan that uses every field there is.
pub(crate) fn full_draft() -> PlanDraft {
    serde_json::from_value(json!({
        "goal": "The parser reads empty input",
        "nodes": [
            {
                "key": "fix", "title": "Return early on empty input",
                "description": "Add a guard to `parse`.\n\nKeep the signature.",
                "depends_on": ["look"], "kind": "work", "role": "engineer",
                "files": ["src/parser.rs", "tests/parser.rs"],
                "acceptance": "The test `empty` passes",
                "output_schema": {"type": "object", "required": ["lines"]},
                "priority": "high",
                "provenance": [{"kind": "symbol", "ref": "parser::parse"}]
            },
            {"key": "look", "title": "Find out why it fails", "kind": "research"}
        ],
        "checks": ["cargo test"],
        "clarifications": [{"question": "Is an empty file an error?", "answer": "No"}]
    }))
    .unwrap()
}

pub(crate) fn revision(draft: PlanDraft) -> RevisionContent {
    RevisionContent {
        plan: "plan-7".to_owned(),
        revision: 1,
        content: validate(draft).unwrap(),
        base: Base {
            commit: Some("3f2a1c".to_owned()),
            snapshot_tree: Some("77aa01".to_owned()),
        },
        agents: BTreeMap::from([("builder".to_owned(), "4".to_owned())]),
    }
}

pub(crate) fn definition(plan: &ValidPlan) -> OrchestrationDefinition {
    let chosen = select(plan, &Selection::All).unwrap();
    compile(
        "plan-7",
        plan,
        &chosen,
        &ApprovalOptions::with_landing(Landing::Checkout),
    )
    .unwrap()
}

pub(crate) fn key(text: &str) -> StepKey {
    StepKey::parse(text).unwrap()
}

/// Random plans: up to twelve steps written in an order of their own, with any acyclic dependencies.
pub(crate) fn plans() -> impl Strategy<Value = ValidPlan> {
    (1_usize..=12)
        .prop_flat_map(|size| {
            (
                Just((0..size).collect::<Vec<_>>()).prop_shuffle(),
                prop::collection::vec(prop::bool::weighted(0.3), size * size),
            )
        })
        .prop_map(|(written, edges)| {
            let size = written.len();
            plan(
                written
                    .into_iter()
                    .map(|step| {
                        let needed: Vec<String> = (0..step)
                            .filter(|&before| edges[step * size + before])
                            .map(name)
                            .collect();
                        node(&name(step), &needed.iter().map(String::as_str).collect::<Vec<_>>())
                    })
                    .collect(),
            )
        })
}

pub(crate) fn name(step: usize) -> String {
    format!("s{step}")
}
