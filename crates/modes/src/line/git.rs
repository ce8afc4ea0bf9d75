//! What a git command does, from a table of its commands. That a git command only reads is proven by
//! its name and options, and by a repository whose configuration starts no program: whoever opens
//! repositories says which is one.

use super::found::{Finding, Here, Kind, Meets};
use super::options::{operands, option};
use super::word::Text;
use crate::effect::{Effect, EffectSet};

/// What a command of git does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Reads, unless one of these options is given.
    Reads(&'static [&'static str]),
    /// Reads where its first word is one of these, or where it has no word that is no option and only
    /// these options; else it writes the repository.
    ReadsWith(&'static [&'static str]),
    /// Writes the records of the repository.
    Writes,
    /// Writes files alone.
    WritesFiles,
    /// Speaks with a host and writes the records of the repository.
    Fetches,
    /// Speaks with a host and reads.
    Asks,
    /// Pushes.
    Pushes,
    /// Starts programs, or serves them.
    Starts,
}

/// One command of git, with a line that reads and one that does not.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) act: Act,
    #[cfg_attr(not(test), expect(dead_code, reason = "the rows are tried on their examples"))]
    pub(super) reading: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "the rows are tried on their examples"))]
    pub(super) writing: &'static str,
}

const fn row(name: &'static str, act: Act, reading: &'static str, writing: &'static str) -> Row {
    Row {
        name,
        act,
        reading,
        writing,
    }
}

/// Options of everything that shows differences or history.
const SHOWING: &[&str] = &[
    "--output",
    "--ext-diff",
    "--textconv",
    "--show-signature",
    "-O",
    "--submodule",
    "--ignore-submodules",
    "--recurse-submodules",
];

use Act::{Asks, Fetches, Pushes, Reads, ReadsWith, Starts, Writes, WritesFiles};

