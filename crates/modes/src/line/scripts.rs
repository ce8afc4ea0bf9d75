//! Programs whose first operand is a program of its own kind: a script of `sed` or `awk` counts as a
//! read where each of its commands is known to only print.

use super::found::{Finding, Here, Kind, Meets};
use super::options::{operands, option};
use super::word::Text;

/// `sed`: without `-i`, with scripts of commands that print, delete and replace.
pub(super) fn sed(finding: &mut Finding<'_>, words: &[Text], here: &Here) {
    let arguments = words.get(1..).unwrap_or_default();
    let in_place = ["-i", "--in-place"]
        .iter()
        .any(|name| option(arguments, name).is_some());
    let known = arguments.iter().all(|word| {
        let flags = |cluster: &str| {
            cluster
                .strip_prefix('-')
                .is_some_and(|flags| flags.bytes().all(|c| b"nErsuz".contains(&c)))
        };
        word.constant()
            .is_some_and(|word| !word.starts_with('-') || flags(word) || word == "-e" || word == "--")
            || !word.may_be_option()
    });
    let explicit = scripts_of(arguments);
    let given = operands(arguments, &["-e", "--expression", "-f", "--file"]);
    let (scripts, files) = if explicit.is_empty() {
        (
            given.get(..1).unwrap_or_default().to_vec(),
            given.get(1..).unwrap_or_default(),
        )
    } else {
        (explicit, given.as_slice())
    };
    let safe = scripts.iter().all(|script| script.constant().is_some_and(only_prints)) && !scripts.is_empty();
    if in_place {
        for file in files {
            finding.meets(file, here, Meets::Writes);
        }
        if !safe {
            finding.opaque("sed runs a script that may do more than replace");
        }
        return finding.found(words, here, Kind::STARTS);
    }
    if !(safe && known) {
        finding.opaque("sed runs a script that may write or start something");
        return finding.found(
            words,
            here,
            Kind {
                rememberable: false,
                ..Kind::STARTS
            },
        );
    }
    for file in files {
        finding.shows(file, here);
    }
    finding.found(words, here, Kind::read(Meets::Reads));
}

/// The scripts given with `-e`.
fn scripts_of(arguments: &[Text]) -> Vec<Text> {
    arguments
        .iter()
        .zip(arguments.iter().skip(1))
        .filter(|(option, _)| option.constant() == Some("-e"))
        .map(|(_, script)| script.clone())
        .collect()
}

/// Whether a script of sed holds only commands that print, delete, quit and replace.
fn only_prints(script: &str) -> bool {
    let mut rest = script.trim_start_matches([' ', ';', '\n']);
    while !rest.is_empty() {
        match command(rest) {
            Some(after) => rest = after.trim_start_matches([' ', ';', '\n', '}']),
            None => return false,
        }
    }
    true
}

/// One command of sed; answers what follows it.
fn command(script: &str) -> Option<&str> {
    let mut rest = address(script)?;
    if let Some(second) = rest.strip_prefix(',') {
        let second = second.trim_start_matches(' ');
        rest = address(second.strip_prefix(['+', '~']).unwrap_or(second))?;
    }
    let rest = rest.trim_start_matches([' ', '!']);
    let name = rest.chars().next()?;
    let after = rest.get(name.len_utf8()..)?;
    match name {
        'p' | 'd' | '=' | 'P' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' => ends(after),
        'q' | 'Q' | 'l' => ends(after.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ')),
        '{' => Some(after),
        's' => {
            let mark = after.chars().next().filter(|mark| !matches!(mark, '\\' | '\n'))?;
            let replacement = until(after.get(mark.len_utf8()..)?, mark, true)?;
            let flags = until(replacement, mark, false)?;
            ends(flags.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I')))
        }
        _ => None,
    }
}

/// What follows an address, where there is one.
fn address(script: &str) -> Option<&str> {
    match script.chars().next()? {
        '$' => script.get(1..),
        '/' => Some(until(script.get(1..)?, '/', true)?.trim_start_matches('I')),
        _ => Some(script.trim_start_matches(|c: char| c.is_ascii_digit() || c == '~')),
    }
}

/// What follows the next mark that no backslash escapes; none where a pattern's bracket may hide one.
fn until(text: &str, mark: char, pattern: bool) -> Option<&str> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return None,
            '[' if pattern => {
                let inner = text.get(at + 1..)?.trim_start_matches('^');
                let end = inner
                    .char_indices()
                    .skip(1)
                    .find(|(_, c)| *c == ']')
                    .map(|(end, _)| end)?;
                if inner.get(..end)?.contains([mark, '\\', '\n']) {
                    return None;
                }
            }
            c if c == mark => return text.get(at + c.len_utf8()..),
            _ => {}
        }
    }
    None
}

fn ends(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(' ');
    (rest.is_empty() || rest.starts_with([';', '\n', '}'])).then_some(rest)
}

/// `awk` with a constant program that holds nothing by which one starts, opens or includes another.
pub(super) fn awk(finding: &mut Finding<'_>, words: &[Text], here: &Here) {
    let arguments = words.get(1..).unwrap_or_default();
    let options = ["-F", "-v"];
    let known = arguments.iter().all(|word| {
        let stuck = |word: &str| options.iter().any(|option| word.starts_with(option));
        word.constant()
            .is_some_and(|word| !word.starts_with('-') || stuck(word))
            || !word.may_be_option()
    });
    let given = operands(arguments, &options);
    let quiet = |program: &str| {
        !program.contains(['>', '|', '@', '`'])
            && !["system", "getline", "close", "fflush", "/inet", "extension"]
                .iter()
                .any(|word| program.contains(word))
    };
    let safe = given.first().and_then(Text::constant).is_some_and(quiet);
    if !(safe && known) {
        finding.opaque("awk runs a program that may write or start something");
        return finding.found(
            words,
            here,
            Kind {
                rememberable: false,
                ..Kind::STARTS
            },
        );
    }
    for file in given.iter().skip(1) {
        finding.shows(file, here);
    }
    finding.found(words, here, Kind::read(Meets::Reads));
}
