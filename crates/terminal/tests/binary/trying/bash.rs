//! The lines that the reader of lines is tried on, run by real bash in a throw-away copy: what it calls a read
//! changes nothing, and what it sees through as a trick is one.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use crate::support::Place;

/// Lines that are proven reads.
const READS: &str = include_str!("../../../../modes/src/line/corpus/reads.txt");

/// Lines that are none.
const TRICKS: &str = include_str!("../../../../modes/src/line/corpus/tricks.txt");

/// Those of them that show nothing in the sample, and under which heading: what they need to.
const QUIET: &str = include_str!("../../../../modes/src/line/corpus/quiet.txt");

/// Programs that a machine may lack: a line with one shows nothing there.
const OPTIONAL: &str = "node perl python3 strace script watch patch make xxd shuf git awk tar setsid split csplit";

/// A repository that has something for every line.
fn sample() -> Place {
    let place = Place::new();
    let runs = "#!/bin/sh\n/usr/bin/touch f\n";
    for (path, content) in [
        ("README.md", "# Title\na\nb\n"),
        ("src/lib.rs", "use x;\nfn main() {\n}\n"),
        ("src/main.rs", "use x;\nfn main() {\n}\n"),
        ("package.json", "{\"scripts\": {\"test\": \"touch f\"}}\n"),
        ("Makefile", "all:\n\t+touch f\n$(shell touch f)\n"),
        ("script", "w f\n"),
        ("script.sh", runs),
        ("script.py", "open('f', 'w')\n"),
        ("file", "touch f\n"),
        ("evil", runs),
        ("ls", runs),
        ("src/run.sh", runs),
        ("lines.sh", include_str!("lines.sh")),
    ] {
        place.write(path, content);
    }
    for program in ["evil", "ls", "src/run.sh"] {
        fs::set_permissions(place.repo().join(program), Permissions::from_mode(0o755)).unwrap();
    }
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "more"]);
    place.git(&["config", "alias.x", "!touch f"]);
    let inner = place.repo().join("sub").display().to_string();
    place.git(&["init", "-q", &inner]);
    place.git(&["-C", &inner, "config", "core.fsmonitor", "touch f;"]);
    place.write("sub/a", "a\n");
    place.write("src/lib.rs", "use x;\nfn main() {\n}\ndirty\n");
    place
}

/// Runs the lines in a throw-away copy; what the script says of them.
fn run(place: &Place, lines: &str, how: &str) -> Vec<String> {
    place.write("lines.txt", lines);
    // What a line that only reads is given.
    let line = format!(
        "export GIT_OPTIONAL_LOCKS=0 GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=diff.ignoreSubmodules \
         GIT_CONFIG_VALUE_0=dirty GIT_CONFIG_KEY_1=diff.autoRefreshIndex GIT_CONFIG_VALUE_1=false; \
         bash lines.sh lines.txt {how}"
    );
    let report = place.stance(&["try", "--json", "--timeout", "150", &line]).report();
    let mut said: Vec<String> = report["output"].as_str().unwrap().lines().map(str::to_owned).collect();
    assert_eq!(said.pop().as_deref(), Some("all lines were run"), "{report:#}");
    said
}

#[test]
fn what_is_a_proven_read_changes_nothing_and_leaves_no_process() {
    let place = sample();
    let said = run(&place, READS, "here");
    assert_eq!(said, Vec::<String>::new());
    // The check itself sees what changes.
    let said = run(&place, "ls\ntouch f\nsleep 9 > /dev/null 2>&1 &\n", "here");
    assert_eq!(said, ["changed touch f", "changed sleep 9 > /dev/null 2>&1 &"]);
}

#[test]
fn every_trick_does_what_the_reader_suspects() {
    let quiet: BTreeSet<&str> = QUIET.lines().filter(|line| !line.starts_with('#')).collect();
    let tricks: Vec<&str> = TRICKS.lines().collect();
    for line in &quiet {
        assert!(tricks.contains(line), "{line} is no trick");
    }
    let loud: Vec<&str> = tricks.into_iter().filter(|line| !quiet.contains(line)).collect();
    assert!(loud.len() > 200, "{}", loud.len());
    let missing = |line: &&String| {
        let absent = |name: &str| {
            !["/usr/bin", "/bin"]
                .iter()
                .any(|folder| fs::exists(format!("{folder}/{name}")).unwrap())
        };
        let mut programs = OPTIONAL.split(' ').filter(|name| absent(name));
        programs.any(|name| line.split_whitespace().any(|word| word == name))
    };
    let said = run(&sample(), &format!("{}\n", loud.join("\n")), "fresh");
    let unproven: Vec<&String> = said.iter().filter(|line| !missing(line)).collect();
    assert!(unproven.is_empty(), "{unproven:#?}");
}
