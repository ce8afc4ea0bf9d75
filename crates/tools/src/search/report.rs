//! What a search found, as bounded text. Knows lines, not files.

use std::fmt::Write as _;
use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

/// Matching lines shown.
const MATCHES: usize = 200;

/// Bytes shown.
const BYTES: usize = 48 * 1024;

/// Characters shown of one line.
const LINE_CHARACTERS: usize = 400;

/// Matching lines counted; then the search ends.
const COUNTED: usize = 20_000;

/// The text of all that was found so far.
#[derive(Default)]
pub(crate) struct Report {
    text: String,
    shown: usize,
    found: usize,
    files: usize,
}

impl Report {
    /// Whether there is no point in searching on.
    pub(crate) fn is_full(&self) -> bool {
        self.found >= COUNTED
    }

    /// Takes the lines of one file.
    pub(crate) fn of<'a>(&'a mut self, path: &'a str) -> Lines<'a> {
        Lines {
            report: self,
            path,
            begun: false,
            matched: false,
        }
    }

    /// The text with what was left out.
    pub(crate) fn finish(mut self, remarks: &[String]) -> String {
        if self.found == 0 {
            self.text.push_str("[nothing found]\n");
        }
        if self.found > self.shown {
            let least = if self.is_full() { "at least " } else { "" };
            let _ = writeln!(
                self.text,
                "[{least}{} more matching lines, in {} files altogether; narrow the search]",
                self.found - self.shown,
                self.files
            );
        }
        for remark in remarks {
            let _ = writeln!(self.text, "[{remark}]");
        }
        self.text.trim_end().to_owned()
    }

    fn has_room(&self) -> bool {
        self.shown < MATCHES && self.text.len() < BYTES
    }
}

/// The lines of one file on their way into the report.
pub(crate) struct Lines<'a> {
    report: &'a mut Report,
    path: &'a str,
    begun: bool,
    matched: bool,
}

impl Lines<'_> {
    fn line(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) {
        if !self.begun {
            self.begun = true;
            let _ = writeln!(self.report.text, "{}", self.path);
        }
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches(['\n', '\r']);
        let _ = write!(self.report.text, "{:>5}{mark} ", number.unwrap_or_default());
        match text.char_indices().nth(LINE_CHARACTERS) {
            None => self.report.text.push_str(text),
            Some((end, _)) => {
                let _ = write!(self.report.text, "{}…", text.get(..end).unwrap_or_default());
            }
        }
        self.report.text.push('\n');
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if !self.matched {
            self.matched = true;
            self.report.files += 1;
        }
        self.report.found += 1;
        if self.report.has_room() {
            self.report.shown += 1;
            self.line(found.line_number(), ':', found.bytes());
        }
        Ok(!self.report.is_full())
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.report.has_room() {
            self.line(around.line_number(), '-', around.bytes());
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if self.report.has_room() {
            self.report.text.push_str("  ---\n");
        }
        Ok(true)
    }
}
