//! Git as tools: questions, staging, commits. Every git process is the `repo` room's.

mod git_read;
mod git_write;
mod patch;
mod paths;

pub(crate) use git_read::GitRead;
pub(crate) use git_write::GitWrite;

use repo::{Checkout, Git};

use crate::scope::Scope;

/// Git and the checkout of a run, or why there are none.
fn ready(scope: &Scope) -> Result<(Git, &Checkout), &'static str> {
    let checkout = scope.checkout.as_ref().ok_or("the project is not a git repository.")?;
    let walls = scope
        .walls
        .clone()
        .ok_or("git runs only inside proven walls, and this machine has none; `stance doctor` shows why.")?;
    Ok((Git::new(walls, scope.scratch.join("git")), checkout))
}
