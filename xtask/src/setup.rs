//! Installing what the tests and the demo need. Never fails: it says what is missing and why, and whoever cannot do
//! without it decides.

mod packages;

use std::process::Command;

use crate::program;

/// The release of the test runner that the configuration is written for.
const NEXTEST: &str = "0.9.143";

/// A thing the tests or the demo need, and how it stands.
pub(crate) struct Need {
    /// The word for `STANCE_TEST_REQUIRE`.
    pub(crate) name: &'static str,
    /// What is lost without it.
    purpose: &'static str,
    /// Nothing, or why it is missing.
    pub(crate) missing: Option<String>,
}

/// How every need stands.
pub(crate) struct Standing {
    /// Each of them.
    pub(crate) needs: Vec<Need>,
}

/// Installs what is missing and can be installed, then looks again.
pub(crate) fn run() -> Standing {
    let need = |name, purpose, result: Result<(), String>| Need {
        name,
        purpose,
        missing: result.err(),
    };
    Standing {
        needs: vec![
            need("git", "every task of a run happens in a git repository", git()),
            need("bwrap", "nothing can be run inside walls", bubblewrap()),
            need(
                "user",
                "walls are tried as root only, not as an ordinary user too",
                ordinary_user(),
            ),
            need(
                "pytest",
                "the tests of a Python project are not tried in plan mode",
                pytest(),
            ),
            need("clippy", "no lint is checked", component("clippy")),
            need("rustfmt", "the layout of the code is not checked", component("rustfmt")),
            need(
                "nextest",
                "tests run under `cargo test`, where one that hangs is not ended",
                nextest(),
            ),
        ],
    }
}

impl Standing {
    /// Says what is ready and what is skipped.
    pub(crate) fn print(&self) {
        let ready: Vec<&str> = self
            .needs
            .iter()
            .filter(|need| need.missing.is_none())
            .map(|need| need.name)
            .collect();
        println!("ready: {}", ready.join(", "));
        for need in &self.needs {
            if let Some(why) = &need.missing {
                println!("skipped: {}: {why}; without it {}", need.name, need.purpose);
            }
        }
    }

    /// Whether a need is met.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.needs
            .iter()
            .any(|need| need.name == name && need.missing.is_none())
    }

    /// A sentence for each word of a list such as `bwrap,git` that is missing or no need of ours.
    pub(crate) fn unmet(&self, required: &str) -> Vec<String> {
        required
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .filter_map(|word| match self.needs.iter().find(|need| need.name == word) {
                None => Some(format!("{word} is required but is nothing these tests know")),
                Some(Need { missing: Some(why), .. }) => Some(format!("{word} is required but {why}")),
                Some(_) => None,
            })
            .collect()
    }
}

fn git() -> Result<(), String> {
    let here = || program::succeeds(Command::new("git").arg("--version"));
    if here() {
        return Ok(());
    }
    packages::install(&["git"])?;
    if here() {
        Ok(())
    } else {
        Err("git was installed but does not start".to_owned())
    }
}

fn bubblewrap() -> Result<(), String> {
    if !program::succeeds(Command::new("bwrap").arg("--version")) {
        packages::install(&["bubblewrap"])?;
    }
    let mut probe = Command::new("bwrap");
    probe.args([
        "--unshare-user",
        "--unshare-pid",
        "--unshare-net",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "true",
    ]);
    let output = program::output(&mut probe).map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!(
            "bubblewrap cannot build walls on this machine ({})",
            said.trim()
        ))
    }
}

fn ordinary_user() -> Result<(), String> {
    if !packages::is_root() {
        return Ok(());
    }
    if program::succeeds(Command::new("id").args(["-u", "nobody"])) {
        Ok(())
    } else {
        Err("this machine has no user `nobody`".to_owned())
    }
}

fn pytest() -> Result<(), String> {
    // The system's own: the walls show what lies in the system's folders.
    let here = || program::succeeds(Command::new("/usr/bin/python3").args(["-m", "pytest", "--version"]));
    if here() {
        return Ok(());
    }
    packages::install(&["python3", "python3-pytest"])?;
    if here() {
        Ok(())
    } else {
        Err("pytest was installed but does not start".to_owned())
    }
}

fn component(name: &'static str) -> Result<(), String> {
    let subcommand = if name == "rustfmt" { "fmt" } else { name };
    let here = || program::succeeds(program::cargo().args([subcommand, "--version"]));
    if here() {
        return Ok(());
    }
    program::show(Command::new("rustup").args(["component", "add", name])).map_err(|error| error.to_string())?;
    if here() {
        Ok(())
    } else {
        Err(format!("rustup added {name} but cargo does not find it"))
    }
}

fn nextest() -> Result<(), String> {
    if program::succeeds(program::cargo().args(["nextest", "--version"])) {
        return Ok(());
    }
    println!("The test runner is missing; compiling it takes some minutes, once.");
    program::show(program::cargo().args(["install", "cargo-nextest", "--locked", "--version", NEXTEST]))
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing() -> Standing {
        let need = |name, missing: Option<&str>| Need {
            name,
            purpose: "",
            missing: missing.map(str::to_owned),
        };
        Standing {
            needs: vec![need("git", None), need("bwrap", Some("apt is not here"))],
        }
    }

    #[test]
    fn a_required_need_that_is_missing_is_told_with_its_reason() {
        assert_eq!(standing().unmet("git,bwrap"), ["bwrap is required but apt is not here"]);
        assert_eq!(standing().unmet(" git , "), Vec::<String>::new());
        assert_eq!(
            standing().unmet("gti"),
            ["gti is required but is nothing these tests know"]
        );
    }

    #[test]
    fn a_need_stands_or_not() {
        assert!(standing().has("git"));
        assert!(!standing().has("bwrap"));
        assert!(!standing().has("docker"));
    }
}
