//! What changed from one revision of a plan to another.
//!
//! Nodes are compared field by field as they are stored, so a field added later is compared too. It
//! must not know why anything changed.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::content::{Node, StepKey};
use super::revision::RevisionContent;
use crate::text::framed;

/// Columns of the terminal form.
const WIDTH: usize = 100;

/// Before and after, as stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// What it was.
    pub before: Value,
    /// What it is.
    pub after: Value,
}

/// One field of a node that changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FieldChange {
    /// The field's name.
    pub field: String,
    /// Its values.
    pub change: Change,
}

/// A node that is in both revisions and differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeChange {
    /// Which one.
    pub key: StepKey,
    /// The fields that differ.
    pub fields: Vec<FieldChange>,
}

/// Everything that differs between two revisions, apart from their numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanDiff {
    /// Fields of the plan itself: goal, checks, clarifications, base, agents.
    pub plan: Vec<FieldChange>,
    /// Nodes that only the later revision has.
    pub added: Vec<Node>,
    /// Nodes that only the earlier revision has.
    pub removed: Vec<Node>,
    /// Nodes that differ.
    pub changed: Vec<NodeChange>,
    /// Whether the nodes both have stand in another order.
    pub reordered: bool,
}

impl PlanDiff {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        *self == PlanDiff::default()
    }
}

/// What changed from `before` to `after`.
pub fn diff_revisions(before: &RevisionContent, after: &RevisionContent) -> PlanDiff {
    let (old, new) = (before.content.nodes(), after.content.nodes());
    let only = |these: &[Node], those: &[Node]| -> Vec<Node> {
        let there = |node: &Node| those.iter().any(|other| other.key == node.key);
        these.iter().filter(|node| !there(node)).cloned().collect()
    };
    let (removed, added) = (only(old, new), only(new, old));
    let changed = old
        .iter()
        .filter_map(|node| Some((node, after.content.node(node.key.as_str())?)))
        .map(|(was, is)| NodeChange {
            key: was.key.clone(),
            fields: fields(&json!(was), &json!(is)),
        })
        .filter(|change| !change.fields.is_empty())
        .collect();
    let kept = |these: &[Node], gone: &[Node]| -> Vec<StepKey> {
        let is_gone = |key: &StepKey| gone.iter().any(|node| node.key == *key);
        these
            .iter()
            .map(|node| node.key.clone())
            .filter(|key| !is_gone(key))
            .collect()
    };
    PlanDiff {
        plan: fields(&plan_fields(before), &plan_fields(after)),
        reordered: kept(old, &removed) != kept(new, &added),
        added,
        removed,
        changed,
    }
}

fn plan_fields(revision: &RevisionContent) -> Value {
    let content = revision.content.content();
    json!({
        "goal": content.goal,
        "checks": content.checks,
        "clarifications": content.clarifications,
        "base": revision.base,
        "agents": revision.agents,
    })
}

/// The fields of two objects of one shape that differ, in the shape's order.
fn fields(before: &Value, after: &Value) -> Vec<FieldChange> {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return Vec::new();
    };
    before
        .iter()
        .filter_map(|(field, was)| Some((field, was, after.get(field)?)))
        // As texts, because 0.0 and -0.0 are equal as numbers and have two digests.
        .filter(|(_, was, is)| crate::digest::canonical(was) != crate::digest::canonical(is))
        .map(|(field, was, is)| FieldChange {
            field: field.clone(),
            change: Change {
                before: was.clone(),
                after: is.clone(),
            },
        })
        .collect()
}

impl fmt::Display for PlanDiff {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return formatter.write_str("Nothing changed.\n");
        }
        for change in &self.plan {
            write_change(formatter, "", change)?;
        }
        for node in &self.removed {
            writeln!(formatter, "step {} removed", node.key)?;
            formatter.write_str(&framed(&node.title, "  - │ ", WIDTH))?;
        }
        for node in &self.added {
            writeln!(formatter, "step {} added", node.key)?;
            formatter.write_str(&framed(&node.title, "  + │ ", WIDTH))?;
        }
        for node in &self.changed {
            for change in &node.fields {
                write_change(formatter, &format!("step {}: ", node.key), change)?;
            }
        }
        if self.reordered {
            writeln!(formatter, "the steps stand in another order")?;
        }
        Ok(())
    }
}

fn write_change(formatter: &mut fmt::Formatter<'_>, of: &str, change: &FieldChange) -> fmt::Result {
    writeln!(formatter, "{of}{} changed", change.field)?;
    for (prefix, value) in [("  - │ ", &change.change.before), ("  + │ ", &change.change.after)] {
        match value {
            Value::Null => writeln!(formatter, "{} (none)", prefix.trim_end_matches(" │ "))?,
            Value::String(text) => formatter.write_str(&framed(text, prefix, WIDTH))?,
            other => formatter.write_str(&framed(&format!("{other:#}"), prefix, WIDTH))?,
        }
    }
    Ok(())
}
