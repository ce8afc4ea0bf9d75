//! The files that differ from an index, and putting them into it.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Arguments that list what differs from the index; paths follow.
pub(crate) const LIST: [&str; 7] = [
    "ls-files",
    "-z",
    "--modified",
    "--deleted",
    "--others",
    "--exclude-standard",
    "--",
];
/// Arguments that take paths out of the index.
pub(crate) const TAKE_OUT: [&str; 4] = ["update-index", "--force-remove", "-z", "--stdin"];
/// Arguments that put paths into the index as they are now, gone ones included.
pub(crate) const PUT_IN: [&str; 6] = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];

/// Paths beneath a worktree that differ from an index, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    /// Files that are there or gone.
    files: Vec<Vec<u8>>,
    /// Files in whose place a folder is now.
    replaced: Vec<Vec<u8>>,
}

impl Listing {
    /// Sorts out what git listed, names ended by NUL. A repository within the worktree is somebody
    /// else's, tracked or not, and left out.
    pub(crate) fn new(worktree: &Path, listed: &[u8]) -> Self {
        let mut names: Vec<&[u8]> = listed
            .split(|byte| *byte == 0)
            // A name that ends so is a repository that is not tracked.
            .filter(|name| !name.is_empty() && !name.ends_with(b"/"))
            .collect();
        // A deleted file is listed as modified too.
        names.sort_unstable();
        names.dedup();
        let mut listing = Self::default();
        for name in names {
            let path = worktree.join(OsStr::from_bytes(name));
            if !path.symlink_metadata().is_ok_and(|facts| facts.is_dir()) {
                listing.files.push(name.to_owned());
            } else if path.join(".git").symlink_metadata().is_err() {
                listing.replaced.push(name.to_owned());
            }
        }
        listing
    }

    /// What git reads from standard input, with the arguments it is to get, in order.
    pub(crate) fn steps(&self) -> Vec<(Vec<OsString>, Vec<u8>)> {
        let step =
            |arguments: &[&str], names: &[Vec<u8>]| (arguments.iter().map(OsString::from).collect(), ended(names));
        [step(&TAKE_OUT, &self.replaced), step(&PUT_IN, &self.files)]
            .into_iter()
            .filter(|(_, names): &(Vec<OsString>, Vec<u8>)| !names.is_empty())
            .collect()
    }

    /// Forgets these files.
    pub(crate) fn leave_out(&mut self, names: &BTreeSet<Vec<u8>>) {
        self.files.retain(|name| !names.contains(name));
    }

    /// The name of each file.
    pub(crate) fn names(&self) -> &[Vec<u8>] {
        &self.files
    }

    /// The names of the files, each ended by NUL.
    pub(crate) fn files(&self) -> Vec<u8> {
        ended(&self.files)
    }

    /// All paths, in order.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = self
            .files
            .iter()
            .chain(&self.replaced)
            .map(|name| OsStr::from_bytes(name).into())
            .collect();
        paths.sort();
        paths
    }
}

fn ended(names: &[Vec<u8>]) -> Vec<u8> {
    names.iter().flat_map(|name| name.iter().copied().chain([0])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_and_doubles_are_left_out_and_folders_replace() {
        let worktree = tempfile::tempdir().unwrap();
        for folder in ["module/.git", "was-a-file"] {
            sandbox::private_folder(&worktree.path().join(folder)).unwrap();
        }
        let listing = Listing::new(worktree.path(), b"b\0a\0other/\0b\0module\0was-a-file\0");
        assert_eq!(listing.files(), b"a\0b\0");
        assert_eq!(listing.paths(), ["a", "b", "was-a-file"].map(PathBuf::from));
        let steps = listing.steps();
        assert_eq!(steps.len(), 2);
        assert_eq!(steps[0].1, b"was-a-file\0");
        assert!(steps[0].0.contains(&"--force-remove".into()));
        assert_eq!(steps[1].1, b"a\0b\0");
        assert_eq!(Listing::new(worktree.path(), b"").steps(), []);
    }
}
