//! A person's answer to a permission, and the rules it becomes where it reaches further than this
//! once. It must not know how a rule is matched.

use modes::{Ask, Reach, RememberedRule, RuleText, Scope, Verdict};
use store::Row;

use crate::clock;
use crate::command::PersonAnswer;
use crate::fact::{Fact, KeptRule, Permission};
use crate::inner::Inner;
use crate::problem::{Problem, ProblemKind};
use crate::projection::body;

/// The facts that an answer is. It is about the digest the person saw, or none.
pub(super) fn answered(
    inner: &Inner,
    row: &Row,
    shown: Option<&str>,
    answer: PersonAnswer,
) -> Result<Vec<Fact>, Problem> {
    let asked: Permission = body(row)?;
    about_what_was_shown(&asked, shown)?;
    let (allow, reach, because, words) = match answer {
        PersonAnswer::Allow { reach, words } => (true, reach, None, words),
        PersonAnswer::Deny { because } => (false, Reach::Once, because, None),
        PersonAnswer::Text(_) | PersonAnswer::Piped(_) => {
            return Err(Problem::usage(format!(
                "{} is a permission: it takes allow or deny",
                asked.id
            )));
        }
    };
    let remembered = remembered(&asked, reach, words.as_deref())?;
    let who = inner.config.operator.clone();
    let kept = remembered.iter().filter(|_| reach == Reach::Workspace).map(|rule| {
        Fact::RuleKept(Box::new(KeptRule {
            id: clock::new_id('k'),
            rule: rule.rule.clone(),
            evidence: Some(rule.evidence.clone()),
            permission: Some(asked.id.clone()),
            who: who.clone(),
        }))
    });
    let kept: Vec<Fact> = kept.collect();
    let mut facts = vec![Fact::PermissionAnswered {
        permission: asked.id,
        digest: asked.digest,
        allow,
        reach,
        because,
        remembered,
        who,
    }];
    facts.extend(kept);
    Ok(facts)
}

fn about_what_was_shown(asked: &Permission, shown: Option<&str>) -> Result<(), Problem> {
    match shown {
        Some(shown) if modes::names_digest(shown, &asked.digest) => Ok(()),
        Some(_) => Err(Problem::new(ProblemKind::Stale, "it changed, look again")
            .hint("`stance inbox` shows what waits, each with its digest.")),
        None => Err(Problem::usage(format!(
            "name the digest you saw: {}@{}",
            asked.id,
            modes::short_digest(&asked.digest)
        ))
        .hint("`stance inbox` shows what it would do.")),
    }
}

/// The rules a yes becomes: the exact words of the call, or the person's own where they are wider.
fn remembered(asked: &Permission, reach: Reach, words: Option<&str>) -> Result<Vec<RememberedRule>, Problem> {
    let scope = match (reach, words) {
        (Reach::Once, None) => return Ok(Vec::new()),
        (Reach::Once, Some(_)) => {
            return Err(
                Problem::usage("words of your own are kept with a yes for the run, or always")
                    .hint("add --run or --always."),
            );
        }
        (Reach::Run, _) => Scope::Run,
        (Reach::Workspace, _) => Scope::Workspace,
    };
    if let Some(once) = asked.asks.iter().find(|ask| !ask.rememberable) {
        return Err(
            Problem::refused(format!("a yes to that is for this once: it would {}", once.what))
                .hint("approve it without --run and --always."),
        );
    }
    let texts: Vec<String> = match (words, asked.asks.as_slice()) {
        (None, asks) => asks.iter().map(|ask| ask.allowed_by.clone()).collect(),
        (Some(words), [ask]) => vec![widened(ask, words)?],
        (Some(_), asks) => {
            return Err(Problem::refused(format!(
                "{} things are asked in one, and words of your own can speak for one alone",
                asks.len()
            ))
            .hint("approve it without --as."));
        }
    };
    let place = format!("your answer to {}", asked.id);
    Ok(asked
        .asks
        .iter()
        .zip(texts)
        .map(|(ask, text)| RememberedRule {
            rule: RuleText {
                scope,
                verdict: Verdict::Allow,
                text,
                place: place.clone(),
            },
            evidence: ask.evidence.clone(),
        })
        .collect())
}

fn widened(ask: &Ask, words: &str) -> Result<String, Problem> {
    ask.widened(words)
        .map(|()| words.to_owned())
        .map_err(|why| Problem::usage(format!("{words:?} cannot be kept: {why}")))
}
