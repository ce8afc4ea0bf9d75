//! What programs do, as data: a row for each, with a line that only reads and one that does more.
//! Knows no line; the rows are tried on their own examples.

mod coreutils;
mod families;
pub(super) mod git;
pub(super) mod recorded;
mod tools;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::word::Text;
use crate::effect::EffectSet;

/// What a program does with its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// Shows names, sizes, times and what it is given.
    Names,
    /// Shows the content of its operands, but for the first so many.
    Shows(usize),
    /// Shows its first operand, or writes it to the second.
    Converts,
    /// Makes, changes or removes its operands, but for the first so many, or the last alone.
    Changes {
        skip: usize,
        last_only: bool,
        effects: EffectSet,
    },
    /// Removes its operands, and with these options nothing else.
    Deletes(&'static [&'static str]),
    /// Copies, or moves, its operands to the last.
    Copies { moves: bool },
    /// Writes files that no word of the line names for sure.
    WritesUnnamed,
    /// Speaks with the hosts of its operands.
    Connects,
    /// Runs what no line shows, with these effects beside starting.
    Starts(EffectSet),
}

/// One row.
pub(super) struct Program {
    pub(super) name: &'static str,
    /// The words after the name that the row is for; any, when there are none.
    pub(super) then: &'static [&'static str],
    pub(super) does: Does,
    /// Options whose value is a file it writes.
    pub(super) writes_with: &'static [&'static str],
    /// Options by which it may start or load what no line shows.
    pub(super) starts_with: &'static [&'static str],
    /// Options whose value is a file it reads.
    pub(super) reads_with: &'static [&'static str],
    /// Options by which it does more than look.
    pub(super) acts_with: &'static [&'static str],
    /// Options by which it shows whatever lies in folders.
    pub(super) descends_with: &'static [&'static str],
    /// Whether it shows things of other programs, where no walls hold it.
    pub(super) walled: bool,
    /// What its operands begin with where it only looks.
    pub(super) operands: &'static str,
    /// Options whose value is the next word.
    pub(super) values: &'static [&'static str],
    /// Files it takes its orders from.
    pub(super) decided_by: &'static [&'static str],
    /// A line that only reads; none where no line with it is a proven read.
    #[cfg_attr(not(test), expect(dead_code, reason = "the rows are tried on their examples"))]
    pub(super) reading: Option<&'static str>,
    /// A line that does more.
    #[cfg_attr(not(test), expect(dead_code, reason = "the rows are tried on their examples"))]
    pub(super) writing: &'static str,
}

impl Program {
    const fn new(name: &'static str, does: Does, reading: &'static str, writing: &'static str) -> Program {
        Program {
            name,
            then: &[],
            does,
            writes_with: &[],
            starts_with: &[],
            reads_with: &[],
            acts_with: &[],
            descends_with: &[],
            walled: false,
            operands: "",
            values: &[],
            decided_by: &[],
            reading: if reading.is_empty() { None } else { Some(reading) },
            writing,
        }
    }

    const fn writes_with(self, writes_with: &'static [&'static str]) -> Program {
        Program { writes_with, ..self }
    }

    const fn starts_with(self, starts_with: &'static [&'static str]) -> Program {
        Program { starts_with, ..self }
    }

    const fn reads_with(self, reads_with: &'static [&'static str]) -> Program {
        Program { reads_with, ..self }
    }

    const fn acts_with(self, acts_with: &'static [&'static str]) -> Program {
        Program { acts_with, ..self }
    }

    const fn descends_with(self, descends_with: &'static [&'static str]) -> Program {
        Program { descends_with, ..self }
    }

    const fn walled(self) -> Program {
        Program { walled: true, ..self }
    }

    const fn operands(self, operands: &'static str) -> Program {
        Program { operands, ..self }
    }

    const fn values(self, values: &'static [&'static str]) -> Program {
        Program { values, ..self }
    }

    const fn then(self, then: &'static [&'static str]) -> Program {
        Program { then, ..self }
    }

    const fn decided_by(self, decided_by: &'static [&'static str]) -> Program {
        Program { decided_by, ..self }
    }
}

