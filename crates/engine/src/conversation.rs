//! Which runs of a thread are its conversation. A conversation can be rewound to a point of the
//! journal: what was said since is left out from then on. Nothing is taken back: answers, approvals and
//! grants are facts of their own, which no rewinding touches.

use serde_json::Value;
use store::{Query, Row, Table};

use crate::fact::{Fact, RewindBy};
use crate::inner::Inner;
use crate::problem::Problem;
use crate::run_state::RunState;

/// A run of the conversation: the number of the event that started it, and its id.
pub(crate) type Spoken = (u64, String);

/// One rewinding, as the journal has it.
#[derive(Debug, Clone)]
pub(crate) struct Rewound {
    pub number: u64,
    /// What began from here on is left out.
    pub point: u64,
    /// The checkpoint of the moment before.
    pub before: String,
    pub by: RewindBy,
}

/// The stream of what happened to a thread itself.
pub(crate) fn stream(thread: &str) -> String {
    format!("thread/{thread}")
}

/// The runs of a thread that were its conversation just before an event of the journal, oldest first.
pub(crate) async fn before(inner: &Inner, thread: &str, number: u64) -> Result<Vec<Spoken>, Problem> {
    let runs = runs(inner, thread).await?;
    let rewound = rewindings(inner, thread).await?;
    Ok(standing(&runs, &rewound, number))
}

/// The same runs as they went, from the newest on that began with a fresh context: what the model is shown.
pub(crate) async fn shown(inner: &Inner, thread: &str, number: u64) -> Result<Vec<RunState>, Problem> {
    let mut shown: Vec<RunState> = Vec::new();
    for (_, run) in before(inner, thread, number).await? {
        let run = inner.run(&run).await?;
        if run.start.fresh_context {
            shown.clear();
        }
        shown.push(run);
    }
    Ok(shown)
}

/// The number of the event that started a run; past every event where there is none yet.
pub(crate) async fn began(inner: &Inner, run: &str) -> Result<u64, Problem> {
    let row = inner.journal.store().get(Table::Run, run).await?;
    Ok(row.as_ref().and_then(started).unwrap_or(u64::MAX))
}

fn started(row: &Row) -> Option<u64> {
    row.body.get("started").and_then(Value::as_u64)
}

/// Every rewinding of a thread, oldest first.
pub(crate) async fn rewindings(inner: &Inner, thread: &str) -> Result<Vec<Rewound>, Problem> {
    let facts = inner.journal.facts(&stream(thread)).await?;
    Ok(facts
        .into_iter()
        .filter_map(|(number, _, fact)| match fact {
            Fact::ThreadRewound { point, before, by, .. } => Some(Rewound {
                number,
                point,
                before,
                by,
            }),
            _ => None,
        })
        .collect())
}

/// The runs of a thread, whether they still are its conversation or not. Runs that another run
/// started have their own.
pub(crate) async fn runs(inner: &Inner, thread: &str) -> Result<Vec<Spoken>, Problem> {
    let query = Query::all(Table::Run).having("thread", thread);
    let rows = inner.journal.store().find(&query).await?;
    Ok(rows
        .iter()
        .filter(|row| row.text("parent").is_none())
        .filter_map(|row| Some((started(row)?, row.id.clone())))
        .collect())
}

/// The newest rewinding decides what stood at its point; what began since is added.
fn standing(runs: &[Spoken], rewound: &[Rewound], number: u64) -> Vec<Spoken> {
    let newest = rewound.iter().rev().find(|one| one.number < number);
    let (mut spoken, since) = match newest {
        Some(one) => (standing(runs, rewound, one.point), one.number),
        None => (Vec::new(), 0),
    };
    spoken.extend(
        runs.iter()
            .filter(|(started, _)| *started > since && *started < number)
            .cloned(),
    );
    spoken
}

/// The checkpoint that a redo goes to: of the moment before the newest undo that nothing followed but
/// redone ones.
pub(crate) fn to_redo(runs: &[Spoken], rewound: &[Rewound]) -> Option<String> {
    let newest_run = runs.iter().map(|(started, _)| *started).max().unwrap_or_default();
    let mut undone = Vec::new();
    for one in rewound.iter().filter(|one| one.number > newest_run) {
        match one.by {
            RewindBy::Undo => undone.push(one.before.clone()),
            RewindBy::Redo => drop(undone.pop()),
            RewindBy::Restore => undone.clear(),
        }
    }
    undone.pop()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(started: &[u64]) -> Vec<Spoken> {
        started.iter().map(|number| (*number, format!("r{number}"))).collect()
    }

    fn rewound(facts: &[(u64, u64, RewindBy)]) -> Vec<Rewound> {
        let rewound = |&(number, point, by)| Rewound {
            number,
            point,
            before: format!("c{number}"),
            by,
        };
        facts.iter().map(rewound).collect()
    }

    fn heard(started: &[u64], facts: &[(u64, u64, RewindBy)], number: u64) -> Vec<u64> {
        let standing = standing(&runs(started), &rewound(facts), number);
        standing.into_iter().map(|(number, _)| number).collect()
    }

    #[test]
    fn a_conversation_is_what_was_not_rewound() {
        use RewindBy::{Redo, Undo};
        let started = [10, 20, 30, 50, 90];
        assert_eq!(heard(&started, &[], 60), [10, 20, 30, 50]);
        // Back before 20 at 40: then 50 was said.
        assert_eq!(heard(&started, &[(40, 20, Undo)], 60), [10, 50]);
        // Before that moment nothing of it is true.
        assert_eq!(heard(&started, &[(40, 20, Undo)], 35), [10, 20, 30]);
        // Undone at 40, redone at 45 to what stood just before 40.
        assert_eq!(heard(&started, &[(40, 20, Undo), (45, 40, Redo)], 60), [10, 20, 30, 50]);
        // Undone twice.
        assert_eq!(heard(&started, &[(40, 30, Undo), (41, 20, Undo)], 60), [10, 50]);
    }

    #[test]
    fn what_was_undone_last_is_redone_until_something_is_said() {
        use RewindBy::{Redo, Restore, Undo};
        let next = |facts: &[_]| to_redo(&runs(&[10, 20]), &rewound(facts));
        assert_eq!(next(&[]), None);
        assert_eq!(next(&[(15, 10, Undo)]), None);
        assert_eq!(next(&[(30, 20, Undo), (31, 10, Undo)]), Some("c31".to_owned()));
        assert_eq!(
            next(&[(30, 20, Undo), (31, 10, Undo), (32, 31, Redo)]),
            Some("c30".to_owned())
        );
        assert_eq!(next(&[(30, 20, Undo), (31, 10, Restore)]), None);
    }
}
