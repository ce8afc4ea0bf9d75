//! The tasks of this workspace, behind `cargo xtask`. Ordinary programs of the machine (cargo, git, apt) do the
//! work; this crate only says which, in which order, and what is wrong.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task talks to the person who started it"
)]
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

mod bans;
mod bench;
mod checkout;
mod codegen;
mod conformance;
mod demo;
mod program;
mod setup;
mod test;
mod tidy;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::checkout::Checkout;

/// Tasks of the Stance workspace.
///
/// On a new machine two commands are enough: `cargo xtask demo` shows what Stance does,
/// `cargo xtask test` proves it.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_version_flag = true)]
struct Command {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what the tests and the demo need, and say what could not be installed and why.
    Setup,
    /// Build `stance` and run its main job on a sample repository: plan, approve, carry out.
    Demo {
        /// Arguments for `stance demo`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Set up, tidy, and run every test.
    ///
    /// `STANCE_TEST_REQUIRE=bwrap,git` turns the absence of a named thing from a skip into a failure.
    Test,
    /// Check what no compiler checks: arrows between rooms, bans, files, generated pages.
    Tidy,
    /// Measure how fast something is, as medians and ratios in one run.
    #[command(subcommand)]
    Bench(Bench),
    /// Measure what each mode holds with the binary itself, and write docs/conformance.md.
    Conformance,
    /// Render the `clippy.toml` of each room and docs/modes.md from their tables.
    Codegen {
        /// Change nothing; fail when a rendered file is stale.
        #[arg(long)]
        check: bool,
    },
}

#[derive(Subcommand)]
enum Bench {
    /// Reading shell lines, judging calls, putting up the walls.
    Guard,
    /// Stance beside other agents from npm, all asking a model on loopback that answers at once.
    Agents(bench::agents::Asked),
}

fn main() -> ExitCode {
    match perform(Command::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn perform(task: Task) -> anyhow::Result<()> {
    let checkout = Checkout::find()?;
    match task {
        Task::Setup => {
            setup::run().print();
            Ok(())
        }
        Task::Demo { arguments } => demo::run(&checkout, &arguments),
        Task::Test => test::run(&checkout),
        Task::Tidy => tidy::run(&checkout),
        Task::Bench(Bench::Guard) => bench::guard(&checkout),
        Task::Bench(Bench::Agents(asked)) => bench::agents::run(&checkout, &asked),
        Task::Conformance => conformance::write(&checkout),
        Task::Codegen { check: true } => codegen::check(&checkout),
        Task::Codegen { check: false } => codegen::write(&checkout),
    }
}
