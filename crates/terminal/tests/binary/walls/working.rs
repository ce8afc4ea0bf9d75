//! What a run is for works inside: writing the project, building, testing, asking git.

use std::fs;

use serde_json::{Value, json};

use super::site::{Site, Who};
use crate::attacks::evidence::{Told, told};
use crate::support::{Place, calls, says, turns};

/// A line and what its result must be. Lines of programs that may be missing say so themselves.
const WORKS: [(&str, &str); 14] = [
    (
        "echo new > made.txt && mkdir -p a/b && mv made.txt a/b/ && cat a/b/made.txt",
        "new\n[exit code 0]",
    ),
    ("chmod 640 README.md && stat -c %a README.md", "640\n[exit code 0]"),
    ("ln -s app.js src/link && cat src/link", "const x = 1;\n[exit code 0]"),
    (
        "printf 'b\\na\\n' | sort | tee sorted | wc -l && cat sorted",
        "2\na\nb\n[exit code 0]",
    ),
    (
        "echo out; echo err >&2; cat <(echo sub)",
        "out\nerr\nsub\n[exit code 0]",
    ),
    (
        "git status --short; git log --format=%s -1; git diff --stat README.md",
        "second",
    ),
    (
        "git log --format=%an -1; git branch --list topic",
        "Ada\n  topic\n[exit code 0]",
    ),
    (
        "echo x > $TMPDIR/t && echo y > ~/h && cat /tmp/t $HOME/h && test $TMPDIR = /tmp",
        "x\ny\n[exit code 0]",
    ),
    (
        "head -c 3 /dev/zero | od -An -tx1; date +%Y > /dev/null; seq 3 | paste -sd+ ",
        " 00 00 00\n1+2+3\n[exit code 0]",
    ),
    ("(sleep 0 & wait; echo waited)", "waited\n[exit code 0]"),
    (
        "perl -MSocket -e 'socketpair(A,B,AF_UNIX,SOCK_STREAM,0) or die; print \"pair\\n\"'",
        "pair\n[exit code 0]",
    ),
    (
        "test -x /usr/bin/gcc || { echo 42; exit 0; }; printf '#include <stdio.h>\\nint main(){printf(\"%%d\\\\n\",42);}' > m.c && gcc m.c -o m && ./m",
        "42\n[exit code 0]",
    ),
    (
        "test -x /usr/bin/python3 || { echo 6; exit 0; }; /usr/bin/python3 -c 'import subprocess; print(subprocess.check_output([\"echo\",\"6\"]).decode().strip())'",
        "6\n[exit code 0]",
    ),
    (
        "ulimit -n > /dev/null; trap 'echo trapped' EXIT; true",
        "trapped\n[exit code 0]",
    ),
];

fn the_work_works(who: Who) {
    let site = Site::new(who);
    let made: Vec<(&str, Value)> = WORKS
        .iter()
        .map(|(line, _)| ("execute_command", json!({"command": line})))
        .collect();
    let model = site.place.script("works", &turns(&[calls(&made), says("done")]));
    site.hand_over();
    let before = site.untouchable();
    let told = told(&site.stream(&model));
    assert_eq!(site.untouchable(), before);
    assert_eq!(told.len(), WORKS.len());
    for (told, (line, expected)) in told.iter().zip(WORKS) {
        assert!(!told.error && told.text.contains(expected), "{line}: {told:?}");
    }
    assert_eq!(site.place.read("a/b/made.txt"), "new\n");
}

#[test]
fn the_work_works_for_whoever_runs_this() {
    the_work_works(Who::AsStarted);
}

#[test]
fn the_work_works_for_an_ordinary_user() {
    the_work_works(Who::Ordinary);
}

fn results(place: &Place, made: &[(&str, Value)]) -> Vec<Told> {
    place.settings("[limits]\nmistakes = \"off\"\n");
    let model = place.script("lines", &turns(&[calls(made), says("done")]));
    told(&place.stream(&model, &["--mode", "agent", "--yolo", "run it"]).1)
}

#[test]
fn how_a_command_ended_is_told() {
    let place = Place::new();
    let told = results(
        &place,
        &[
            ("execute_command", json!({"command": "exit 3"})),
            ("execute_command", json!({"command": "kill -KILL $$"})),
            ("execute_command", json!({"command": "no-such-program"})),
            ("execute_command", json!({"command": "if"})),
            ("execute_command", json!({"command": "pwd", "cwd": "src"})),
            ("execute_command", json!({"command": "pwd", "cwd": "../outside"})),
            (
                "execute_command",
                json!({"command": "echo begun; exec sleep 600", "timeout_s": 1}),
            ),
            ("execute_command", json!({"command": "sleep 1", "timeout_s": 601})),
            ("execute_command", json!({"command": "seq 100000"})),
            ("execute_command", json!({"command": "printf 'a\\xff\\n'"})),
            ("execute_command", json!({"command": "cat"})),
        ],
    );
    let expected = [
        (true, "[no output]\n[exit code 3]"),
        (true, "[exit code 137]"),
        (true, "[exit code 127]"),
        (true, "syntax error"),
        (false, "/repo/src\n[exit code 0]"),
        (true, "lies outside the project"),
        (
            true,
            "begun\n[ended after 1 s, its time limit; give a longer timeout_s, at most 600]",
        ),
        (true, "at most 600 are given"),
        (false, "\n99999\n100000\n[exit code 0]"),
        (false, "a\u{fffd}\n[exit code 0]"),
        (false, "[no output]\n[exit code 0]"),
    ];
    assert_eq!(told.len(), expected.len());
    for (told, (error, words)) in told.iter().zip(expected) {
        assert!(told.error == error && told.text.contains(words), "{words:?}: {told:?}");
    }
    let long = &told[8].text;
    assert!(
        long.starts_with("[the last ") && long.contains("read_file shows all"),
        "{}",
        &long[..200]
    );
    assert!(long.len() < 30_000, "{}", long.len());
}

#[test]
fn a_toolchain_of_the_person_is_found_and_its_keys_are_not() {
    let Some(home) = std::env::var_os("HOME").map(std::path::PathBuf::from) else {
        return;
    };
    if !home.join(".cargo/bin/cargo").is_file() || !home.join(".rustup").is_dir() {
        return;
    }
    let mut place = Place::new();
    place.variables.push(("HOME".to_owned(), home.display().to_string()));
    let told = results(
        &place,
        &[
            (
                "execute_command",
                json!({"command": "cargo --version && cargo init --vcs none --name made made -q && cat made/src/main.rs"}),
            ),
            (
                "execute_command",
                json!({"command": "ls ~/.cargo/credentials.toml; touch $(dirname $(command -v cargo))/x"}),
            ),
        ],
    );
    assert!(!told[0].error && told[0].text.contains("Hello, world!"), "{told:?}");
    assert!(told[1].error, "{told:?}");
    assert!(fs::metadata(home.join(".cargo/bin/x")).is_err());
}
