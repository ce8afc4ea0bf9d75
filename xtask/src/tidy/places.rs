//! The repository stands alone: it does not say where somebody keeps a checkout of it.

use std::path::Path;

use crate::checkout::Page;

/// First folders that every system has, or every machine that only builds: to name one of them tells nothing.
const COMMON: &[&str] = &[
    "app",
    "bin",
    "boot",
    "build",
    "builds",
    "code",
    "dev",
    "etc",
    "home",
    "lib",
    "media",
    "mnt",
    "opt",
    "proc",
    "repo",
    "root",
    "run",
    "sbin",
    "src",
    "srv",
    "sys",
    "tmp",
    "usr",
    "var",
    "workspace",
];

/// A sentence for each line that names this checkout or the folder around it.
pub(crate) fn check(pages: &[Page], root: &Path) -> Vec<String> {
    let places: Vec<String> = [Some(root), root.parent()]
        .into_iter()
        .flatten()
        .filter_map(telling)
        .collect();
    let mut problems = Vec::new();
    for page in pages {
        for (number, line) in page.text.lines().enumerate() {
            if places.iter().any(|place| names(line, place)) {
                problems.push(format!("{}:{} names a place of this machine", page.path, number + 1));
            }
        }
    }
    problems
}

/// The folder as text with a slash at its end, unless every system has it.
fn telling(folder: &Path) -> Option<String> {
    let text = folder.to_str()?;
    let inner = text.strip_prefix('/')?;
    (!inner.is_empty() && !COMMON.contains(&inner)).then(|| format!("{text}/"))
}

/// Whether the place stands in the line by itself, not as the end of a longer path.
fn names(line: &str, place: &str) -> bool {
    line.match_indices(place).any(|(at, _)| {
        let before = line.get(..at).unwrap_or_default();
        !before.ends_with(|last: char| last.is_alphanumeric() || "_-.})/$*".contains(last))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkout::page;

    #[test]
    fn a_place_of_this_machine_is_told_wherever_it_stands() {
        let pages = [
            page("a.rs", "let a = 1;\nlet root = \"/den/stance/x\";\n"),
            page("b.md", "see /den/notes/page.md and crates/den/stance/x\n"),
            page("c.md", "crates/den/src and {}/den/src and ./den/\n"),
        ];
        assert_eq!(
            check(&pages, Path::new("/den/stance")),
            [
                "a.rs:2 names a place of this machine",
                "b.md:1 names a place of this machine"
            ]
        );
    }

    #[test]
    fn what_every_system_has_is_no_place_of_this_machine() {
        let pages = [page("a.md", "/tmp/x /home/x /app/x /den/x")];
        assert_eq!(check(&pages, Path::new("/tmp/stance")), Vec::<String>::new());
        assert_eq!(check(&pages, Path::new("/home/alice")), Vec::<String>::new());
        assert_eq!(check(&pages, Path::new("/app")), Vec::<String>::new());
        assert_eq!(
            check(&pages, Path::new("/den")),
            ["a.md:1 names a place of this machine"]
        );
    }
}