/// Every command of git people type, and most of those programs type.
pub(super) const COMMANDS: &[Row] = &[
    row("add", Writes, "git add -h", "git add src"),
    row("am", Writes, "git am -h", "git am fix.patch"),
    row(
        "annotate",
        Reads(SHOWING),
        "git annotate src/lib.rs",
        "git annotate a > b",
    ),
    row(
        "apply",
        ReadsWith(&["--stat", "--numstat", "--summary", "--check"]),
        "git apply -h",
        "git apply fix.patch",
    ),
    row("archive", WritesFiles, "git archive -h", "git archive -o a.tar HEAD"),
    row("backfill", Fetches, "git backfill -h", "git backfill"),
    row(
        "bisect",
        ReadsWith(&["log", "help"]),
        "git bisect log",
        "git bisect run ./test",
    ),
    row(
        "blame",
        Reads(SHOWING),
        "git blame -L 1,9 src/lib.rs",
        "git blame --output=x src/lib.rs",
    ),
    row(
        "branch",
        ReadsWith(&[
            "-a",
            "--all",
            "-r",
            "--remotes",
            "-v",
            "-vv",
            "--list",
            "--show-current",
            "--no-color",
        ]),
        "git branch -a",
        "git branch new",
    ),
    row("bugreport", Starts, "git bugreport -h", "git bugreport"),
    row(
        "bundle",
        ReadsWith(&["verify", "list-heads"]),
        "git bundle verify a.bundle",
        "git bundle create a.bundle HEAD",
    ),
    row(
        "cat-file",
        Reads(&["--textconv", "--filters"]),
        "git cat-file -p HEAD",
        "git cat-file --filters HEAD:a",
    ),
    row(
        "check-attr",
        Reads(&[]),
        "git check-attr -a src/lib.rs",
        "git check-attr -a a > b",
    ),
    row(
        "check-ignore",
        Reads(&[]),
        "git check-ignore -v target",
        "git check-ignore a > b",
    ),
    row(
        "check-mailmap",
        Reads(&[]),
        "git check-mailmap 'A <a@b.c>'",
        "git check-mailmap x > b",
    ),
    row("checkout", Writes, "git checkout -h", "git checkout main"),
    row(
        "checkout-index",
        Writes,
        "git checkout-index -h",
        "git checkout-index -a",
    ),
    row("cherry", Reads(SHOWING), "git cherry main", "git cherry main > b"),
    row("cherry-pick", Writes, "git cherry-pick -h", "git cherry-pick abc"),
    row("citool", Starts, "git citool -h", "git citool"),
    row("clean", WritesFiles, "git clean -h", "git clean -fdx"),
    row("clone", Fetches, "git clone -h", "git clone https://example.org/a.git"),
    row("commit", Writes, "git commit -h", "git commit -am wip"),
    row("commit-graph", Writes, "git commit-graph -h", "git commit-graph write"),
    row(
        "commit-tree",
        Writes,
        "git commit-tree -h",
        "git commit-tree HEAD^{tree}",
    ),
    row(
        "config",
        ReadsWith(&["--list", "-l", "--get", "--get-all", "--get-regexp", "get", "list"]),
        "git config --list",
        "git config core.pager sh",
    ),
    row(
        "count-objects",
        Reads(&[]),
        "git count-objects -v",
        "git count-objects > b",
    ),
    row("credential", Starts, "git credential -h", "git credential fill"),
    row("daemon", Starts, "git daemon -h", "git daemon"),
    row(
        "describe",
        Reads(&["--dirty", "--broken"]),
        "git describe --tags",
        "git describe --dirty",
    ),
    row("diff", Reads(SHOWING), "git diff --stat HEAD~1", "git diff --output=x"),
    row(
        "diff-files",
        Reads(SHOWING),
        "git diff-files --name-only",
        "git diff-files --ext-diff",
    ),
    row(
        "diff-index",
        Reads(SHOWING),
        "git diff-index HEAD",
        "git diff-index --output=x HEAD",
    ),
    row(
        "diff-tree",
        Reads(SHOWING),
        "git diff-tree -r HEAD",
        "git diff-tree --textconv HEAD",
    ),
    row("difftool", Starts, "git difftool -h", "git difftool -x sh"),
    row("fast-export", Writes, "git fast-export -h", "git fast-export --all"),
    row("fast-import", Writes, "git fast-import -h", "git fast-import"),
    row("fetch", Fetches, "git fetch -h", "git fetch origin"),
    row("fetch-pack", Fetches, "git fetch-pack -h", "git fetch-pack a main"),
    row(
        "filter-branch",
        Writes,
        "git filter-branch -h",
        "git filter-branch --tree-filter sh",
    ),
    row("fmt-merge-msg", Starts, "git fmt-merge-msg -h", "git fmt-merge-msg"),
    row(
        "for-each-ref",
        Reads(&["--shell", "--perl", "--python", "--tcl"]),
        "git for-each-ref refs/heads",
        "git for-each-ref > b",
    ),
    row(
        "for-each-repo",
        Starts,
        "git for-each-repo -h",
        "git for-each-repo --config=a x",
    ),
    row(
        "format-patch",
        WritesFiles,
        "git format-patch -h",
        "git format-patch HEAD~1",
    ),
    row("fsck", Writes, "git fsck -h", "git fsck --lost-found"),
    row("gc", Writes, "git gc -h", "git gc"),
    row(
        "get-tar-commit-id",
        Reads(&[]),
        "git get-tar-commit-id",
        "git get-tar-commit-id > b",
    ),
    row("gitk", Starts, "git gitk -h", "git gitk"),
    row(
        "grep",
        Reads(&[
            "-O",
            "--open-files-in-pager",
            "--textconv",
            "--ext-grep",
            "--recurse-submodules",
        ]),
        "git grep -n main",
        "git grep -O main",
    ),
    row("gui", Starts, "git gui -h", "git gui"),
    row(
        "hash-object",
        ReadsWith(&["--stdin"]),
        "git hash-object -h",
        "git hash-object -w a",
    ),
    row("help", Starts, "git help -h", "git help log"),
    row("hook", Starts, "git hook -h", "git hook run pre-commit"),
    row("index-pack", Writes, "git index-pack -h", "git index-pack a.pack"),
    row("init", Writes, "git init -h", "git init"),
    row("instaweb", Starts, "git instaweb -h", "git instaweb"),
    row(
        "interpret-trailers",
        Starts,
        "git interpret-trailers -h",
        "git interpret-trailers --in-place a",
    ),
    row("log", Reads(SHOWING), "git log --oneline -5", "git log --output=x"),
    row(
        "ls-files",
        Reads(&["--recurse-submodules"]),
        "git ls-files -m",
        "git ls-files > b",
    ),
    row("ls-remote", Asks, "git ls-remote -h", "git ls-remote origin"),
    row("ls-tree", Reads(&[]), "git ls-tree -r HEAD", "git ls-tree HEAD > b"),
    row("mailinfo", Writes, "git mailinfo -h", "git mailinfo a b"),
    row("mailsplit", Writes, "git mailsplit -h", "git mailsplit -o a b"),
    row("maintenance", Writes, "git maintenance -h", "git maintenance start"),
    row("merge", Writes, "git merge -h", "git merge topic"),
    row(
        "merge-base",
        Reads(&[]),
        "git merge-base main HEAD",
        "git merge-base a b > c",
    ),
    row("merge-file", WritesFiles, "git merge-file -h", "git merge-file a b c"),
    row("merge-index", Starts, "git merge-index -h", "git merge-index sh -a"),
    row("merge-tree", Writes, "git merge-tree -h", "git merge-tree a b"),
    row("mergetool", Starts, "git mergetool -h", "git mergetool"),
    row("mktag", Writes, "git mktag -h", "git mktag"),
    row("mktree", Writes, "git mktree -h", "git mktree"),
    row(
        "multi-pack-index",
        Writes,
        "git multi-pack-index -h",
        "git multi-pack-index write",
    ),
    row("mv", Writes, "git mv -h", "git mv a b"),
    row("name-rev", Reads(&[]), "git name-rev HEAD", "git name-rev HEAD > b"),
    row(
        "notes",
        ReadsWith(&["list", "show"]),
        "git notes list",
        "git notes add -m x",
    ),
    row("pack-objects", Writes, "git pack-objects -h", "git pack-objects a"),
    row("pack-refs", Writes, "git pack-refs -h", "git pack-refs --all"),
    row("patch-id", Reads(&[]), "git patch-id --stable", "git patch-id > b"),
    row("prune", Writes, "git prune -h", "git prune"),
    row("pull", Fetches, "git pull -h", "git pull"),
    row("push", Pushes, "git push -h", "git push origin main"),
    row("quiltimport", Writes, "git quiltimport -h", "git quiltimport"),
    row(
        "range-diff",
        Reads(SHOWING),
        "git range-diff a...b",
        "git range-diff --output=x a...b",
    ),
    row("read-tree", Writes, "git read-tree -h", "git read-tree HEAD"),
    row("rebase", Writes, "git rebase -h", "git rebase -x sh main"),
    row("receive-pack", Starts, "git receive-pack -h", "git receive-pack ."),
    row(
        "reflog",
        ReadsWith(&["show", "list", "exists"]),
        "git reflog show",
        "git reflog expire --all",
    ),
    row("refs", Writes, "git refs -h", "git refs migrate"),
    row(
        "remote",
        ReadsWith(&["-v", "--verbose", "get-url"]),
        "git remote -v",
        "git remote add a b",
    ),
    row("repack", Writes, "git repack -h", "git repack -ad"),
    row(
        "replace",
        ReadsWith(&["-l", "--list"]),
        "git replace -l",
        "git replace a b",
    ),
    row("replay", Writes, "git replay -h", "git replay --onto a b"),
    row("request-pull", Asks, "git request-pull -h", "git request-pull a b"),
    row(
        "rerere",
        ReadsWith(&["status", "remaining"]),
        "git rerere status",
        "git rerere clear",
    ),
    row("reset", Writes, "git reset -h", "git reset --hard"),
    row("restore", Writes, "git restore -h", "git restore src"),
    row(
        "rev-list",
        Reads(&[]),
        "git rev-list --count HEAD",
        "git rev-list HEAD > b",
    ),
    row("rev-parse", Reads(&[]), "git rev-parse HEAD", "git rev-parse HEAD > b"),
    row("revert", Writes, "git revert -h", "git revert HEAD"),
    row("rm", Writes, "git rm -h", "git rm a"),
    row("scalar", Starts, "git scalar -h", "git scalar register"),
    row("send-email", Starts, "git send-email -h", "git send-email a.patch"),
    row("send-pack", Pushes, "git send-pack -h", "git send-pack a"),
    row("shell", Starts, "git shell -h", "git shell -c x"),
    row(
        "shortlog",
        Reads(&["--output"]),
        "git shortlog -sn HEAD",
        "git shortlog --output=x HEAD",
    ),
    row("show", Reads(SHOWING), "git show HEAD", "git show --ext-diff HEAD"),
    row("show-branch", Reads(&[]), "git show-branch", "git show-branch > b"),
    row("show-index", Reads(&[]), "git show-index", "git show-index > b"),
    row(
        "show-ref",
        ReadsWith(&["--heads", "--branches", "--tags", "-d", "--head"]),
        "git show-ref --heads",
        "git show-ref --verify x",
    ),
    row(
        "sparse-checkout",
        ReadsWith(&["list"]),
        "git sparse-checkout list",
        "git sparse-checkout set a",
    ),
    row("stage", Writes, "git stage -h", "git stage a"),
    row("stash", ReadsWith(&["list", "show"]), "git stash list", "git stash"),
    row(
        "status",
        Reads(&["--ignore-submodules"]),
        "git status --short",
        "git status > b",
    ),
    row("stripspace", Reads(&[]), "git stripspace", "git stripspace > b"),
    row("submodule", Starts, "git submodule -h", "git submodule update --init"),
    row("subtree", Writes, "git subtree -h", "git subtree add -P a b"),
    row("svn", Starts, "git svn -h", "git svn dcommit"),
    row("switch", Writes, "git switch -h", "git switch main"),
    row(
        "symbolic-ref",
        ReadsWith(&["--short", "-q"]),
        "git symbolic-ref -h",
        "git symbolic-ref HEAD refs/heads/x",
    ),
    row(
        "tag",
        ReadsWith(&["-l", "--list", "-n"]),
        "git tag --list",
        "git tag v1",
    ),
    row("unpack-objects", Writes, "git unpack-objects -h", "git unpack-objects"),
    row(
        "update-index",
        Writes,
        "git update-index -h",
        "git update-index --refresh",
    ),
    row("update-ref", Writes, "git update-ref -h", "git update-ref a b"),
    row(
        "update-server-info",
        Writes,
        "git update-server-info -h",
        "git update-server-info",
    ),
    row(
        "upload-archive",
        Starts,
        "git upload-archive -h",
        "git upload-archive .",
    ),
    row("upload-pack", Starts, "git upload-pack -h", "git upload-pack ."),
    row("var", Reads(&[]), "git var GIT_AUTHOR_IDENT", "git var -l > b"),
    row(
        "verify-commit",
        Starts,
        "git verify-commit -h",
        "git verify-commit HEAD",
    ),
    row(
        "verify-pack",
        Reads(&[]),
        "git verify-pack -v a.idx",
        "git verify-pack a.idx > b",
    ),
    row("verify-tag", Starts, "git verify-tag -h", "git verify-tag v1"),
    row("version", Reads(&[]), "git version", "git version > b"),
    row(
        "whatchanged",
        Reads(SHOWING),
        "git whatchanged -3",
        "git whatchanged --output=x",
    ),
    row(
        "worktree",
        ReadsWith(&["list"]),
        "git worktree list",
        "git worktree add ../a",
    ),
    row("write-tree", Writes, "git write-tree -h", "git write-tree"),
];

