//! Applying the hunks of a patch to a text, one after another, each to what the one before left, all or none. An
//! anchor narrows where a hunk is looked for; without one it stands in exactly one place. Pure.

use super::blocks::Block;
use super::edit::{Several, apply_one, lines, usual_ending, with_final_ending_of};
use super::ladder::{Found, Rung, find};
use super::patch::Hunk;

/// A text after all hunks, and what matching them forgave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Patched {
    pub(crate) text: String,
    pub(crate) forgiven: Vec<Rung>,
}

/// Applies all hunks, or says which one could not be.
pub(crate) fn patched(text: &str, hunks: &[Hunk]) -> Result<Patched, String> {
    let body = text.trim_start_matches('\u{feff}');
    let mark = text.get(..text.len() - body.len()).unwrap_or_default();
    let mut now = body.to_owned();
    let mut forgiven = Vec::new();
    for (index, hunk) in hunks.iter().enumerate() {
        let (next, rung) = patched_once(&now, hunk).map_err(|why| format!("hunk {}: {why}", index + 1))?;
        now = next;
        forgiven.extend(rung);
    }
    Ok(Patched {
        text: format!("{mark}{now}"),
        forgiven,
    })
}

fn patched_once(text: &str, hunk: &Hunk) -> Result<(String, Option<Rung>), String> {
    let anchor = anchored(text, &hunk.anchors)?;
    if hunk.old.is_empty() {
        let at = anchor.as_ref().map_or(text.len(), |anchor| anchor.end);
        return Ok((inserted(text, at, &hunk.new), None));
    }
    let block = Block {
        search: hunk.old.clone(),
        replace: hunk.new.clone(),
    };
    let (from, several) = match anchor {
        Some(anchor) => (anchor.start, Several::FirstCounts),
        None => (0, Several::Refused),
    };
    let (before, rest) = text.split_at_checked(from).unwrap_or((text, ""));
    let (edited, _, rung) =
        apply_one(rest, &block, several).map_err(|why| why.replacen("SEARCH", "its old text", 1))?;
    Ok((format!("{before}{edited}"), Some(rung)))
}

/// The bytes of the last anchor's line; each is looked for below the one before.
fn anchored(text: &str, anchors: &[String]) -> Result<Option<std::ops::Range<usize>>, String> {
    let mut place: Option<std::ops::Range<usize>> = None;
    for anchor in anchors {
        let from = place.as_ref().map_or(0, |place| place.end);
        let lines = lines(text.get(from..).unwrap_or_default());
        let texts: Vec<&str> = lines.iter().map(|line| line.text).collect();
        let at = match find(&texts, &[anchor]) {
            Found::Once { at, .. } => at,
            Found::Several { at, .. } if place.is_some() => at.first().copied().unwrap_or_default(),
            Found::Several { at, .. } => {
                return Err(format!(
                    "the line {anchor:?} behind @@ stands in {} places; name one that stands in one",
                    at.len()
                ));
            }
            Found::Nowhere => return Err(format!("the line {anchor:?} behind @@ stands nowhere")),
        };
        let length = |line: &super::edit::Line<'_>| line.text.len() + line.ending.len();
        let start = from + lines.iter().take(at).map(length).sum::<usize>();
        place = Some(start..start + lines.get(at).map_or(0, length));
    }
    Ok(place)
}

