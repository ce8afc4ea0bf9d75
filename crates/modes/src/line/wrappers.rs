//! Programs that start the program named in their own words: what is wrapped is what counts. Where a
//! wrapper's words are not wholly understood, it is opaque.

use super::found::{Finding, Here, Kind, Meets};
use super::options::option;
use super::word::Text;

/// How a wrapper's words are read up to the program it starts.
struct Wrapper {
    name: &'static str,
    /// Options with no value.
    flags: &'static [&'static str],
    /// Options with a value, in the next word or stuck to them.
    values: &'static [&'static str],
    /// Words before the program that are no options.
    operands: usize,
    /// Whether `NAME=value` may stand before the program.
    variables: bool,
    /// Whether words nobody sees are added.
    adds: bool,
}

const fn row(
    name: &'static str,
    flags: &'static [&'static str],
    values: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper {
        name,
        flags,
        values,
        operands,
        variables: false,
        adds: false,
    }
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        variables: true,
        ..row(
            "env",
            &["-i", "-", "--ignore-environment", "-0", "--null", "-v"],
            &["-u", "--unset", "-C", "--chdir"],
            0,
        )
    },
    Wrapper {
        adds: true,
        ..row(
            "xargs",
            &[
                "-0",
                "--null",
                "-r",
                "--no-run-if-empty",
                "-t",
                "--verbose",
                "-x",
                "--exit",
            ],
            &[
                "-n",
                "--max-args",
                "-L",
                "--max-lines",
                "-P",
                "--max-procs",
                "-s",
                "--max-chars",
                "-d",
                "--delimiter",
                "-I",
                "-E",
                "-a",
                "--arg-file",
            ],
            0,
        )
    },
    row("nice", &[], &["-n", "--adjustment"], 0),
    row("ionice", &["-t"], &["-c", "-n", "--class", "--classdata"], 0),
    row("nohup", &[], &[], 0),
    row("setsid", &["-w", "-f", "-c", "--wait", "--fork", "--ctty"], &[], 0),
    row(
        "timeout",
        &["--preserve-status", "--foreground", "-v", "--verbose"],
        &["-k", "--kill-after", "-s", "--signal"],
        1,
    ),
    row("stdbuf", &[], &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    row("time", &["-p"], &[], 0),
    row("command", &["-p"], &[], 0),
    row("chrt", &["-f", "-r", "-o", "-b", "-i"], &[], 1),
    row("taskset", &["-c", "--cpu-list"], &[], 1),
    row("busybox", &[], &[], 0),
    row("toybox", &[], &[], 0),
    row("unbuffer", &[], &[], 0),
    row("catchsegv", &[], &[], 0),
];

/// Shells that take a line after `-c`.
const SHELLS: &[&str] = &["sh", "bash", "dash", "ash"];

/// Flags of a shell that change nothing about its line.
const SHELL_FLAGS: &[&str] = &["-e", "-u", "-eu", "--norc", "--noprofile"];

/// Settles a command that wraps another. False: it is none, or none here.
pub(super) fn wrapper(finding: &mut Finding<'_>, name: &str, words: &[Text], here: &Here) -> bool {
    let arguments = words.get(1..).unwrap_or_default();
    if SHELLS.contains(&name) {
        return shell(finding, words, arguments, here);
    }
    if name == "find" {
        return find(finding, words, arguments, here);
    }
    let Some(row) = WRAPPERS.iter().find(|row| row.name == name) else {
        return false;
    };
    if name == "command" && matches!(arguments.first().and_then(Text::constant), Some("-v" | "-V")) {
        finding.looks(words, here);
        return true;
    }
    let Some(inner) = inner(finding, row, arguments) else {
        finding.opaque(format!("what {name} starts is not known"));
        finding.found(
            words,
            here,
            Kind {
                rememberable: false,
                ..Kind::STARTS
            },
        );
        return true;
    };
    let given = arguments.get(..arguments.len() - inner.len()).unwrap_or_default();
    // What is taken out of the environment may be what keeps a program from writing.
    let takes_out = |word: &Text| word.shape.starts_with("-u") || word.shape.starts_with("--u");
    if row.name == "env" && (given.iter().any(takes_out) || empties(given)) {
        finding.variables_set = true;
    }
    if let Some(path) = ["-a", "--arg-file"].iter().find_map(|name| option(given, name)?.value)
        && row.name == "xargs"
    {
        finding.shows(&path, here);
    }
    if inner.is_empty() {
        // `env` alone prints and `xargs` alone echoes. `time` alone is a word bash reads otherwise.
        if !matches!(name, "env" | "xargs") {
            finding.opaque(format!("what {name} starts is not known"));
        }
        finding.looks(words, here);
        return true;
    }
    finding.looks(words, here);
    let mut inner = inner.to_vec();
    let moved = given
        .iter()
        .any(|word| word.shape.starts_with("-C") || word.shape.starts_with("--ch") || word.shape.starts_with("-I"));
    if row.adds {
        replace(&mut inner, arguments);
        inner.push(Text::unknown("…"));
    }
    let unknown = Here(None);
    finding.starts_within(&inner, if moved && !row.adds { &unknown } else { here });
    true
}

/// Whether `env` starts its program with nothing of the environment.
fn empties(given: &[Text]) -> bool {
    given
        .iter()
        .filter_map(Text::constant)
        .any(|word| word == "-" || word.starts_with("-i") || word.starts_with("--i"))
}

