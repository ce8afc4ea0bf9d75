//! The landing `commits`: a step's own work, each step once, on the branch the plan was approved on.
//! What a person had uncommitted there before, and what the step does not name, is never committed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use modes::paths::names;
use work::pipeline::StepState;
use work::plan::{Landing, Node, StepKey};

use super::step::StepRow;
use crate::fact::{Fact, OrchestrationStart};
use crate::inner::Inner;
use crate::problem::Problem;

/// Commits what done steps changed, in their order. Only where commits are the landing.
pub(super) async fn land(inner: &Inner, start: &OrchestrationStart) -> Result<(), Problem> {
    if start.definition.options.landing != Landing::Commits {
        return Ok(());
    }
    let Some((git, checkout)) = inner.repository() else {
        return Err(
            Problem::refused("the landing `commits` needs a git repository").hint("approve with --landing checkout.")
        );
    };
    let steps = super::steps(inner, &start.orchestration).await?;
    for node in &start.definition.steps {
        let Some(step) = steps.get(&node.key) else { continue };
        if step.state != StepState::Done || step.files.is_empty() || step.landed {
            continue;
        }
        let head = repo::head(git, checkout).await?;
        let own = if head.branch == start.branch {
            own_paths(start, node, &step.files)
        } else {
            Vec::new()
        };
        let commit = if own.is_empty() {
            None
        } else {
            Some(commit_of(inner, git, checkout, start, node, &own, head.id).await?)
        };
        let left = step.files.iter().filter(|path| !own.contains(path)).cloned().collect();
        let mut change = inner.journal.change("").await?;
        change
            .record(&Fact::StepLanded {
                orchestration: start.orchestration.clone(),
                step: node.key.to_string(),
                commit,
                left,
            })
            .await?;
        change.commit().await?;
    }
    Ok(())
}

/// What the step changed and may be committed as its work.
fn own_paths(start: &OrchestrationStart, node: &Node, changed: &[String]) -> Vec<String> {
    changed
        .iter()
        .filter(|path| !start.dirty.contains(path))
        .filter(|path| node.files.as_ref().is_none_or(|files| names(files, path)))
        .cloned()
        .collect()
}

async fn commit_of(
    inner: &Inner,
    git: &repo::Git,
    checkout: &repo::Checkout,
    start: &OrchestrationStart,
    node: &Node,
    paths: &[String],
    head: Option<String>,
) -> Result<String, Problem> {
    let author = match inner.committer().await? {
        Some(author) => author,
        None => repo::Identity::new(&start.who, format!("{}@localhost", start.who))?,
    };
    let commit = repo::StepCommit {
        plan: start.plan.clone(),
        step: node.key.to_string(),
        message: node.title.clone(),
        paths: paths.iter().map(Into::into).collect(),
        author,
        since: start.base.clone(),
        expected_head: head.clone(),
    };
    match (repo::commit_step(git, checkout, &commit).await, head) {
        (Ok(committed), _) => Ok(committed.id),
        // The step committed its own work, as it was permitted to: it stands where HEAD is.
        (Err(repo::RepoError::NothingToCommit), Some(head)) => Ok(head),
        (Err(error), _) => Err(error.into()),
    }
}

/// Whether every done step that changed something has its commit, where commits are the landing.
pub(super) fn all_landed(start: &OrchestrationStart, steps: &BTreeMap<StepKey, StepRow>) -> bool {
    start.definition.options.landing != Landing::Commits
        || steps
            .values()
            .all(|step| step.state != StepState::Done || step.files.is_empty() || step.commit.is_some())
}

/// What was left uncommitted, in lines of the report.
pub(super) fn left(start: &OrchestrationStart, steps: &BTreeMap<StepKey, StepRow>) -> String {
    let mut lines = String::new();
    for (key, step) in steps.iter().filter(|(_, step)| !step.left.is_empty()) {
        let why = if step.commit.is_none() && step.left.len() == step.files.len() && start.dirty.is_empty() {
            "another branch is checked out, or the step does not name them"
        } else {
            "yours before the plan began, or not named by the step"
        };
        let _ = writeln!(lines, "  left uncommitted by {key} ({why}): {}", step.left.join(", "));
    }
    lines
}