/// The text with whole lines put in at the beginning of a line.
fn inserted(text: &str, at: usize, new: &[String]) -> String {
    let ending = usual_ending(&lines(text));
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let mut inserted = before.to_owned();
    if !before.is_empty() && !before.ends_with('\n') {
        inserted.push_str(ending);
    }
    for line in new {
        inserted.push_str(line);
        inserted.push_str(ending);
    }
    inserted.push_str(after);
    if text.is_empty() {
        inserted
    } else {
        with_final_ending_of(text, inserted)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn owned(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    fn hunk(anchors: &[&str], old: &[&str], new: &[&str]) -> Hunk {
        Hunk {
            anchors: owned(anchors),
            old: owned(old),
            new: owned(new),
        }
    }

    fn text_of(text: &str, hunks: &[Hunk]) -> Result<String, String> {
        patched(text, hunks).map(|patched| patched.text)
    }

    #[test]
    fn an_anchor_tells_one_of_several_places() {
        let text = "fn a() {\n    x;\n}\nfn b() {\n    x;\n}\n";
        let lone = text_of(text, &[hunk(&[], &["    x;"], &["    y;"])]).unwrap_err();
        assert!(lone.starts_with("hunk 1: its old text stands in 2 places"), "{lone}");
        let second = "fn a() {\n    x;\n}\nfn b() {\n    y;\n}\n";
        assert_eq!(
            text_of(text, &[hunk(&["fn b() {"], &["    x;"], &["    y;"])]),
            Ok(second.to_owned())
        );
        assert_eq!(
            text_of(
                text,
                &[hunk(&["fn b() {"], &["fn b() {", "    x;"], &["fn b() {", "    y;"])]
            ),
            Ok(second.to_owned())
        );
        assert_eq!(
            text_of(text, &[hunk(&["fn b() {"], &[], &["    first;"])]),
            Ok("fn a() {\n    x;\n}\nfn b() {\n    first;\n    x;\n}\n".to_owned())
        );
        for (anchor, why) in [("}", "stands in 2 places"), ("fn c() {", "stands nowhere")] {
            let fault = text_of(text, &[hunk(&[anchor], &["    x;"], &[])]).unwrap_err();
            assert!(fault.contains(why), "{fault}");
        }
        assert!(
            text_of(text, &[hunk(&["fn a() {", "}"], &["    x;"], &["    y;"])])
                .unwrap()
                .ends_with("y;\n}\n")
        );
    }

    #[test]
    fn line_endings_marks_and_the_last_line_stay_as_they_were() {
        let appended = |text: &str| text_of(text, &[hunk(&[], &[], &["z"])]).unwrap();
        assert_eq!(appended("a\r\nb\r\n"), "a\r\nb\r\nz\r\n");
        assert_eq!(appended("a\nb"), "a\nb\nz");
        assert_eq!(appended(""), "z\n");
        assert_eq!(
            text_of("\u{feff}a\r\nb", &[hunk(&[], &["a", "b"], &["a", "c"])]),
            Ok("\u{feff}a\r\nc".to_owned())
        );
    }

    /// Lines that each stand once, and what becomes of each.
    fn edits() -> impl Strategy<Value = Vec<(String, u8)>> {
        proptest::collection::vec(("[a-z]{0,3}", 0_u8..4), 1..20).prop_map(|lines| {
            let numbered = lines.into_iter().enumerate();
            numbered
                .map(|(at, (line, kind))| (format!("{at} {line}"), kind))
                .collect()
        })
    }

    proptest! {
        #[test]
        fn a_patch_between_two_texts_leads_from_the_one_to_the_other(edits in edits(), ending in "(\r)?\n") {
            let mut whole = Hunk::default();
            let mut single = Vec::new();
            for (line, kind) in &edits {
                let (old, new) = (vec![line.clone()], vec![format!("new {line}")]);
                let hunk = match kind {
                    0 => Hunk { old: old.clone(), new: old.clone(), ..Hunk::default() },
                    1 => Hunk { old, ..Hunk::default() },
                    2 => Hunk { old, new, ..Hunk::default() },
                    _ => Hunk { new: [old.clone(), new].concat(), old, ..Hunk::default() },
                };
                whole.old.extend(hunk.old.clone());
                whole.new.extend(hunk.new.clone());
                single.push(hunk);
            }
            let text = |lines: &[String]| lines.iter().map(|line| format!("{line}{ending}")).collect::<Vec<_>>().concat();
            let (old, new) = (text(&whole.old), text(&whole.new));
            prop_assert_eq!(text_of(&old, &single), Ok(new.clone()));
            prop_assert_eq!(text_of(&old, &[whole]), Ok(new));
        }

        #[test]
        fn whatever_is_asked_a_refusal_or_a_text_comes_back(
            text in "[ab \n\u{feff}]{0,30}",
            old in proptest::collection::vec("[ab ]{0,2}", 0..3),
            anchors in proptest::collection::vec("[ab ]{1,2}", 0..3),
        ) {
            let hunk = Hunk { anchors, new: old.clone(), old };
            if !hunk.old.is_empty() && let Ok(done) = patched(&text, &[hunk]) && done.forgiven == [Rung::Exact] {
                prop_assert_eq!(done.text, text);
            }
        }
    }
}
