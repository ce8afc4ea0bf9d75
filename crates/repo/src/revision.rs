//! Names of commits and paths, taken from others: judged before git sees them, and turned into ids.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path};

use crate::checkout::read_pointer;
use crate::git::Operation;
use crate::{Checkout, Git, RepoError};

const LONGEST_REVISION: usize = 256;

/// Where a checkout stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The branch, without `refs/heads/`; none if HEAD names a commit.
    pub branch: Option<String>,
    /// The commit; none on a branch without one.
    pub id: Option<String>,
}

/// Reads where HEAD is.
pub async fn head(git: &Git, checkout: &Checkout) -> Result<Head, RepoError> {
    let pointer = read_pointer(&checkout.git_dir.join("HEAD"))?;
    let branch = pointer.strip_prefix("ref: refs/heads/").map(str::to_owned);
    let id = match resolve(git, checkout, "HEAD").await {
        Ok(id) => Some(id),
        Err(RepoError::NoSuchRevision(_)) => None,
        Err(error) => return Err(error),
    };
    Ok(Head { branch, id })
}

/// The id of the commit that a revision names.
pub(crate) async fn resolve(git: &Git, checkout: &Checkout, revision: &str) -> Result<String, RepoError> {
    let none = || RepoError::NoSuchRevision(revision.to_owned());
    if !is_plain(revision) {
        return Err(none());
    }
    let asked = format!("{revision}^{{commit}}");
    let operation = Operation::read(checkout, "find a commit", ["rev-parse", "--verify", "--quiet", &asked]);
    let finished = git.attempt_in(&git.scratch()?, operation).await?;
    let answer = finished.stdout.text();
    let id = answer.trim();
    if finished.exit == Some(0) && is_id(id) {
        Ok(id.to_owned())
    } else {
        Err(none())
    }
}

/// No option, no range, no path within a commit, nothing a terminal or git would read otherwise.
fn is_plain(revision: &str) -> bool {
    !revision.is_empty()
        && revision.len() <= LONGEST_REVISION
        && !revision.starts_with(['-', '^'])
        && !revision.contains("..")
        && !revision.contains(|character: char| {
            character.is_control() || character.is_whitespace() || matches!(character, ':' | '\\')
        })
}

pub(crate) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Paths beneath the worktree, as git takes them. Refuses what leads out or into a `.git`.
pub(crate) fn beneath<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<OsString>, RepoError> {
    paths.iter().map(|path| one_beneath(path.as_ref())).collect()
}

pub(crate) fn one_beneath(path: &Path) -> Result<OsString, RepoError> {
    let refused = || RepoError::Path(path.to_string_lossy().into_owned());
    let mut plain = std::path::PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) if !name.eq_ignore_ascii_case(".git") => plain.push(name),
            Component::CurDir => (),
            _ => return Err(refused()),
        }
    }
    if path.as_os_str().is_empty() || path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(refused());
    }
    if plain.as_os_str().is_empty() {
        plain.push(".");
    }
    Ok(plain.into())
}

/// Refuses while a merge, rebase or the like is under way.
pub(crate) fn not_busy(checkout: &Checkout) -> Result<(), RepoError> {
    const SIGNS: [(&str, &str); 6] = [
        ("MERGE_HEAD", "a merge"),
        ("CHERRY_PICK_HEAD", "a cherry-pick"),
        ("REVERT_HEAD", "a revert"),
        ("rebase-merge", "a rebase"),
        ("rebase-apply", "a rebase"),
        ("BISECT_LOG", "a bisection"),
    ];
    for (name, what) in SIGNS {
        if fs::symlink_metadata(checkout.git_dir.join(name)).is_ok() {
            return Err(RepoError::Busy(what));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_plain_revisions_reach_git() {
        for revision in [
            "HEAD",
            "main",
            "feature/x-1",
            "v1.0^",
            "HEAD~3",
            "stash@{0}",
            "HEAD^{/fix}",
        ] {
            assert!(is_plain(revision), "{revision}");
        }
        for revision in [
            "",
            "--output=f",
            "-p",
            "^main",
            "a..b",
            "HEAD:secret",
            "a b",
            "a\nb",
            "a\u{1b}[2J",
            "\\x",
        ] {
            assert!(!is_plain(revision), "{revision:?}");
        }
        assert!(!is_plain(&"a".repeat(257)));
    }

    #[test]
    fn paths_stay_beneath_the_worktree_and_out_of_git() {
        assert_eq!(one_beneath(Path::new("./src/a b.rs")).unwrap(), "src/a b.rs");
        assert_eq!(one_beneath(Path::new(".")).unwrap(), ".");
        assert_eq!(one_beneath(Path::new("-p")).unwrap(), "-p");
        for path in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            ".git/config",
            "sub/.GIT/hooks/x",
            "a\0b",
        ] {
            assert!(one_beneath(Path::new(path)).is_err(), "{path:?}");
        }
    }

    proptest! {
        #[test]
        fn a_path_that_passes_never_leads_out(text in "[a.G/gitI-]{0,14}") {
            if let Ok(passed) = one_beneath(Path::new(&text)) {
                let passed = Path::new(&passed);
                let names: Vec<_> = passed.components().collect();
                prop_assert!(!names.is_empty());
                if passed != Path::new(".") {
                    for name in names {
                        prop_assert!(matches!(name, Component::Normal(name) if !name.eq_ignore_ascii_case(".git")));
                    }
                }
            }
        }

        #[test]
        fn a_revision_that_passes_is_one_word_and_no_option(text in ".{0,12}") {
            if is_plain(&text) {
                prop_assert!(!text.starts_with('-'));
                prop_assert_eq!(text.split_whitespace().count(), 1);
                prop_assert!(!text.contains(':') && !text.contains(".."));
            }
        }
    }
}
