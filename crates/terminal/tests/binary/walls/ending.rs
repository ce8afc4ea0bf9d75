//! Nothing that a run started is there when the run is over.

use std::fs;

use serde_json::json;

use super::site::{Site, Who};
use crate::attacks::evidence::told;
use crate::support::{calls, says, turns, unseen};

/// The processes of this machine that have these words in their command line.
fn processes_of(words: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().map(Result::unwrap) {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(words) {
            found.push(line);
        }
    }
    found
}

fn no_daemon_outlives_its_command(who: Who) {
    let site = Site::new(who);
    let marker = format!("daemon-of-{}", site.place.repo().display());
    // Each waits for a sign that comes when the run is over, and would then write.
    let daemon = format!("until test -e sign; do :; done; touch late # {marker}");
    let lines = [
        format!("setsid nohup sh -c '{daemon}' > /dev/null 2>&1 & echo started"),
        format!("(setsid sh -c '{daemon}' < /dev/null > /dev/null 2>&1 &) ; echo started"),
        format!("sh -c '{daemon}' & disown -a; echo started"),
        format!("trap '' HUP TERM; nohup setsid -f sh -c 'trap \"\" HUP TERM INT; {daemon}'; echo started"),
        "ls late || echo nothing yet".to_owned(),
    ];
    let made: Vec<_> = lines
        .iter()
        .map(|line| ("execute_command", json!({"command": line, "timeout_s": 3})))
        .collect();
    let model = site.place.script("daemons", &turns(&[calls(&made), says("done")]));
    site.hand_over();
    let told = told(&site.stream(&model));
    assert!(
        told.iter().take(4).all(|told| told.text.contains("started")),
        "{told:?}"
    );
    assert!(told[4].text.contains("nothing yet"), "{told:?}");
    assert_eq!(processes_of(&marker), Vec::<String>::new());
    site.place.write("sign", "now\n");
    assert_eq!(processes_of(&marker), Vec::<String>::new());
    assert!(!site.place.repo().join("late").exists());
}

#[test]
fn no_daemon_outlives_its_command_for_whoever_runs_this() {
    no_daemon_outlives_its_command(Who::AsStarted);
}

#[test]
fn no_daemon_outlives_its_command_for_an_ordinary_user() {
    no_daemon_outlives_its_command(Who::Ordinary);
}

#[test]
fn without_the_end_of_the_run_the_daemon_would_write() {
    let site = Site::new(Who::AsStarted);
    let said = site.unwalled("(until test -e sign; do :; done; touch late) & touch sign; wait; ls late");
    assert_eq!(said, "late\n");
}

/// Runs a command that plants a repository, and sends the program this signal meanwhile.
fn planted_when_signalled(signal: rustix::process::Signal) -> Site {
    let site = Site::new(Who::AsStarted);
    let line = unseen("git init -q sub; touch made; while :; do sleep 1; done");
    let command = json!({"command": line, "timeout_s": 600});
    let turns = turns(&[calls(&[("execute_command", command)]), says("done")]);
    let model = site.place.script("planting", &turns);
    let mut child = site
        .place
        .command(&["run", "--json", "--mode", "agent", "--model", &model, "go"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !site.place.repo().join("made").exists() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    let id = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
    rustix::process::kill_process(id, signal).unwrap();
    child.wait().unwrap();
    site
}

#[test]
fn a_signal_to_leave_ends_the_command_and_undoes_what_it_planted() {
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::HUP] {
        let site = planted_when_signalled(signal);
        assert!(site.place.repo().join("sub").exists());
        assert!(!site.place.repo().join("sub/.git").exists(), "{signal:?}");
    }
}

#[test]
fn what_a_killed_program_left_is_undone_by_the_next_run_that_may_write() {
    let site = planted_when_signalled(rustix::process::Signal::KILL);
    assert!(site.place.repo().join("sub/.git").exists());
    let model = site.place.script("talking", &turns(&[says("done")]));
    site.place.run(&model, &["--mode", "agent", "go"]);
    assert!(!site.place.repo().join("sub/.git").exists());
}
