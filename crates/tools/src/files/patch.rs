//! Reading a patch as models write it: files added, deleted, changed and moved. Knows no file.

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    Add {
        path: String,
        text: String,
    },
    Delete {
        path: String,
    },
    Update {
        path: String,
        moved: Option<String>,
        hunks: Vec<Hunk>,
    },
}

/// One place of a file that changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// Lines that stand before it, one below the other.
    pub(crate) anchors: Vec<String>,
    /// The lines as they are.
    pub(crate) old: Vec<String>,
    /// The lines as they shall be.
    pub(crate) new: Vec<String>,
}

/// How a patch looks, for errors.
pub(crate) const SHAPE: &str = "*** Begin Patch\n*** Update File: src/a.rs\n@@ fn main() {\n a line that stays\n-a line that \
                                goes\n+a line that comes\n*** Add File: src/b.rs\n+each line of the new file\n*** Delete \
                                File: src/c.rs\n*** End Patch";

/// Reads a patch whole. The error names the line.
pub(crate) fn changes(input: &str) -> Result<Vec<Change>, String> {
    let mut changes: Vec<Change> = Vec::new();
    let mut lines = input.lines().enumerate();
    let fault = |at: usize, what: &str| {
        Err(format!(
            "line {} of `input`: {what}. A patch looks so:\n{SHAPE}",
            at + 1
        ))
    };
    loop {
        match lines.next() {
            Some((_, line)) if line.trim().is_empty() => {}
            Some((_, line)) if line.trim() == "*** Begin Patch" => break,
            Some((at, _)) => return fault(at, "a patch begins with *** Begin Patch"),
            None => return fault(0, "it is empty"),
        }
    }
    for (at, line) in lines.by_ref() {
        if line.trim_end() == "*** End Patch" {
            if let Some((at, _)) = lines.find(|(_, line)| !line.trim().is_empty()) {
                return fault(at, "text behind *** End Patch");
            }
            return match changes.iter().position(Change::does_nothing) {
                Some(_) => fault(at, "a file is neither moved nor changed"),
                None if changes.is_empty() => fault(at, "it changes no file"),
                None => Ok(changes),
            };
        }
        if let Some(change) = head(line) {
            changes.push(change);
            continue;
        }
        match changes.last_mut() {
            Some(change) => {
                if let Err(what) = change.take(line) {
                    return fault(at, what);
                }
            }
            None => return fault(at, "it names no file before"),
        }
    }
    fault(
        input.lines().count().saturating_sub(1),
        "it has no *** End Patch: it was cut off",
    )
}

fn head(line: &str) -> Option<Change> {
    let path = |mark: &str| Some(line.strip_prefix(mark)?.trim().to_owned());
    if let Some(path) = path("*** Add File:") {
        return Some(Change::Add {
            path,
            text: String::new(),
        });
    }
    if let Some(path) = path("*** Delete File:") {
        return Some(Change::Delete { path });
    }
    path("*** Update File:").map(|path| Change::Update {
        path,
        moved: None,
        hunks: Vec::new(),
    })
}

impl Change {
    fn does_nothing(&self) -> bool {
        matches!(self, Change::Update { moved: None, hunks, .. } if hunks.is_empty())
    }

    /// Takes one line of its body.
    fn take(&mut self, line: &str) -> Result<(), &'static str> {
        match self {
            Change::Add { text, .. } => match line.strip_prefix('+') {
                Some(line) => {
                    text.push_str(line);
                    text.push('\n');
                    Ok(())
                }
                None => Err("each line of a new file begins with +"),
            },
            Change::Delete { .. } if line.trim().is_empty() => Ok(()),
            Change::Delete { .. } => Err("a deleted file has no lines"),
            Change::Update { moved, hunks, .. } => {
                if let Some(path) = line.strip_prefix("*** Move to:") {
                    return match (&moved, hunks.is_empty()) {
                        (None, true) => {
                            *moved = Some(path.trim().to_owned());
                            Ok(())
                        }
                        _ => Err("*** Move to: stands once, before the hunks"),
                    };
                }
                take_into(hunks, line)
            }
        }
    }
}

