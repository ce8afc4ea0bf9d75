//! What holds where no rule speaks, as rows for people: what is never let through, and the defaults.
//! Rendered from the tables that decide; decides nothing itself.

use serde::Serialize;

use crate::effect::Effect;
use crate::hosts::SHIPPED_HOSTS;
use crate::matter::default_of;
use crate::paths::{CONFIGURING_NAMES, CREDENTIAL_STORES, SECRET_NAMES, START_UP_FILES};
use crate::rules::Verdict;

/// One thing that holds without a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BuiltIn {
    /// What it is about, in the form of a rule where a rule can name it.
    pub about: String,
    /// What holds.
    pub verdict: Verdict,
    /// When, in words.
    pub why: String,
    /// The names of its list; empty where it has none.
    pub names: &'static [&'static str],
}

/// What no mode, rule or answer lets through.
pub fn never_let_through() -> Vec<BuiltIn> {
    let row = |about: &str, why: &str, names| BuiltIn {
        about: about.to_owned(),
        verdict: Verdict::Deny,
        why: why.to_owned(),
        names,
    };
    vec![
        row("the home of Stance", "its records decide about runs", &[]),
        row(
            "a repository's own records",
            "git changes them, through `git_write`",
            &[],
        ),
        row(
            "credential stores beneath the home folder",
            "no tool and no process reads them",
            CREDENTIAL_STORES,
        ),
        row(
            "start-up and editor files beneath the home folder",
            "no tool and no process writes them",
            START_UP_FILES,
        ),
    ]
}

/// What holds where no rule speaks.
pub fn defaults() -> Vec<BuiltIn> {
    let effects = Effect::ALL.into_iter().map(|effect| BuiltIn {
        about: format!("effect({effect})"),
        verdict: default_of(effect),
        why: match effect {
            Effect::GitCommit => "on branches beneath `stance/`; on any other branch it is asked",
            Effect::ProcessSpawn => "inside proven walls; without them it is asked",
            Effect::NetworkEgress => "beside the hosts below and those of your settings",
            Effect::SecretAccess => "each path by itself",
            _ => "",
        }
        .to_owned(),
        names: &[],
    });
    let lists = [
        ("read(NAME)", Verdict::Ask, "names that hold secrets", SECRET_NAMES),
        (
            "edit(NAME)",
            Verdict::Ask,
            "names that configure agents, editors, git or CI",
            CONFIGURING_NAMES,
        ),
        (
            "net(HOST)",
            Verdict::Allow,
            "documentation and package registries",
            SHIPPED_HOSTS,
        ),
    ];
    let lists = lists.map(|(about, verdict, why, names)| BuiltIn {
        about: about.to_owned(),
        verdict,
        why: why.to_owned(),
        names,
    });
    effects.chain(lists).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_effect_has_its_default_and_every_list_is_shown() {
        let rows = defaults();
        for effect in Effect::ALL {
            let row = rows
                .iter()
                .find(|row| row.about == format!("effect({effect})"))
                .unwrap();
            let allowed = matches!(effect, Effect::GitCommit | Effect::ProcessSpawn);
            assert_eq!(row.verdict == Verdict::Allow, allowed, "{effect}");
        }
        let names: Vec<&str> = rows.iter().flat_map(|row| row.names).copied().collect();
        assert!(names.contains(&".env") && names.contains(&".github") && names.contains(&"docs.rs"));
        assert!(never_let_through().iter().all(|row| row.verdict == Verdict::Deny));
    }
}
