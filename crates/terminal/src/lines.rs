//! What a person types, line by line. It must not know what is asked.

use std::io::BufRead;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, tcflush};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::print::Printer;

/// Words that begin a command of a thread. Known only in what a person types.
pub(crate) const COMMANDS: [&str; 10] = [
    "/plan",
    "/agent",
    "/orchestrate",
    "/approve",
    "/inbox",
    "/undo",
    "/redo",
    "/later",
    "/help",
    "/quit",
];

/// Whether a line is a command, and so no answer. Of several lines that came at once none is: they
/// were pasted.
pub(crate) fn is_command(line: &str) -> bool {
    !line.contains('\n')
        && line
            .split_whitespace()
            .next()
            .is_some_and(|word| COMMANDS.contains(&word))
}

/// How long the next line of a paste may take: 20 milliseconds.
const AT_ONCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// Where lines come from.
pub(crate) struct Lines {
    source: Source,
    /// A line that was no answer.
    put_back: Option<String>,
    /// Whether this program is to leave.
    pub(crate) leave: Leave,
}

/// The wishes of the machine that this program leaves: it is being shut down, or its terminal is
/// gone. Heard from when this value is made, and never forgotten.
pub(crate) struct Leave {
    signals: Option<(Signal, Signal)>,
    asked: bool,
}

impl Leave {
    /// Outside of a runtime nothing is heard.
    fn new() -> Leave {
        let heard = |kind| signal(kind).ok();
        let signals = tokio::runtime::Handle::try_current()
            .ok()
            .and_then(|_| heard(SignalKind::terminate()).zip(heard(SignalKind::hangup())));
        Leave { signals, asked: false }
    }

    /// Whether it was asked for so far.
    pub(crate) const fn is_asked(&self) -> bool {
        self.asked
    }

    /// Returns when it is asked for, at once when it was.
    pub(crate) async fn asked(&mut self) {
        match &mut self.signals {
            _ if self.asked => {}
            Some((terminate, hang_up)) => tokio::select! {
                _ = terminate.recv() => {}
                _ = hang_up.recv() => {}
            },
            None => std::future::pending().await,
        }
        self.asked = true;
    }
}

enum Source {
    /// A terminal; a thread of its own reads it, since a read cannot be taken back.
    Keyboard(mpsc::UnboundedReceiver<String>),
    /// Nobody types.
    Nobody,
    /// Prepared answers.
    #[cfg(test)]
    Prepared(std::collections::VecDeque<&'static str>),
}

/// What came instead of waiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    /// A line, without its end; or several that were pasted at once.
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Nobody types any more.
    End,
}

impl Lines {
    /// The lines of standard input.
    pub(crate) fn of_keyboard() -> Lines {
        let (sender, receiver) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            let mut input = std::io::stdin().lock();
            while let Some(line) = next_lines(&mut input, more_at_once) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Lines {
            source: Source::Keyboard(receiver),
            put_back: None,
            leave: Leave::new(),
        }
    }

    /// Nobody types.
    pub(crate) fn of_nobody() -> Lines {
        Lines {
            source: Source::Nobody,
            put_back: None,
            leave: Leave::new(),
        }
    }

    #[cfg(test)]
    pub(crate) fn prepared(lines: &[&'static str]) -> Lines {
        Lines {
            source: Source::Prepared(lines.iter().copied().collect()),
            put_back: None,
            leave: Leave::new(),
        }
    }

    /// The next line.
    pub(crate) async fn next(&mut self) -> Typed {
        if self.leave.is_asked() {
            return Typed::End;
        }
        if let Some(line) = self.put_back.take() {
            return Typed::Line(line);
        }
        match &mut self.source {
            Source::Nobody => Typed::End,
            #[cfg(test)]
            Source::Prepared(lines) => lines
                .pop_front()
                .map_or(Typed::End, |line| Typed::Line(line.to_owned())),
            Source::Keyboard(receiver) => tokio::select! {
                biased;
                () = self.leave.asked() => Typed::End,
                line = receiver.recv() => line.map_or(Typed::End, Typed::Line),
                _ = tokio::signal::ctrl_c() => Typed::Interrupt,
            },
        }
    }

    /// Gives a line back that was no answer: it comes next.
    pub(crate) fn put_back(&mut self, line: String) {
        self.put_back = Some(line);
    }

    /// Asks, and takes the next line: what was typed before the question was shown is no answer, not
    /// even the beginning of a line.
    pub(crate) async fn answer(&mut self, printer: &mut Printer, question: &str) -> Typed {
        if let Source::Keyboard(receiver) = &mut self.source {
            // What is no terminal keeps nothing back.
            let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
            while receiver.try_recv().is_ok() {}
        }
        printer.prompt(question);
        self.next().await
    }

    /// Whether a line that was no answer comes next.
    pub(crate) const fn has_put_back(&self) -> bool {
        self.put_back.is_some()
    }
}

/// Whether more was written at once: a paste arrives whole, and nobody types a line this fast.
fn more_at_once() -> bool {
    let stdin = std::io::stdin();
    let mut waiting = [PollFd::new(&stdin, PollFlags::IN)];
    poll(&mut waiting, Some(&AT_ONCE)).is_ok_and(|ready| ready > 0)
}

/// The next line, with those that came at once with it; none when there are no more.
fn next_lines(input: &mut impl BufRead, mut more: impl FnMut() -> bool) -> Option<String> {
    let mut text = next_line(input)?;
    while more() {
        let Some(line) = next_line(input) else { break };
        text.push('\n');
        text.push_str(&line);
    }
    Some(text)
}

/// The next line without its end; none when there are no more. What is no text in it becomes U+FFFD:
/// a slip of the keyboard ends no conversation.
fn next_line(input: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    if input.read_until(b'\n', &mut line).ok()? == 0 {
        return None;
    }
    let line = line.strip_suffix(b"\n").unwrap_or(&line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    Some(String::from_utf8_lossy(line).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_come_at_once_are_one_text_and_no_command() {
        let mut typed: &[u8] = b"/plan one\n/agent two\n\nthree\n/quit\n";
        let mut at_once = [true, true, true, false, false].into_iter();
        let mut next = || next_lines(&mut typed, || at_once.next().unwrap_or_default());
        let pasted = next().unwrap();
        assert_eq!(pasted, "/plan one\n/agent two\n\nthree");
        assert!(!is_command(&pasted));
        assert_eq!(next().as_deref(), Some("/quit"));
        assert_eq!(next(), None);
        // The end of the input may be what waits.
        let mut typed: &[u8] = b"last\n";
        assert_eq!(next_lines(&mut typed, || true).as_deref(), Some("last"));
    }

    #[test]
    fn a_line_that_is_no_text_is_a_line() {
        let mut typed: &[u8] = b"caf\xe9 \xff\r\n\nyes\n\xc3\x28";
        let lines: Vec<String> = std::iter::from_fn(|| next_line(&mut typed)).collect();
        assert_eq!(lines, ["caf\u{fffd} \u{fffd}", "", "yes", "\u{fffd}("]);
    }
}
