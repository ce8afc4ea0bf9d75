//! One digest, and nothing an approval is about may change without it.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use stance_work::digest::{Digest, canonical};
use stance_work::plan::{PlanDraft, RevisionContent, revision_digest};

use crate::fixtures::{full_draft, node, revision};

#[test]
fn the_same_revision_has_the_same_digest_however_its_keys_are_ordered() {
    fn reversed(value: &Value) -> Value {
        match value {
            Value::Object(fields) => fields
                .iter()
                .rev()
                .map(|(key, field)| (key.clone(), reversed(field)))
                .collect(),
            Value::Array(items) => items.iter().map(reversed).collect(),
            other => other.clone(),
        }
    }
    let one = revision(full_draft());
    let stored = serde_json::to_value(&one).unwrap();
    let two: RevisionContent = serde_json::from_value(reversed(&stored)).unwrap();
    assert_ne!(reversed(&stored).to_string(), stored.to_string());
    assert_eq!(canonical(&reversed(&stored)), canonical(&stored));
    assert_eq!(revision_digest(&one), revision_digest(&two));
}

#[test]
fn every_change_changes_the_digest() {
    type Edit = fn(&mut PlanDraft);
    type Move = fn(RevisionContent) -> RevisionContent;
    let edits: [Edit; 26] = [
        |draft| draft.goal.push(' '),
        |draft| draft.goal = draft.goal.to_uppercase(),
        |draft| draft.checks[0] = "cargo test --all".into(),
        |draft| draft.checks.push("true".into()),
        |draft| draft.checks.clear(),
        |draft| draft.clarifications[0].question.push('?'),
        |draft| draft.clarifications[0].answer = "Yes".into(),
        |draft| draft.clarifications.clear(),
        |draft| draft.nodes.reverse(),
        |draft| draft.nodes.push(node("new", &[])),
        |draft| drop(draft.nodes.remove(0)),
        |draft| draft.nodes[0].key = "fix2".into(),
        |draft| draft.nodes[0].title.push('!'),
        |draft| draft.nodes[0].description.push('\n'),
        |draft| draft.nodes[0].depends_on.clear(),
        |draft| draft.nodes[1].kind = "discussion".into(),
        |draft| draft.nodes[0].role = None,
        |draft| draft.nodes[0].role = Some("Engineer".into()),
        |draft| draft.nodes[0].files = None,
        |draft| draft.nodes[0].files.as_mut().unwrap().reverse(),
        |draft| draft.nodes[0].files = Some(vec![]),
        |draft| draft.nodes[0].acceptance = Some(String::new()),
        |draft| draft.nodes[0].output_schema = Some(json!({"type": "object", "required": []})),
        |draft| draft.nodes[0].priority = Some("urgent".into()),
        |draft| draft.nodes[0].provenance[0].kind = "file".into(),
        |draft| draft.nodes[0].provenance[0].reference.push('2'),
    ];
    let mut seen = BTreeSet::from([revision_digest(&revision(full_draft()))]);
    for (place, edit) in edits.iter().enumerate() {
        let mut draft = full_draft();
        edit(&mut draft);
        if draft.nodes.iter().all(|node| node.kind != "work") {
            draft.nodes[0].kind = "work".into();
        }
        assert!(seen.insert(revision_digest(&revision(draft))), "edit {place}");
    }

    let moves: [Move; 8] = [
        |revision| RevisionContent {
            plan: "plan-8".into(),
            ..revision
        },
        |revision| RevisionContent {
            revision: 2,
            ..revision
        },
        |mut revision| {
            revision.base.commit = None;
            revision
        },
        |mut revision| {
            revision.base.commit = Some("3f2a1d".into());
            revision
        },
        |mut revision| {
            revision.base.snapshot_tree = None;
            revision
        },
        |mut revision| {
            revision.agents.insert("builder".into(), "5".into());
            revision
        },
        |mut revision| {
            revision.agents.clear();
            revision
        },
        |mut revision| {
            revision.content = revision.content.with_trust(|_, _| true);
            revision
        },
    ];
    for (place, change) in moves.iter().enumerate() {
        let changed = change(revision(full_draft()));
        assert!(seen.insert(revision_digest(&changed)), "move {place}");
    }
}

#[test]
fn every_stored_value_is_covered() {
    fn mutations(value: &Value) -> Vec<Value> {
        match value {
            Value::Object(fields) => fields
                .iter()
                .flat_map(|(key, field)| {
                    mutations(field).into_iter().map(move |changed| {
                        let mut fields = fields.clone();
                        fields.insert(key.clone(), changed);
                        Value::Object(fields)
                    })
                })
                .collect(),
            Value::Array(items) => (0..items.len())
                .flat_map(|place| {
                    mutations(&items[place]).into_iter().map(move |changed| {
                        let mut items = items.clone();
                        items[place] = changed;
                        Value::Array(items)
                    })
                })
                .collect(),
            Value::String(text) => vec![json!(format!("{text}x"))],
            Value::Bool(yes) => vec![json!(!yes)],
            Value::Number(_) => vec![json!(41)],
            Value::Null => vec![json!("x")],
        }
    }
    let stored = serde_json::to_value(revision(full_draft())).unwrap();
    let original = revision_digest(&revision(full_draft()));
    let mut tried = 0;
    for changed in mutations(&stored) {
        assert_ne!(Digest::of("any", &changed), Digest::of("any", &stored), "{changed}");
        // Where the change still makes a plan, its digest is another one.
        if let Ok(revision) = serde_json::from_value::<RevisionContent>(changed) {
            assert_ne!(revision_digest(&revision), original);
            tried += 1;
        }
    }
    assert!(tried >= 18, "{tried}");
}
