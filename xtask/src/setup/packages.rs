//! Packages of the operating system, where its package manager is apt and we may use it.

use std::process::Command;
use std::sync::OnceLock;

use crate::program;

/// Installs packages, or says why that is not possible here.
pub(crate) fn install(packages: &[&str]) -> Result<(), String> {
    let names = packages.join(" ");
    if !program::succeeds(Command::new("apt-get").arg("--version")) {
        return Err(format!(
            "{names} is not installed and this system has no apt: install it by hand"
        ));
    }
    if !is_root() && !program::succeeds(Command::new("sudo").args(["--non-interactive", "true"])) {
        return Err(format!("{names} is not installed; run `sudo apt-get install {names}`"));
    }
    refresh()?;
    let mut install = apt();
    install
        .args(["install", "--yes", "--no-install-recommends"])
        .args(packages);
    program::show(&mut install).map_err(|error| error.to_string())
}

/// Whether this task runs as root.
pub(crate) fn is_root() -> bool {
    program::text(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

/// A new machine's lists of packages are empty: they are fetched once for each task.
fn refresh() -> Result<(), String> {
    static REFRESHED: OnceLock<Result<(), String>> = OnceLock::new();
    REFRESHED
        .get_or_init(|| program::show(apt().arg("update")).map_err(|error| error.to_string()))
        .clone()
}

fn apt() -> Command {
    let mut command = if is_root() {
        Command::new("env")
    } else {
        Command::new("sudo")
    };
    if !is_root() {
        command.args(["--non-interactive", "env"]);
    }
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    command
}
