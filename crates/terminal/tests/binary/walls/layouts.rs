//! Folders of every layout: a command runs in each, or a clear word says why not and what to do.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::attacks::evidence::told;
use crate::support::{Place, calls, said, says, turns};

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
