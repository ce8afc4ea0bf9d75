//! Landing a plan's step as a commit that says which step it is of, exactly once.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::git::Operation;
use crate::revision::{head, resolve};
use crate::write::{TRAILER, commit_as};
use crate::{Checkout, Committed, Git, Identity, RepoError};

/// A step's commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepCommit {
    /// The plan's id: one word.
    pub plan: String,
    /// The step's key: one word.
    pub step: String,
    /// What the commit says, without trailers.
    pub message: String,
    /// What it holds: the present state of these.
    pub paths: Vec<PathBuf>,
    /// Who approved the plan.
    pub author: Identity,
    /// The commit that the plan started from, none if there was none: an earlier commit of the same
    /// step is looked for after it.
    pub since: Option<String>,
    /// Where HEAD is to be for a new commit.
    pub expected_head: Option<String>,
}

/// Commits a step's paths on the current branch. If the branch already has the step's commit (the
/// process died after making it) that one is returned and nothing is done.
pub async fn commit_step(git: &Git, checkout: &Checkout, step: &StepCommit) -> Result<Committed, RepoError> {
    for word in [&step.plan, &step.step] {
        let plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
        if word.is_empty() || !word.chars().all(plain) {
            return Err(RepoError::Message);
        }
    }
    let trailer = format!("{} step {}", step.plan, step.step);
    if let Some(id) = find(git, checkout, step, &trailer).await? {
        let branch = head(git, checkout).await?.branch.ok_or(RepoError::DetachedHead)?;
        return Ok(Committed { id, branch });
    }
    let without_claims: Vec<&str> = step
        .message
        .lines()
        .filter(|line| !line.trim_start().starts_with(TRAILER))
        .collect();
    let message = format!("{}\n\n{TRAILER}: {trailer}", without_claims.join("\n").trim());
    let expected = step.expected_head.as_deref();
    commit_as(
        git,
        checkout,
        &message,
        Some(&step.paths),
        &step.author,
        &step.author,
        expected,
    )
    .await
}

async fn find(git: &Git, checkout: &Checkout, step: &StepCommit, trailer: &str) -> Result<Option<String>, RepoError> {
    let Some(start) = head(git, checkout).await?.id else {
        return Ok(None);
    };
    let format = format!("--format=%H%x00%(trailers:key={TRAILER},valueonly,separator=%x00)");
    let mut arguments: Vec<OsString> = vec!["log".into(), "-z".into(), format.into(), start.into()];
    if let Some(since) = &step.since {
        arguments.push(format!("^{}", resolve(git, checkout, since).await?).into());
    }
    arguments.push("--".into());
    let finished = git
        .run(Operation::read(checkout, "look for a step's commit", arguments))
        .await?;
    let text = finished.stdout.text();
    let mut id = None;
    for field in text.split('\0') {
        if crate::revision::is_id(field) {
            id = Some(field.to_owned());
        } else if field.trim() == trailer {
            return Ok(id);
        }
    }
    Ok(None)
}
