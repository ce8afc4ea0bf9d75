//! What a reviewer writes beside a plan.
//!
//! It must not know how comments travel or who may write them.

use serde::{Deserialize, Serialize};

use super::content::{Node, StepKey, ValidPlan};

/// A remark on a plan, one of its steps, or words of either.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comment {
    /// The comment's id.
    pub id: String,
    /// The step it is about; none means the whole plan.
    pub node: Option<StepKey>,
    /// The words it is about, exactly as they stand there.
    pub quote: Option<String>,
    /// The remark.
    pub text: String,
    /// Who wrote it.
    pub author: String,
}

/// Where a comment belongs in a given revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Where it was written.
    Found,
    /// The step is there, the quoted words are not.
    QuoteGone,
    /// The step is not there.
    NodeGone,
}

impl Comment {
    /// Where this comment belongs in a plan; a later revision may have moved on.
    pub fn place(&self, plan: &ValidPlan) -> Place {
        let quoted = |holds: &dyn Fn(&str) -> bool| match &self.quote {
            Some(quote) if !holds(quote) => Place::QuoteGone,
            _ => Place::Found,
        };
        match &self.node {
            None => quoted(&|quote| plan_holds(plan, quote)),
            Some(key) => match plan.node(key.as_str()) {
                None => Place::NodeGone,
                Some(node) => quoted(&|quote| node_holds(node, quote)),
            },
        }
    }
}

fn plan_holds(plan: &ValidPlan, quote: &str) -> bool {
    let content = plan.content();
    content.goal.contains(quote)
        || content.checks.iter().any(|check| check.contains(quote))
        || content
            .clarifications
            .iter()
            .any(|asked| asked.question.contains(quote) || asked.answer.contains(quote))
        || content.nodes.iter().any(|node| node_holds(node, quote))
}

fn node_holds(node: &Node, quote: &str) -> bool {
    [
        Some(&node.title),
        Some(&node.description),
        node.acceptance.as_ref(),
        node.role.as_ref(),
    ]
    .into_iter()
    .flatten()
    .chain(node.files.iter().flatten())
    .any(|text| text.contains(quote))
}
