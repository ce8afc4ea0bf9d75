//! The programs of GNU coreutils, findutils and diffutils. `find`, `xargs` and the wrappers among them
//! have their rules beside the walk.

use super::{Does, Program};
use crate::effect::EffectSet;

const fn names(name: &'static str, reading: &'static str, writing: &'static str) -> Program {
    Program::new(name, Does::Names, reading, writing)
}

const fn shows(name: &'static str, reading: &'static str, writing: &'static str) -> Program {
    Program::new(name, Does::Shows(0), reading, writing)
}

const fn changes(name: &'static str, skip: usize, writing: &'static str) -> Program {
    let does = Does::Changes {
        skip,
        last_only: false,
        effects: EffectSet::EMPTY,
    };
    Program::new(name, does, "", writing)
}

const fn deletes(name: &'static str, options: &'static [&'static str], writing: &'static str) -> Program {
    Program::new(name, Does::Deletes(options), "", writing)
}

const fn copies(name: &'static str, moves: bool, writing: &'static str) -> Program {
    Program::new(name, Does::Copies { moves }, "", writing).writes_with(&["-t", "--target-directory"])
}

const fn starts(name: &'static str, writing: &'static str) -> Program {
    Program::new(name, Does::Starts(EffectSet::EMPTY), "", writing)
}

pub(super) const PROGRAMS: &[Program] = &[
    names("arch", "arch", "arch > a"),
    shows("b2sum", "b2sum README.md", "b2sum README.md > a"),
    shows("base32", "base32 README.md", "base32 README.md > a"),
    shows("base64", "base64 README.md", "base64 README.md > a"),
    names("basename", "basename a/b.rs .rs", "basename a > b"),
    shows("basenc", "basenc --base64 README.md", "basenc --base64 README.md > a"),
    shows("cat", "cat -n README.md", "cat README.md > a"),
    changes("chcon", 1, "chcon x a"),
    changes("chgrp", 1, "chgrp users a"),
    changes("chmod", 1, "chmod +x a"),
    changes("chown", 1, "chown root a"),
    shows("cksum", "cksum README.md", "cksum README.md > a"),
    shows("comm", "comm a b", "comm a b > c"),
    copies("cp", false, "cp a b"),
    changes("csplit", 2, "csplit a /x/"),
    shows("cut", "cut -d: -f1 README.md", "cut -f1 a > b"),
    names("date", "date -u +%F", "date 010100002020")
        .acts_with(&["-s", "--set"])
        .reads_with(&["-f", "--file"])
        .values(&["-d", "--date", "-f", "--file", "-r", "--reference"])
        .operands("+"),
    Program::new("dd", Does::WritesUnnamed, "", "dd if=a of=b"),
    names("df", "df -h", "df > a"),
    names("dir", "dir -l", "dir > a"),
    names("dircolors", "dircolors -b", "dircolors > a"),
    names("dirname", "dirname a/b", "dirname a > b"),
    names("du", "du -sh src", "du > a").reads_with(&["--files0-from", "-X", "--exclude-from"]),
    shows("expand", "expand README.md", "expand a > b"),
    names("expr", "expr 1 + 2", "expr 1 + 2 > a"),
    names("factor", "factor 12", "factor 12 > a"),
    shows("fmt", "fmt README.md", "fmt a > b"),
    shows("fold", "fold -w 80 README.md", "fold a > b"),
    names("groups", "groups", "groups > a"),
    shows("head", "head -n 20 README.md", "head a > b"),
    names("hostid", "hostid", "hostid > a"),
    names("id", "id -u", "id > a"),
    copies("install", false, "install a b"),
    shows("join", "join a b", "join a b > c"),
    copies("link", false, "link a b"),
    copies("ln", false, "ln -s a b"),
    names("logname", "logname", "logname > a"),
    names("ls", "ls -la src", "ls > a"),
    shows("md5sum", "md5sum README.md", "md5sum a > b"),
    changes("mkdir", 0, "mkdir -p a/b").values(&["-m", "--mode"]),
    changes("mkfifo", 0, "mkfifo a"),
    changes("mknod", 0, "mknod a p"),
    starts("mktemp", "mktemp -p ."),
    copies("mv", true, "mv a b"),
    shows("nl", "nl README.md", "nl a > b"),
    names("nproc", "nproc", "nproc > a"),
    names("numfmt", "numfmt --to=iec 1024", "numfmt 1 > a"),
    shows("od", "od -c README.md", "od a > b"),
    shows("paste", "paste -sd, README.md", "paste a > b"),
    names("pathchk", "pathchk a", "pathchk a > b"),
    names("pinky", "pinky -s", "pinky > a"),
    shows("pr", "pr README.md", "pr a > b"),
    names("printenv", "printenv LANG", "printenv > a"),
    starts("ptx", "ptx -G a b"),
    names("readlink", "readlink -f a", "readlink a > b"),
    names("realpath", "realpath src", "realpath a > b"),
    deletes(
        "rm",
        &["-f", "-v", "-d", "-fv", "-vf", "--force", "--verbose", "--dir"],
        "rm -rf a",
    ),
    deletes("rmdir", &["-v", "--verbose", "--ignore-fail-on-non-empty"], "rmdir a"),
    names("seq", "seq 1 9", "seq 9 > a"),
    shows("sha1sum", "sha1sum README.md", "sha1sum a > b"),
    shows("sha224sum", "sha224sum README.md", "sha224sum a > b"),
    shows("sha256sum", "sha256sum README.md", "sha256sum a > b"),
    shows("sha384sum", "sha384sum README.md", "sha384sum a > b"),
    shows("sha512sum", "sha512sum README.md", "sha512sum a > b"),
    deletes("shred", &[], "shred -u a"),
    shows("shuf", "shuf README.md", "shuf -o a b").writes_with(&["-o", "--output"]),
    names("sleep", "sleep 1", "sleep 1 > a"),
    shows("sort", "sort -rn README.md", "sort --outp=a b")
        .writes_with(&["-o", "--output"])
        .reads_with(&["--files0-from", "--random-source"])
        .starts_with(&["--compress-program", "-T", "--temporary-directory"]),
    starts("split", "split a"),
    names("stat", "stat -c %s README.md", "stat a > b"),
    starts("stty", "stty sane"),
    shows("sum", "sum README.md", "sum a > b"),
    starts("sync", "sync"),
    shows("tac", "tac README.md", "tac a > b"),
    shows("tail", "tail -n 20 README.md", "tail a > b"),
    changes("tee", 0, "tee -a a"),
    changes("touch", 0, "touch a").values(&["-d", "--date", "-t", "-r", "--reference"]),
    names("tr", "tr a-z A-Z", "tr a b > c"),
    changes("truncate", 0, "truncate -s 0 a").values(&["-s", "--size", "-r", "--reference"]),
    shows("tsort", "tsort README.md", "tsort a > b"),
    names("tty", "tty", "tty > a"),
    names("uname", "uname -a", "uname > a"),
    shows("unexpand", "unexpand README.md", "unexpand a > b"),
    Program::new("uniq", Does::Converts, "uniq -c README.md", "uniq a b"),
    deletes("unlink", &[], "unlink a"),
    names("uptime", "uptime", "uptime > a"),
    names("users", "users", "users > a"),
    names("vdir", "vdir", "vdir > a"),
    shows("wc", "wc -l README.md", "wc a > b").reads_with(&["--files0-from"]),
    names("who", "who", "who > a"),
    names("whoami", "whoami", "whoami > a"),
    names("yes", "yes", "yes > a"),
    names("locate", "locate a", "locate a > b"),
    starts("updatedb", "updatedb -o a"),
    shows("cmp", "cmp a b", "cmp a b > c"),
    shows("diff", "diff -u a b", "diff -l a b")
        .starts_with(&["-l", "--paginate"])
        .descends_with(&["-r", "--recursive"])
        .reads_with(&["-X", "--exclude-from", "--from-file", "--to-file"]),
    shows("diff3", "diff3 a b c", "diff3 --diff-program=x a b c").starts_with(&["--diff-program"]),
    shows("sdiff", "sdiff -s a b", "sdiff -o c a b")
        .writes_with(&["-o", "--output"])
        .starts_with(&["--diff-program"]),
];
