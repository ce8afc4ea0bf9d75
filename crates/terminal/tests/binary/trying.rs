//! A plan tries commands in a throw-away copy: builds and tests run, and the host is as it was.

mod bash;

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::attacks::evidence::{Told, files, told};
use crate::conformance::watch::Watch;
use crate::support::{Place, calls, said, says, turns};
use crate::walls::site::{Site, Who};

const ON: &str = "[plan]\ntry = true\n";

/// A plan run that tries these lines and then needs no plan. The events and the report.
fn tried(place: &Place, lines: &[&str]) -> (Vec<Value>, Value) {
    let model = place.script("tries", &trying(lines));
    let (code, events, report) = place.stream(&model, &["--mode", "plan", "try it"]);
    assert_eq!(code, 0, "{report:#}");
    (events, report)
}

fn trying(lines: &[&str]) -> Value {
    let mut all: Vec<Value> = lines
        .iter()
        .map(|line| calls(&[("inspect_command", json!({"command": line, "timeout_s": 300}))]))
        .collect();
    all.push(calls(&[(
        "plan_mode_respond",
        json!({"response": "Nothing to plan.", "no_plan_needed": true}),
    )]));
    turns(&all)
}

fn only(events: &[Value]) -> Vec<Told> {
    told(events)
        .into_iter()
        .filter(|told| told.tool == "inspect_command")
        .collect()
}

/// Sets every time of access far back, so that any reading would be noted down; gives them back.
fn old_times(root: &Path) -> Vec<PathBuf> {
    let paths = files(root).into_iter().filter(|path| !path.is_symlink());
    let mut all: Vec<PathBuf> = paths.collect();
    let folders: Vec<PathBuf> = all
        .iter()
        .flat_map(|path| path.ancestors().skip(1).take_while(|folder| folder.starts_with(root)))
        .map(Path::to_owned)
        .collect();
    all.extend(folders);
    all.sort();
    all.dedup();
    for path in &all {
        let times = FileTimes::new().set_accessed(SystemTime::UNIX_EPOCH);
        File::open(path).unwrap().set_times(times).unwrap();
    }
    all
}

/// The tests of a sample project run, say what they say, and leave nothing behind.
fn tests_run(place: &Place, line: &str, expected: &str, written: &str) {
    place.settings(ON);
    let before = place.world();
    let model = place.script("tries", &trying(&[line]));
    let paths = old_times(&place.repo());
    let changed: Vec<_> = paths.iter().map(|path| path.symlink_metadata().unwrap()).collect();
    let watch = Watch::over(&[&place.repo(), &place.outside()]).unwrap();
    let said = place.stance(&["run", "--stream-json", "--model", &model, "--mode", "plan", "try it"]);
    assert_eq!(watch.seen().unwrap(), []);
    for (path, before) in paths.iter().zip(changed) {
        let after = path.symlink_metadata().unwrap();
        let times = |facts: &fs::Metadata| (facts.mtime_nsec(), facts.ctime_nsec(), facts.ino(), facts.mode());
        assert_eq!(times(&after), times(&before), "{}", path.display());
        // Stance's own git reads files as any tool does; no folder is looked through.
        let of_git = path.starts_with(place.repo().join(".git"));
        assert!(
            of_git || path.is_dir() || after.atime() == 0,
            "{} was read",
            path.display()
        );
    }
    let events: Vec<Value> = said
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told = only(&events[..events.len() - 1]);
    assert_eq!(told.len(), 1, "{said:?}");
    assert!(!told[0].error && told[0].text.contains(expected), "{told:?}");
    assert!(told[0].text.contains("all of it is thrown away: "), "{told:?}");
    assert!(told[0].text.contains(written), "{told:?}");
    let still: Vec<String> = place.world();
    let timeless = |lines: &[String]| -> Vec<String> {
        // The times of change differ since the times of access were set.
        lines
            .iter()
            .map(|line| line.rsplitn(2, ' ').last().unwrap().to_owned())
            .collect()
    };
    assert_eq!(timeless(&still), timeless(&before));
}

#[test]
fn the_tests_of_a_node_project_run() {
    if !Path::new("/usr/bin/npm").exists() {
        println!("skipped: there is no npm in the system's folders");
        return;
    }
    let place = Place::new();
    place.write(
        "package.json",
        r#"{"name": "sample", "version": "1.0.0", "scripts": {"test": "node --test"}}"#,
    );
    place.write(
        "sum.test.js",
        "const test = require('node:test'); const fs = require('node:fs');\n\
         test('adds', () => { fs.writeFileSync('made-by-node', 'x'); require('node:assert').equal(1 + 1, 2); });\n",
    );
    tests_run(&place, "npm test --offline", "pass 1", "made-by-node");
}

