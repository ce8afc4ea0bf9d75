//! What operators trusted, folded from the journal, and how a part of a project's files stands to it.
//! Trust is given to content, not to a name: another content is another matter. It must not know what
//! the content means.

use std::collections::BTreeMap;

use modes::RuleText;
use serde_json::json;
use store::{Query, Row, Table};
use work::digest::Digest;

use crate::fact::Fact;
use crate::journal::Journal;
use crate::problem::{Problem, ProblemKind};

/// The stream of the facts about trust.
pub(crate) const STREAM: &str = "trust";

/// How far the time of a file may lie behind the clock: one slow tick of the kernel, in milliseconds.
const TICK: i64 = 10;

/// A part of a project's files that means nothing until an operator trusts exactly it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPart {
    /// Which part: the path of the file, or a kind and a name such as `mcp:search`.
    pub what: String,
    /// Everything of it that needs trust, in one canonical spelling; a difference is shown by lines.
    pub content: String,
    /// The rules that hold once it is trusted.
    pub rules: Vec<RuleText>,
    /// Who vouches for whatever stands there, where somebody does.
    pub vouched: Option<String>,
    /// When it, or the folder it lies in, was changed last, in milliseconds since 1970.
    pub changed_ms: i64,
}

impl ProjectPart {
    /// What an operator trusts: this part with this content.
    pub fn digest(&self) -> Digest {
        digest(&self.what, &self.content)
    }
}

/// The digest that trust in a content is given to.
pub(crate) fn digest(what: &str, content: &str) -> Digest {
    Digest::of("stance trust 1", &json!([what, content]))
}

/// Trust as it was given last.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Trust {
    /// The part.
    pub what: String,
    /// The digest of its content.
    pub digest: String,
    /// The content, to compare another with.
    pub content: String,
    /// Who gave it.
    pub who: String,
    /// When, in milliseconds since 1970.
    pub time_ms: i64,
}

/// How a part stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// An operator trusts this very content.
    Trusted(Trust),
    /// Somebody vouches for whatever stands there: a place in the settings, or a flag.
    Vouched(String),
    /// Nobody has trusted the part.
    New,
    /// Another content was trusted.
    Changed(Trust),
    /// Somebody vouches for it, but it was changed while this run or orchestration was under way.
    OfRun(String),
}

impl Standing {
    /// Whether the part counts.
    pub const fn holds(&self) -> bool {
        matches!(self, Standing::Trusted(_) | Standing::Vouched(_))
    }
}

/// What is trusted, by the part.
pub(crate) async fn given(journal: &Journal) -> Result<BTreeMap<String, Trust>, Problem> {
    let mut given = BTreeMap::new();
    for (_, time_ms, fact) in journal.facts(STREAM).await? {
        match fact {
            Fact::TrustGiven {
                what,
                digest,
                content,
                who,
            } => {
                let trust = Trust {
                    what: what.clone(),
                    digest,
                    content,
                    who,
                    time_ms,
                };
                given.insert(what, trust);
            }
            Fact::TrustForgotten { what, .. } => drop(given.remove(&what)),
            _ => {}
        }
    }
    Ok(given)
}

/// How a part stands to what is trusted.
pub(crate) async fn standing(journal: &Journal, part: &ProjectPart) -> Result<Standing, Problem> {
    let earlier = given(journal).await?.remove(&part.what);
    if let Some(trust) = &earlier
        && trust.digest == part.digest().hex()
    {
        return Ok(Standing::Trusted(trust.clone()));
    }
    if let Some(place) = &part.vouched {
        return Ok(match under_way(journal, part.changed_ms).await? {
            Some(run) => Standing::OfRun(run),
            None => Standing::Vouched(place.clone()),
        });
    }
    Ok(earlier.map_or(Standing::New, Standing::Changed))
}

/// The run or orchestration that was under way at a time: whoever vouches for a folder does not
/// vouch for what a run left there.
async fn under_way(journal: &Journal, time_ms: i64) -> Result<Option<String>, Problem> {
    for table in [Table::Run, Table::Orchestration] {
        let rows = journal.store().find(&Query::all(table).newest_first()).await?;
        if let Some(row) = rows.into_iter().find(|row| covers(row, time_ms)) {
            return Ok(Some(row.id));
        }
    }
    Ok(None)
}

fn covers(row: &Row, time_ms: i64) -> bool {
    let began = row.integer("created_ms").unwrap_or_default();
    let halted = row.body.get("halted_ms").and_then(serde_json::Value::as_i64);
    let open = matches!(row.text("status"), Some("running" | "executing"));
    let until = halted.filter(|_| !open).unwrap_or(i64::MAX);
    (began.saturating_sub(TICK)..=until).contains(&time_ms)
}

/// Trusts a content. `shown` is the digest the operator was shown.
pub(crate) async fn trust(
    journal: &Journal,
    who: &str,
    what: &str,
    content: &str,
    shown: &str,
) -> Result<Vec<String>, Problem> {
    let digest = digest(what, content);
    if !digest.matches(shown) {
        return Err(
            Problem::new(ProblemKind::Stale, format!("{what} is not what was shown: it changed"))
                .hint("look at it again: `stance trust`"),
        );
    }
    let mut change = journal.lasting_change("").await?;
    change
        .record(&Fact::TrustGiven {
            what: what.to_owned(),
            digest: digest.hex(),
            content: content.to_owned(),
            who: who.to_owned(),
        })
        .await?;
    change.commit().await?;
    Ok(vec![format!("{what} is trusted as it stands; a change asks again.")])
}

/// Forgets the trust in a part.
pub(crate) async fn forget(journal: &Journal, who: &str, what: &str) -> Result<Vec<String>, Problem> {
    if !given(journal).await?.contains_key(what) {
        return Err(
            Problem::usage(format!("{what} is not trusted")).hint("`stance trust --list` shows what is trusted.")
        );
    }
    let mut change = journal.lasting_change("").await?;
    change
        .record(&Fact::TrustForgotten {
            what: what.to_owned(),
            who: who.to_owned(),
        })
        .await?;
    change.commit().await?;
    Ok(vec![format!("{what} is not trusted any more.")])
}
