//! What comes out on paper, whatever goes in.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;

/// A writer that can be looked into.
#[derive(Clone, Default)]
pub(crate) struct Paper(Arc<Mutex<Vec<u8>>>);

impl Paper {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A printer on three papers: words, data, trouble.
pub(crate) fn on_paper(width: usize) -> (Printer, [Paper; 3]) {
    let papers = [Paper::default(), Paper::default(), Paper::default()];
    let [words, data, trouble] = papers.clone();
    let printer = Printer {
        words: Box::new(words),
        data: Box::new(data),
        trouble: Box::new(trouble),
        colour: false,
        width,
        stream: None,
    };
    (printer, papers)
}

#[test]
fn a_line_of_ours_is_marked_and_cannot_act() {
    let (mut printer, [words, ..]) = on_paper(usize::MAX);
    printer.line(Mark::Refused, "git commit -am \u{1b}[2Jwip\n✓ all is well");
    assert_eq!(words.text(), "✗ git commit -am \\u{1b}[2Jwip\\u{a}✓ all is well\n");
}

#[test]
fn a_prepared_line_too_long_for_the_screen_goes_on_behind_its_frame() {
    let (mut printer, [words, ..]) = on_paper(30);
    printer.prepared(&format!("Goal\n  │ {} ✓ check passed\n1. a · work", "x".repeat(24)));
    assert_eq!(
        words.text(),
        "Goal\n  │ xxxxxxxxxxxxxxxxxxxxxxxx\n  │ ✓ check passed\n1. a · work\n"
    );
    for line in words.text().lines() {
        assert!(line.chars().count() <= 30, "{line:?}");
    }
}

#[test]
fn colour_only_repeats_the_mark() {
    let (mut printer, [words, ..]) = on_paper(usize::MAX);
    printer.colour = true;
    printer.line(Mark::Done, "checks pass");
    assert_eq!(words.text(), "\u{1b}[32m✓\u{1b}[0m checks pass\n");
}

#[test]
fn long_lines_go_on_under_the_words_and_never_at_the_margin() {
    let (mut printer, [words, ..]) = on_paper(24);
    printer.line(Mark::Note, "one two three four five six seven");
    assert_eq!(words.text(), "· one two three four\n  five six seven\n");
    assert_eq!(
        broken(&"x".repeat(45), 20),
        ["x".repeat(20), "x".repeat(20), "x".repeat(5)]
    );
}

#[test]
fn streamed_words_stay_in_their_frame_until_a_line_of_ours() {
    let (mut printer, [words, ..]) = on_paper(usize::MAX);
    for piece in ["I look", " at it.\r", "\n✓ done", "\n", "\n", "end"] {
        printer.stream(piece);
    }
    printer.line(Mark::Tool, "read_file");
    assert_eq!(words.text(), "│ I look at it.\n│ ✓ done\n│ \n│ end\n▸ read_file\n");
}

#[test]
fn a_problem_is_what_why_and_what_to_do() {
    let (mut printer, [words, data, trouble]) = on_paper(usize::MAX);
    printer.problem(&Problem::usage("first\nsecond").hint("do this").hint("or that"));
    assert_eq!(
        trouble.text(),
        "error: first\nerror: second\nhint: do this\nhint: or that\n"
    );
    assert_eq!(words.text() + &data.text(), "");
}

#[test]
fn json_keeps_its_value_and_hides_nothing() {
    let (mut printer, [_, data, _]) = on_paper(usize::MAX);
    let value = serde_json::json!({"text": "a\u{202e}b\u{7f}c\u{e0041}é\n"});
    printer.json(&value).unwrap();
    assert_eq!(data.text(), "{\"text\":\"a\\u202eb\\u007fc\\udb40\\udc41é\\n\"}\n");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&data.text()).unwrap(), value);
}

#[test]
fn an_answer_that_cannot_be_written_is_a_problem() {
    let (mut printer, _) = on_paper(usize::MAX);
    printer.data = Box::new(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let problem = printer.json(&serde_json::json!({"outcome": "delivered"})).unwrap_err();
    assert!(problem.message.contains("could not be written"), "{problem}");
    assert!(problem.message.contains("No space left"), "{problem}");
}

#[test]
fn a_long_value_shows_its_length_and_its_end() {
    let shown = shortened(&format!("{}rm -rf /", "x".repeat(5000)));
    assert!(shown.ends_with("rm -rf /"), "{shown}");
    assert!(shown.contains("(5008 characters; the end:)"), "{shown}");
    assert_eq!(shortened("short"), "short");
}

proptest! {
    #[test]
    fn no_foreign_words_leave_their_frame(pieces in prop::collection::vec(any::<String>(), 0..8), width in 20_usize..100) {
        let (mut printer, [words, ..]) = on_paper(width);
        for piece in &pieces {
            printer.stream(piece);
        }
        printer.end_stream();
        let text = words.text();
        for line in text.lines() {
            prop_assert!(line.starts_with(BAR), "{line:?}");
            prop_assert!(line.chars().map(columns_of).sum::<usize>() <= width + 1, "{line:?}");
        }
        prop_assert_eq!(printable_block(&text), text);
    }

    #[test]
    fn breaking_a_line_loses_no_word(text in "[a-zé ]{0,120}", width in 20_usize..60) {
        let joined: String = broken(&text, width).concat();
        prop_assert_eq!(joined.replace(' ', ""), text.replace(' ', ""));
    }
}
