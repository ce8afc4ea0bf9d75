//! Rules kept for the workspace: those a person set, and those answers have become. It must not know
//! how a rule is matched.

use modes::{BuiltIn, RememberedRule, Rule, RuleText, Scope, Verdict};
use store::{Query, Row, Table};

use crate::fact::KeptRule;
use crate::inner::Inner;
use crate::problem::Problem;
use crate::projection::body;
use crate::view::{KeptView, RuleView};

/// Every kept rule.
pub(crate) fn query() -> Query {
    Query::all(Table::Rule)
}

/// What a run that starts now is given of them.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Rules a person set.
    pub rules: Vec<RuleText>,
    /// Rules that answers have become.
    pub answers: Vec<RememberedRule>,
}

impl Kept {
    /// As these rows have it.
    pub(crate) fn of(rows: &[Row]) -> Result<Kept, Problem> {
        let mut kept = Kept::default();
        for row in rows {
            let KeptRule { rule, evidence, .. } = body(row)?;
            match evidence {
                Some(evidence) => kept.answers.push(RememberedRule { rule, evidence }),
                None => kept.rules.push(rule),
            }
        }
        Ok(kept)
    }

    /// As the workspace has it now.
    pub(crate) async fn now(inner: &Inner) -> Result<Kept, Problem> {
        Kept::of(&inner.journal.store().find(&query()).await?)
    }
}

/// Refuses a rule that cannot be read, or that allows everything of its kind without naming any of it.
pub fn keepable(text: RuleText) -> Result<(), Problem> {
    let rule = Rule::parse(text).map_err(|refused| {
        Problem::usage(format!("{refused}."))
            .hint("a rule is `npm run *`, `edit(src/**)`, `read(.env.test)`, `net(docs.rs)`, `mcp(notes/*)` or `effect(git_push)`.")
            .hint("`stance policy list` names every effect and how each is decided.")
    })?;
    if !rule.allows_everything() {
        return Ok(());
    }
    Err(Problem::refused(format!(
        "the rule {:?} would allow everything of its kind and names none of it: it is not kept",
        rule.source().text
    ))
    .hint("name what is allowed: `npm run *`, `read(.env.test)`, `net(docs.rs)`, `mcp(notes/*)`.")
    .hint("to be asked nothing: `stance run --yolo` for one run, `default = \"act_freely\"` under [autonomy] for all."))
}

/// Every rule in force and everything that holds without one, in the order they are asked.
pub(crate) async fn list(inner: &Inner) -> Result<Vec<RuleView>, Problem> {
    let rows = inner.journal.store().find(&query()).await?;
    let mut written: Vec<RuleView> = inner.config.rules.iter().map(of_text).collect();
    for row in &rows {
        written.push(of_kept(row, body(row)?));
    }
    // A deny rule of any scope is asked before all others.
    written.sort_by_key(|view| (view.verdict != Verdict::Deny, view.scope));
    let mut views: Vec<RuleView> = modes::never_let_through()
        .into_iter()
        .map(|row| built_in("never", row))
        .collect();
    views.extend(written);
    views.extend(modes::defaults().into_iter().map(|row| built_in("built-in", row)));
    views.push(RuleView {
        rule: "net(HOST)".to_owned(),
        verdict: Verdict::Allow,
        scope: None,
        layer: "built-in",
        place: "where your models answer, the repository's remotes, [network] hosts".to_owned(),
        managed: false,
        kept: None,
        names: inner.hosts(),
    });
    Ok(views)
}

fn of_text(rule: &RuleText) -> RuleView {
    RuleView {
        rule: rule.text.clone(),
        verdict: rule.verdict,
        scope: Some(rule.scope),
        layer: rule.scope.word(),
        place: rule.place.clone(),
        managed: rule.scope == Scope::Managed,
        kept: None,
        names: Vec::new(),
    }
}

fn of_kept(row: &Row, kept: KeptRule) -> RuleView {
    RuleView {
        kept: Some(KeptView {
            who: kept.who,
            since_ms: row.integer("created_ms").unwrap_or_default(),
            permission: kept.permission,
            bound: kept.evidence.is_some_and(|evidence| !evidence.is_empty()),
        }),
        ..of_text(&kept.rule)
    }
}

fn built_in(layer: &'static str, row: BuiltIn) -> RuleView {
    RuleView {
        rule: row.about,
        verdict: row.verdict,
        scope: None,
        layer,
        place: row.why,
        managed: false,
        kept: None,
        names: row.names.iter().map(|name| (*name).to_owned()).collect(),
    }
}
