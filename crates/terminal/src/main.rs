//! The program `stance`: the door for people. It puts environment, settings, models and walls
//! together, hands what is typed to the engine, and shows what comes of it. What may happen is
//! decided elsewhere: nothing here can widen it.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

mod arguments;
mod ask;
mod closing;
mod commands;
mod conformance;
mod decide;
mod descent;
mod door;
mod environment;
mod exit;

#[cfg(feature = "faults")]
mod faults;
mod held;
mod house;
mod lines;
mod models;
mod near;
mod print;
mod settings;
mod show;

use std::ffi::OsString;
use std::process::ExitCode;

use arguments::Arguments;
use engine::{Problem, ProblemKind};
use environment::Environment;
use exit::Exit;
use print::{Printer, Reader};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // A process inside the walls is this program too; there it must become another at once.
    sandbox::enter_if_asked();
    engine::outline_if_asked();
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let object_wanted = words.iter().any(|word| word == "--json" || word == "--stream-json");
    let environment = Environment::of_process();
    let mut printer = Printer::new(&environment, Reader::Program);
    let failed = |printer: &mut Printer, problem: &Problem| {
        if object_wanted {
            // Whoever reads no answer reads the exit code.
            drop(printer.json(&serde_json::json!({"error": problem})));
        }
        Exit::of_problem(problem)
    };
    let arguments = match Arguments::read(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are asked for; anything else is a wrong command.
            drop(error.print());
            return if error.use_stderr() {
                failed(&mut printer, &Problem::usage(error.to_string())).into()
            } else {
                Exit::FINE.into()
            };
        }
    };
    match carry_out(arguments, environment) {
        Ok(exit) => exit.into(),
        Err(problem) => {
            printer.problem(&problem);
            failed(&mut printer, &problem).into()
        }
    }
}

fn carry_out(arguments: Arguments, environment: Environment) -> Result<Exit, Problem> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Problem::new(ProblemKind::Machine, format!("The program cannot start: {error}.")))?;
    let exit = runtime.block_on(commands::carry_out(arguments, environment));
    // A thread may still wait for a line that nobody will type.
    runtime.shutdown_background();
    exit
}
