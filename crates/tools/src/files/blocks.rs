//! Reading SEARCH/REPLACE blocks. Knows no file.

/// One replacement of whole lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// The lines sought.
    pub(crate) search: Vec<String>,
    /// The lines that take their place.
    pub(crate) replace: Vec<String>,
}

/// What a line of a diff is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Search,
    Divide,
    Replace,
}

/// How a block looks, for errors.
pub(crate) const SHAPE: &str =
    "------- SEARCH\nthe lines as they are\n=======\nthe lines as they shall be\n+++++++ REPLACE";

/// Reads all blocks of a diff. Text outside of blocks, but for blank lines and code fences, is an
/// error: it would be a block that went wrong.
pub(crate) fn blocks(diff: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    let mut open: Option<(Block, bool)> = None;
    for (index, line) in diff.lines().enumerate() {
        let fault = |what: &str| {
            Err(format!(
                "line {} of `diff`: {what}. A block looks so:\n{SHAPE}",
                index + 1
            ))
        };
        match (mark(line), open.take()) {
            (Some(Mark::Search), None) => {
                let empty = Block {
                    search: Vec::new(),
                    replace: Vec::new(),
                };
                open = Some((empty, false));
            }
            (Some(Mark::Search), Some(_)) => return fault("a SEARCH begins inside a block"),
            (Some(Mark::Divide), Some((block, false))) => open = Some((block, true)),
            (Some(Mark::Divide), Some((_, true))) => {
                return fault(
                    "a second ======= in one block; such a line cannot be edited this way, use write_to_file",
                );
            }
            (Some(Mark::Replace), Some((block, true))) => blocks.push(block),
            (Some(Mark::Replace), Some((_, false))) => return fault("REPLACE without a ======= before it"),
            (Some(Mark::Divide | Mark::Replace), None) => return fault("no SEARCH stands before it"),
            (None, Some((mut block, divided))) => {
                let side = if divided { &mut block.replace } else { &mut block.search };
                side.push(line.to_owned());
                open = Some((block, divided));
            }
            (None, None) if line.trim().is_empty() || line.starts_with("```") => {}
            (None, None) => return fault("text outside of a block"),
        }
    }
    match (open, blocks.is_empty()) {
        (Some(_), _) => Err(format!(
            "the last block of `diff` has no end. A block looks so:\n{SHAPE}"
        )),
        (None, true) => Err(format!("`diff` holds no block. A block looks so:\n{SHAPE}")),
        (None, false) => Ok(blocks),
    }
}

fn mark(line: &str) -> Option<Mark> {
    let line = line.trim_end();
    if line == "=======" {
        return Some(Mark::Divide);
    }
    let (bar, word) = line.split_once(' ')?;
    let of = |character: char| bar.len() >= 5 && bar.chars().all(|c| c == character);
    match word.trim_end_matches('>') {
        "SEARCH" if of('-') || of('<') => Some(Mark::Search),
        "REPLACE" if of('+') || of('>') => Some(Mark::Replace),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(search: &[&str], replace: &[&str]) -> Block {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        Block {
            search: owned(search),
            replace: owned(replace),
        }
    }

    #[test]
    fn both_spellings_are_read_in_order() {
        let diff = "```\n------- SEARCH\na\n  b\n=======\nc\n+++++++ REPLACE\n\n<<<<<<< SEARCH\nd\n=======\n>>>>>>> REPLACE\n```\n";
        assert_eq!(blocks(diff), Ok(vec![block(&["a", "  b"], &["c"]), block(&["d"], &[])]));
    }

    #[test]
    fn content_that_resembles_a_mark_is_content() {
        let diff = "------- SEARCH\n- SEARCH\n====\n-- list\n=======\n========\n>> REPLACE\n+++++++ REPLACE";
        assert_eq!(
            blocks(diff),
            Ok(vec![block(
                &["- SEARCH", "====", "-- list"],
                &["========", ">> REPLACE"]
            )])
        );
    }

    #[test]
    fn each_fault_is_named_with_its_line() {
        let cases = [
            ("", "holds no block"),
            ("hello", "line 1 of `diff`: text outside"),
            ("------- SEARCH\na\n", "no end"),
            (
                "------- SEARCH\na\n+++++++ REPLACE",
                "line 3 of `diff`: REPLACE without",
            ),
            ("=======\n", "line 1 of `diff`: no SEARCH"),
            ("------- SEARCH\n------- SEARCH\n", "line 2 of `diff`: a SEARCH begins"),
            ("------- SEARCH\n=======\n=======\n", "line 3 of `diff`: a second"),
            (
                "------- SEARCH\na\n=======\nb\n+++++++ REPLACE\nrest",
                "line 6 of `diff`: text outside",
            ),
        ];
        for (diff, expected) in cases {
            let fault = blocks(diff).unwrap_err();
            assert!(fault.contains(expected), "{fault:?} lacks {expected:?}");
            assert!(fault.contains(SHAPE));
        }
    }
}
