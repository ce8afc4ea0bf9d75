//! What the operator chooses when approving a plan.
//!
//! The operator's own words, kept with the decision. It must not know which of them are built.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Everything an approval names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalOptions {
    /// Where the result lands.
    pub landing: Landing,
    /// What of the conversation the work begins with.
    pub context: Context,
    /// How freely this orchestration's runs act.
    pub autonomy: Autonomy,
    /// The space's mode once the work ends.
    pub after_plan: AfterPlan,
    /// Keep the decision and start nothing.
    pub save_only: bool,
    /// The model of this orchestration's runs; absent means the mode's own.
    pub model: Option<String>,
}

impl ApprovalOptions {
    /// The printed defaults, for a door whose default landing is `landing`.
    pub fn with_landing(landing: Landing) -> ApprovalOptions {
        ApprovalOptions {
            landing,
            context: Context::Keep,
            autonomy: Autonomy::ActWithApproval,
            after_plan: AfterPlan::Agent,
            save_only: false,
            model: None,
        }
    }
}

/// Where the result of a plan lands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Landing {
    /// Uncommitted in the checkout, as if typed.
    Checkout,
    /// Commits on the branch that is checked out.
    Commits,
    /// Commits on a branch of the plan's own.
    Branch,
    /// A draft pull request.
    PullRequest,
}

/// What of the conversation the work begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Context {
    /// All of it.
    Keep,
    /// A summary.
    Compact,
    /// The plan alone.
    Fresh,
}

/// How freely the runs of a plan act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Autonomy {
    /// They ask when it matters.
    ActWithApproval,
    /// They never ask.
    ActFreely,
}

/// The space's mode once the work ends, as the operator names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterPlan {
    /// It stays as the work leaves it.
    Agent,
    /// It goes back to planning.
    Plan,
}

impl fmt::Display for Landing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Checkout => "checkout",
            Self::Commits => "commits",
            Self::Branch => "branch",
            Self::PullRequest => "pull-request",
        })
    }
}

impl fmt::Display for Context {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Keep => "keep",
            Self::Compact => "compact",
            Self::Fresh => "fresh",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_printed_ones_and_read_back() {
        let options = ApprovalOptions::with_landing(Landing::PullRequest);
        let stored = serde_json::to_value(&options).unwrap();
        assert_eq!(
            stored,
            serde_json::json!({
                "landing": "pull-request", "context": "keep", "autonomy": "act_with_approval",
                "after_plan": "agent", "save_only": false, "model": null
            })
        );
        assert_eq!(serde_json::from_value::<ApprovalOptions>(stored).unwrap(), options);
    }

    #[test]
    fn an_option_nobody_knows_is_an_error_that_names_it() {
        let error = serde_json::from_str::<ApprovalOptions>(r#"{"landing":"commits","sudo":true}"#)
            .unwrap_err()
            .to_string();
        assert!(error.contains("sudo"), "{error}");
    }
}
