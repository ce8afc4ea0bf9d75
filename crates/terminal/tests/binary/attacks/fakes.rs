//! Programs with the names of ours, put first in PATH by whoever wrote the repository.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::evidence::{Canaries, told};
use crate::support::{Place, calls, says, turns};

#[test]
fn programs_of_ours_are_never_taken_from_path() {
    let mut place = Place::new();
    let mut canaries = Canaries::new(&place);
    let bin = place.repo().join("bin");
    fs::create_dir(&bin).unwrap();
    for name in ["git", "bwrap", "bash", "sh", "cat", "env", "stance"] {
        let program = canaries.program(&format!("fake-{name}"));
        let trace = place.outside().join(name);
        fs::write(
            &program,
            format!("#!/bin/bash\n/usr/bin/touch {}\nexit 1\n", trace.display()),
        )
        .unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(program, bin.join(name)).unwrap();
    }
    let path = format!("{}:.:{}", bin.display(), std::env::var("PATH").unwrap());
    place.variables.push(("PATH".to_owned(), path));
    let model = place.script(
        "works",
        &turns(&[
            calls(&[
                ("git_read", json!({"op": "status"})),
                (
                    "execute_command",
                    json!({"command": "cat README.md; git log --oneline; env | grep ^PATH="}),
                ),
                ("write_to_file", json!({"path": "new.txt", "content": "x\n"})),
                ("git_write", json!({"op": "stage", "paths": ["new.txt"]})),
                ("git_write", json!({"op": "commit", "message": "More"})),
            ]),
            says("done"),
        ]),
    );
    canaries.opened();
    let (code, events, report) = place.stream(&model, &["--mode", "agent", "--yolo", "--check", "true", "work"]);
    let person = place.stance(&["doctor"]);
    let program = place.stance(&["doctor", "--json"]);
    assert_eq!(canaries.opened(), BTreeSet::new());
    assert_eq!(fs::read_dir(place.outside()).unwrap().count(), 0);
    assert_eq!(code, 0, "{report:#}");
    let told = told(&events);
    assert!(told.iter().all(|told| !told.error), "{told:#?}");
    assert!(
        told[1].text.contains("# Sample") && told[1].text.contains(" start"),
        "{:?}",
        told[1]
    );
    assert!(!told[1].text.contains(&bin.display().to_string()), "{:?}", told[1]);

    for name in ["git", "bwrap", "bash"] {
        let warning = format!("PATH finds {name} at {}", bin.join(name).display());
        assert!(person.out.contains(&warning), "{warning}: {}", person.out);
    }
    let programs = program.report()["programs"].clone();
    for row in programs.as_array().unwrap() {
        let name = row["name"].as_str().unwrap();
        assert_eq!(row["found_by_path"], bin.join(name).display().to_string(), "{row:#}");
        assert!(row["used"].as_str().unwrap().starts_with("/usr/"), "{row:#}");
    }
    assert_eq!(programs.as_array().unwrap().len(), 3);
}

#[test]
fn doctor_is_silent_about_programs_that_are_the_same() {
    let mut place = Place::new();
    place
        .variables
        .push(("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()));
    let said = place.stance(&["doctor"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!said.out.contains("PATH finds"), "{}", said.err);
}
