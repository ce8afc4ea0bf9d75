//! Rules a person keeps for the workspace, and forgets. It must not know how a rule is matched.

use modes::{RuleText, Scope, Verdict};
use store::{Query, Table};

use crate::clock;
use crate::command::Done;
use crate::fact::{Fact, KeptRule};
use crate::inner::Inner;
use crate::problem::Problem;
use crate::rules;

/// Keeps a rule.
pub(super) async fn keep(inner: &Inner, text: String, verdict: Verdict) -> Result<Done, Problem> {
    let who = inner.config.operator.clone();
    let rule = RuleText {
        scope: Scope::Workspace,
        verdict,
        text,
        place: "stance policy set".to_owned(),
    };
    rules::keepable(rule.clone())?;
    let said = format!("Kept for this workspace: {} is {}.", rule.text, verdict.participle());
    let kept = KeptRule {
        id: clock::new_id('k'),
        rule,
        evidence: None,
        permission: None,
        who,
    };
    let mut change = inner.journal.lasting_change("").await?;
    change.record(&Fact::RuleKept(Box::new(kept))).await?;
    change.commit().await?;
    Ok(Done::Said(vec![
        said,
        "It holds for runs that start from now on.".to_owned(),
    ]))
}

/// Forgets every kept rule of these words.
pub(super) async fn forget(inner: &Inner, text: &str) -> Result<Done, Problem> {
    let mut change = inner.journal.lasting_change("").await?;
    let rows = change.find(&Query::all(Table::Rule).having("rule", text)).await?;
    if rows.is_empty() {
        return Err(Problem::usage(format!("no rule {text:?} is kept for this workspace"))
            .hint("`stance policy list` shows every rule with its place; --person removes one of your own file."));
    }
    for row in rows {
        let who = inner.config.operator.clone();
        change.record(&Fact::RuleForgotten { id: row.id, who }).await?;
    }
    change.commit().await?;
    Ok(Done::Said(vec![format!(
        "Forgotten: {text}. Runs that start from now on do without it."
    )]))
}
