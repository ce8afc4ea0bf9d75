//! From an approved plan to what is carried out. Same input, same output.
//!
//! It must not know anything but its arguments.

use std::collections::BTreeSet;

use super::content::{Node, ValidPlan, dependencies};
use super::options::{ApprovalOptions, Context, Landing};
use super::select::Chosen;
use crate::orchestration::OrchestrationDefinition;

/// Why a plan cannot be carried out as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CompileRefused {
    /// This build cannot land a result there.
    #[error("landing `{landing}` is not built yet: choose `checkout` or `commits`")]
    LandingNotBuilt {
        /// What was asked for.
        landing: Landing,
    },
    /// This build cannot begin with that context.
    #[error("context `{context}` is not built yet: choose `keep` or `fresh`")]
    ContextNotBuilt {
        /// What was asked for.
        context: Context,
    },
    /// The choice was made for a plan with other steps.
    #[error("the chosen steps are not those of this plan: choose again")]
    AnotherPlan,
}

/// What is carried out when these steps of the plan are approved with these options. `save_only` is
/// kept in the options and changes nothing else here: starting or not is the caller's act.
pub fn compile(
    plan_id: &str,
    plan: &ValidPlan,
    chosen: &Chosen,
    options: &ApprovalOptions,
) -> Result<OrchestrationDefinition, CompileRefused> {
    let landing = options.landing;
    if matches!(landing, Landing::Branch | Landing::PullRequest) {
        return Err(CompileRefused::LandingNotBuilt { landing });
    }
    let context = options.context;
    if context == Context::Compact {
        return Err(CompileRefused::ContextNotBuilt { context });
    }
    let nodes = chosen_nodes(plan, chosen)?;
    let graph = dependencies(&nodes);
    let chain = graph.is_chain();
    let roles: BTreeSet<Option<&str>> = nodes.iter().map(|node| node.role.as_deref()).collect();
    Ok(OrchestrationDefinition {
        plan: plan_id.to_owned(),
        goal: plan.goal().to_owned(),
        steps: graph
            .order()
            .into_iter()
            .filter_map(|place| nodes.get(place).copied().cloned())
            .collect(),
        deferred: chosen.deferred().to_vec(),
        checks: plan.content().checks.clone(),
        options: options.clone(),
        sequential: chain && roles.len() <= 1,
        parallel_ignored: !chain,
        roles_ignored: roles.len() > 1,
    })
}

/// The chosen nodes in the plan's order, if the choice is about this plan.
fn chosen_nodes<'a>(plan: &'a ValidPlan, chosen: &Chosen) -> Result<Vec<&'a Node>, CompileRefused> {
    let wanted: BTreeSet<_> = chosen.chosen().iter().collect();
    let (nodes, rest): (Vec<&Node>, Vec<&Node>) = plan.nodes().iter().partition(|node| wanted.contains(&node.key));
    let closed = nodes
        .iter()
        .flat_map(|node| &node.depends_on)
        .all(|needed| wanted.contains(needed));
    let same_rest = rest.iter().map(|node| &node.key).eq(chosen.deferred());
    if !nodes.is_empty() && nodes.len() == wanted.len() && closed && same_rest {
        Ok(nodes)
    } else {
        Err(CompileRefused::AnotherPlan)
    }
}
