//! What every source file keeps to: its first line, its name, its length.

use super::settings::{Long, Settings};
use crate::checkout::Page;

/// Past this many lines of code a file is getting long.
const LONG: usize = 400;
/// Past this many it is too long, unless it is listed.
const TOO_LONG: usize = 600;
/// Names that say nothing of what is inside.
const EMPTY_NAMES: &[&str] = &[
    "utils", "util", "common", "manager", "helper", "helpers", "service", "misc",
];

/// A sentence for each file that breaks a rule, and for each listed exception that none needs.
pub(crate) fn check(pages: &[Page], settings: &Settings) -> Vec<String> {
    let sources = || pages.iter().filter(|page| page.is_rust());
    let broken = sources().flat_map(|page| {
        [
            first_line(page),
            name(page),
            ignored(page),
            length(page, &settings.long),
        ]
        .into_iter()
        .flatten()
    });
    let not_long = |long: &&Long| !sources().any(|page| page.path == long.file && code_lines(page) > TOO_LONG);
    let left = settings
        .long
        .iter()
        .filter(not_long)
        .map(|long| format!(".config/tidy.toml lists {} as long, which it is not", long.file));
    broken.chain(left).collect()
}

/// What is not wrong yet: files between the two limits, and the listed exceptions.
pub(crate) fn notes(pages: &[Page], settings: &Settings) -> Vec<String> {
    let long = pages
        .iter()
        .filter(|page| page.is_rust())
        .map(|page| (page, code_lines(page)))
        .filter(|(_, lines)| (LONG + 1..=TOO_LONG).contains(lines))
        .map(|(page, lines)| format!("{} has {lines} lines of code; {LONG} are a good length", page.path));
    let listed = settings
        .long
        .iter()
        .map(|long| format!("{} is listed as long since {}: {}", long.file, long.since, long.reason));
    long.chain(listed).collect()
}

fn first_line(page: &Page) -> Option<String> {
    let first = page.text.lines().next().unwrap_or_default();
    (!first.starts_with("//! ")).then(|| format!("{} does not begin with `//!` and its job", page.path))
}

fn name(page: &Page) -> Option<String> {
    if page.name() == "mod.rs" {
        return Some(format!("{}: a module is named after itself, not mod.rs", page.path));
    }
    let stem = page.name().strip_suffix(".rs")?;
    let words = || stem.split('_').chain(page.path.split('/'));
    let empty = words().find(|word| EMPTY_NAMES.contains(word))?;
    Some(format!("{}: `{empty}` says nothing of what is inside", page.path))
}

fn ignored(page: &Page) -> Option<String> {
    let line = page
        .text
        .lines()
        .position(|line| line.trim_start().starts_with("#[ignore"))?;
    Some(format!(
        "{}:{}: a test that is ignored proves nothing",
        page.path,
        line + 1
    ))
}

fn length(page: &Page, listed: &[Long]) -> Option<String> {
    let lines = code_lines(page);
    (lines > TOO_LONG && !listed.iter().any(|long| long.file == page.path)).then(|| {
        format!(
            "{} has {lines} lines of code; past {TOO_LONG} it is split, or listed with a reason",
            page.path
        )
    })
}

/// Lines that are code: no tests, no comments, no blank lines.
fn code_lines(page: &Page) -> usize {
    page.lines_before_tests()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkout::page;

    fn problems(path: &str, text: &str) -> Vec<String> {
        check(&[page(path, text)], &Settings::default())
    }

    #[test]
    fn a_file_begins_with_its_job() {
        assert_eq!(problems("a/src/row.rs", "//! A row.\n"), Vec::<String>::new());
        let expected = ["a/src/row.rs does not begin with `//!` and its job"];
        assert_eq!(problems("a/src/row.rs", "use std::fmt;\n//! A row.\n"), expected);
        assert_eq!(problems("a/src/row.rs", ""), expected);
        assert_eq!(problems("a/notes.md", ""), Vec::<String>::new());
    }

    #[test]
    fn names_say_what_is_inside() {
        for (path, expected) in [
            ("a/src/commonwealth.rs", None),
            (
                "a/src/path_utils.rs",
                Some("a/src/path_utils.rs: `utils` says nothing of what is inside"),
            ),
            (
                "a/src/common/row.rs",
                Some("a/src/common/row.rs: `common` says nothing of what is inside"),
            ),
            (
                "a/src/row/mod.rs",
                Some("a/src/row/mod.rs: a module is named after itself, not mod.rs"),
            ),
        ] {
            let expected: Vec<&str> = expected.into_iter().collect();
            assert_eq!(problems(path, "//! A row.\n"), expected);
        }
    }

    #[test]
    fn no_test_is_ignored() {
        let text = "//! A row.\n#[test]\n    #[ignore = \"slow\"]\nfn a() {}\n";
        assert_eq!(
            problems("a/tests/row.rs", text),
            ["a/tests/row.rs:3: a test that is ignored proves nothing"]
        );
    }

    #[test]
    fn only_code_makes_a_file_long() {
        let long = |code: usize| {
            let text = format!(
                "//! A row.\n\n{}{}#[cfg(test)]\n{}",
                "a();\n".repeat(code),
                "// why\n\n".repeat(900),
                "b();\n".repeat(900)
            );
            page("a.rs", &text)
        };
        let none = Settings::default;
        assert_eq!(notes(&[long(400)], &none()), Vec::<String>::new());
        assert_eq!(
            notes(&[long(401)], &none()),
            ["a.rs has 401 lines of code; 400 are a good length"]
        );
        assert_eq!(check(&[long(600)], &none()), Vec::<String>::new());
        assert_eq!(
            check(&[long(601)], &none()),
            ["a.rs has 601 lines of code; past 600 it is split, or listed with a reason"]
        );
        let listed = || toml::from_str("[[long]]\nfile = 'a.rs'\nsince = 2030-01-02\nreason = 'one table'\n").unwrap();
        assert_eq!(check(&[long(601)], &listed()), Vec::<String>::new());
        assert_eq!(
            notes(&[long(601)], &listed()),
            ["a.rs is listed as long since 2030-01-02: one table"]
        );
        assert_eq!(
            check(&[long(600)], &listed()),
            [".config/tidy.toml lists a.rs as long, which it is not"]
        );
    }
}
