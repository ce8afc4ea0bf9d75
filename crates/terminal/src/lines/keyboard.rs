//! A terminal that is read by a thread of its own, since a read cannot be taken back. Each line is marked
//! with how many questions had been shown when it was read: what came before a question never answers it,
//! not even while it is held back to see whether it is the beginning of a paste. It must not know what is
//! asked.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, dup};
use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::mpsc;

/// How long the next line of a paste may take: 20 milliseconds.
const AT_ONCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// No time at all.
const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// How many questions have been shown. Whoever holds it reads, or shows the next one.
type Shown = Arc<Mutex<u64>>;

/// The lines of a terminal.
pub(super) struct Keyboard {
    terminal: OwnedFd,
    shown: Shown,
    lines: mpsc::UnboundedReceiver<(u64, String)>,
}

impl Keyboard {
    /// Reads a terminal from now on.
    pub(super) fn of(terminal: OwnedFd) -> Result<Keyboard, Errno> {
        let shown = Shown::default();
        let (sender, lines) = mpsc::unbounded_channel();
        let mut reader = Reader {
            input: BufReader::new(File::from(dup(&terminal)?)),
            shown: Arc::clone(&shown),
            read: 0,
        };
        std::thread::spawn(move || {
            while let Some(line) = reader.next() {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Keyboard { terminal, shown, lines })
    }

    /// Shows a question. Answers its number: older lines are no answer to it.
    pub(super) fn question(&self, show: impl FnOnce()) -> u64 {
        let mut shown = held(&self.shown);
        // A terminal that is gone keeps nothing back.
        let _ = tcflush(&self.terminal, QueueSelector::IFlush);
        *shown += 1;
        show();
        *shown
    }

    /// The next line that was read after this question was shown, without its end; none when nobody types
    /// any more.
    pub(super) async fn next(&mut self, question: u64) -> Option<String> {
        loop {
            let (read, line) = self.lines.recv().await?;
            if read >= question {
                return Some(line);
            }
        }
    }
}

struct Reader {
    input: BufReader<File>,
    shown: Shown,
    /// How many questions had been shown when what is buffered was read.
    read: u64,
}

impl Reader {
    /// The next line with its mark, and those that came at once with it.
    fn next(&mut self) -> Option<(u64, String)> {
        while self.input.buffer().is_empty() {
            ready(&self.input, None);
            let shown = held(&self.shown);
            // A question may have come between, and what was ready with it is gone.
            if ready(&self.input, Some(NOW)) {
                self.read = *shown;
                if self.input.fill_buf().ok()?.is_empty() {
                    return None;
                }
            }
        }
        let Reader { input, shown, read } = self;
        next_lines(input, |input| at_once(input, shown, *read)).map(|line| (*read, line))
    }
}

/// Whether more came at once, and before the next question.
fn at_once(input: &mut BufReader<File>, shown: &Shown, read: u64) -> bool {
    if !input.buffer().is_empty() {
        return true;
    }
    if !ready(input, Some(AT_ONCE)) {
        return false;
    }
    let shown = held(shown);
    *shown == read && ready(input, Some(NOW)) && input.fill_buf().is_ok_and(|more| !more.is_empty())
}

fn held(shown: &Mutex<u64>) -> MutexGuard<'_, u64> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether there is something to read, or nothing more ever, within a time.
fn ready(input: &BufReader<File>, within: Option<Timespec>) -> bool {
    let mut waiting = [PollFd::new(input.get_ref(), PollFlags::IN)];
    poll(&mut waiting, within.as_ref()).is_ok_and(|ready| ready > 0)
}

/// The next line, with those that came at once with it; none when there are no more. A paste arrives
/// whole, and nobody types a line that fast.
fn next_lines<R: BufRead>(input: &mut R, mut more: impl FnMut(&mut R) -> bool) -> Option<String> {
    let mut text = next_line(input)?;
    while more(input) {
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
    use std::io::Write as _;

    use rustix::fs::{Mode, OFlags, open};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::super::is_command;
    use super::*;

    #[tokio::test]
    async fn what_was_typed_before_a_question_never_answers_it() {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let mut fingers = File::from(ours);
        let mut keyboard = Keyboard::of(theirs).unwrap();
        for round in 1..=50 {
            // In the terminal still, or read and held back: nobody knows.
            fingers.write_all(b"yes\n").unwrap();
            if round % 2 == 0 {
                std::thread::yield_now();
            }
            let question = keyboard.question(|| ());
            fingers.write_all(b"no\n").unwrap();
            assert_eq!(question, round);
            assert_eq!(keyboard.next(question).await.as_deref(), Some("no"), "round {round}");
        }
        // What answers no question may have been typed at any time.
        fingers.write_all(b"later\n").unwrap();
        assert_eq!(keyboard.next(0).await.as_deref(), Some("later"));
    }

    #[test]
    fn lines_that_come_at_once_are_one_text_and_no_command() {
        let mut typed: &[u8] = b"/plan one\n/agent two\n\nthree\n/quit\n";
        let mut at_once = [true, true, true, false, false].into_iter();
        let mut next = || next_lines(&mut typed, |_| at_once.next().unwrap_or_default());
        let pasted = next().unwrap();
        assert_eq!(pasted, "/plan one\n/agent two\n\nthree");
        assert!(!is_command(&pasted));
        assert_eq!(next().as_deref(), Some("/quit"));
        assert_eq!(next(), None);
        // The end of the input may be what waits.
        let mut typed: &[u8] = b"last\n";
        assert_eq!(next_lines(&mut typed, |_| true).as_deref(), Some("last"));
    }

    #[test]
    fn a_line_that_is_no_text_is_a_line() {
        let mut typed: &[u8] = b"caf\xe9 \xff\r\n\nyes\n\xc3\x28";
        let lines: Vec<String> = std::iter::from_fn(|| next_line(&mut typed)).collect();
        assert_eq!(lines, ["caf\u{fffd} \u{fffd}", "", "yes", "\u{fffd}("]);
    }
}
