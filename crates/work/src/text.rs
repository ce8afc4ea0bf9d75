//! Making words that others wrote safe to show: no character of theirs can act on a terminal, hide,
//! or pass for a line of ours.
//!
//! It must not know what the words are about; it never shortens or judges them.

use std::fmt::Write as _;

/// The narrowest terminal that is drawn for; smaller widths are treated as this one.
pub(crate) const NARROWEST: usize = 20;

/// One line of foreign text with every control, direction-changing and invisible character shown as
/// an escape such as `\u{202e}`. Tabs and line breaks are escaped too, so the result is one line.
pub fn printable(text: &str) -> String {
    escape(text, |_| false)
}

/// Like [`printable`], but tabs and line feeds stay. A carriage return just before a line feed is
/// dropped, because the pair is one line break; any other carriage return is escaped.
pub fn printable_block(text: &str) -> String {
    escape(&text.replace("\r\n", "\n"), |character| {
        matches!(character, '\n' | '\t')
    })
}

/// Foreign text of several lines, made printable, with `prefix` before each line. Tabs stay and lines
/// are as long as they were: this is for a reader that breaks no lines. The result ends with a line
/// feed, and is one prefixed empty line when the text is empty.
pub fn quoted(text: &str, prefix: &str) -> String {
    let mut out = String::new();
    for line in printable_block(text).split('\n') {
        out.push_str(prefix);
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// Foreign text of several lines, made printable, with `prefix` before each line, for a terminal.
///
/// Lines are broken at `width` terminal columns (prefix included), so that no terminal breaks one
/// itself and puts foreign words where the prefix should be. Columns are counted on the safe side:
/// two for each character outside ASCII. Tabs become four spaces. The result ends with a line feed,
/// and is one prefixed empty line when the text is empty.
pub fn framed(text: &str, prefix: &str, width: usize) -> String {
    let room = width.max(NARROWEST).saturating_sub(prefix.chars().count()).max(2);
    let mut out = String::new();
    for line in printable_block(text).replace('\t', "    ").split('\n') {
        out.push_str(prefix);
        let mut used = 0;
        for character in line.chars() {
            let columns = if character.is_ascii() { 1 } else { 2 };
            if used + columns > room {
                out.push('\n');
                out.push_str(prefix);
                used = 0;
            }
            out.push(character);
            used += columns;
        }
        out.push('\n');
    }
    out
}

fn escape(text: &str, keeps: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if acts_or_hides(character) && !keeps(character) {
            // Writing into a string cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
        } else {
            out.push(character);
        }
    }
    out
}

/// Whether a character does something other than show itself: controls, marks that change direction,
/// and everything a reader cannot see although it is there (fillers, joiners, selectors, tags).
fn acts_or_hides(character: char) -> bool {
    character.is_control()
        || matches!(
            u32::from(character),
            0x00AD
                | 0x034F
                | 0x061C
                | 0x115F..=0x1160
                | 0x17B4..=0x17B5
                | 0x180B..=0x180F
                | 0x200B..=0x200F
                | 0x2028..=0x202E
                | 0x2060..=0x206F
                | 0x3164
                | 0xFE00..=0xFE0F
                | 0xFEFF
                | 0xFFA0
                | 0xFFF0..=0xFFFB
                | 0x1_3430..=0x1_343F
                | 0x1_BCA0..=0x1_BCA3
                | 0x1_D173..=0x1_D17A
                | 0xE_0000..=0xE_0FFF
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(input: &str, expected: &str) {
        assert_eq!(printable(input), expected);
    }

    #[test]
    fn characters_that_act_or_hide_become_escapes() {
        check("a\u{1b}[2Jb", "a\\u{1b}[2Jb");
        check("a\rb", "a\\u{d}b");
        check("a\u{9b}31mb", "a\\u{9b}31mb");
        check("\u{7f}", "\\u{7f}");
        check("x\u{202e}y\u{2066}z\u{2069}", "x\\u{202e}y\\u{2066}z\\u{2069}");
        check("p\u{200b}q\u{200d}\u{feff}", "p\\u{200b}q\\u{200d}\\u{feff}");
        check("\u{e0041}\u{e0101}", "\\u{e0041}\\u{e0101}");
        check("one\u{2028}two\u{2029}", "one\\u{2028}two\\u{2029}");
        check("tab\tline\n", "tab\\u{9}line\\u{a}");
    }

    #[test]
    fn ordinary_words_of_any_language_stay_as_they_are() {
        for words in ["naïve café", "日本語", "שלום", "العربية", "C:\\src {{x}} $(y)", "🙂"] {
            check(words, words);
        }
    }

    #[test]
    fn a_block_keeps_tabs_and_line_breaks_only() {
        assert_eq!(printable_block("a\tb\r\nc\rd\n\u{1b}"), "a\tb\nc\\u{d}d\n\\u{1b}");
    }

    #[test]
    fn a_quotation_marks_every_line() {
        assert_eq!(quoted("", "> "), "> \n");
        assert_eq!(quoted("a\tb\n\u{2028}c\r\n", "> "), "> a\tb\n> \\u{2028}c\n> \n");
    }

    #[test]
    fn a_frame_marks_every_line_also_those_it_breaks() {
        assert_eq!(framed("", "| ", 40), "| \n");
        assert_eq!(framed("a\n\nb", "| ", 40), "| a\n| \n| b\n");
        assert_eq!(
            framed(&"x".repeat(25), "| ", 20),
            format!("| {}\n| {}\n", "x".repeat(18), "x".repeat(7))
        );
        assert_eq!(
            framed(&"日".repeat(10), "| ", 20),
            format!("| {}\n| 日\n", "日".repeat(9))
        );
    }

    proptest! {
        #[test]
        fn nothing_shown_acts(text in any::<String>()) {
            prop_assert!(!printable(&text).chars().any(acts_or_hides));
            prop_assert!(!printable_block(&text)
                .chars()
                .any(|c| acts_or_hides(c) && c != '\n' && c != '\t'));
        }

        #[test]
        fn showing_twice_is_showing_once(text in any::<String>()) {
            let once = printable(&text);
            prop_assert_eq!(printable(&once), once);
        }

        #[test]
        fn no_line_of_a_frame_leaves_it(text in any::<String>(), width in 0_usize..120) {
            let shown = framed(&text, "| ", width);
            prop_assert!(shown.ends_with('\n'));
            for line in shown.trim_end_matches('\n').split('\n') {
                prop_assert!(line.starts_with("| ") || line == "|");
                let columns: usize = line.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
                prop_assert!(columns <= width.max(NARROWEST));
            }
        }
    }
}