fn take_into(hunks: &mut Vec<Hunk>, line: &str) -> Result<(), &'static str> {
    if line.trim_end() == "*** End of File" {
        return Ok(());
    }
    if let Some(anchor) = line.strip_prefix("@@") {
        let open = hunks
            .last()
            .is_some_and(|hunk| hunk.old.is_empty() && hunk.new.is_empty());
        if !open {
            hunks.push(Hunk::default());
        }
        let anchor = anchor.strip_prefix(' ').unwrap_or(anchor).trim_end();
        if let Some(hunk) = hunks.last_mut()
            && !anchor.is_empty()
            && !is_numbers(anchor)
        {
            hunk.anchors.push(anchor.to_owned());
        }
        return Ok(());
    }
    if hunks.is_empty() {
        hunks.push(Hunk::default());
    }
    let Some(hunk) = hunks.last_mut() else { return Ok(()) };
    let mut marks = line.chars();
    match marks.next() {
        Some('-') => hunk.old.push(marks.as_str().to_owned()),
        Some('+') => hunk.new.push(marks.as_str().to_owned()),
        Some(' ') => {
            hunk.old.push(marks.as_str().to_owned());
            hunk.new.push(marks.as_str().to_owned());
        }
        None => {
            hunk.old.push(String::new());
            hunk.new.push(String::new());
        }
        Some(_) => return Err("a line of a hunk begins with a space, - or +"),
    }
    Ok(())
}

/// Whether this is the place of a hunk in numbers, `-1,3 +1,4 @@ …`: they are nobody's to trust.
fn is_numbers(anchor: &str) -> bool {
    let words: Vec<&str> = anchor.split(' ').take(3).collect();
    let numbers = |word: &str, mark: char| {
        word.strip_prefix(mark)
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == ','))
    };
    matches!(words.as_slice(), [old, new, "@@"] if numbers(old, '-') && numbers(new, '+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn every_kind_of_change_is_read_in_order() {
        let input = "\n*** Begin Patch\n*** Add File: a b.txt\n+one\n+\n*** Update File: c.rs\n*** Move to: d.rs\n@@ mod m {\n@@ fn f() {\n \
                     stays\n-goes\n+comes\n\n@@ -1,3 +1,4 @@ fn g()\n+end\n*** End of File\n*** Delete File: e\n\n*** End Patch\n";
        assert_eq!(
            changes(input),
            Ok(vec![
                Change::Add {
                    path: "a b.txt".into(),
                    text: "one\n\n".into()
                },
                Change::Update {
                    path: "c.rs".into(),
                    moved: Some("d.rs".into()),
                    hunks: vec![
                        Hunk {
                            anchors: owned(&["mod m {", "fn f() {"]),
                            old: owned(&["stays", "goes", ""]),
                            new: owned(&["stays", "comes", ""])
                        },
                        Hunk {
                            new: owned(&["end"]),
                            ..Hunk::default()
                        }
                    ]
                },
                Change::Delete { path: "e".into() },
            ])
        );
    }

    #[test]
    fn each_fault_is_named_with_its_line() {
        for (input, expected) in [
            ("", "line 1 of `input`: it is empty"),
            ("diff --git", "line 1 of `input`: a patch begins with"),
            (
                "*** Begin Patch\n*** End Patch",
                "line 2 of `input`: it changes no file",
            ),
            ("*** Begin Patch\n+x", "line 2 of `input`: it names no file"),
            (
                "*** Begin Patch\n*** Add File: a\nx",
                "line 3 of `input`: each line of a new file",
            ),
            (
                "*** Begin Patch\n*** Update File: a\nx",
                "line 3 of `input`: a line of a hunk",
            ),
            (
                "*** Begin Patch\n*** Update File: a\n*** End Patch",
                "neither moved nor changed",
            ),
            (
                "*** Begin Patch\n*** Update File: a\n-x",
                "line 3 of `input`: it has no *** End Patch",
            ),
            (
                "*** Begin Patch\n*** Delete File: a\n-x",
                "line 3 of `input`: a deleted file",
            ),
            (
                "*** Begin Patch\n*** Delete File: a\n*** End Patch\nx",
                "line 4 of `input`: text behind",
            ),
        ] {
            let fault = changes(input).unwrap_err();
            assert!(
                fault.contains(expected) && fault.contains(SHAPE),
                "{fault:?} lacks {expected:?}"
            );
        }
    }
}
