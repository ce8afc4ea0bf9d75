//! The checkout the tasks act on: where it is, and which files belong to it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::program;

/// The root folder of the workspace.
pub(crate) struct Checkout {
    root: PathBuf,
}

/// A text file of the checkout.
pub(crate) struct Page {
    /// Its path from the root, with `/` between the parts.
    pub(crate) path: String,
    /// What stands in it.
    pub(crate) text: String,
}

impl Checkout {
    /// The checkout this crate stands in.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let manifest =
            program::text(program::cargo().args(["locate-project", "--workspace", "--message-format=plain"]))?;
        let root = Path::new(manifest.trim())
            .parent()
            .context("the workspace manifest has no folder")?;
        Ok(Self { root: root.to_owned() })
    }

    /// The root folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path beneath the root.
    pub(crate) fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    /// Every file that is tracked or would be, in order; files that are not UTF-8 are left out.
    pub(crate) fn pages(&self) -> anyhow::Result<Vec<Page>> {
        let listing = program::text(
            Command::new("git")
                .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
                .current_dir(&self.root),
        )?;
        let mut paths: Vec<&str> = listing.split('\0').filter(|path| !path.is_empty()).collect();
        paths.sort_unstable();
        paths.dedup();
        Ok(paths
            .into_iter()
            .filter_map(|path| {
                let text = std::fs::read_to_string(self.at(path)).ok()?;
                Some(Page {
                    path: path.to_owned(),
                    text,
                })
            })
            .collect())
    }
}

impl Page {
    /// The file's own name.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether it is Rust.
    pub(crate) fn is_rust(&self) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|extension| extension == "rs")
    }

    /// Whether all of it is test code.
    pub(crate) fn is_test(&self) -> bool {
        let mut folders: Vec<&str> = self.path.split('/').collect();
        let name = folders.pop().unwrap_or_default();
        folders.contains(&"tests") || name == "tests.rs" || name.ends_with("_tests.rs")
    }

    /// The lines before the unit tests, which stand last in a file.
    pub(crate) fn lines_before_tests(&self) -> impl Iterator<Item = &str> {
        let end = if self.is_test() { 0 } else { usize::MAX };
        self.text.lines().take(end).take_while(|line| *line != "#[cfg(test)]")
    }
}

#[cfg(test)]
pub(crate) fn page(path: &str, text: &str) -> Page {
    Page {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_by_their_place() {
        for (path, expected) in [
            ("crates/store/src/row.rs", false),
            ("crates/store/src/row/tests.rs", true),
            ("crates/store/src/row_tests.rs", true),
            ("crates/store/tests/refold.rs", true),
            ("crates/store/src/contests.rs", false),
        ] {
            assert_eq!(page(path, "").is_test(), expected, "{path}");
        }
    }

    #[test]
    fn unit_tests_end_the_code_of_a_file() {
        let file = page("src/a.rs", "//! A.\nfn a() {}\n\n#[cfg(test)]\nmod tests {}\n");
        assert_eq!(
            file.lines_before_tests().collect::<Vec<_>>(),
            ["//! A.", "fn a() {}", ""]
        );
        assert_eq!(page("tests/a.rs", "fn a() {}\n").lines_before_tests().count(), 0);
    }

    #[test]
    fn this_file_is_among_the_pages() {
        let pages = Checkout::find().unwrap().pages().unwrap();
        assert!(pages.iter().any(|page| page.path == "xtask/src/checkout.rs"));
        assert!(!pages.iter().any(|page| page.path.starts_with("target/")));
    }
}
