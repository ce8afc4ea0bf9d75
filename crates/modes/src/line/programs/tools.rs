//! Programs that look at files and at the system beside those of coreutils, and those that change files.

use super::{Does, Program};
use crate::effect::{Effect, EffectSet};

const fn names(name: &'static str, reading: &'static str, writing: &'static str) -> Program {
    Program::new(name, Does::Names, reading, writing)
}

const fn shows(name: &'static str, skipped: usize, reading: &'static str, writing: &'static str) -> Program {
    Program::new(name, Does::Shows(skipped), reading, writing)
}

const fn starts(name: &'static str, writing: &'static str) -> Program {
    Program::new(name, Does::Starts(EffectSet::EMPTY), "", writing)
}

const fn writes_unnamed(name: &'static str, writing: &'static str) -> Program {
    Program::new(name, Does::WritesUnnamed, "", writing)
}

const fn changes(name: &'static str, skip: usize, last_only: bool, writing: &'static str) -> Program {
    let does = Does::Changes {
        skip,
        last_only,
        effects: EffectSet::EMPTY,
    };
    Program::new(name, does, "", writing)
}

/// By which grep looks through folders.
const FOLDERS: &[&str] = &[
    "-r",
    "-R",
    "--recursive",
    "--dereference-recursive",
    "-d",
    "--directories",
];

/// Files of what grep looks for and of what it leaves out.
const PATTERNS: &[&str] = &["-f", "--file", "--exclude-from"];

pub(super) const PROGRAMS: &[Program] = &[
    shows("grep", 1, "grep -rn main src", "grep main src > a")
        .descends_with(FOLDERS)
        .reads_with(PATTERNS),
    shows("egrep", 1, "egrep -n 'a|b' README.md", "egrep a b > c")
        .descends_with(FOLDERS)
        .reads_with(PATTERNS),
    shows("fgrep", 1, "fgrep -c a README.md", "fgrep a b > c")
        .descends_with(FOLDERS)
        .reads_with(PATTERNS),
    shows("jq", 1, "jq -r .version package.json", "jq . a > b").starts_with(&["-f", "--from-file", "-L"]),
    shows("rev", 0, "rev README.md", "rev a > b"),
    shows("column", 0, "column -t README.md", "column a > b"),
    shows("strings", 0, "strings README.md", "strings a > b").starts_with(&["-T", "--target"]),
    shows("hexdump", 0, "hexdump -C README.md", "hexdump a > b"),
    shows("zcat", 0, "", "zcat a.gz > b"),
    names("tree", "tree -L 2", "tree -o a")
        .writes_with(&["-o"])
        .acts_with(&["-R", "--fromfile", "--fromtabfile"])
        .reads_with(&["--gitfile", "--infofile"]),
    names("which", "which git", "which git > a"),
    names("file", "file README.md", "file -C -m a")
        .starts_with(&["-C", "--compile", "-m", "--magic-file", "-z", "-Z"])
        .reads_with(&["-f", "--files-from"]),
    names("ps", "ps aux", "ps > a").walled(),
    names("pgrep", "pgrep bash", "pgrep bash > a"),
    names("free", "free -m", "free > a"),
    names("lscpu", "lscpu", "lscpu > a"),
    names("cal", "cal", "cal > a"),
    names("getconf", "getconf PAGE_SIZE", "getconf PAGE_SIZE > a"),
    starts("rg", "rg --pre sh main"),
    Program::new("xxd", Does::Converts, "xxd README.md", "xxd a b"),
    writes_unnamed("tar", "tar xf a.tar"),
    writes_unnamed("unzip", "unzip a.zip"),
    writes_unnamed("zip", "zip a.zip b"),
    writes_unnamed("gzip", "gzip a"),
    writes_unnamed("gunzip", "gunzip a.gz"),
    writes_unnamed("xz", "xz a"),
    writes_unnamed("bzip2", "bzip2 a"),
    writes_unnamed("zstd", "zstd a"),
    writes_unnamed("patch", "patch -p1"),
    starts("watch", "watch ls"),
    starts("strace", "strace ls"),
    starts("hostname", "hostname other"),
    changes("setfacl", 1, false, "setfacl x a"),
    changes("chattr", 1, false, "chattr +i a"),
    Program::new("pkill", Does::Starts(EffectSet::EMPTY), "", "pkill bash"),
    Program::new("killall", Does::Starts(EffectSet::EMPTY), "", "killall bash"),
    Program::new(
        "trash",
        Does::Starts(EffectSet::of(&[Effect::FileDelete])),
        "",
        "trash a",
    ),
];