/// The tables, the particular rows of a name before its general one.
pub(super) const TABLES: &[&[Program]] = &[coreutils::PROGRAMS, tools::PROGRAMS, families::PROGRAMS];

/// The rows of each name, in the order of the tables.
static BY_NAME: LazyLock<BTreeMap<&str, Vec<&Program>>> = LazyLock::new(|| {
    let mut rows: BTreeMap<&str, Vec<&Program>> = BTreeMap::new();
    for row in TABLES.iter().copied().flatten() {
        rows.entry(row.name).or_default().push(row);
    }
    rows
});

/// The row of a program with these arguments.
pub(super) fn program(name: &str, arguments: &[Text]) -> Option<&'static Program> {
    let rows = BY_NAME.get(name)?;
    let mut words = arguments
        .iter()
        .filter_map(Text::constant)
        .filter(|word| !word.starts_with(['-', '+']));
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let follows = |then: &&str| match then.split_once(' ') {
        Some((one, two)) => one == first && two == second,
        None => *then == first,
    };
    rows.iter()
        .find(|row| row.then.is_empty() || row.then.iter().any(&follows))
        .copied()
}

#[cfg(test)]
mod tests {
    use super::git::COMMANDS;
    use super::*;
    use crate::line::tests::at;

    #[test]
    fn each_row_holds_for_its_own_examples() {
        for row in TABLES.iter().copied().flatten() {
            if let Some(reading) = row.reading {
                assert!(reading.starts_with(row.name), "{reading}");
                assert!(at(reading).only_reads(), "{reading}: {:?}", at(reading));
            }
            assert!(row.writing.starts_with(row.name), "{}", row.writing);
            assert!(!at(row.writing).only_reads(), "{}", row.writing);
        }
        for row in COMMANDS {
            assert!(row.reading.starts_with(&format!("git {}", row.name)), "{}", row.reading);
            let reads = at(row.reading);
            assert!(
                reads.only_reads() || row.reading.ends_with(" -h"),
                "{}: {reads:?}",
                row.reading
            );
            assert_eq!(reads.writes_repository(), None, "{}", row.reading);
            assert!(!at(row.writing).only_reads(), "{}", row.writing);
        }
    }

    #[test]
    fn no_row_hides_another() {
        for (at, row) in TABLES.iter().copied().flatten().enumerate() {
            let hidden = TABLES.iter().copied().flatten().take(at).any(|before| {
                before.name == row.name
                    && (before.then.is_empty() || row.then.iter().any(|word| before.then.contains(word)))
            });
            assert!(!hidden, "{} {:?}", row.name, row.then);
        }
    }

    const PROGRAMS: &str = "[ arch b2sum base32 base64 basename basenc cat chcon chgrp chmod chown chroot cksum comm \
        cp csplit cut date dd df dir dircolors dirname du echo env expand expr factor false fmt fold groups head \
        hostid id install join kill link ln logname ls md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc \
        numfmt od paste pathchk pinky pr printenv printf ptx pwd readlink realpath rm rmdir runcon seq sha1sum \
        sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf stty sum sync tac tail tee \
        test timeout touch tr true truncate tsort tty uname unexpand uniq unlink uptime users vdir wc who whoami yes \
        find xargs locate updatedb cmp diff diff3 sdiff";

    #[test]
    fn every_program_of_the_three_packages_has_a_rule() {
        let named = |name: &str| !at(&format!("{name} --x")).commands().is_empty();
        let known = |name: &str| {
            TABLES.iter().copied().flatten().any(|row| row.name == name) || {
                // Wrappers, words of the shell and what leads out have their rules beside the tables.
                let reading = at(name);
                reading.opaque().is_some() || reading.only_reads() || !reading.targets().is_empty() && named(name)
            }
        };
        for name in PROGRAMS.split_whitespace() {
            assert!(known(name), "{name}");
        }
    }
}
