//! Whether git, reading a repository with the repository's own configuration, starts nothing of that
//! configuration's choosing. Told from a list of settings known to be harmless; knows no command of git.

use std::fs;
use std::path::Path;

use crate::Checkout;

/// No configuration that is looked at is longer.
const LONGEST: u64 = 64 * 1024;

/// Settings that choose no program, no file and no other repository, by section.
const HARMLESS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "autocrlf",
            "bare",
            "eol",
            "filemode",
            "ignorecase",
            "logallrefupdates",
            "precomposeunicode",
            "protecthfs",
            "protectntfs",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "symlinks",
            "untrackedcache",
        ],
    ),
    ("extensions", &["objectformat"]),
    ("remote", &["url", "pushurl", "fetch", "tagopt", "prune"]),
    ("branch", &["remote", "merge", "rebase", "pushremote", "description"]),
    ("user", &["name", "email"]),
    ("init", &["defaultbranch"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote"]),
    ("advice", &["detachedhead"]),
];

impl Checkout {
    /// Whether git started in this folder of the worktree reads this repository, and nothing in its
    /// configuration can start a program: no filter, no pager, no monitor, no other file of settings, no
    /// repository within the repository.
    pub fn starts_nothing(&self, folder: &Path) -> bool {
        let absent = |path: &Path| path.symlink_metadata().is_err();
        self.is_that_of(folder)
            && absent(&self.worktree.join(".gitmodules"))
            && absent(&self.git_dir.join("config.worktree"))
            && harmless_file(&self.common_dir.join("config"))
    }

    /// Whether git started in this folder reads this repository: it lies in the worktree, and no other
    /// repository is between.
    pub fn is_that_of(&self, folder: &Path) -> bool {
        folder.starts_with(&self.worktree)
            && folder
                .ancestors()
                .take_while(|folder| *folder != self.worktree)
                .all(|folder| !holds_a_repository(folder))
    }
}

fn holds_a_repository(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok() || folder.join("HEAD").symlink_metadata().is_ok()
}

fn harmless_file(config: &Path) -> bool {
    let short = config
        .symlink_metadata()
        .is_ok_and(|about| about.is_file() && about.len() <= LONGEST);
    short && fs::read_to_string(config).is_ok_and(|text| harmless(&text))
}

/// Whether each line is one of the harmless settings, written in the plain way git itself writes them.
fn harmless(config: &str) -> bool {
    let mut section = None;
    config.lines().map(str::trim).all(|line| match line {
        "" => true,
        line if line.starts_with(['#', ';']) => true,
        line if line.starts_with('[') => {
            section = line
                .strip_prefix('[')
                .and_then(|line| line.strip_suffix(']'))
                .and_then(|name| {
                    let name = name.split_whitespace().next()?.to_ascii_lowercase();
                    HARMLESS.iter().find(|(known, _)| *known == name)
                });
            section.is_some()
        }
        line => {
            let name = line.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
            !line.ends_with('\\') && section.is_some_and(|(_, known)| known.contains(&name.as_str()))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_clone_writes_is_harmless() {
        let written = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
                       [remote \"origin\"]\n\turl = https://example.org/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                       [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
        assert!(harmless(written));
        assert!(harmless("# a remark\n[user]\n name = Ada\n"));
    }

    #[test]
    fn what_can_start_a_program_or_load_more_is_not() {
        for config in [
            "[core]\n\tfsmonitor = ./evil\n",
            "[core] fsmonitor = ./evil\n",
            "[CORE]\n\tFSMonitor = ./evil\n",
            "[core]\n\tpager = sh\n",
            "[core]\n\thooksPath = hooks\n",
            "[core]\n\tattributesFile = a\n",
            "[core]\n\tworktree = ..\n",
            "[core]\n\tbare = false \\\n[diff \"x\"]\n",
            "[diff \"x\"]\n\ttextconv = sh\n",
            "[diff]\n\texternal = sh\n",
            "[filter \"x\"]\n\tclean = sh\n",
            "[include]\n\tpath = ../evil\n",
            "[includeIf \"gitdir:/\"]\n\tpath = ../evil\n",
            "[alias]\n\tlog = !sh\n",
            "[gpg]\n\tprogram = sh\n",
            "[log]\n\tshowSignature = true\n",
            "[extensions]\n\tpartialClone = origin\n",
            "[remote \"origin\"]\n\tuploadpack = sh\n",
            "[remote \"origin\"]\n\tpromisor = true\n",
            "fsmonitor = ./evil\n",
            "[core\n",
        ] {
            assert!(!harmless(config), "{config}");
        }
    }
}
