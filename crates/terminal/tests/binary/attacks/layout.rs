//! A run that may write its checkout, and wants the person's own git to run something, later and
//! outside: every way to put words into a place that git believes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::evidence::{Canaries, person, records, told};
use crate::support::{Place, calls, says, turns, unseen};

/// Lines that plant the program `{C}`; `{G}` is the git folder of this checkout and `{M}` the one it
/// shares. None may say PLANTED, but those that only make something new in the worktree.
const PLANTS: [&str; 34] = [
    "rm -rf .git",
    "rm -rf .git; echo 'gitdir: .evil' > .git && echo PLANTED",
    "echo 'gitdir: .evil' > .git && echo PLANTED",
    "ln -sfn .evil .git && readlink .git && echo PLANTED",
    "mv .git .old && cp -r .old .git && git -C . config core.fsmonitor {C} && echo PLANTED",
    "mv -T .evil .git && echo PLANTED",
    "mv $PWD ../moved && mkdir -p $PWD && cp -r ../moved/. . && echo PLANTED",
    "git config core.fsmonitor {C} && echo PLANTED",
    "git config --worktree core.fsmonitor {C} && echo PLANTED",
    "printf '[core]\\nfsmonitor={C}\\n' >> {M}/config && echo PLANTED",
    "printf '[core]\\nfsmonitor={C}\\n' > {G}/config.worktree && echo PLANTED",
    "echo ../../../../.evil > {G}/commondir && echo PLANTED",
    "echo {C} > {G}/gitdir && echo PLANTED",
    "mkdir -p {M}/info; echo '* filter=evil' > {M}/info/attributes && echo PLANTED",
    "mkdir -p {M}/hooks; cp {C} {M}/hooks/pre-commit && echo PLANTED",
    "mkdir -p {M}/modules/x; echo '[core]' > {M}/modules/x/config && echo PLANTED",
    "mkdir -p {G}/rebase-merge && echo 'exec {C}' > {G}/rebase-merge/git-rebase-todo && echo PLANTED",
    "echo {C} > {G}/MERGE_MSG && echo PLANTED",
    "echo x > {G}/index.lock && echo PLANTED",
    "echo x > {M}/objects/info/alternates && echo PLANTED",
    "git branch -f topic HEAD~1 && echo PLANTED",
    "git update-ref refs/heads/topic HEAD~1 && echo PLANTED",
    "git tag evil && echo PLANTED",
    "git stash drop && echo PLANTED",
    "git stash push -u && echo PLANTED",
    "git checkout -f topic && echo PLANTED",
    "git reset --hard HEAD~1 && echo PLANTED",
    "git commit -q --allow-empty -m evil && echo PLANTED",
    "git add -A && echo PLANTED",
    "git gc && echo PLANTED",
    "git rebase -x {C} HEAD~1 && echo PLANTED",
    "git worktree add -f ../evil && echo PLANTED",
    "chmod -R a+w .git && echo PLANTED",
    "touch -d 2001-01-01 .git && test $(stat -c %Y .git) -lt 1000000000 && echo PLANTED",
];

/// Repositories of the run's own, which the walls cannot forbid: they are gone afterwards.
const NEW: [&str; 5] = [
    "mkdir -p src/own && cd src/own && git init -q . && git config core.fsmonitor {C} && ls .git/config",
    "mkdir -p src/pointer && echo 'gitdir: ../../.evil' > src/pointer/.git && ls src/pointer/.git",
    "mkdir -p src/linked && ln -s ../../.evil src/linked/.git && ls src/linked/.git",
    "git clone -q . src/cloned && git -C src/cloned config core.fsmonitor {C} && ls src/cloned/.git/config",
    "mkdir -p a/b/c && cp -r .git a/b/c/.git && printf '[core]\\nfsmonitor={C}\\n' >> a/b/c/.git/config && ls a/b/c/.git/config",
];

/// Files that the tools which write are asked for.
const FILES: [&str; 12] = [
    ".git/config",
    ".git/hooks/pre-commit",
    ".git/info/attributes",
    ".git/config.worktree",
    "./src/../.git/new",
    ".GIT/hooks/pre-commit",
    ".Git/config",
    ".g\u{200c}it/config",
    "src/.git/config",
    "src/.git",
    ".git::$INDEX_ALLOCATION/config",
    "git~1/config",
];

/// A repository with a branch, a stash and an evil folder that looks like a git folder.
fn ready(place: &Place, canary: &str) {
    place.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    place.git(&["branch", "topic"]);
    place.write("README.md", "put away\n");
    place.git(&["stash", "push", "-q"]);
    evil(&place.repo().join(".evil"), canary);
}

