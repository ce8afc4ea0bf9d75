//! What a tree's ignore files say of a path. Opens nothing: whoever walks hands in the texts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The ignore rules of a folder and those above it.
#[derive(Debug)]
pub struct Ignores {
    /// The folder, beneath the worktree; empty for the worktree itself.
    folder: PathBuf,
    rules: Gitignore,
    above: Option<Arc<Ignores>>,
}

impl Ignores {
    /// The rules of a folder over those above it. A later text is stronger; a line that is no pattern
    /// ignores nothing.
    pub fn layered(folder: &Path, texts: &[String], above: Option<Arc<Ignores>>) -> Option<Arc<Ignores>> {
        if texts.is_empty() {
            return above;
        }
        let mut builder = GitignoreBuilder::new("");
        for line in texts.iter().flat_map(|text| text.lines()) {
            let _ = builder.add_line(None, line);
        }
        match builder.build() {
            Ok(rules) => Some(Arc::new(Ignores {
                folder: folder.to_owned(),
                rules,
                above,
            })),
            Err(_) => above,
        }
    }

    /// Whether a path beneath the worktree is ignored: the deepest rule that speaks of it decides.
    pub fn ignores(&self, path: &Path, is_folder: bool) -> bool {
        let relative = path.strip_prefix(&self.folder).unwrap_or(path);
        match (self.rules.matched(relative, is_folder), &self.above) {
            (Match::Ignore(_), _) => true,
            (Match::None, Some(above)) => above.ignores(path, is_folder),
            (Match::Whitelist(_) | Match::None, _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_rule_decides() {
        let root = Ignores::layered(Path::new(""), &["*.log\nbuild/\n".to_owned()], None);
        let deep = Ignores::layered(Path::new("a"), &["!keep.log\n".to_owned()], root.clone()).unwrap();
        let root = root.unwrap();
        for (path, folder, ignored) in [
            ("x.log", false, true),
            ("a/x.log", false, true),
            ("a/keep.log", false, false),
            ("build", true, true),
            ("build", false, false),
            ("src", true, false),
        ] {
            assert_eq!(deep.ignores(Path::new(path), folder), ignored, "{path}");
        }
        assert!(root.ignores(Path::new("a/keep.log"), false));
    }
}
