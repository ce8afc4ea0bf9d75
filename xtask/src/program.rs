//! Running a program of this machine: seen by the person, or for its output. Knows no task.

use std::process::{Command, Output, Stdio};

use anyhow::{Context, bail};

/// Shows the command line, runs it with the terminal's own input and output, and fails with it.
pub(crate) fn show(command: &mut Command) -> anyhow::Result<()> {
    let line = line(command);
    println!("\n$ {line}");
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    if status.success() {
        Ok(())
    } else {
        bail!("`{line}` failed ({status})")
    }
}

/// Runs a command in silence and returns what it wrote, whatever its exit status.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<Output> {
    let line = line(command);
    command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{line}`"))
}

/// The standard output of a command that must succeed.
pub(crate) fn text(command: &mut Command) -> anyhow::Result<String> {
    let output = output(command)?;
    if !output.status.success() {
        bail!(
            "`{}` failed: {}",
            line(command),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{}` did not write UTF-8", line(command)))
}

/// Whether a command can be started and succeeds.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    output(command).is_ok_and(|output| output.status.success())
}

/// The cargo that started this task, so that a chosen toolchain stays chosen.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program()).to_string_lossy();
    command.get_args().fold(name.into_owned(), |line, argument| {
        format!("{line} {}", argument.to_string_lossy())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_program_is_named_with_what_it_said() {
        let error = text(Command::new("sh").args(["-c", "echo out; echo why >&2; exit 3"])).unwrap_err();
        assert_eq!(error.to_string(), "`sh -c echo out; echo why >&2; exit 3` failed: why");
        assert!(
            text(&mut Command::new("no-such-program-here"))
                .unwrap_err()
                .to_string()
                .starts_with("cannot start")
        );
    }

    #[test]
    fn success_is_the_exit_status() {
        assert!(succeeds(Command::new("sh").args(["-c", "exit 0"])));
        assert!(!succeeds(Command::new("sh").args(["-c", "exit 1"])));
        assert!(!succeeds(&mut Command::new("no-such-program-here")));
    }
}
