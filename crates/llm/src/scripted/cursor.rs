//! The place in a script, as text between two requests. It is all a scripted model remembers.

use serde::{Deserialize, Serialize};

use super::format::{Entry, Match};
use crate::RequestContext;

/// A place in the script whose digest it carries.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    digest: String,
    /// Entries that were taken, in the order they were.
    used: Vec<usize>,
    /// The entry that answers now.
    pub(crate) current: Option<usize>,
    /// Its turn that answers next.
    pub(crate) next: usize,
    /// The entering message that took an entry last, so that its retry takes no other.
    entered: Option<String>,
}

impl Cursor {
    /// Reads a saved place. A place in another script, or no place at all, is the beginning.
    pub(crate) fn resume(saved: Option<&str>, digest: &str) -> Self {
        saved
            .and_then(|text| serde_json::from_str::<Self>(text).ok())
            .filter(|cursor| cursor.digest == digest)
            .unwrap_or_else(|| Self {
                digest: digest.into(),
                ..Self::default()
            })
    }

    /// The place as text.
    pub(crate) fn save(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Takes the first unused entry that fits, once for each entering message. When none fits the
    /// current entry goes on. A request that enters nothing begins with an entry that fits, too,
    /// when there is no current one.
    pub(crate) fn enter(&mut self, entering: Option<&str>, context: &RequestContext, entries: &[Entry]) {
        let enters = entering.is_some_and(|id| self.entered.as_deref() != Some(id));
        if !enters && self.current.is_some() {
            return;
        }
        let found = entries
            .iter()
            .enumerate()
            .position(|(place, entry)| !self.used.contains(&place) && fits(&entry.matches, context));
        if let Some(place) = found {
            self.used.push(place);
            self.current = Some(place);
            self.next = 0;
        }
        if enters {
            self.entered = entering.map(Into::into);
        }
    }
}

fn fits(wanted: &Match, found: &RequestContext) -> bool {
    let equal =
        |wanted: &Option<String>, found: Option<&str>| wanted.as_deref().is_none_or(|wanted| found == Some(wanted));
    equal(&wanted.mode, Some(&found.mode))
        && equal(&wanted.agent, found.agent.as_deref())
        && equal(&wanted.step, found.step.as_deref())
}
