//! The ladder an edit climbs to find the lines it replaces. Each rung forgives more than the one
//! before, and every match of a rung is a match of the next: the first rung with a match decides,
//! and only a single match counts. Pure.

use std::borrow::Cow;

/// How much a match forgives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rung {
    /// Nothing.
    Exact,
    /// Spaces at the ends of lines.
    TrailingSpace,
    /// Spaces at both ends of lines: indentation.
    BothEnds,
    /// Typographic quotes, dashes and spaces too.
    Punctuation,
}

impl Rung {
    const ALL: [Rung; 4] = [Rung::Exact, Rung::TrailingSpace, Rung::BothEnds, Rung::Punctuation];

    /// A line as this rung sees it.
    fn sees(self, line: &str) -> Cow<'_, str> {
        match self {
            Rung::Exact => line.into(),
            Rung::TrailingSpace => line.trim_end().into(),
            Rung::BothEnds => line.trim().into(),
            Rung::Punctuation => line.trim().chars().map(plain).collect::<String>().into(),
        }
    }

    /// What was forgiven, for the model.
    pub(crate) const fn forgave(self) -> Option<&'static str> {
        match self {
            Rung::Exact => None,
            Rung::TrailingSpace => Some("spaces at line ends"),
            Rung::BothEnds => Some("indentation"),
            Rung::Punctuation => Some("typographic characters"),
        }
    }
}

/// Typographic characters as a keyboard writes them.
fn plain(character: char) -> char {
    match character {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201b}' | '\u{2032}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' => '"',
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}

/// Where lines were found. Indexes count from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    Once { at: usize, rung: Rung },
    Several { at: Vec<usize>, rung: Rung },
    Nowhere,
}

/// Climbs the ladder for `wanted` within `lines`. Nothing wanted is found nowhere.
pub(crate) fn find(lines: &[&str], wanted: &[&str]) -> Found {
    if wanted.is_empty() || wanted.len() > lines.len() {
        return Found::Nowhere;
    }
    for rung in Rung::ALL {
        let seen: Vec<Cow<'_, str>> = lines.iter().map(|line| rung.sees(line)).collect();
        let sought: Vec<Cow<'_, str>> = wanted.iter().map(|line| rung.sees(line)).collect();
        let at: Vec<usize> = seen
            .windows(sought.len())
            .enumerate()
            .filter(|(_, part)| *part == sought.as_slice())
            .map(|(index, _)| index)
            .collect();
        match at.as_slice() {
            [] => {}
            [only] => return Found::Once { at: *only, rung },
            _ => return Found::Several { at, rung },
        }
    }
    Found::Nowhere
}

/// The lines most like those wanted: first index and count. None when nothing is alike.
pub(crate) fn nearest(lines: &[&str], wanted: &[&str]) -> Option<(usize, usize)> {
    let mut best: Option<(usize, usize)> = None;
    let words: Vec<Vec<&str>> = wanted.iter().map(|line| words_of(line)).collect();
    // The longest wanted line tells the most; the window is laid where it fits best.
    let (telling, telling_words) = words.iter().enumerate().max_by_key(|(_, words)| words.len())?;
    for (index, line) in lines.iter().enumerate() {
        let of_line = words_of(line);
        let shared = telling_words.iter().filter(|word| of_line.contains(word)).count();
        let score = (shared * 200)
            .checked_div(telling_words.len() + of_line.len())
            .unwrap_or(0);
        if best.is_none_or(|(highest, _)| score > highest) {
            best = Some((score, index));
        }
    }
    let (score, index) = best?;
    if score < 40 {
        return None;
    }
    let start = index.saturating_sub(telling);
    Some((start, wanted.len().min(lines.len() - start)))
}

