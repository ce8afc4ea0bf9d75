//! The parts of the measurement that the tests of attempts share with it: the list, the names a call
//! may go by, the watch. And the measurement itself, as a person gives the command.

#[allow(dead_code, reason = "the tests choose attempts by themselves")]
#[path = "../../src/conformance/attempts.rs"]
pub(crate) mod attempts;
#[path = "../../src/conformance/spellings.rs"]
pub(crate) mod spellings;
#[path = "../../src/conformance/watch.rs"]
pub(crate) mod watch;

mod measured;
