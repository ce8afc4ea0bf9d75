//! Runs that follow another one in the change that ends it.

use modes::{Cause, Scope};
use store::Table;

use super::message::{NewRun, entry, started};
use crate::active::Active;
use crate::config::RunOptions;
use crate::fact::Fact;
use crate::problem::Problem;
use crate::rules::Kept;
use crate::worktree;

/// The facts that start the Agent run which follows a granted plan exit, in the same thread.
pub(crate) async fn after_exit(run: &Active, id: &str) -> Result<Vec<Fact>, Problem> {
    let options = RunOptions {
        attendance: run.inner.config.attendance,
        ..RunOptions::default()
    };
    let text = "The person granted leaving plan mode. Go on in this mode.".to_owned();
    follow(run, id, &run.state.start.thread, &options, Vec::new(), text).await
}

/// The facts that open a fresh thread and start a run in it with the text that the person agreed to. The
/// text is a model's: the run has at most what this one had.
pub(crate) async fn handed_over(run: &Active, id: &str, thread: &str) -> Result<Vec<Fact>, Problem> {
    let state = &run.state;
    let (start, recipe) = (&state.start, run.spec.recipe());
    let mut facts = vec![Fact::ThreadOpened {
        thread: thread.to_owned(),
        space: start.space.clone(),
        parent: None,
    }];
    if run.inner.thread_holds_secrets(&start.thread).await? {
        facts.push(Fact::SecretsRead {
            call: String::new(),
            thread: thread.to_owned(),
            parent: None,
        });
    }
    let options = RunOptions {
        read_only_once: recipe.read_only_once,
        attendance: run.inner.config.attendance,
        rules: recipe
            .rules
            .iter()
            .filter(|rule| rule.scope == Scope::Run)
            .cloned()
            .collect(),
        check: start.check.clone(),
        expect_changes: start.expect_changes,
        tokens: start.tokens.map(|tokens| tokens.saturating_sub(state.usage.total())),
        minutes: start.minutes,
        labels: start.labels.clone(),
        ..RunOptions::default()
    };
    let chain = run.spec.passes_on();
    facts.extend(follow(run, id, thread, &options, chain, state.agreed_text()).await?);
    Ok(facts)
}

async fn follow(
    run: &Active,
    id: &str,
    thread: &str,
    options: &RunOptions,
    chain: Vec<Cause>,
    text: String,
) -> Result<Vec<Fact>, Problem> {
    let inner = &run.inner;
    let space = super::row(inner, Table::Space, &run.state.start.space, "space").await?;
    let entry = entry(text, false, worktree::context(inner).await?, run.state.cursor.clone());
    let new = NewRun {
        id: Some(id.to_owned()),
        autonomy: (!chain.is_empty()).then(|| run.spec.recipe().autonomy),
        chain,
        ..NewRun::main(&space, thread.to_owned(), options, entry)
    };
    let (started, first) = started(inner, new, Kept::now(inner).await?)?;
    Ok(vec![Fact::RunStarted(Box::new(started)), first])
}
