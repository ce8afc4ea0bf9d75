//! Running command lines inside the walls.

mod execute_command;
mod families;
mod hints;
mod inspect_command;
mod spill;
#[cfg(feature = "faults")]
mod unread;

pub(crate) use execute_command::ExecuteCommand;
pub use execute_command::TOGETHER;
pub(crate) use inspect_command::InspectCommand;
#[cfg(feature = "faults")]
pub use unread::read_no_lines;
