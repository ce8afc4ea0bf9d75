//! A person at a terminal: a real one of the system, with lines typed into it and everything shown
//! read back.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::Place;

/// The binary, at work in a terminal.
pub(crate) struct Keyboard {
    terminal: File,
    child: Child,
    shown: String,
    /// How much of what is shown was looked at.
    looked: usize,
}

/// A thread in Plan asks once whether it may try commands. These tests are about something else.
fn say_whether_plan_tries(place: &Place) {
    let file = place.stance_home().join("settings.toml");
    let said = std::fs::read_to_string(file).unwrap_or_default();
    if !said.contains("[plan]") {
        place.settings(&format!("{said}\n[plan]\ntry = false\n"));
    }
}

impl Keyboard {
    /// Starts the binary in a terminal of its own.
    pub(crate) fn start(place: &Place, arguments: &[&str]) -> Keyboard {
        say_whether_plan_tries(place);
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let open = || rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let child = place
            .command(arguments)
            .env("TERM", "dumb")
            .env("NO_COLOR", "1")
            .stdin(Stdio::from(open()))
            .stdout(Stdio::from(open()))
            .stderr(Stdio::from(open()))
            .spawn()
            .unwrap();
        Keyboard {
            terminal: File::from(terminal),
            child,
            shown: String::new(),
            looked: 0,
        }
    }

    /// Waits until this is shown, after everything waited for before.
    pub(crate) fn until(&mut self, words: &str) -> &mut Keyboard {
        loop {
            if let Some(found) = self.shown[self.looked..].find(words) {
                self.looked += found + words.len();
                return self;
            }
            assert!(self.more(), "{words:?} was never shown in:\n{}", self.shown);
        }
    }

    /// Types a line, text or not.
    pub(crate) fn types(&mut self, line: impl AsRef<[u8]>) -> &mut Keyboard {
        self.terminal.write_all(&[line.as_ref(), b"\n"].concat()).unwrap();
        self
    }

    /// Waits for the end: the exit code and everything that was shown.
    pub(crate) fn end(mut self) -> (i32, String) {
        while self.more() {}
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        (code, self.shown)
    }

    /// Reads on. False: nobody is at the other end any more.
    fn more(&mut self) -> bool {
        let mut piece = [0; 16 * 1024];
        match self.terminal.read(&mut piece) {
            Ok(count) if count > 0 => {
                self.shown.push_str(&String::from_utf8_lossy(&piece[..count]));
                true
            }
            _ => false,
        }
    }
}
