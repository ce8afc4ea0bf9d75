//! Rules kept for the workspace: those a person set, and those answers have become. It must not know
//! how a rule is matched.

use modes::{RememberedRule, RuleText};
use store::{Query, Row, Table};

use crate::fact::KeptRule;
use crate::inner::Inner;
use crate::problem::Problem;
use crate::projection::body;

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
