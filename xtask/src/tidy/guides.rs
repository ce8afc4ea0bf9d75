//! The two pages for whoever works here stay short enough to be read.

use crate::checkout::Page;

const GUIDES: &[&str] = &["AGENTS.md", "CONTRIBUTING.md"];
const MOST_LINES: usize = 60;

/// A sentence for each guide that is missing or too long.
pub(crate) fn check(pages: &[Page]) -> Vec<String> {
    GUIDES
        .iter()
        .filter_map(|guide| match pages.iter().find(|page| page.path == *guide) {
            None => Some(format!("{guide} is missing")),
            Some(page) => {
                let lines = page.text.lines().count();
                (lines > MOST_LINES).then(|| format!("{guide} has {lines} lines; {MOST_LINES} are enough"))
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkout::page;

    #[test]
    fn sixty_lines_are_enough() {
        let pages = [
            page("AGENTS.md", &"a\n".repeat(60)),
            page("docs/CONTRIBUTING.md", "elsewhere"),
        ];
        assert_eq!(check(&pages), ["CONTRIBUTING.md is missing"]);
        let pages = [page("AGENTS.md", &"a\n".repeat(61)), page("CONTRIBUTING.md", "")];
        assert_eq!(check(&pages), ["AGENTS.md has 61 lines; 60 are enough"]);
    }
}
