//! Folders of every layout: a command runs in each, or a clear word says why not and what to do.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::absent::elsewhere;
use crate::attacks::evidence::told;
use crate::support::{Place, calls, said, says, turns, unseen};

/// What `echo hi` came to in a folder: its output, or everything that was said.
fn echo(place: &Place, folder: &Path) -> Result<String, String> {
    let made = calls(&[("execute_command", json!({"command": "echo hi > new && cat new"}))]);
    let model = place.script("echo", &turns(&[made, says("done")]));
    let words = [
        "run",
        "--stream-json",
        "--model",
        &model,
        "--mode",
        "agent",
        "--yolo",
        "say hi",
    ];
    let said = said(place.command(&words).current_dir(folder).output().unwrap());
    let lines = said.out.lines().filter_map(|line| serde_json::from_str(line).ok());
    match told(&lines.collect::<Vec<Value>>()).first() {
        Some(told) if !told.error => Ok(told.text.clone()),
        Some(told) => Err(told.text.clone()),
        None => Err(said.err),
    }
}

fn runs(place: &Place, folder: &Path) {
    let said = echo(place, folder);
    assert!(
        said.as_ref().is_ok_and(|said| said.contains("hi")),
        "{}: {said:?}",
        folder.display()
    );
}

fn beside(place: &Place, name: &str) -> PathBuf {
    let folder = place.repo().with_file_name(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_command_runs_without_a_repository_and_with_some_beneath() {
    let place = Place::new();
    let plain = beside(&place, "plain");
    runs(&place, &plain);
    let above = beside(&place, "above");
    fs::rename(place.repo(), above.join("child")).unwrap();
    runs(&place, &above);
    assert!(above.join("child/.git/config").is_file());
}

#[test]
fn a_command_runs_in_a_linked_worktree_and_in_a_repository_with_a_submodule() {
    let place = Place::new();
    let linked = place.repo().with_file_name("linked");
    place.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    runs(&place, &linked);
    let whole = beside(&place, "whole");
    let git = |arguments: &[&str]| place.git(&[&["-C", whole.to_str().unwrap()], arguments].concat());
    git(&["init", "-q", "-b", "main"]);
    git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        place.repo().to_str().unwrap(),
        "part",
    ]);
    runs(&place, &whole);
    let why = echo(&place, &whole.join("part")).unwrap_err();
    assert!(why.contains("hint: Work in the superproject"), "{why}");
}

#[test]
fn a_run_commits_in_a_linked_worktree_and_its_lines_leave_the_repository_alone() {
    let place = Place::new();
    let linked = place.repo().with_file_name("linked");
    place.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let git_dir = place.repo().join(".git");
    let config = fs::read(git_dir.join("config")).unwrap();
    let shared = git_dir.display();
    let line = |command: &str| ("execute_command", json!({"command": unseen(command)}));
    let made = [
        ("write_to_file", json!({"path": "new.md", "content": "new\n"})),
        ("git_write", json!({"op": "stage", "paths": ["new.md"]})),
        ("git_write", json!({"op": "commit", "message": "On the side"})),
        ("git_read", json!({"op": "log"})),
        line("git log --format=%s -1"),
        line(&format!("echo x > {shared}/hooks/pre-commit")),
        line(&format!("echo x >> {shared}/config")),
        line(&format!("echo x > {shared}/worktrees/linked/config.worktree")),
    ];
    let model = place.script("linked", &turns(&[calls(&made), says("done")]));
    let words = [
        "run",
        "--stream-json",
        "--model",
        &model,
        "--mode",
        "agent",
        "--yolo",
        "commit",
    ];
    let ended = said(place.command(&words).current_dir(&linked).output().unwrap());
    let events: Vec<Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told = told(&events);
    let errors: Vec<bool> = told.iter().map(|told| told.error).collect();
    assert_eq!(
        errors,
        [false, false, false, false, false, true, true, true],
        "{told:#?}"
    );
    assert!(told[4].text.contains("On the side"), "{told:#?}");
    assert_eq!(place.git(&["log", "--format=%s", "-1", "side"]), "On the side\n");
    assert_eq!(place.git(&["log", "--format=%s", "-1", "main"]), "start\n");
    assert_eq!(fs::read(git_dir.join("config")).unwrap(), config);
    assert!(!git_dir.join("hooks/pre-commit").exists());
}

#[test]
fn on_a_mount_that_cannot_be_written_a_command_runs_within_its_walls_or_says_why_not() {
    let place = Place::new();
    let made = calls(&[("execute_command", json!({"command": "echo hi"}))]);
    let model = place.script("echo", &turns(&[made, says("done")]));
    let repo = place.repo().display().to_string();
    let machine = ["--dev-bind", "/", "/", "--ro-bind", &repo, &repo];
    let words = [
        "run",
        "--stream-json",
        "--model",
        &model,
        "--mode",
        "agent",
        "--yolo",
        "say hi",
    ];
    let before = place.world();
    let ended = elsewhere(&place, &machine, &words);
    assert_eq!(place.world(), before);
    let mut events: Vec<Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let report = events.pop().unwrap_or_else(|| panic!("{ended:?}"));
    assert_eq!(report["walls"], "proven", "{report:#}");
    let told = told(&events);
    assert!(!told[0].error && told[0].text.contains("hi"), "{told:?}");
}

#[test]
fn a_link_in_the_place_of_a_repository_is_named_with_what_to_do() {
    let place = Place::new();
    fs::rename(place.repo().join(".git"), place.repo().with_file_name("moved.git")).unwrap();
    symlink("../moved.git", place.repo().join(".git")).unwrap();
    let why = echo(&place, &place.repo()).unwrap_err();
    assert!(
        why.contains(".git: it leads out of the worktree") && why.contains("hint: Put what the link leads to"),
        "{why}"
    );
}

#[test]
fn a_bare_repository_is_no_place_to_work_and_says_so() {
    let place = Place::new();
    let bare = place.repo().with_file_name("bare.git");
    place.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let why = echo(&place, &bare).unwrap_err();
    assert!(why.contains("repository"), "{why}");
}