#[test]
fn the_tests_of_a_python_project_run() {
    let python = "/usr/bin/python3";
    let has_pytest = Command::new(python).args(["-m", "pytest", "--version"]).output();
    if !has_pytest.is_ok_and(|said| said.status.success()) {
        println!("skipped: the system's Python has no pytest");
        return;
    }
    let place = Place::new();
    place.write(
        "test_sum.py",
        "from src import util\n\ndef test_adds():\n    open('made-by-pytest', 'w').write('x')\n    assert util.add(1, 1) == 2\n",
    );
    tests_run(&place, &format!("{python} -m pytest -q"), "1 passed", "made-by-pytest");
}

#[test]
fn the_tests_of_a_rust_project_run() {
    let Some(home) = std::env::var_os("HOME")
        .map(PathBuf::from)
        .filter(|home| home.join(".rustup").is_dir())
    else {
        println!("skipped: there is no toolchain of rustup in the home folder");
        return;
    };
    let place = Place::new();
    fs::create_dir(place.home().join(".cargo")).unwrap();
    symlink(home.join(".cargo/bin"), place.home().join(".cargo/bin")).unwrap();
    symlink(home.join(".rustup"), place.home().join(".rustup")).unwrap();
    place.write(
        "Cargo.toml",
        "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    place.write("src/lib.rs", "#[test]\nfn adds() {\n    assert_eq!(1 + 1, 2);\n}\n");
    tests_run(&place, "cargo test --offline", "1 passed", "Cargo.lock");
}

/// Each tries to leave something behind or to reach somebody.
const HOSTILE: [&str; 14] = [
    "rm -rf README.md src .git; ls -A",
    "git -c user.name=x -c user.email=x@x commit -q --allow-empty -m in; git push -q origin main",
    "echo x > {OUT}/file; echo x > {HOME}/.bashrc; echo x > {STATE}/settings.toml; echo x > {TMP}",
    "setsid sh -c 'while :; do echo x >> README.md; sleep 0.01; done' > /dev/null 2>&1 & sleep 0.1; kill -0 $!",
    "mkdir -p new/.git && printf '[core]\\nfsmonitor = touch {OUT}/ran\\n' >> .git/config; git status",
    "chmod -R 777 . ; touch -d @0 README.md; ln README.md hard; mv src moved",
    "curl -s -d x http://127.0.0.1:{TCP}/canary",
    "(exec 3<>/dev/tcp/127.0.0.1/{TCP}; echo x >&3); (exec 3<>/dev/udp/127.0.0.1/{UDP}; echo x >&3)",
    "perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer=>\"socket\") or die $!'",
    "perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer=>\"{OUT}/socket\") or die $!'",
    "perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer=>\"\\0{ABSTRACT}\") or die $!'",
    "echo x > pipe; echo x > {OUT}/pipe",
    "echo x > /proc/self/fd/5; ls /proc/self/fd/7; cat /proc/{VICTIM}/environ; kill {VICTIM}",
    "cat {HOME}/.ssh/secret {OUT}/file {STATE}/settings.toml",
];

fn nothing_survives(who: Who) {
    let mut site = Site::new(who);
    site.place.settings(&format!("[limits]\nmistakes = \"off\"\n{ON}"));
    let lines: Vec<String> = HOSTILE.iter().map(|line| site.named(line)).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let model = site.place.script("hostile", &trying(&lines));
    site.hand_over();
    let before = site.place.world();
    let watch = Watch::over(&[&site.place.repo(), &site.place.outside(), &site.place.home()]).unwrap();
    let words = ["run", "--stream-json", "--mode", "plan", "--model", &model, "try it"];
    let ended = said(
        site.stance(&words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()
            .unwrap(),
    );
    assert_eq!(watch.seen().unwrap(), []);
    assert_eq!(site.place.world(), before);
    site.nobody_heard();
    let events: Vec<Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?} {}", ended.err)))
        .collect();
    let told = only(&events[..events.len() - 1]);
    assert_eq!(told.len(), HOSTILE.len());
    for one in &told {
        assert!(!one.text.contains(crate::walls::site::SECRET), "{one:?}");
    }
    assert!(
        told[0].how == "performed" && told[0].text.contains("deleted"),
        "{:?}",
        told[0]
    );
}

#[test]
fn nothing_survives_what_a_plan_tries() {
    nothing_survives(Who::AsStarted);
}

#[test]
fn nothing_survives_what_an_ordinary_users_plan_tries() {
    nothing_survives(Who::Ordinary);
}

#[test]
fn an_interpreter_changes_nothing_and_a_script_that_reads_works() {
    let place = Place::new();
    place.settings(&format!("[limits]\nmistakes = \"off\"\n{ON}"));
    place.write("writes.py", "open('f.txt', 'w').write('x')\n");
    place.write("reads.py", "print(open('README.md').read())\n");
    let before = place.world();
    let lines = [
        "perl -ne print README.md",
        "awk '{print}' README.md",
        "python3 reads.py",
        "python3 -c \"open('f.txt','w').write('1')\"",
        "python3 writes.py",
        "node -e \"require('fs').writeFileSync('f.txt','1')\"",
        "perl -e 'open(F,\">f.txt\");print F 1'",
        "ruby -e 'File.write(\"f.txt\",1)'",
        "awk 'BEGIN{print 1 > \"f.txt\"}'",
    ];
    let (events, _) = tried(&place, &lines);
    let told = only(&events);
    for read in &told[..3] {
        assert!(!read.error && read.text.contains("# Sample"), "{read:?}");
    }
    let thrown = told[3..].iter().filter(|told| told.text.contains("f.txt")).count();
    assert!(thrown >= 4, "{told:#?}");
    assert_eq!(place.world(), before);
}

#[test]
fn without_an_operators_word_there_is_no_copy_and_it_is_said_once() {
    let place = Place::new();
    let model = place.script("tries", &trying(&["ls"]));
    let run = || place.stance(&["run", "--stream-json", "--model", &model, "--mode", "plan", "try it"]);
    let off = "trying commands in a throw-away copy is off; `try = true` under `[plan]` in your settings turns it on";
    let first = run();
    assert!(first.err.contains(off), "{first:?}");
    assert!(
        first
            .out
            .contains("unknown tool inspect_command: not in Plan (read-only): trying commands"),
        "{first:?}"
    );
    let second = run();
    assert!(!second.err.contains(off), "{second:?}");
    place.settings("[plan]\ntry = false\n");
    let third = Place::new();
    third.settings("[plan]\ntry = false\n");
    let model = third.script("tries", &trying(&["ls"]));
    let refused = third.stance(&["run", "--stream-json", "--model", &model, "--mode", "plan", "try it"]);
    assert!(!refused.err.contains(off), "{refused:?}");
    let explained = place.stance(&["explain", "inspect_command", "--mode", "plan"]);
    assert!(explained.out.contains(off), "{explained:?}");
    let profile = place.stance(&["profile", "plan"]);
    assert!(
        profile.out.contains(&format!("absent.inspect_command: {off}")),
        "{profile:?}"
    );
    assert!(profile.out.contains("No command can be tried here"), "{profile:?}");
}

#[test]
fn a_project_file_does_not_turn_it_on() {
    let place = Place::new();
    place.write(".stance/settings.toml", ON);
    let refused = place.stance(&[
        "run",
        "--mode",
        "plan",
        "--model",
        &place.script("s", &turns(&[says("x")])),
        "x",
    ]);
    assert_eq!(refused.code, 1);
    assert!(
        refused
            .err
            .contains(".stance/settings.toml:2: a project file does not let Plan try commands; it belongs in"),
        "{refused:?}"
    );
}

#[test]
fn agent_mode_has_no_copy_to_try_in() {
    let place = Place::new();
    place.settings(ON);
    let explained = place.stance(&["explain", "inspect_command", "--mode", "agent"]);
    assert!(
        explained.out.contains("this mode tries nothing in a throw-away copy"),
        "{explained:?}"
    );
    let (_, report) = tried(&place, &["true"]);
    assert_eq!(report["outcome"], "declined");
}

#[test]
fn a_person_tries_a_line() {
    let place = Place::new();
    let before = place.world();
    let said = place.stance(&["try", "echo out; echo err >&2; echo x > made; rm README.md; exit 3"]);
    assert_eq!(said.code, 3, "{said:?}");
    for part in [
        "out\n",
        "err\n",
        "exit code 3",
        "1 file was written and 1 deleted (2 bytes), and all of it is thrown away: README.md (deleted), made",
    ] {
        assert!(said.out.contains(part), "{part}: {said:?}");
    }
    let report = place.stance(&["try", "--json", "cat made; seq 3"]).report();
    assert_eq!((&report["exit"], &report["excess"]), (&json!(0), &Value::Null));
    assert!(report["output"].as_str().unwrap().ends_with("1\n2\n3\n"), "{report}");
    assert_eq!(report["thrown_away"]["written"], 0);
    let late = place.stance(&["try", "sleep 100", "--timeout", "1"]);
    assert_eq!(late.code, 1);
    assert!(late.out.contains("ended after 1 s, its time limit"), "{late:?}");
    assert_eq!(place.world(), before);
    assert_eq!(place.stance(&["try", " "]).code, 2);
}