/// Commands that do something where nothing follows them.
const ACTS_ALONE: &[&str] = &["stash", "apply", "bisect", "bundle", "rerere"];

/// Settles a git command.
pub(super) fn git(finding: &mut Finding<'_>, words: &[Text], here: &Here) {
    let arguments = words.get(1..).unwrap_or_default();
    let Some(Opened { rest, there, steered }) = opened(arguments, here) else {
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
}

/// What stands between `git` and its command.
fn opened<'w>(arguments: &'w [Text], here: &Here) -> Option<Opened<'w>> {
    let mut opened = Opened {
        rest: arguments,
        there: here.clone(),
        steered: false,
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

fn done(finding: &mut Finding<'_>, row: &Row, rest: &[Text], there: &Here) -> Kind {
    let read = Kind::read(Meets::Reads);
    let dynamic = rest
        .iter()
        .take_while(|word| word.constant() != Some("--"))
        .any(|word| word.constant().is_none() && word.may_be_option());
    match row.act {
        Act::Reads(unless) => {
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
            if dynamic || signs || unless.iter().any(|name| option(rest, name).is_some()) {
                Kind::STARTS
            } else {
                read
            }
        }
        Act::ReadsWith(these) => {
            let known = |word: &Text| word.constant().is_some_and(|word| these.contains(&word));
            let first = rest.first();
            let only_options = rest.iter().all(known);
            let by_name = first.is_some_and(|word| known(word) && !word.shape.starts_with('-'))
                || (first.is_some_and(known) && row.name != "branch" && row.name != "remote" && row.name != "tag");
            let plain = !dynamic
                && rest
                    .iter()
                    .skip(1)
                    .all(|word| known(word) || !word.shape.starts_with('-'));
            let bare = rest.is_empty() && !ACTS_ALONE.contains(&row.name);
            if bare || (only_options && !rest.is_empty()) || (by_name && plain) {
                return read;
            }
            let words = operands(rest, &[]).len();
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
        Act::Starts => Kind::STARTS,
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
                super::command::host_of(url)
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
