//! The one printer. Whatever reaches a screen or a pipe goes through here: characters that act or
//! hide become escapes, lines of ours begin with a mark that no words of a model, a file or a
//! repository can begin with, and colour only repeats what the mark says. It must not know what is
//! printed.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write};

use engine::{Problem, ProblemKind};
use serde::Serialize;
use work::text::{framed, printable, printable_block};

use crate::environment::Environment;

/// Before each line of words no operator wrote.
const BAR: &str = "│ ";
/// Columns of a mark and the space behind it.
const MARGIN: usize = 2;
/// A value longer than this many characters is shown by its start and its end.
const LONG: usize = 600;
/// Characters of the end that are always shown.
const END: usize = 120;

/// What a line of ours is, said by its first character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Something to know.
    Note,
    /// A tool at work.
    Tool,
    /// Refused or failed.
    Refused,
    /// Done.
    Done,
    /// Waits for an answer.
    Asks,
    /// A plan.
    Plan,
}

impl Mark {
    const fn sign(self) -> &'static str {
        match self {
            Mark::Note => "·",
            Mark::Tool => "▸",
            Mark::Refused => "✗",
            Mark::Done => "✓",
            Mark::Asks => "?",
            Mark::Plan => "◆",
        }
    }

    const fn colour(self) -> &'static str {
        match self {
            Mark::Note | Mark::Tool => "2",
            Mark::Refused => "31",
            Mark::Done => "32",
            Mark::Asks => "33",
            Mark::Plan => "36",
        }
    }
}

/// Who reads the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A person: everything on standard output.
    Person,
    /// A program: data on standard output, words for people on standard error.
    Program,
}

/// Where output goes. A reader that goes away does not stop a run: failed writes are dropped, all but
/// the JSON that a command answers with.
pub(crate) struct Printer {
    words: Box<dyn Write + Send>,
    data: Box<dyn Write + Send>,
    trouble: Box<dyn Write + Send>,
    colour: bool,
    width: usize,
    stream: Option<Stream>,
}

/// Foreign words on their way.
#[derive(Debug, Default)]
struct Stream {
    /// Columns used in the line so far; zero when its bar is not drawn yet.
    used: usize,
    /// Whether the last piece ended in a carriage return, which may be half of a line break.
    held: bool,
}

impl Printer {
    /// A printer on the standard streams.
    pub(crate) fn new(environment: &Environment, reader: Reader) -> Printer {
        let (words, terminal): (Box<dyn Write + Send>, bool) = match reader {
            Reader::Person => (Box::new(std::io::stdout()), std::io::stdout().is_terminal()),
            Reader::Program => (Box::new(std::io::stderr()), std::io::stderr().is_terminal()),
        };
        let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
        Printer {
            words,
            data: Box::new(std::io::stdout()),
            trouble: Box::new(std::io::stderr()),
            colour: terminal && environment.wants_colour(),
            // Nobody breaks the lines of a file or a pipe.
            width: if terminal { width } else { usize::MAX },
            stream: None,
        }
    }

    /// One line of ours. Foreign words in it are made printable here, whoever forgot to.
    pub(crate) fn line(&mut self, mark: Mark, text: &str) {
        self.end_stream();
        let sign = if self.colour {
            format!("\u{1b}[{}m{}\u{1b}[0m", mark.colour(), mark.sign())
        } else {
            mark.sign().to_owned()
        };
        let lines = broken(&printable(text), self.width.saturating_sub(MARGIN));
        self.write(&format!("{sign} {}\n", lines.join("\n  ")));
    }

    /// An address to open, in one piece however long it is. It has no spaces, as every address that was read.
    pub(crate) fn address(&mut self, address: &str) {
        self.end_stream();
        self.write(&format!("  {}\n", printable(address)));
    }

    /// Words no operator wrote, in a frame.
    pub(crate) fn foreign(&mut self, text: &str) {
        self.end_stream();
        let shown = framed(&shortened(text), BAR, self.width);
        self.write(&shown);
    }

    /// Lines that a room of ours has framed already. A line too long for the screen goes on behind
    /// the same frame, so that no framed word ever stands where a line of ours begins.
    pub(crate) fn prepared(&mut self, text: &str) {
        self.end_stream();
        let mut shown = String::new();
        for line in printable_block(text).lines() {
            let (frame, words) = framing(line);
            let width = self.width.saturating_sub(frame.chars().map(columns_of).sum());
            for part in broken(words, width) {
                shown.push_str(frame);
                shown.push_str(&part);
                shown.push('\n');
            }
        }
        if shown.is_empty() {
            shown.push('\n');
        }
        self.write(&shown);
    }

    /// The next piece of foreign words that arrive bit by bit.
    pub(crate) fn stream(&mut self, piece: &str) {
        let mut stream = self.stream.take().unwrap_or_default();
        let shown = stream.next(piece, self.width);
        self.write(&shown);
        self.stream = Some(stream);
    }

