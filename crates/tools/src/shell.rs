//! Running command lines inside the walls.

mod execute_command;
mod families;
mod hints;
mod spill;

pub(crate) use execute_command::ExecuteCommand;
