//! Where the walls cannot stand, no command runs: the product is started on a machine without the
//! program that makes them, and on one that allows no namespace within.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::attacks::evidence::told;
use crate::support::{Place, Said, calls, said, says, turns};

/// The binary inside another machine, made by these arguments of bubblewrap.
pub(super) fn elsewhere(place: &Place, machine: &[&str], words: &[&str]) -> Said {
    let output = Command::new("bwrap")
        .args(machine)
        .args(["--", env!("CARGO_BIN_EXE_stance")])
        .args(words)
        .current_dir(place.repo())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", place.home())
        .env("STANCE_HOME", place.stance_home())
        .stdin(Stdio::null())
        .output();
    said(output.unwrap())
}

fn no_command_runs(machine: &[&str], why: &str) {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    let model = place.script(
        "unwalled",
        &turns(&[
            calls(&[
                ("execute_command", json!({"command": "touch ran"})),
                (
                    "git_write",
                    json!({"op": "commit", "message": "x", "paths": ["README.md"]}),
                ),
                ("read_file", json!({"path": "README.md"})),
            ]),
            says("done"),
        ]),
    );
    let before = place.world();
    let doctor = elsewhere(&place, machine, &["doctor", "--json"]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    let walls = doctor.report()["walls"].clone();
    assert_eq!(walls["proven"], false);
    assert!(walls["why"].as_str().unwrap().contains(why), "{walls:#}");
    let words = elsewhere(&place, machine, &["doctor"]);
    assert!(words.out.contains("walls OFF") && words.out.contains(why), "{words:?}");

    let run = [
        "run",
        "--stream-json",
        "--mode",
        "agent",
        "--yolo",
        "--model",
        &model,
        "--check",
        "touch ran",
        "run it",
    ];
    let said = elsewhere(&place, machine, &run);
    assert_eq!(place.world(), before);
    let events: Vec<Value> = said
        .out
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let told = told(&events);
    if told.is_empty() {
        assert_ne!(said.code, 0, "{said:?}");
        assert!(said.err.contains("walls") || said.err.contains("namespace"), "{said:?}");
    } else {
        assert!(told[0].error && told[0].text.contains("wall"), "{told:?}");
        assert!(told[1].error, "{told:?}");
        assert!(!told[2].error, "{told:?}");
    }
}

/// A machine like this one without the program that makes the walls.
pub(super) fn without_bubblewrap() -> Vec<&'static str> {
    let mut machine = vec!["--dev-bind", "/", "/"];
    for path in ["/usr/local/bin/bwrap", "/usr/bin/bwrap"] {
        if Path::new(path).exists() {
            machine.extend(["--ro-bind", "/dev/null", path]);
        }
    }
    machine
}

#[test]
fn without_the_program_that_makes_them() {
    no_command_runs(&without_bubblewrap(), "bwrap");
}

#[test]
fn where_no_namespace_can_be_made() {
    no_command_runs(
        &["--unshare-user", "--disable-userns", "--dev-bind", "/", "/"],
        "namespace",
    );
}
