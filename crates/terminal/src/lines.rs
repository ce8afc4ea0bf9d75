//! What a person types, line by line. It must not know what is asked.

mod keyboard;

use rustix::io::dup;
use tokio::signal::unix::{Signal, SignalKind, signal};

use self::keyboard::Keyboard;
use crate::print::Printer;

/// Words that begin a command of a thread. Known only in what a person types.
pub(crate) const COMMANDS: [&str; 13] = [
    "/plan",
    "/agent",
    "/orchestrate",
    "/approve",
    "/inbox",
    "/undo",
    "/redo",
    "/compact",
    "/context",
    "/init",
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
    /// A terminal.
    Keyboard(Keyboard),
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
    /// The lines of standard input, which is a terminal.
    pub(crate) fn of_keyboard() -> Lines {
        Lines {
            // One that cannot be read is one at which nobody types.
            source: dup(std::io::stdin())
                .and_then(Keyboard::of)
                .map_or(Source::Nobody, Source::Keyboard),
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
        self.since(0).await
    }

    /// The next line that was typed after this question was shown.
    async fn since(&mut self, question: u64) -> Typed {
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
            Source::Keyboard(keyboard) => tokio::select! {
                biased;
                () = self.leave.asked() => Typed::End,
                line = keyboard.next(question) => line.map_or(Typed::End, Typed::Line),
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
        let question = if let Source::Keyboard(keyboard) = &self.source {
            keyboard.question(|| printer.prompt(question))
        } else {
            printer.prompt(question);
            0
        };
        self.since(question).await
    }

    /// Whether a line that was no answer comes next.
    pub(crate) const fn has_put_back(&self) -> bool {
        self.put_back.is_some()
    }
}