fn words_of(line: &str) -> Vec<&str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .take(64)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn once(at: usize, rung: Rung) -> Found {
        Found::Once { at, rung }
    }

    #[test]
    fn each_rung_forgives_what_it_says() {
        let lines = ["fn a() {", "    let x = \"one\";  ", "    say(x);", "}"];
        assert_eq!(find(&lines, &["    say(x);"]), once(2, Rung::Exact));
        assert_eq!(find(&lines, &["    let x = \"one\";"]), once(1, Rung::TrailingSpace));
        assert_eq!(find(&lines, &["let x = \"one\";", "say(x);"]), once(1, Rung::BothEnds));
        assert_eq!(
            find(&lines, &["let\u{a0}x = \u{201c}one\u{201d};"]),
            once(1, Rung::Punctuation)
        );
        assert_eq!(find(&lines, &["let x = 'one';"]), Found::Nowhere);
        assert_eq!(find(&lines, &[]), Found::Nowhere);
    }

    #[test]
    fn an_exact_match_wins_over_looser_ones_and_a_looser_rung_never_breaks_a_tie() {
        assert_eq!(find(&["  a", "a", "a  "], &["a"]), once(1, Rung::Exact));
        assert_eq!(
            find(&["a", "a", "  b"], &["a"]),
            Found::Several {
                at: vec![0, 1],
                rung: Rung::Exact
            }
        );
        assert_eq!(
            find(&["  b", "\tb"], &["b"]),
            Found::Several {
                at: vec![0, 1],
                rung: Rung::BothEnds
            }
        );
    }

    #[test]
    fn the_nearest_lines_are_those_that_share_words() {
        let lines = [
            "use a;",
            "fn price(of: Item) -> u64 {",
            "    of.amount * of.cents",
            "}",
            "fn other() {}",
        ];
        assert_eq!(
            nearest(&lines, &["fn price(item: Item) -> u64 {", "  item.amount"]),
            Some((1, 2))
        );
        assert_eq!(nearest(&lines, &["    of.amount * of.price"]), Some((2, 1)));
        assert_eq!(nearest(&lines, &["nothing like it"]), None);
        assert_eq!(nearest(&[], &["a"]), None);
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            "[ab]{0,2}",
            "[ \t]{0,2}[ab][ ]{0,2}",
            Just("\u{201c}a\u{201d}".to_owned()),
            Just("\"a\"".to_owned())
        ]
    }

    fn at_rung(rung: Rung, lines: &[&str], wanted: &[&str]) -> Vec<usize> {
        (0..=lines.len().saturating_sub(wanted.len()))
            .filter(|start| {
                lines.len() >= wanted.len()
                    && wanted
                        .iter()
                        .enumerate()
                        .all(|(i, one)| rung.sees(lines[start + i]) == rung.sees(one))
            })
            .collect()
    }

    proptest! {
        #[test]
        fn the_first_rung_with_a_match_decides(
            lines in proptest::collection::vec(line(), 0..8),
            wanted in proptest::collection::vec(line(), 1..3),
        ) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
            let exact = at_rung(Rung::Exact, &lines, &wanted);
            match find(&lines, &wanted) {
                Found::Once { at, rung } => {
                    prop_assert_eq!(at_rung(rung, &lines, &wanted), vec![at]);
                    for lower in Rung::ALL.into_iter().filter(|lower| *lower < rung) {
                        prop_assert!(at_rung(lower, &lines, &wanted).is_empty());
                    }
                }
                Found::Several { at, rung } => {
                    prop_assert!(at.len() > 1);
                    prop_assert_eq!(at_rung(rung, &lines, &wanted), at);
                    prop_assert!(exact.len() != 1);
                }
                Found::Nowhere => {
                    prop_assert!(at_rung(Rung::Punctuation, &lines, &wanted).is_empty());
                }
            }
            if let [only] = exact.as_slice() {
                prop_assert_eq!(find(&lines, &wanted), once(*only, Rung::Exact));
            }
        }

        #[test]
        fn a_match_of_a_rung_is_a_match_of_the_next(one in line(), other in line()) {
            for pair in Rung::ALL.windows(2) {
                if pair[0].sees(&one) == pair[0].sees(&other) {
                    prop_assert_eq!(pair[1].sees(&one), pair[1].sees(&other));
                }
            }
        }
    }
}
