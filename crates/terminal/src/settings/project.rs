//! What a project's own file may say. Until an operator trusts it, it only tightens: what allows waits
//! for trust, what redirects or reveals is refused for good. It must not know who trusts it.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use engine::{Limits, ProjectPart, UNATTENDED_MINUTES, UNATTENDED_TOKENS};
use llm::Given;
use modes::{RuleText, Scope, Verdict};

use super::file::{FILES, File, word};
use super::page::Fault;

/// Tables of which a project file may set some keys.
const LOOKED_AT: &[&str] = &["models", "providers", "permissions", "limits"];

/// Why it sets nothing of other tables, in better words than the general ones.
const REASONS: &[(&str, &str)] = &[
    ("autonomy", "a project file does not set how freely agents act"),
    ("landing", "a project file does not choose how work lands"),
    ("network", "a project file does not open the network"),
    ("plan", "a project file does not let Plan try commands"),
    ("search", "a project file does not say who is asked about the web"),
    ("sandbox", "a project file does not say what programs need around them"),
    ("trust", "a project file vouches for no folder"),
];

/// What stands above a project file.
pub(crate) struct Above<'a> {
    /// The person's and the administrator's files.
    pub(crate) trusted: [&'a File; 2],
    /// The limits they make.
    pub(crate) limits: &'a Limits,
    /// The file where the person may say what this one may not.
    pub(crate) person: &'a str,
}

/// Everything in a project file that does not only tighten.
pub(crate) fn refusals(project: &File, above: &Above<'_>) -> Vec<Fault> {
    let mut page = Refusals {
        faults: Vec::new(),
        person: above.person,
    };
    page.providers(project);
    page.models(project, &configured(above.trusted));
    page.limits(project, above.limits);
    page.others(project);
    page.faults
}

/// What of a project file counts only once an operator trusts it: the rules that allow.
pub(crate) fn part(project: &File, path: &Path) -> Option<ProjectPart> {
    let (rules, _) = rules_of(project);
    let entries: BTreeSet<String> = rules
        .iter()
        .map(|rule| format!("{} {:?}", word(rule.verdict), rule.text))
        .collect();
    (!rules.is_empty()).then(|| ProjectPart {
        what: path.display().to_string(),
        content: entries.into_iter().collect::<Vec<_>>().join("\n"),
        rules,
        vouched: None,
        changed_ms: changed_ms(path),
    })
}

/// The rules that allow, and those that only tighten.
pub(crate) fn rules_of(project: &File) -> (Vec<RuleText>, Vec<RuleText>) {
    super::rules_of(Scope::Workspace, project)
        .into_iter()
        .partition(|rule| matches!(rule.verdict, Verdict::Allow | Verdict::Plan))
}

/// When the file or its folder was changed last, in milliseconds since 1970; a file that is gone
/// again was changed just now.
fn changed_ms(file: &Path) -> i64 {
    [Some(file), file.parent()]
        .into_iter()
        .flatten()
        .map(|path| {
            path.symlink_metadata().map_or(i64::MAX, |facts| {
                facts
                    .ctime()
                    .saturating_mul(1000)
                    .saturating_add(facts.ctime_nsec() / 1_000_000)
            })
        })
        .max()
        .unwrap_or(i64::MAX)
}

/// The providers the person or the administrator named.
fn configured(trusted: [&File; 2]) -> BTreeSet<&str> {
    trusted
        .into_iter()
        .flat_map(|file| {
            let asked = file.models.values().filter_map(|table| table.provider.as_ref());
            file.providers
                .keys()
                .map(String::as_str)
                .chain(asked.map(|given| given.value.as_str()))
        })
        .collect()
}

struct Refusals<'a> {
    faults: Vec<Fault>,
    person: &'a str,
}

impl Refusals<'_> {
    fn refuse<T>(&mut self, given: &Given<T>, why: &str) {
        self.faults
            .push(Fault::of(given, format!("{why}; it belongs in {}", self.person)));
    }

    /// Whatever stands in a table that is not looked at key by key is not a project's to set.
    fn others(&mut self, project: &File) {
        for given in &project.keys {
            let table = given.value.split('.').next().unwrap_or_default();
            if LOOKED_AT.contains(&table) {
                continue;
            }
            match REASONS.iter().find(|(named, _)| *named == table) {
                Some((_, why)) => self.refuse(given, why),
                None => self.refuse(given, &format!("a project file does not set `{}`", given.value)),
            }
        }
    }

    fn providers(&mut self, project: &File) {
        for (name, provider) in &project.providers {
            for given in [&provider.base_url, &provider.api_version].into_iter().flatten() {
                self.refuse(given, &format!("a project file does not say where `{name}` answers"));
            }
            if let Some(given) = &provider.key_env {
                self.refuse(given, &format!("a project file does not name the key of `{name}`"));
            }
        }
    }

    fn models(&mut self, project: &File, configured: &BTreeSet<&str>) {
        for given in project.models.values().filter_map(|table| table.provider.as_ref()) {
            if FILES.contains(&given.value.as_str()) {
                self.refuse(
                    given,
                    "a project file does not put a script or a recording in the place of a model",
                );
            } else if !configured.contains(given.value.as_str()) {
                self.refuse(
                    given,
                    &format!("you have not configured the provider `{}`", given.value),
                );
            }
        }
    }

    fn limits(&mut self, project: &File, above: &Limits) {
        let limits = &project.limits;
        if let Some(given) = &limits.mistakes {
            let wider = match (given.value, above.mistakes) {
                (None, Some(_)) => true,
                (Some(asked), Some(most)) => asked > most,
                (_, None) => false,
            };
            self.widens(given, "mistakes", wider);
        }
        if let Some(given) = &limits.tokens {
            self.widens(given, "tokens", given.value > above.tokens.unwrap_or(UNATTENDED_TOKENS));
        }
        if let Some(given) = &limits.minutes {
            self.widens(
                given,
                "minutes",
                given.value > above.minutes.unwrap_or(UNATTENDED_MINUTES),
            );
        }
        if let Some(given) = &limits.retries {
            self.widens(given, "retries", given.value > above.retries);
        }
        if let Some(given) = &limits.retry_pause_ms {
            self.widens(given, "retry_pause_ms", given.value > above.retry_pause_ms);
        }
        if let Some(given) = &limits.compact_at {
            self.widens(given, "compact_at", given.value > above.compact_at.unwrap_or(u64::MAX));
        }
    }

    fn widens<T>(&mut self, given: &Given<T>, key: &str, wider: bool) {
        if wider {
            self.refuse(
                given,
                &format!("a project file only tightens, and this `{key}` is wider than what holds without it"),
            );
        }
    }
}
