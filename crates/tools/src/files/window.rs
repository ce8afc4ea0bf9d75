//! Showing text with line numbers, a window at a time. Knows text only.

use std::fmt::Write as _;

/// Lines shown at once.
pub(crate) const LINES: usize = 1000;

/// Bytes shown at once; the line that passes it is the last.
const BYTES: usize = 200 * 1024;

/// Characters shown of one line.
const LINE_CHARACTERS: usize = 2000;

/// A part of a text with line numbers, and how to go on. `from` counts from 1; `to` is included.
pub(crate) fn window(text: &str, from: usize, to: Option<usize>) -> String {
    let all = text.lines().count();
    if all == 0 {
        return "[the file is empty]".to_owned();
    }
    if from > all {
        return format!("[there is no line {from}: the file has {all}]");
    }
    let wanted = to.unwrap_or(all).min(all);
    let mut shown = String::new();
    let mut last = from;
    for (index, line) in text.lines().enumerate().skip(from - 1) {
        last = index + 1;
        number(&mut shown, last, line);
        if last >= wanted || last + 1 - from >= LINES || shown.len() >= BYTES {
            break;
        }
    }
    if last < wanted {
        let _ = write!(
            shown,
            "[lines {from} to {last} of {all}; go on with start_line {}]",
            last + 1
        );
    } else if last < all || from > 1 {
        let _ = write!(shown, "[lines {from} to {last} of {all}]");
    }
    shown
}

/// One numbered line.
pub(crate) fn number(shown: &mut String, number: usize, line: &str) {
    // Writing into a string cannot fail.
    let _ = write!(shown, "{number:>5}\t");
    match line.char_indices().nth(LINE_CHARACTERS) {
        None => shown.push_str(line),
        Some((end, _)) => {
            let (start, rest) = line.split_at(end);
            let _ = write!(
                shown,
                "{start} […{} more characters of this line]",
                rest.chars().count()
            );
        }
    }
    shown.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize) -> String {
        (1..=count).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_short_file_is_shown_whole_without_remarks() {
        assert_eq!(window("a\nb", 1, None), "    1\ta\n    2\tb\n");
        assert_eq!(window("", 1, None), "[the file is empty]");
        assert_eq!(window("a\n", 2, None), "[there is no line 2: the file has 1]");
    }

    #[test]
    fn a_long_file_says_how_to_go_on_and_the_windows_meet() {
        let text = numbers(2345);
        let first = window(&text, 1, None);
        assert!(
            first.ends_with("[lines 1 to 1000 of 2345; go on with start_line 1001]"),
            "{first}"
        );
        assert_eq!(first.lines().count(), 1001);
        let second = window(&text, 1001, None);
        assert!(second.starts_with(" 1001\tline 1001\n"));
        let last = window(&text, 2001, None);
        assert!(last.ends_with(" 2345\tline 2345\n[lines 2001 to 2345 of 2345]"));
        assert_eq!(
            window(&text, 7, Some(8)),
            "    7\tline 7\n    8\tline 8\n[lines 7 to 8 of 2345]"
        );
    }

    #[test]
    fn a_giant_line_is_cut_and_bytes_end_a_window() {
        let giant = format!("{}\nnext", "ä".repeat(2500));
        let shown = window(&giant, 1, None);
        assert!(
            shown.contains("[…500 more characters of this line]\n    2\tnext"),
            "{shown}"
        );
        let wide: String = (0..500).map(|_| "x".repeat(1500) + "\n").collect();
        let shown = window(&wide, 1, None);
        assert!(
            shown.len() < BYTES + 4096 && shown.contains("go on with start_line 1"),
            "{}",
            shown.len()
        );
    }
}
