//! Sets of names with wildcards, parted once by how a name is held against them: every word of a line
//! is. Knows no list.

use std::collections::BTreeSet;

/// Names and patterns of names. `*` stands for any text: at an end of a pattern for some, in the middle
/// for some or none.
pub(crate) struct Names {
    exact: BTreeSet<&'static str>,
    patterns: Vec<Pattern>,
}

struct Pattern {
    start: &'static str,
    middle: &'static str,
    end: &'static str,
    shortest: usize,
}

impl Names {
    /// Takes a list of names with up to two wildcards each.
    pub(crate) fn of(list: &[&'static str]) -> Names {
        let (patterns, exact): (Vec<&str>, Vec<&str>) = list.iter().copied().partition(|name| name.contains('*'));
        Names {
            exact: exact.into_iter().collect(),
            patterns: patterns.into_iter().map(Pattern::of).collect(),
        }
    }

    pub(crate) fn hold(&self, name: &str) -> bool {
        self.exact.contains(name) || self.patterns.iter().any(|pattern| pattern.meets(name))
    }
}

impl Pattern {
    fn of(pattern: &'static str) -> Pattern {
        let (start, rest) = pattern.split_once('*').unwrap_or((pattern, ""));
        let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
        let more = usize::from(start.is_empty() != end.is_empty());
        Pattern {
            start,
            middle,
            end,
            shortest: start.len() + middle.len() + end.len() + more,
        }
    }

    fn meets(&self, name: &str) -> bool {
        name.len() >= self.shortest
            && name.starts_with(self.start)
            && name.ends_with(self.end)
            && (self.middle.is_empty() || name.contains(self.middle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stand_for_text() {
        let names = Names::of(&[".env", ".env.*", "*.pem", "*.tfstate.*", "account*.json"]);
        for held in [
            ".env",
            ".env.x",
            "a.pem",
            "x.tfstate.y",
            "account.json",
            "account-1.json",
        ] {
            assert!(names.hold(held), "{held}");
        }
        for other in [
            "",
            ".env.",
            ".pem",
            "x.tfstate",
            "a.pem.md",
            "account.jso",
            "my-account.json",
            "env",
        ] {
            assert!(!names.hold(other), "{other}");
        }
    }
}