/// The words of the program a wrapper starts; none where its own words are not understood.
fn inner<'w>(finding: &mut Finding<'_>, row: &Wrapper, arguments: &'w [Text]) -> Option<&'w [Text]> {
    let mut rest = arguments;
    let mut operands = row.operands;
    while let Some((word, after)) = rest.split_first() {
        let text = word.constant()?;
        let takes = |option: &&&str| text == **option;
        let stuck = |option: &&&str| {
            text.strip_prefix(**option)
                .is_some_and(|value| !value.is_empty() && (!option.starts_with("--") || value.starts_with('=')))
        };
        rest = if text == "--" {
            return after.get(operands..);
        } else if row.values.iter().any(|option| takes(&option)) {
            after.get(1..)?
        } else if row.flags.contains(&text) || row.values.iter().any(|option| stuck(&option)) || niceness(row, text) {
            after
        } else if text.starts_with('-') {
            return None;
        } else if row.variables && text.contains('=') {
            finding.sets(text.split('=').next().unwrap_or_default());
            after
        } else if operands > 0 {
            operands -= 1;
            after
        } else {
            return Some(rest);
        };
    }
    Some(rest)
}

/// `nice -5`, which is no option of another.
fn niceness(row: &Wrapper, text: &str) -> bool {
    let number = text.strip_prefix('-').unwrap_or_default();
    row.name == "nice" && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// What `xargs -I NAME` puts its words in place of is not known.
fn replace(inner: &mut [Text], arguments: &[Text]) {
    let placeholder = arguments.iter().zip(arguments.iter().skip(1)).find_map(|(word, next)| {
        let stuck = word.constant()?.strip_prefix("-I")?;
        if stuck.is_empty() { next.constant() } else { Some(stuck) }
    });
    if let Some(placeholder) = placeholder {
        for word in inner.iter_mut().filter(|word| word.shape.contains(placeholder)) {
            *word = Text::unknown(&word.raw);
        }
    }
}

/// `sh -c LINE`. Any other use of a shell is an interpreter's.
fn shell(finding: &mut Finding<'_>, words: &[Text], arguments: &[Text], here: &Here) -> bool {
    let flags = arguments
        .iter()
        .take_while(|word| word.constant().is_some_and(|word| SHELL_FLAGS.contains(&word)))
        .count();
    let Some((command, rest)) = arguments.get(flags..).and_then(<[Text]>::split_first) else {
        return false;
    };
    let line = match (command.constant(), rest) {
        (Some("-c" | "-ec" | "-euc"), [line, ..]) => line.constant(),
        _ => None,
    };
    let Some(line) = line else {
        return false;
    };
    finding.looks(words, here);
    finding.line(line, here);
    if words.first().is_some_and(|word| word.shape != "bash") {
        // Other shells read most lines as bash does, and some not.
        finding.variables_set = true;
    }
    true
}

/// `find`: its actions start programs, delete and write. Without any it reads names.
fn find(finding: &mut Finding<'_>, words: &[Text], arguments: &[Text], here: &Here) -> bool {
    use crate::effect::{Effect, EffectSet};
    let mut effects = EffectSet::EMPTY;
    let mut reads = true;
    let mut changes = false;
    let mut rest = arguments.iter().enumerate();
    while let Some((at, word)) = rest.next() {
        let Some(text) = word.constant() else {
            if word.may_be_option() {
                finding.opaque("what is given to find may be an action");
            }
            continue;
        };
        match text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let inner: Vec<Text> = arguments
                    .iter()
                    .skip(at + 1)
                    .take_while(|word| !matches!(word.constant(), Some(";" | "+")))
                    .map(|word| {
                        if word.shape.contains("{}") {
                            Text::unknown(&word.raw)
                        } else {
                            word.clone()
                        }
                    })
                    .collect();
                let unknown = Here(None);
                let before = finding.reading.commands.len();
                finding.starts_within(&inner, if text.ends_with("dir") { &unknown } else { here });
                changes |= finding.reading.commands.iter().skip(before).any(|found| !found.reads);
                (0..inner.len()).for_each(|_| {
                    rest.next();
                });
            }
            "-files0-from" => {
                if let Some(path) = arguments.get(at + 1) {
                    finding.shows(path, here);
                }
            }
            "-delete" => {
                reads = false;
                changes = true;
                effects = effects.with(Effect::FileDelete);
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                reads = false;
                match arguments.get(at + 1) {
                    Some(path) => finding.meets(path, here, Meets::Writes),
                    None => finding.opaque("what find writes is not known"),
                }
            }
            _ => {}
        }
    }
    if changes {
        let from = starting_points(arguments);
        let here_alone = [Text::known(".")];
        for folder in if from.is_empty() { &here_alone } else { from } {
            finding.meets(folder, here, Meets::Writes);
        }
        finding.opaque("which files find comes to is not known");
    }
    let kind = Kind {
        reads,
        effects,
        ..Kind::read(Meets::Names)
    };
    finding.found(words, here, kind);
    true
}

/// Where `find` begins: the words between its first options and its expression.
fn starting_points(arguments: &[Text]) -> &[Text] {
    let is_option = |word: &Text| matches!(word.constant(), Some("-H" | "-L" | "-P"));
    let is_expression = |word: &Text| word.shape.starts_with(['-', '(', ')', '!', ',']);
    let skipped = arguments.iter().take_while(|word| is_option(word)).count();
    let from = arguments.get(skipped..).unwrap_or_default();
    let count = from.iter().take_while(|word| !is_expression(word)).count();
    from.get(..count).unwrap_or_default()
}
