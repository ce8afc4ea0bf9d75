//! Lints are lifted for a reason that is written down; a ban is lifted in listed files alone. Test code is free.

use super::settings::Settings;
use crate::checkout::Page;

/// A sentence for each lint lifted without a reason, each ban lifted in a file that is not listed, and each listed
/// file that lifts none.
pub(crate) fn check(pages: &[Page], settings: &Settings) -> Vec<String> {
    let mut problems = Vec::new();
    let mut lifting = Vec::new();
    for page in pages.iter().filter(|page| page.is_rust()) {
        let lifts: Vec<String> = attributes(page)
            .into_iter()
            .filter(|attribute| lifts(attribute))
            .collect();
        if lifts.iter().any(|attribute| !attribute.contains("reason=")) {
            problems.push(format!("{} lifts a lint without a reason", page.path));
        }
        if lifts.iter().any(|attribute| attribute.contains("clippy::disallowed_")) {
            lifting.push(page.path.as_str());
        }
    }
    let listed = |path: &str| {
        settings
            .lifted
            .iter()
            .any(|lifted| lifted.file == path && !lifted.reason.is_empty())
    };
    for path in lifting.iter().filter(|path| !listed(path)) {
        problems.push(format!(
            "{path} lifts a ban of its room: take another way, or list it in .config/tidy.toml"
        ));
    }
    for lifted in settings
        .lifted
        .iter()
        .filter(|lifted| !lifting.contains(&lifted.file.as_str()))
    {
        problems.push(format!(".config/tidy.toml lists {}, which lifts no ban", lifted.file));
    }
    problems
}

/// Whether an attribute lifts a lint outside of test builds.
fn lifts(attribute: &str) -> bool {
    !attribute.starts_with("cfg_attr(test,") && (attribute.contains("allow(") || attribute.contains("expect("))
}

/// The attributes of the code before the tests, without white space and without `#[` and `]`.
fn attributes(page: &Page) -> Vec<String> {
    let mut attributes = Vec::new();
    let mut open: Option<String> = None;
    for line in page.lines_before_tests().map(str::trim) {
        let begun = line.strip_prefix("#![").or_else(|| line.strip_prefix("#["));
        let text = match (open.take(), begun) {
            (Some(earlier), _) => earlier + line,
            (None, Some(begun)) => begun.to_owned(),
            (None, None) => continue,
        };
        match whole(&text) {
            Some(attribute) => attributes.push(attribute.split_whitespace().collect()),
            None => open = Some(text),
        }
    }
    attributes
}

/// The text before the bracket that closes an attribute, if it has come.
fn whole(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' if depth == 0 => return text.get(..at),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkout::page;

    fn problems(text: &str, settings: &str) -> Vec<String> {
        check(&[page("a/src/row.rs", text)], &toml::from_str(settings).unwrap())
    }

    const LISTED: &str = "[[lifted]]\nfile = 'a/src/row.rs'\nreason = 'the clock'\n";

    #[test]
    fn test_builds_may_lift_what_they_like() {
        let text = "//! A.\n#![cfg_attr(\n    test,\n    allow(\n        clippy::disallowed_types,\n    )\n)]\nfn a() {}\n\
                    #[cfg(test)]\nmod tests {\n    #[allow(clippy::disallowed_methods)]\n    fn a() {}\n}\n";
        assert_eq!(problems(text, ""), Vec::<String>::new());
    }

    #[test]
    fn a_ban_is_lifted_in_listed_files_alone() {
        let text = "//! A.\n#![expect(\n    clippy::disallowed_methods,\n    reason = \"the clock\"\n)]\n";
        let expected = "a/src/row.rs lifts a ban of its room: take another way, or list it in .config/tidy.toml";
        assert_eq!(problems(text, ""), [expected]);
        assert_eq!(problems(text, LISTED), Vec::<String>::new());
        assert_eq!(
            problems("//! A.\n", LISTED),
            [".config/tidy.toml lists a/src/row.rs, which lifts no ban"]
        );
    }

    #[test]
    fn a_lint_is_lifted_with_its_reason() {
        let expected = ["a/src/row.rs lifts a lint without a reason"];
        assert_eq!(
            problems("//! A.\n#[allow(clippy::too_many_lines)]\nfn a() {}\n", ""),
            expected
        );
        assert_eq!(
            problems("//! A.\n#[cfg_attr(unix, expect(dead_code))]\nfn a() {}\n", ""),
            expected
        );
        let reasoned = "//! A.\n#[expect(dead_code, reason = \"[one] of two\")]\nfn a() {}\n";
        assert_eq!(problems(reasoned, ""), Vec::<String>::new());
        assert_eq!(
            problems("//! A.\n#[derive(Clone)]\nstruct A;\n", ""),
            Vec::<String>::new()
        );
    }
}