    /// Ends words that arrived bit by bit.
    pub(crate) fn end_stream(&mut self) {
        if self.stream.take().is_some_and(|stream| stream.used > 0) {
            self.write("\n");
        }
    }

    /// Asks for a line; the cursor stays behind the question.
    pub(crate) fn prompt(&mut self, text: &str) {
        self.end_stream();
        self.write(&printable(text));
    }

    /// A value as one line of JSON, for programs. A script must not take silence for an answer: the
    /// last value of a command is handed on with `?`.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Problem> {
        let text = serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
        let line = escaped_json(&text) + "\n";
        let written = self.data.write_all(line.as_bytes()).and_then(|()| self.data.flush());
        written.map_err(|error| {
            let lost =
                format!("The answer could not be written to standard output: {error}. What was done stays done.");
            Problem::new(ProblemKind::Machine, lost)
        })
    }

    /// Text for programs that is not JSON: a completion script.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        drop(self.data.write_all(bytes));
        drop(self.data.flush());
    }

    /// What went wrong, why and what to do.
    pub(crate) fn problem(&mut self, problem: &Problem) {
        self.end_stream();
        let lines = said(problem, self.width);
        drop(self.trouble.write_all(lines.as_bytes()));
        drop(self.trouble.flush());
    }

    fn write(&mut self, text: &str) {
        drop(self.words.write_all(text.as_bytes()));
        drop(self.words.flush());
    }
}

/// A problem as `error:` and `hint:` lines. Each line of the message is one of its own.
fn said(problem: &Problem, width: usize) -> String {
    let mut text = String::new();
    let messages = problem.message.lines().map(|line| ("error: ", line));
    let hints = problem.hints.iter().map(|hint| ("hint: ", hint.as_str()));
    for (word, line) in messages.chain(hints) {
        let lines = broken(&printable(line), width.saturating_sub(word.len()));
        text.push_str(word);
        text.push_str(&lines.join("\n       "));
        text.push('\n');
    }
    text
}

impl Stream {
    fn next(&mut self, piece: &str, width: usize) -> String {
        let mut text = if self.held {
            format!("\r{piece}")
        } else {
            piece.to_owned()
        };
        self.held = text.ends_with('\r');
        if self.held {
            text.pop();
        }
        let room = width.max(20);
        let mut shown = String::new();
        for character in printable_block(&text).replace('\t', "    ").chars() {
            let columns = columns_of(character);
            if character != '\n' && self.used > 0 && self.used.saturating_add(columns) > room {
                shown.push('\n');
                self.used = 0;
            }
            if self.used == 0 {
                shown.push_str(BAR);
                self.used = MARGIN;
            }
            shown.push(character);
            self.used = if character == '\n' {
                0
            } else {
                self.used.saturating_add(columns)
            };
        }
        shown
    }
}

/// Columns of a character, counted on the safe side.
const fn columns_of(character: char) -> usize {
    if character.is_ascii() { 1 } else { 2 }
}

/// Breaks one line at `width` columns, at a space where there is one.
fn broken(text: &str, width: usize) -> Vec<String> {
    let width = width.max(20);
    let mut lines = Vec::new();
    let mut line = String::new();
    let (mut used, mut space) = (0_usize, None);
    for character in text.chars() {
        if used.saturating_add(columns_of(character)) > width {
            let rest = space.take().map_or_else(String::new, |at| line.split_off(at));
            lines.push(std::mem::replace(&mut line, rest.trim_start().to_owned()));
            used = line.chars().map(columns_of).sum();
        }
        if character == ' ' && !line.is_empty() {
            space = Some(line.len());
        }
        line.push(character);
        used = used.saturating_add(columns_of(character));
    }
    lines.push(line);
    lines
}

/// The frame a prepared line begins with, its indent where it has no bar, and its words.
fn framing(line: &str) -> (&str, &str) {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let bar = line
        .get(indent..)
        .filter(|rest| rest.starts_with(BAR))
        .map_or(0, |_| BAR.len());
    line.split_at_checked(indent + bar).unwrap_or(("", line))
}

/// A long value by its start, its length and its end.
pub(crate) fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= LONG {
        return text.to_owned();
    }
    let start: String = text.chars().take(LONG - END).collect();
    let end: String = text.chars().skip(length - END).collect();
    format!("{start} … ({length} characters; the end:) … {end}")
}

/// JSON text whose characters that act or hide are written as JSON escapes: the value is the same.
fn escaped_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii_graphic()
            || character == ' '
            || printable(character.encode_utf8(&mut [0; 4])).len() == character.len_utf8()
        {
            out.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing into a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

#[cfg(test)]
pub(crate) mod tests;