fn evil(folder: &Path, canary: &str) {
    for (name, content) in [
        ("HEAD", "ref: refs/heads/main\n".to_owned()),
        ("refs/x", String::new()),
        ("objects/x", String::new()),
        (
            "config",
            format!("[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {canary}\n"),
        ),
    ] {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

fn script(place: &Place, canary: &str, git_dir: &Path, common_dir: &Path) -> (String, usize) {
    let named = |line: &str| {
        line.replace("{C}", canary)
            .replace("{G}", &git_dir.display().to_string())
            .replace("{M}", &common_dir.display().to_string())
    };
    let made: Vec<(&str, Value)> = PLANTS
        .iter()
        .chain(&NEW)
        .map(|line| ("execute_command", json!({"command": unseen(&named(line))})))
        .chain(
            FILES
                .iter()
                .map(|path| ("write_to_file", json!({"path": path, "content": "evil\n"}))),
        )
        .chain([
            ("git_read", json!({"op": "status"})),
            ("git_read", json!({"op": "diff"})),
        ])
        .collect();
    let count = made.len();
    (place.script("plants", &turns(&[calls(&made), says("done")])), count)
}

/// Every entry named like a git folder beneath a folder.
fn git_entries(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            if entry.file_name() == ".git" {
                found.push(entry.path());
            } else if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    found
}

fn nothing_was_planted(events: &[Value], count: usize) {
    let told = told(events);
    assert_eq!(told.len(), count);
    for (told, line) in told.iter().zip(PLANTS) {
        assert!(told.error && !told.text.contains("PLANTED"), "{line}: {told:?}");
    }
    let violated = events.iter().filter(|event| event["kind"] == "violated").count();
    assert!(violated >= NEW.len(), "{violated}");
    for (told, line) in told[PLANTS.len()..].iter().zip(NEW) {
        assert!(told.text.contains("a run makes no repositories"), "{line}: {told:?}");
    }
    for (told, path) in told[PLANTS.len() + NEW.len()..].iter().zip(FILES) {
        assert_eq!((told.error, told.how.as_str()), (true, "refused"), "{path}: {told:?}");
    }
    let reads = &told[told.len() - 2..];
    assert!(reads.iter().all(|told| !told.error), "{reads:?}");
}

#[test]
fn a_run_plants_nothing_in_the_repository_it_works_in() {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    let mut canaries = Canaries::new(&place);
    let canary = canaries.program("canary");
    ready(&place, &canary);
    let git_dir = place.repo().join(".git");
    let (model, count) = script(&place, &canary, &git_dir, &git_dir);
    let before = records(&place);
    let (_, events, _) = place.stream(&model, &["--mode", "agent", "--yolo", "plant it"]);
    assert_eq!(records(&place), before);
    nothing_was_planted(&events, count);
    assert_eq!(git_entries(&place.repo()), [git_dir]);
    assert!(!place.repo().with_file_name("evil").exists() && !place.repo().with_file_name("moved").exists());
    canaries.opened();
    for folder in [".", "src", "a", "a/b/c", "src/own", "src/pointer", "src/cloned"] {
        person(&place, &["-C", folder, "status"]);
        person(&place, &["-C", folder, "diff"]);
    }
    person(&place, &["stash", "list"]);
    assert_eq!(canaries.opened(), BTreeSet::new());
    // The canary sings: this is what a plant would have come to.
    place.git(&["config", "core.fsmonitor", &canary]);
    person(&place, &["status"]);
    assert_eq!(canaries.opened(), BTreeSet::from(["canary".to_owned()]));
}

#[test]
fn a_run_in_a_linked_worktree_plants_nothing_in_either() {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    let mut canaries = Canaries::new(&place);
    let canary = canaries.program("canary");
    ready(&place, &canary);
    let linked = place.repo().with_file_name("linked");
    place.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    evil(&linked.join(".evil"), &canary);
    let common_dir = place.repo().join(".git");
    let (model, count) = script(&place, &canary, &common_dir.join("worktrees/linked"), &common_dir);
    let pointer = fs::read_to_string(linked.join(".git")).unwrap();
    let before = place.world();
    let output = place
        .command(&[
            "run",
            "--stream-json",
            "--model",
            &model,
            "--mode",
            "agent",
            "--yolo",
            "plant it",
        ])
        .current_dir(&linked)
        .output()
        .unwrap();
    assert_eq!(place.world(), before, "the checkout beside is nothing of this run");
    let mut events: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    events.pop();
    nothing_was_planted(&events, count);
    assert_eq!(fs::read_to_string(linked.join(".git")).unwrap(), pointer);
    assert_eq!(git_entries(&linked), [linked.join(".git")]);
    canaries.opened();
    for folder in [&place.repo(), &linked, &linked.join("src/own")] {
        person(&place, &["-C", folder.to_str().unwrap(), "status"]);
    }
    assert_eq!(canaries.opened(), BTreeSet::new());
}

#[test]
fn a_checkout_where_the_walls_cannot_be_proved_runs_nothing() {
    let place = Place::new();
    // A checkout within a store of keys: what must be hidden cannot be, without hiding the checkout.
    let inside = place.home().join(".ssh/project");
    fs::create_dir_all(place.home().join(".ssh")).unwrap();
    fs::rename(place.repo(), &inside).unwrap();
    let trace = inside.join("ran");
    let model = place.script(
        "unproved",
        &turns(&[
            calls(&[("execute_command", json!({"command": "touch ran; ls"}))]),
            says("done"),
        ]),
    );
    let output = place
        .command(&[
            "run",
            "--stream-json",
            "--model",
            &model,
            "--mode",
            "agent",
            "--yolo",
            "work",
        ])
        .current_dir(&inside)
        .output()
        .unwrap();
    let events: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told = told(&events);
    assert!(
        told[0].error && told[0].text.contains("boundary not proven"),
        "{told:?}"
    );
    assert!(!trace.exists());
}
