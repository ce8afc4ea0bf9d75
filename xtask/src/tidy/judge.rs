//! Calls are judged in one place: outside of `modes`, its `judge` is named only where a turn judges and where a person
//! asks how a call would be judged.

use crate::checkout::Page;

const PLACES: &[&str] = &["crates/engine/src/turn/judge.rs", "crates/engine/src/explain.rs"];

/// A sentence for each other file that names it.
pub(crate) fn check(pages: &[Page]) -> Vec<String> {
    pages
        .iter()
        .filter(|page| page.is_rust() && page.path.starts_with("crates/") && !page.path.starts_with("crates/modes/"))
        .filter(|page| !PLACES.contains(&page.path.as_str()) && names_judge(page))
        .map(|page| {
            format!(
                "{} names `modes::judge`: calls are judged in {} alone",
                page.path,
                PLACES.join(" and ")
            )
        })
        .collect()
}

fn names_judge(page: &Page) -> bool {
    let code: String = page
        .lines_before_tests()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    code.split("modes::")
        .skip(1)
        .any(|after| match after.strip_prefix('{') {
            Some(list) => words(list.split('}').next().unwrap_or_default()).any(|word| word == "judge"),
            None => words(after).next() == Some("judge"),
        })
}

/// The identifiers of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkout::page;

    #[test]
    fn the_judge_is_named_in_its_places_alone() {
        for (path, text, expected) in [
            (
                "crates/tools/src/a.rs",
                "let x = modes::judge(&spec, call, None);",
                true,
            ),
            ("crates/tools/src/a.rs", "use modes::{\n    Permit, judge,\n};", true),
            ("crates/tools/src/a.rs", "use modes::judge as decide;", true),
            (
                "crates/tools/src/a.rs",
                "use modes::{Judged, Permit};\nmod judge;",
                false,
            ),
            (
                "crates/tools/src/a.rs",
                "// as modes::judge says\nuse modes::judged;",
                false,
            ),
            (
                "crates/engine/src/turn/judge.rs",
                "modes::judge(&spec, call, None)",
                false,
            ),
            (
                "crates/engine/src/turn/perform.rs",
                "modes::judge(&spec, call, None)",
                true,
            ),
            ("crates/modes/tests/laws.rs", "modes::judge(&spec, call, None)", false),
        ] {
            assert_eq!(!check(&[page(path, text)]).is_empty(), expected, "{path}: {text}");
        }
    }
}
