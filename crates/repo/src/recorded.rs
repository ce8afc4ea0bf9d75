//! The names of all files that the index and the history of a repository hold, kept as long as index and
//! references stand. Knows names alone, and not which of them matter.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::git::Operation;
use crate::{Checkout, Git, RepoError};

/// A history that is not looked through in this time is one that nobody could look through.
const LONGEST: Duration = Duration::from_secs(10);

/// Each file that was ever added, merges that added one themselves included; what only a log of references
/// still reaches, too.
const ADDED: [&str; 10] = [
    "log",
    "--all",
    "--reflog",
    "--root",
    "-c",
    "--no-renames",
    "--diff-filter=A",
    "--name-only",
    "--format=",
    "-z",
];

/// What is recorded in one repository, looked up when it is asked for.
#[derive(Debug, Default)]
pub struct Recorded(Mutex<Option<(Stand, Names)>>);

/// Names of files, relative to the worktree.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Those of the index.
    pub index: Arc<BTreeSet<String>>,
    /// Those of the history, as far as references and their logs reach.
    pub history: Arc<BTreeSet<String>>,
}

/// How index and references stand: the place, length, time and identity of each of their files.
type Stand = Vec<(PathBuf, u64, i64, i64, u64)>;

impl Recorded {
    /// The names that are recorded now. A failure also where there are too many to look through.
    pub async fn names(&self, git: &Git, checkout: &Checkout) -> Result<Names, RepoError> {
        let stand = stand(checkout);
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, names)) = known.filter(|(looked_at, _)| *looked_at == stand) {
            return Ok(names);
        }
        let index = listed(git, checkout, &["ls-files", "-z"]).await?;
        let history = listed(git, checkout, &ADDED).await?;
        let names = Names {
            index: Arc::new(index),
            history: Arc::new(history),
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((stand, names.clone()));
        Ok(names)
    }
}

async fn listed(git: &Git, checkout: &Checkout, arguments: &[&str]) -> Result<BTreeSet<String>, RepoError> {
    let mut operation = Operation::read(checkout, "look through the history", arguments.iter().copied());
    operation.time = LONGEST;
    let finished = git.run(operation).await?;
    if finished.stdout.dropped > 0 {
        return Err(RepoError::TimedOut);
    }
    let text = finished.stdout.text();
    Ok(text
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect())
}

fn stand(checkout: &Checkout) -> Stand {
    let (own, common) = (&checkout.git_dir, &checkout.common_dir);
    let mut stand = Vec::new();
    for file in [
        own.join("index"),
        own.join("HEAD"),
        common.join("packed-refs"),
        common.join("shallow"),
    ] {
        note(&file, &mut stand);
    }
    for folder in [common.join("refs"), common.join("logs")] {
        note(&folder, &mut stand);
    }
    note(&own.join("logs"), &mut stand);
    stand.sort();
    stand
}

fn note(path: &Path, stand: &mut Stand) {
    let Ok(facts) = path.symlink_metadata() else {
        return;
    };
    stand.push((
        path.to_owned(),
        facts.len(),
        facts.mtime(),
        facts.mtime_nsec(),
        facts.ino(),
    ));
    if facts.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.for_each(|entry| note(&entry.path(), stand));
    }
}
