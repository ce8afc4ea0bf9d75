//! Counting code that was pasted into prose.
//!
//! It must not know how much is too much.

/// The lines that stand inside code fences (three or more backticks or tildes, at any indent, also in
/// quotes and lists). The fences themselves do not count. A fence that is never closed reaches to the
/// end. A lone carriage return ends a line as well.
pub fn fenced_lines(text: &str) -> usize {
    let mut open: Option<(char, usize)> = None;
    let mut count = 0;
    for line in text.replace("\r\n", "\n").split(['\n', '\r']) {
        let line = line.trim_start_matches(|c: char| c.is_whitespace() || c == '>');
        match open {
            None => open = opening(line),
            Some((mark, length)) => {
                if closes(line, mark, length) {
                    open = None;
                } else {
                    count += 1;
                }
            }
        }
    }
    count
}

fn opening(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start_matches(|c: char| {
        c.is_whitespace() || c.is_ascii_digit() || matches!(c, '-' | '*' | '+' | '.' | ')' | '>')
    });
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.chars().take_while(|&c| c == mark).count();
    let rest = line.get(length..).unwrap_or_default();
    // Backticks later in the line make it inline code.
    (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some((mark, length))
}

fn closes(line: &str, mark: char, length: usize) -> bool {
    let line = line.trim_end();
    line.len() >= length && line.chars().all(|c| c == mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: usize) {
        assert_eq!(fenced_lines(text), expected, "{text:?}");
    }

    #[test]
    fn only_lines_inside_fences_count() {
        check("", 0);
        check("plain\nwords", 0);
        check("```\na\nb\n```\nc", 2);
        check("```rust\na\n```\n\n~~~\nb\n\n~~~", 3);
        check("an inline ```x``` span\nwords", 0);
        check("```x``` begins a line\nwords", 0);
    }

    #[test]
    fn fences_are_found_wherever_they_stand() {
        check("    ```\n    a\n    ```", 1);
        check("> ```\n> a\n> ```\n> words", 1);
        check("- ```\n  a\n  ```\nwords", 1);
        check("1. ```\n   a\n   ```\nwords", 1);
    }

    #[test]
    fn a_fence_closes_with_its_own_mark_and_length_only() {
        check("````\n```\na\n```\n````\nb", 3);
        check("```\n~~~\n```\nb", 1);
        check("```\n``` x\n```", 1);
    }

    #[test]
    fn an_open_fence_and_odd_line_ends_hide_nothing() {
        check("```\na\nb", 2);
        check("```\r\na\r\nb\r\n```\r\n", 2);
        check("```\ra\rb\r```\rc", 2);
    }
}
