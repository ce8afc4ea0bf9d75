//! What a project's own file may say. Nobody has vouched for it: it only tightens. It must not know
//! where the files lie.

use std::collections::BTreeSet;

use engine::{Limits, UNATTENDED_MINUTES, UNATTENDED_TOKENS};
use llm::Given;
use modes::Verdict;

use super::file::File;
use super::page::Fault;

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
    page.rules(project);
    page.limits(project, above.limits);
    if let Some(given) = &project.autonomy {
        page.refuse(given, "a project file does not set how freely agents act");
    }
    if let Some(given) = &project.landing {
        page.refuse(given, "a project file does not choose how work lands");
    }
    if let Some(given) = &project.plan_try {
        page.refuse(given, "a project file does not let Plan try commands");
    }
    page.faults
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
        self.faults.push(Fault {
            file: given.file.clone().unwrap_or_default(),
            line: given.line.unwrap_or(1),
            what: format!("{why}; it belongs in {}", self.person),
        });
    }

    fn providers(&mut self, project: &File) {
        for (name, provider) in &project.providers {
            if let Some(given) = &provider.base_url {
                self.refuse(given, &format!("a project file does not say where `{name}` answers"));
            }
            if let Some(given) = &provider.key_env {
                self.refuse(given, &format!("a project file does not name the key of `{name}`"));
            }
        }
    }

    fn models(&mut self, project: &File, configured: &BTreeSet<&str>) {
        for given in project.models.values().filter_map(|table| table.provider.as_ref()) {
            if given.value == llm::scripted::PROVIDER {
                self.refuse(given, "a project file does not put a script in the place of a model");
            } else if !configured.contains(given.value.as_str()) {
                self.refuse(
                    given,
                    &format!("you have not configured the provider `{}`", given.value),
                );
            }
        }
    }

    fn rules(&mut self, project: &File) {
        for (verdict, given) in &project.rules {
            match verdict {
                Verdict::Allow | Verdict::Plan => {
                    self.refuse(
                        given,
                        &format!("a project file does not allow anything: `{}`", given.value),
                    );
                }
                Verdict::Ask | Verdict::Deny => {}
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
