//! What the program says to the script that called it: one number. What an outcome means as a number
//! is declared with the outcomes, not here.

use std::process::ExitCode;

use engine::{Problem, ProblemKind, RunReport};
use modes::Outcome;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit(u8);

impl Exit {
    /// The script may go on.
    pub(crate) const FINE: Exit = Exit(0);
    /// Something failed.
    pub(crate) const ERROR: Exit = Exit(1);
    /// The command was wrong.
    pub(crate) const USAGE: Exit = Exit(2);
    /// Something waits for a person.
    pub(crate) const WAITING: Exit = Exit(7);
    /// A person interrupted it.
    pub(crate) const INTERRUPTED: Exit = Exit(130);

    /// The number.
    pub(crate) const fn code(self) -> u8 {
        self.0
    }

    /// The end of a line that was tried, which is the command's own.
    pub(crate) fn of_line(code: i32) -> Exit {
        Exit(u8::try_from(code).unwrap_or(Exit::ERROR.0))
    }

    /// The end that an outcome means.
    pub(crate) fn of_outcome(outcome: Outcome) -> Exit {
        Exit(outcome.exit_code())
    }

    /// The end of a run together with the runs that followed it.
    pub(crate) fn of_report(report: &RunReport) -> Exit {
        Exit(report.exit_code())
    }

    /// The end that a problem means.
    pub(crate) const fn of_problem(problem: &Problem) -> Exit {
        match problem.kind {
            ProblemKind::Usage => Exit::USAGE,
            _ => Exit::ERROR,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_command_is_told_from_a_failure() {
        assert_eq!(Exit::of_problem(&Problem::usage("x")).code(), 2);
        assert_eq!(Exit::of_problem(&Problem::refused("x")).code(), 1);
        assert_eq!(Exit::of_problem(&Problem::new(ProblemKind::Model, "x")).code(), 1);
        assert_eq!(Exit::of_outcome(Outcome::Delivered), Exit::FINE);
        assert_eq!(Exit::of_outcome(Outcome::Waiting), Exit::WAITING);
        assert_eq!(Exit::of_outcome(Outcome::Cancelled), Exit::INTERRUPTED);
    }
}
