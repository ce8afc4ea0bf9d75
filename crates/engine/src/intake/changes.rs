//! Wishes about a plan: comments on it or its steps, and sending it back to the model with them.

use store::{Query, Row, Table};
use work::plan::{Comment, Place, PlanMove, PlanStatus, StepKey, revision_digest};

use super::decide::{decided, newest_revision, plan_moved, undecided};
use super::message;
use crate::clock;
use crate::command::{Address, Done, PersonDecision};
use crate::config::RunOptions;
use crate::fact::{Fact, Submission};
use crate::inner::Inner;
use crate::problem::Problem;
use crate::projection::{body, column};

/// Sends a plan back with its comments; the model answers with its next revision.
pub(super) async fn send_back(
    inner: &Inner,
    plan: &Row,
    revision: &Submission,
    approval: &Row,
    verdict: PersonDecision,
) -> Result<Done, Problem> {
    let comments = comments(inner, &plan.id, revision.content.revision).await?;
    if comments.is_empty() && verdict.reason.is_none() {
        return Err(
            Problem::usage("nothing was said about what should change").hint(format!(
                "`stance plan comment {} \"…\"` says it, also for one step (--step KEY).",
                plan.id
            )),
        );
    }
    let mut change = undecided(inner, plan, approval, &verdict).await?;
    decided(inner, &mut change, approval, &verdict, None).await?;
    change
        .record(&plan_moved(
            inner,
            &plan.id,
            PlanMove::RequestRevision,
            verdict.reason.clone(),
        ))
        .await?;
    change.commit().await?;
    let mut lines =
        vec!["The person asks for changes to the plan. Submit the whole plan again with `submit_plan`.".to_owned()];
    lines.extend(verdict.reason);
    for comment in &comments {
        let place = comment
            .node
            .as_ref()
            .map_or_else(|| "the whole plan".to_owned(), |key| format!("step {key}"));
        let quote = comment
            .quote
            .as_ref()
            .map_or_else(String::new, |quote| format!(" on the words {quote:?}"));
        lines.push(format!("- {place}{quote}: {}", comment.text));
    }
    let options = RunOptions {
        attendance: inner.config.attendance,
        ..RunOptions::default()
    };
    message::send(
        inner,
        Address::Thread(revision.thread.clone()),
        lines.join("\n"),
        options,
    )
    .await
}

/// Comments on one revision, oldest first.
pub(crate) async fn comments(inner: &Inner, plan: &str, revision: u32) -> Result<Vec<Comment>, Problem> {
    let rows = inner
        .journal
        .store()
        .find(&Query::all(Table::Comment).having("plan", plan))
        .await?;
    rows.iter()
        .filter(|row| row.integer("revision") == Some(i64::from(revision)))
        .map(body)
        .collect()
}

/// Comments a plan.
pub(super) async fn comment(
    inner: &Inner,
    id: &str,
    node: Option<String>,
    quote: Option<String>,
    text: String,
) -> Result<Done, Problem> {
    let row = super::row(inner, Table::Plan, id, "plan").await?;
    if !column::<PlanStatus>(&row, "status")?.is_open() {
        return Err(Problem::refused(format!(
            "plan {id} is decided: it takes no more comments"
        )));
    }
    let revision = newest_revision(inner, &row).await?;
    let node = match node {
        None => None,
        Some(key) if revision.content.content.node(&key).is_some() => {
            Some(StepKey::parse(&key).map_err(|refused| Problem::usage(refused.to_string()))?)
        }
        Some(key) => {
            let keys: Vec<&str> = revision
                .content
                .content
                .nodes()
                .iter()
                .map(|node| node.key.as_str())
                .collect();
            return Err(
                Problem::usage(format!("plan {id} has no step {key}")).hint(format!("its steps: {}", keys.join(", ")))
            );
        }
    };
    let comment = Comment {
        id: clock::new_id('c'),
        node,
        quote,
        text,
        author: inner.config.operator.clone(),
    };
    if comment.place(&revision.content.content) == Place::QuoteGone {
        return Err(
            Problem::usage("the quoted words do not stand there in the plan").hint(format!(
                "quote them as `stance plan show {id}` shows them, or leave --quote out."
            )),
        );
    }
    let mut change = inner.journal.change("").await?;
    let number = revision.content.revision;
    change
        .record(&Fact::PlanCommented {
            plan: id.to_owned(),
            revision: number,
            comment,
        })
        .await?;
    change.commit().await?;
    let shown = revision_digest(&revision.content).short();
    Ok(Done::Said(vec![format!(
        "Commented. `stance plan reject {id}@{shown} --changes` sends your comments to the model."
    )]))
}
