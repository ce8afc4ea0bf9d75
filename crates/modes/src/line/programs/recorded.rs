//! Which commands of git show what index and history hold, as data. Knows no line.

/// When a command shows contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::line) enum Shows {
    /// However it is used.
    Always,
    /// Unless one of these words is given.
    Unless(&'static [&'static str]),
    /// As patches, unless only names and counts are asked for.
    Patches,
    /// Only when patches are asked for.
    OnlyPatches,
}

/// What the operands of a command are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::line) enum Operands {
    /// Revisions, or paths where something has that name.
    RevisionsOrPaths,
    /// A revision, then paths.
    RevisionThenPaths,
    /// Revisions.
    Revisions,
    /// What is looked for, then revisions or paths; without these the worktree alone is searched.
    PatternFirst,
    /// A repository; one on a host holds nothing of this one.
    Repository,
}

/// One command, with a line by which it shows contents and one by which it does not.
pub(in crate::line) struct Row {
    pub(in crate::line) name: &'static str,
    pub(in crate::line) shows: Shows,
    pub(in crate::line) operands: Operands,
    #[cfg_attr(not(test), expect(dead_code, reason = "the rows are tried on their examples"))]
    pub(in crate::line) showing: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "the rows are tried on their examples"))]
    pub(in crate::line) hiding: &'static str,
}

const fn row(name: &'static str, shows: Shows, operands: Operands, showing: &'static str, hiding: &'static str) -> Row {
    Row {
        name,
        shows,
        operands,
        showing,
        hiding,
    }
}

use Operands::{PatternFirst, Repository, RevisionThenPaths, Revisions, RevisionsOrPaths};
use Shows::{Always, OnlyPatches, Patches, Unless};

/// The commands of git that can show contents. One that is not in the table of all commands can too.
pub(in crate::line) const COMMANDS: &[Row] = &[
    row(
        "annotate",
        Always,
        RevisionsOrPaths,
        "git annotate a",
        "git annotate -h",
    ),
    row(
        "archive",
        Unless(&["-l", "--list"]),
        RevisionThenPaths,
        "git archive HEAD",
        "git archive -l",
    ),
    row("blame", Always, RevisionsOrPaths, "git blame a", "git blame -h"),
    row(
        "bundle",
        Unless(&["verify", "list-heads"]),
        Revisions,
        "git bundle create b HEAD",
        "git bundle verify b",
    ),
    row(
        "cat-file",
        Unless(&["-e", "-s", "-t", "--batch-check"]),
        Revisions,
        "git cat-file -p HEAD",
        "git cat-file -t HEAD",
    ),
    row(
        "clone",
        Always,
        Repository,
        "git clone . /tmp/b",
        "git clone https://example.org/a.git",
    ),
    row("daemon", Always, Revisions, "git daemon", "git daemon -h"),
    row(
        "diff",
        Patches,
        RevisionsOrPaths,
        "git diff HEAD~1",
        "git diff --stat HEAD~1",
    ),
    row(
        "diff-files",
        OnlyPatches,
        RevisionsOrPaths,
        "git diff-files -p",
        "git diff-files",
    ),
    row(
        "diff-index",
        OnlyPatches,
        RevisionsOrPaths,
        "git diff-index -p HEAD",
        "git diff-index HEAD",
    ),
    row(
        "diff-tree",
        OnlyPatches,
        RevisionsOrPaths,
        "git diff-tree -p HEAD",
        "git diff-tree -r HEAD",
    ),
    row(
        "difftool",
        Always,
        RevisionsOrPaths,
        "git difftool HEAD",
        "git difftool -h",
    ),
    row(
        "fast-export",
        Always,
        Revisions,
        "git fast-export --all",
        "git fast-export -h",
    ),
    row(
        "format-patch",
        Always,
        Revisions,
        "git format-patch --stdout HEAD~1",
        "git format-patch -h",
    ),
    row(
        "grep",
        Unless(&[
            "-L",
            "-c",
            "-l",
            "-q",
            "--count",
            "--files-with-matches",
            "--files-without-match",
            "--name-only",
            "--quiet",
        ]),
        PatternFirst,
        "git grep main HEAD",
        "git grep -l main HEAD",
    ),
    row("instaweb", Always, Revisions, "git instaweb", "git instaweb -h"),
    row("log", OnlyPatches, RevisionsOrPaths, "git log -p", "git log --stat"),
    row(
        "pack-objects",
        Always,
        Revisions,
        "git pack-objects a",
        "git pack-objects -h",
    ),
    row(
        "range-diff",
        Always,
        Revisions,
        "git range-diff a...b",
        "git range-diff -h",
    ),
    row("reflog", OnlyPatches, Revisions, "git reflog -p", "git reflog show"),
    row(
        "request-pull",
        OnlyPatches,
        Revisions,
        "git request-pull -p a b",
        "git request-pull a b",
    ),
    row(
        "send-email",
        Always,
        Revisions,
        "git send-email HEAD~1",
        "git send-email -h",
    ),
    row(
        "show",
        Patches,
        RevisionsOrPaths,
        "git show",
        "git show --name-only HEAD",
    ),
    row("stash", OnlyPatches, Revisions, "git stash show -p", "git stash show"),
    row(
        "upload-archive",
        Always,
        Revisions,
        "git upload-archive .",
        "git upload-archive -h",
    ),
    row(
        "upload-pack",
        Always,
        Revisions,
        "git upload-pack .",
        "git upload-pack -h",
    ),
    row(
        "whatchanged",
        OnlyPatches,
        RevisionsOrPaths,
        "git whatchanged -p",
        "git whatchanged -3",
    ),
];

/// Words by which patches are asked for.
pub(in crate::line) const PATCHES: &[&str] = &[
    "-p",
    "-u",
    "-U",
    "-c",
    "-L",
    "--patch",
    "--unified",
    "--patch-with-stat",
    "--patch-with-raw",
    "--binary",
    "--cc",
    "--dd",
    "--check",
    "--diff-merges",
    "--remerge-diff",
];

/// Words by which only names and counts are asked for.
pub(in crate::line) const NAMES: &[&str] = &[
    "-s",
    "--compact-summary",
    "--dirstat",
    "--name-only",
    "--name-status",
    "--no-patch",
    "--numstat",
    "--quiet",
    "--raw",
    "--shortstat",
    "--stat",
    "--summary",
];

/// Words after which no value follows, beside those above and those that have one stuck to them.
pub(in crate::line) const FLAGS: &[&str] = &[
    "-M",
    "-R",
    "-b",
    "-i",
    "-p",
    "-r",
    "-u",
    "-w",
    "-z",
    "--abbrev-commit",
    "--all",
    "--branches",
    "--cached",
    "--cc",
    "--color",
    "--color-words",
    "--decorate",
    "--first-parent",
    "--follow",
    "--graph",
    "--histogram",
    "--ignore-case",
    "--line-number",
    "--merges",
    "--minimal",
    "--no-color",
    "--no-decorate",
    "--no-ext-diff",
    "--no-merges",
    "--no-renames",
    "--no-textconv",
    "--oneline",
    "--patch",
    "--patience",
    "--reverse",
    "--root",
    "--staged",
    "--stdout",
    "--tags",
    "--text",
    "--word-diff",
    "--word-regexp",
];

/// Letters of `git grep` after which no value follows.
pub(in crate::line) const GREP_FLAGS: &str = "EFGHILPWachilnopqrvw";

/// Options of `git grep` whose value is the next word.
pub(in crate::line) const GREP_VALUES: &[&str] = &["-A", "-B", "-C", "-e", "-f", "-m", "--max-depth", "--threads"];
