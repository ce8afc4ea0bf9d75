//! What a git command does, from a table of its commands. That a git command only reads is proven by
//! its name and options, and by a repository whose configuration starts no program: whoever opens
//! repositories says which is one.

use super::found::{Finding, Here, Kind, Meets};
use super::options::{operands, option};
use super::programs::git::{Act, COMMANDS, Row};
use super::recorded;
use super::word::Text;
use crate::effect::{Effect, EffectSet};

/// Commands that do something where nothing follows them.
const ACTS_ALONE: &[&str] = &["stash", "apply", "bisect", "bundle", "rerere"];

/// Settles a git command.
pub(super) fn git(finding: &mut Finding<'_>, words: &[Text], here: &Here) {
    let arguments = words.get(1..).unwrap_or_default();
    let Some(Opened {
        rest,
        there,
        steered,
        elsewhere,
    }) = opened(arguments, here)
    else {
        recorded::shown(finding, "", &[], &Here(None));
        finding.opaque("what git is to do is not known");
        return finding.found(
            words,
            here,
            Kind {
                rememberable: false,
                ..Kind::STARTS
            },
        );
    };
    let Some((command, rest)) = rest.split_first() else {
        return finding.looks(words, here);
    };
    let name = command.constant().unwrap_or_default();
    let mut unwrapped = vec![Text::known("git"), command.clone()];
    unwrapped.extend(rest.iter().cloned());
    if name == "--version" {
        return finding.looks(&unwrapped, here);
    }
    let unknown = Here(None);
    recorded::shown(finding, name, rest, if elsewhere { &unknown } else { &there });
    let Some(row) = COMMANDS.iter().find(|row| row.name == name) else {
        finding.opaque(format!(
            "git {} is no command of git: it may be an alias",
            command.shown()
        ));
        return finding.found(
            &unwrapped,
            here,
            Kind {
                rememberable: false,
                ..Kind::STARTS
            },
        );
    };
    if steered {
        finding.opaque("git is given configuration, which can start a program");
    }
    let asks_itself = matches!(rest, [only] if only.constant() == Some("-h"));
    let kind = if asks_itself {
        Kind::STARTS
    } else {
        done(finding, row, rest, &there)
    };
    let proven = kind.reads && !steered && starts_nothing(finding, &there);
    finding.found(&unwrapped, &there, Kind { reads: proven, ..kind });
}

struct Opened<'w> {
    rest: &'w [Text],
    there: Here,
    /// Whether configuration, or another repository, is given.
    steered: bool,
    /// Whether another repository may be given.
    elsewhere: bool,
}

/// What stands between `git` and its command.
fn opened<'w>(arguments: &'w [Text], here: &Here) -> Option<Opened<'w>> {
    let mut opened = Opened {
        rest: arguments,
        there: here.clone(),
        steered: false,
        elsewhere: false,
    };
    while let Some((word, after)) = opened.rest.split_first() {
        let text = word.constant()?;
        opened.rest = match text {
            "-C" => {
                let (folder, after) = after.split_first()?;
                opened.there = folder
                    .constant()
                    .map_or(Here(None), |folder| Finding::there(folder, &opened.there));
                after
            }
            "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" | "--config-env" | "--attr-source" => {
                opened.steered = true;
                opened.elsewhere |= text != "-c";
                after.get(1..)?
            }
            "--no-pager"
            | "-P"
            | "--no-optional-locks"
            | "--no-replace-objects"
            | "--literal-pathspecs"
            | "--no-lazy-fetch"
            | "--no-advice" => after,
            "--version" => return Some(opened),
            text if text.starts_with('-') => {
                opened.steered = true;
                opened.elsewhere = true;
                after
            }
            _ => return Some(opened),
        };
    }
    Some(opened)
}

/// Whether every folder git may be started in has a repository that starts nothing.
fn starts_nothing(finding: &Finding<'_>, there: &Here) -> bool {
    let folders = there.0.as_ref();
    folders.is_some_and(|folders| folders.iter().all(|folder| (finding.place.git_starts_nothing)(folder)))
}

/// Whether a word before `--` that is not known may be an option.
fn may_be_options(rest: &[Text]) -> bool {
    rest.iter()
        .take_while(|word| word.constant() != Some("--"))
        .any(|word| word.constant().is_none() && word.may_be_option())
}

