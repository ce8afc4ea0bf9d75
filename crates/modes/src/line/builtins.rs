//! Words of the shell itself: those that only look or steer the line, and those that evaluate what they
//! are given, which nobody can see through.

use super::found::{Finding, Here, Kind, Meets};
use super::word::Text;

/// Words that look, or steer the line, whatever follows them.
const HARMLESS: &[&str] = &[":", "true", "false", "echo", "pwd", "times", "dirs", "type"];

/// Words that end something or wait for it, with numbers at most.
const ENDING: &[&str] = &["exit", "return", "shift", "wait", "continue", "break"];

/// Words that evaluate their arguments, change what names mean, or act on the shell and its jobs.
const EVALUATING: &[&str] = &[
    ".",
    "alias",
    "bg",
    "bind",
    "builtin",
    "caller",
    "compgen",
    "complete",
    "compopt",
    "coproc",
    "declare",
    "disown",
    "enable",
    "eval",
    "exec",
    "fc",
    "fg",
    "getopts",
    "hash",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "select",
    "shopt",
    "source",
    "suspend",
    "trap",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
];

/// Settings of the shell that only make it stricter.
const STRICTER: &[&str] = &[
    "-e", "-u", "-o", "pipefail", "errexit", "nounset", "-eu", "-euo", "-eo", "-uo", "+e", "+u",
];

const UNARY: &[&str] = &[
    "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-n", "-p", "-r", "-s", "-t", "-u", "-w", "-x", "-z", "-G",
    "-L", "-N", "-O", "-S", "!",
];
const BINARY: &[&str] = &[
    "=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef",
];

/// Settles a command that is a word of the shell. False: it is none.
pub(super) fn builtin(finding: &mut Finding<'_>, name: &str, words: &[Text], here: &Here) -> bool {
    let arguments = words.get(1..).unwrap_or_default();
    let constants: Vec<Option<&str>> = arguments.iter().map(Text::constant).collect();
    if HARMLESS.contains(&name) {
        finding.looks(words, here);
    } else if ENDING.contains(&name) {
        let number = |word: Option<&str>| word.is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        if !constants.iter().copied().all(number) {
            finding.opaque(format!("{name} evaluates what it is given"));
        }
        finding.looks(words, here);
    } else if EVALUATING.contains(&name) {
        if matches!(name, "source" | ".")
            && let Some(Some(file)) = constants.first()
        {
            finding.decided_by(file, here);
        }
        finding.opaque(format!(
            "{name} evaluates what it is given, or changes what the line means"
        ));
        let kind = Kind {
            rememberable: false,
            ..Kind::STARTS
        };
        finding.found(words, here, kind);
    } else {
        match name {
            "set" => {
                if constants.is_empty()
                    || !constants
                        .iter()
                        .all(|word| word.is_some_and(|word| STRICTER.contains(&word)))
                {
                    finding.opaque("set changes how the line is read");
                }
                finding.looks(words, here);
            }
            "export" => export(finding, words, here),
            "test" => {
                tests(finding, arguments);
                finding.looks(words, here);
            }
            "[" => {
                match arguments.split_last() {
                    Some((last, inner)) if last.constant() == Some("]") => tests(finding, inner),
                    _ => finding.opaque("a test does not end"),
                }
                finding.looks(words, here);
            }
            "printf" => {
                // The first word may be the option that names a variable, whose index is evaluated; and a
                // format may say that how much was written is kept in one.
                let skipped = usize::from(constants.first() == Some(&Some("--")));
                let format = constants.get(skipped).copied().flatten();
                if format.is_none_or(|format| format.starts_with('-') || counts(format)) {
                    finding.opaque("printf may set a variable whose name it evaluates");
                }
                finding.looks(words, here);
            }
            _ => return false,
        }
    }
    true
}

/// Whether a format of `printf` may hold `%n`, which sets a variable to how much was written.
fn counts(format: &str) -> bool {
    format.replace("%%", "").split('%').skip(1).any(|conversion| {
        conversion
            .trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #'.*hlLjzt(".contains(c))
            .starts_with('n')
    })
}

/// `export NAME=value`, and nothing else of it.
fn export(finding: &mut Finding<'_>, words: &[Text], here: &Here) {
    for word in words.iter().skip(1) {
        let name = word.shape.split('=').next().unwrap_or_default();
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_name && !word.free {
            finding.sets(name);
        } else {
            finding.opaque("export evaluates what it is given");
        }
    }
    finding.found(words, here, Kind::read(Meets::Names));
}

/// `test` evaluates the name after `-v`. Where words are not constant its meaning must be settled by
/// those that are.
fn tests(finding: &mut Finding<'_>, words: &[Text]) {
    let constants: Vec<Option<&str>> = words.iter().map(Text::constant).collect();
    if constants.iter().flatten().any(|word| matches!(*word, "-v" | "-R")) {
        return finding.opaque("a test evaluates the name it is given");
    }
    let single = words.iter().all(|word| !word.free && !word.several);
    let settled = match constants.as_slice() {
        all if all.iter().all(Option::is_some) => true,
        [Some(operator), None] | [Some("!"), Some(operator), None] => UNARY.contains(operator) && *operator != "!",
        [_, Some(operator), _] | [Some("!"), _, Some(operator), _] => BINARY.contains(operator),
        _ => false,
    };
    if !(settled && single) {
        finding.opaque("what a test asks is not constant");
    }
}
