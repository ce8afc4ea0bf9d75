//! Applying blocks to a text: one after another, each to what the one before left, all or none.
//! Line endings, byte order mark and the final line end stay as they were. Pure.

use super::blocks::Block;
use super::ladder::{Found, Rung, find, nearest};
use super::window::number;

const MARK: char = '\u{feff}';

/// Most lines of nearest text shown.
const NEAREST: usize = 60;

/// A text after all blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) text: String,
    /// Per block: first line replaced, in the text as it then was, from 1; and how it was found.
    pub(crate) found: Vec<(usize, Rung)>,
}

/// A line and its ending: `\n`, `\r\n` or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub(crate) text: &'a str,
    pub(crate) ending: &'a str,
}

/// The lines of a text.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    text.split_inclusive('\n')
        .map(|line| {
            let text = line
                .strip_suffix('\n')
                .map_or(line, |text| text.strip_suffix('\r').unwrap_or(text));
            Line {
                text,
                ending: line.get(text.len()..).unwrap_or_default(),
            }
        })
        .collect()
}

/// The ending most lines have.
pub(crate) fn usual_ending(lines: &[Line<'_>]) -> &'static str {
    let windows = lines.iter().filter(|line| line.ending == "\r\n").count();
    if windows * 2 > lines.len() { "\r\n" } else { "\n" }
}

/// A new text for an old file, with the old one's byte order mark, and its line endings where all
/// its lines end in `\r\n`.
pub(crate) fn dressed(old: &str, new: &str) -> String {
    let mark = if old.starts_with(MARK) && !new.starts_with(MARK) {
        MARK.to_string()
    } else {
        String::new()
    };
    let old = lines(old);
    let windows = !old.is_empty() && old.iter().all(|line| line.ending != "\n") && usual_ending(&old) == "\r\n";
    let body = if windows && !new.contains("\r\n") {
        new.replace('\n', "\r\n")
    } else {
        new.to_owned()
    };
    mark + &body
}

/// Applies all blocks, or says which one could not be and shows the nearest text.
pub(crate) fn apply(text: &str, blocks: &[Block]) -> Result<Edited, String> {
    let mark = if text.starts_with(MARK) {
        MARK.to_string()
    } else {
        String::new()
    };
    let mut now = text.trim_start_matches(MARK).to_owned();
    let mut found = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let (next, at, rung) = apply_one(&now, block, Several::Refused).map_err(|why| {
            let which = if blocks.len() > 1 {
                format!("block {}: ", index + 1)
            } else {
                String::new()
            };
            format!("{which}{why}")
        })?;
        now = next;
        found.push((at + 1, rung));
    }
    Ok(Edited {
        text: mark + &now,
        found,
    })
}

/// What several matches of one block are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Several {
    /// None: nobody said which is meant.
    Refused,
    /// The first one: the text begins where it is meant.
    FirstCounts,
}

/// Applies one block: the new text, the index of the first line replaced, and how it was found.
pub(crate) fn apply_one(text: &str, block: &Block, several: Several) -> Result<(String, usize, Rung), String> {
    let lines = lines(text);
    let texts: Vec<&str> = lines.iter().map(|line| line.text).collect();
    let search: Vec<&str> = block.search.iter().map(String::as_str).collect();
    if search.is_empty() {
        return Err("SEARCH is empty; to write a whole file use write_to_file".to_owned());
    }
    let (at, rung) = match find(&texts, &search) {
        Found::Once { at, rung } => (at, rung),
        Found::Several { at, rung } => match (several, at.first()) {
            (Several::FirstCounts, Some(first)) => (*first, rung),
            _ => return Err(ambiguous(&at)),
        },
        Found::Nowhere => return Err(not_found(&texts, &search)),
    };
    let (before, rest) = lines.split_at_checked(at).unwrap_or((&lines, &[]));
    let (matched, after) = rest.split_at_checked(search.len()).unwrap_or((rest, &[]));
    let usual = usual_ending(&lines);
    let ending = matched
        .first()
        .map_or(usual, |line| if line.ending.is_empty() { usual } else { line.ending });
    let mut edited = String::with_capacity(text.len());
    for line in before {
        edited.push_str(line.text);
        edited.push_str(line.ending);
    }
    let shift = Shift::between(&search, matched, rung);
    for line in &block.replace {
        edited.push_str(&shift.moved(line));
        edited.push_str(ending);
    }
    for line in after {
        edited.push_str(line.text);
        edited.push_str(line.ending);
    }
    Ok((with_final_ending_of(text, edited), at, rung))
}

/// The edited text with a final line end exactly if the old text had one.
pub(crate) fn with_final_ending_of(old: &str, mut edited: String) -> String {
    if !old.ends_with('\n') && edited.ends_with('\n') {
        edited.pop();
        if edited.ends_with('\r') {
            edited.pop();
        }
    }
    edited
}

/// How far the file is indented beyond what was sought: put before each line that is put in.
struct Shift<'a> {
    sought: &'a str,
    stands: &'a str,
}

impl<'a> Shift<'a> {
    /// The one shift that all matched lines share; none when the match did not forgive
    /// indentation or the lines disagree.
    fn between(search: &[&'a str], matched: &[Line<'a>], rung: Rung) -> Shift<'a> {
        let none = Shift { sought: "", stands: "" };
        if rung < Rung::BothEnds {
            return none;
        }
        let mut pairs = search
            .iter()
            .zip(matched)
            .filter(|(sought, _)| !sought.trim().is_empty())
            .map(|(sought, line)| (indentation(sought), indentation(line.text)));
        let Some((sought, stands)) = pairs.next() else {
            return none;
        };
        let agree = pairs.all(|(other_sought, other_stands)| {
            match (other_sought.strip_prefix(sought), other_stands.strip_prefix(stands)) {
                (Some(deeper_sought), Some(deeper_stands)) => deeper_sought == deeper_stands,
                _ => false,
            }
        });
        if agree { Shift { sought, stands } } else { none }
    }

    fn moved(&self, line: &str) -> String {
        match line.strip_prefix(self.sought) {
            Some(rest) if !line.trim().is_empty() => format!("{}{rest}", self.stands),
            _ => line.to_owned(),
        }
    }
}

fn indentation(line: &str) -> &str {
    line.get(..line.len() - line.trim_start().len()).unwrap_or_default()
}

fn ambiguous(at: &[usize]) -> String {
    let shown: Vec<String> = at.iter().take(10).map(|index| (index + 1).to_string()).collect();
    let more = if at.len() > shown.len() { ", …" } else { "" };
    format!(
        "SEARCH stands in {} places (from lines {}{more}); add neighbouring lines until it stands in one",
        at.len(),
        shown.join(", ")
    )
}

fn not_found(lines: &[&str], search: &[&str]) -> String {
    let Some((start, count)) = nearest(lines, search) else {
        return "SEARCH stands nowhere in the file, and nothing is like it; read the file again".to_owned();
    };
    let mut shown = String::new();
    for (index, line) in lines.iter().enumerate().skip(start).take(count.min(NEAREST)) {
        number(&mut shown, index + 1, line);
    }
    format!(
        "SEARCH stands nowhere in the file; whole lines are compared. The nearest text:\n{}",
        shown.trim_end()
    )
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