/// A command that reads unless it is given one of these options.
fn reads(finding: &mut Finding<'_>, row: &Row, unless: &[&str], rest: &[Text], there: &Here) -> Kind {
    let dynamic = may_be_options(rest);
    let signs = rest
        .iter()
        .any(|word| word.shape.contains("%G") || word.shape.contains("%("));
    if dynamic {
        finding.opaque(format!("what is given to git {} may be an option", row.name));
    }
    if let Some(given) = option(rest, "--output").filter(|_| unless.contains(&"--output")) {
        match given.value {
            Some(path) => finding.meets(&path, there, Meets::Writes),
            None => finding.opaque("what git writes is not known"),
        }
    }
    let elsewhere = |word: &Text| {
        let path = word
            .constant()
            .map(|word| word.split_once('=').map_or(word, |(_, value)| value));
        path.is_some_and(|path| !finding.may_be_shown_at(path, there))
    };
    if rest.iter().any(elsewhere) {
        finding.opaque("it compares what lies outside the project, and no walls hold it");
    }
    if dynamic || signs || unless.iter().any(|name| option(rest, name).is_some()) {
        Kind::STARTS
    } else {
        Kind::read(Meets::Reads)
    }
}

fn done(finding: &mut Finding<'_>, row: &Row, rest: &[Text], there: &Here) -> Kind {
    let dynamic = may_be_options(rest);
    match row.act {
        Act::Reads(unless) => reads(finding, row, unless, rest, there),
        Act::ReadsWith(these) => {
            let known = |word: &Text| word.constant().is_some_and(|word| these.contains(&word));
            let first = rest.first();
            let only_options = rest.iter().all(known);
            let by_name = first.is_some_and(|word| known(word) && !word.shape.starts_with('-'))
                || (first.is_some_and(known) && row.name != "branch" && row.name != "remote" && row.name != "tag");
            let words = operands(rest, &[]).len();
            // With two words it points the one at the other.
            let points = row.name == "symbolic-ref" && words > 1;
            let plain = !dynamic
                && !points
                && rest
                    .iter()
                    .skip(1)
                    .all(|word| known(word) || !word.shape.starts_with('-'));
            let bare = rest.is_empty() && !ACTS_ALONE.contains(&row.name);
            if bare || (only_options && !rest.is_empty()) || (by_name && plain) {
                return Kind::read(Meets::Reads);
            }
            let names_new = match row.name {
                "config" | "symbolic-ref" => words > 1,
                "apply" | "hash-object" | "show-ref" => false,
                _ => first.is_none_or(|word| !word.may_be_option()),
            };
            if names_new {
                return writes(finding, row, there);
            }
            if row.name == "apply" {
                finding.opaque("which files git apply writes is not known");
            }
            Kind::STARTS
        }
        Act::Writes => writes(finding, row, there),
        Act::WritesFiles => {
            finding.opaque(format!("which files git {} writes is not known", row.name));
            Kind::with(match row.name {
                "clean" => EffectSet::of(&[Effect::FileDelete]),
                _ => EffectSet::EMPTY,
            })
        }
        Act::Fetches => {
            if row.name != "clone" {
                writes(finding, row, there);
            }
            asks(finding, rest)
        }
        Act::Asks => asks(finding, rest),
        Act::Pushes => {
            let forced = [
                "-f",
                "--force",
                "--force-with-lease",
                "--force-if-includes",
                "--mirror",
                "--delete",
                "-d",
            ]
            .iter()
            .any(|name| option(rest, name).is_some())
                || operands(rest, &[])
                    .iter()
                    .any(|word| word.shape.starts_with(['+', ':']) || word.constant().is_none());
            Kind {
                rememberable: !forced,
                ..Kind::with(EffectSet::of(&[Effect::GitPush]))
            }
        }
        Act::Starts => Kind::CODE,
    }
}

fn asks(finding: &mut Finding<'_>, rest: &[Text]) -> Kind {
    let hosts: Vec<String> = operands(rest, &[])
        .iter()
        .filter_map(Text::constant)
        .filter_map(|url| {
            let of_scp = || {
                url.split_once('@')
                    .and_then(|(_, rest)| rest.split_once(':'))
                    .map(|(host, _)| host.to_owned())
            };
            if url.contains("://") {
                super::deeds::host_of(url)
            } else {
                of_scp()
            }
        })
        .collect();
    for host in &hosts {
        finding.host(host);
    }
    Kind::with(if hosts.is_empty() {
        EffectSet::of(&[Effect::NetworkEgress])
    } else {
        EffectSet::EMPTY
    })
}

/// The records of the worktree's repository are read-only for lines; elsewhere git may write.
fn writes(finding: &mut Finding<'_>, row: &Row, there: &Here) -> Kind {
    if finding.in_worktree(there) {
        let command = format!("git {}", row.name);
        finding.reading.writes_repository.get_or_insert(command);
    }
    Kind::with(EffectSet::of(&[Effect::GitCommit]))
}
