//! One revision of a plan as it is approved, and the one digest that names it.
//!
//! It must not know who shows the digest or who gives it back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::content::ValidPlan;
use crate::digest::Digest;

/// Separates this digest from every other one.
const PURPOSE: &str = "stance plan revision 1";

/// Everything an approval of a plan is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevisionContent {
    /// The plan's id.
    pub plan: String,
    /// 1 for the first submission, one more for each change.
    pub revision: u32,
    /// What this revision says.
    pub content: ValidPlan,
    /// What the work starts from.
    pub base: Base,
    /// The revision of each agent that would do the work, by the agent's name.
    pub agents: BTreeMap<String, String>,
}

/// What the work starts from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Base {
    /// The commit that was checked out; none in a repository without one.
    pub commit: Option<String>,
    /// The tree that also holds the changes not committed then; none when there were none.
    pub snapshot_tree: Option<String>,
}

/// The digest that `submit_plan` returns, that is shown, and that a decision must name.
pub fn revision_digest(revision: &RevisionContent) -> Digest {
    // Turning this type into a value cannot fail: every map in it has strings as keys.
    Digest::of(PURPOSE, &json!(revision))
}
