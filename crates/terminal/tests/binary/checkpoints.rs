//! Checkpoints through the binary: a run changes things, a person looks and puts them back, and what
//! was decided stays decided.

mod deleting;
mod links;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::{Value, json};

use crate::attempts::keyboard::Keyboard;
use crate::support::{Place, calls, says, turns};

/// The files of the repository, without `.git`: mode, and content or target.
fn files(place: &Place) -> Vec<String> {
    let mut lines = Vec::new();
    let mut open = vec![place.repo()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let facts = fs::symlink_metadata(&path).unwrap();
            let mode = facts.permissions().mode();
            let content = if facts.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if facts.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            if facts.is_dir() && path.file_name() != Some(".git".as_ref()) {
                open.push(path.clone());
            }
            if !path.ends_with(".git") {
                lines.push(format!("{} {mode:o} {content:?}", path.display()));
            }
        }
    }
    lines.sort();
    lines
}

fn list(place: &Place) -> Vec<Value> {
    let said = place.stance(&["checkpoint", "list", "--json"]);
    said.report().as_array().unwrap().clone()
}

/// The newest checkpoint of a moment.
fn newest(place: &Place, moment: &str) -> String {
    let list = list(place);
    let found = list.iter().find(|one| one["moment"] == moment);
    found.unwrap_or_else(|| panic!("no {moment} in {list:?}"))["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn changes(place: &Place, arguments: &[&str]) -> Vec<(String, String)> {
    let mut all = vec!["checkpoint", "diff", "--json"];
    all.extend(arguments);
    let report = place.stance(&all).report();
    let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
    let changes = report["changes"].as_array().unwrap();
    changes
        .iter()
        .map(|one| (text(one, "change"), text(one, "path")))
        .collect()
}

fn writes(path: &str, content: &str) -> Value {
    calls(&[("write_to_file", json!({"path": path, "content": content}))])
}

fn line(command: &str) -> Value {
    calls(&[("execute_command", json!({"command": command}))])
}

#[test]
fn what_a_run_did_to_files_is_seen_and_taken_back_and_forth() {
    let place = Place::new();
    place.write(".gitattributes", "* text=auto\n*.lfs filter=lfs\n");
    place.write(".gitignore", "*.log\n");
    place.write("crlf.txt", "one\r\ntwo\r\n");
    place.write("data.lfs", "raw\r\n");
    place.write("kept.log", "ignored\n");
    place.write("nested/.git/HEAD", "ref: refs/heads/main\n");
    place.write("nested/inner.txt", "inner\n");
    place.write("odd näme\n.txt", "odd\n");
    place.write(".env", "KEY=fake\n");
    symlink("README.md", place.repo().join("link")).unwrap();
    fs::set_permissions(place.repo().join("src/util.py"), Permissions::from_mode(0o755)).unwrap();
    let git = |place: &Place| {
        (
            place.git(&["status", "--porcelain", "-z"]),
            place.git(&["stash", "list"]),
        )
    };
    let (before, status) = (files(&place), git(&place));
    let change = "rm -f link kept.log; printf 'one\\ntwo\\n' > crlf.txt; echo pointer > data.lfs; chmod 644 src/util.py; \
                  echo x > nested/inner.txt; rm odd*; ln -s /etc/passwd added-link; mkdir -p added/deep; echo new > added/deep/er";
    let model = place.script(
        "changes",
        &turns(&[line("echo changed > README.md"), line(change), says("done")]),
    );
    let (code, report) = place.run(&model, &["--yolo", "change it"]);
    assert_eq!(code, 0, "{report:#}");
    let after = files(&place);
    assert_ne!(after, before);

    let (first, last) = (newest(&place, "before_run"), newest(&place, "after_run"));
    assert_ne!(first, last);
    let changed = changes(&place, &["last"]);
    let seen: Vec<(&str, &str)> = changed
        .iter()
        .map(|(how, path)| (how.as_str(), path.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            ("content", "README.md"),
            ("added", "added/deep/er"),
            ("added", "added-link"),
            ("content", "crlf.txt"),
            ("content", "data.lfs"),
            ("deleted", "kept.log"),
            ("deleted", "link"),
            ("content", "nested/inner.txt"),
            ("deleted", "odd näme\n.txt"),
            ("mode", "src/util.py"),
        ]
    );
    assert_eq!(
        list(&place).last().unwrap()["left_out"],
        json!([{"path": ".env", "why": "secret"}])
    );

    // A person's own work since then is seen by `--now` and survives what names other paths.
    place.write("mine.txt", "mine\n");
    assert!(changes(&place, &[&first, "--now"]).contains(&("deleted".to_owned(), "mine.txt".to_owned())));
    fs::remove_file(place.repo().join("mine.txt")).unwrap();

    let said = place.stance(&["checkpoint", "restore", &first, "--yes"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(files(&place), before);
    assert_eq!(git(&place), status);
    // What was there is a checkpoint itself.
    let undo = newest(&place, "before_restore");
    assert_eq!(place.stance(&["checkpoint", "restore", &undo, "--yes"]).code, 0);
    assert_eq!(files(&place), after);
    // One file of it.
    let said = place.stance(&["checkpoint", "restore", &first, "crlf.txt", "--yes"]);
    assert_eq!((said.code, place.read("crlf.txt")), (0, "one\r\ntwo\r\n".to_owned()));
    assert_eq!(place.read("README.md"), "changed\n");
    assert_eq!(place.stance(&["audit", "verify"]).code, 0);
}

#[test]
fn it_works_without_git_and_in_one_checkout_alone() {
    let place = Place::new();
    fs::remove_dir_all(place.repo().join(".git")).unwrap();
    let before = files(&place);
    let model = place.script("writes", &turns(&[line("echo changed > README.md"), says("done")]));
    assert_eq!(place.run(&model, &["change it"]).0, 0);
    assert_eq!(
        changes(&place, &["last"]),
        [("content".to_owned(), "README.md".to_owned())]
    );
    for elsewhere in ["../outside", "/etc/passwd", "src/../../outside"] {
        for command in [
            &["restore", "last", elsewhere, "--yes"][..],
            &["diff", "last", elsewhere],
        ] {
            let said = place.stance(&[&["checkpoint"], command].concat());
            assert_eq!(said.code, 2, "{elsewhere}: {}", said.err);
            assert!(said.err.contains("does not lie in this checkout"), "{}", said.err);
        }
    }
    assert_eq!(place.stance(&["checkpoint", "restore", "last", "--yes"]).code, 0);
    assert_eq!(files(&place), before);
    let kept = walked(&place.stance_home().join("workspaces"));
    assert!(kept.iter().any(|(path, _)| path.contains("/checkpoints/objects/")));
    for (path, mode) in kept.iter().filter(|(path, _)| path.contains("/checkpoints")) {
        assert_eq!(mode & 0o077, 0, "{path}");
    }
}

fn walked(folder: &Path) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let facts = fs::symlink_metadata(&path).unwrap();
        found.push((path.display().to_string(), facts.permissions().mode()));
        if facts.is_dir() {
            found.extend(walked(&path));
        }
    }
    found
}

#[test]
fn nothing_is_overwritten_unasked_nor_by_a_run() {
    let place = Place::new();
    let model = place.script("writes", &turns(&[line("echo changed > README.md"), says("done")]));
    place.run(&model, &["change it"]);
    let said = place.stance(&["checkpoint", "restore", "last"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("nobody is here to be asked"), "{}", said.err);
    let said = place.stance(&["checkpoint", "restore", "c_0", "--yes"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("there is no checkpoint c_0"), "{}", said.err);
    let by_run = place
        .command(&["checkpoint", "restore", "last", "--yes"])
        .env("STANCE_RUN", "r_1")
        .output()
        .unwrap();
    assert_eq!(by_run.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&by_run.stderr).contains("A run is never an operator"));
    assert_eq!(place.read("README.md"), "changed\n");
    // At a terminal what would be overwritten is shown, and only a yes does it.
    let mut keyboard = Keyboard::start(&place, &["checkpoint", "restore", "last"]);
    keyboard.until("README.md").until("restore?").types("");
    assert_eq!(keyboard.end().0, 0);
    assert_eq!(place.read("README.md"), "changed\n");
    let mut keyboard = Keyboard::start(&place, &["checkpoint", "restore", "last"]);
    keyboard.until("restore?").types("y");
    assert_eq!(keyboard.end().0, 0);
    assert_eq!(place.read("README.md"), "# Sample\nconst in words\n");
    // What changed after it was shown is not overwritten.
    place.write("README.md", "mine\n");
    let mut keyboard = Keyboard::start(&place, &["checkpoint", "restore", "last"]);
    keyboard.until("restore?");
    place.write("README.md", "mine again\n");
    keyboard.types("y");
    let (code, shown) = keyboard.end();
    assert_eq!(code, 1, "{shown}");
    assert!(shown.contains("changed since they were shown"), "{shown}");
    assert_eq!(place.read("README.md"), "mine again\n");
}

#[test]
fn a_run_that_only_reads_takes_no_checkpoint() {
    let place = Place::new();
    let read = calls(&[("read_file", json!({"path": "README.md"}))]);
    let model = place.script("reads", &turns(&[read, says("done")]));
    place.run(&model, &["look"]);
    place.run(&model, &["--mode", "plan", "look"]);
    assert_eq!(list(&place), Vec::<Value>::new());
    assert_eq!(place.stance(&["checkpoint", "diff", "last"]).code, 2);
}

/// The sizes of a run's requests.
fn asked(events: &[Value]) -> Vec<u64> {
    let requests = events.iter().filter(|event| event["kind"] == "requested");
    requests
        .map(|event| event["payload"]["bytes"].as_u64().unwrap())
        .collect()
}

#[test]
fn a_thread_goes_on_from_where_it_was() {
    let place = Place::new();
    let model = place.script(
        "talks",
        &turns(&[
            writes("A.md", "a\n"),
            says("one"),
            writes("B.md", "b\n"),
            says("two"),
            writes("C.md", "c\n"),
            says("three"),
        ]),
    );
    let (_, _, first) = place.stream(&model, &["first message"]);
    let thread = first["thread_id"].as_str().unwrap();
    let (_, events, _) = place.stream(&model, &["--resume", thread, "next message"]);
    let second = asked(&events);
    let said = place.stance(&["checkpoint", "restore", "last", "--both", "--yes"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!place.repo().join("B.md").exists());
    assert_eq!(place.read("A.md"), "a\n");
    // The second message was never said: the third is asked as the second was.
    let (_, events, _) = place.stream(&model, &["--resume", thread, "next message"]);
    assert_eq!(asked(&events), second);
    assert_eq!(place.stance(&["audit", "verify"]).code, 0);
}

#[test]
fn undo_and_redo_take_a_run_back_and_forth() {
    let place = Place::new();
    let model = place.script(
        "writes",
        &turns(&[writes("A.md", "a\n"), says("one"), writes("B.md", "b\n"), says("two")]),
    );
    let mut keyboard = Keyboard::start(&place, &["--model", &model]);
    keyboard.until("> ").types("/undo").until("nothing to undo");
    keyboard.until("> ").types("first").until("one").until("> ");
    keyboard.types("second").until("two").until("> ");
    keyboard.types("/undo").until("brings back what was here").until("> ");
    assert!(!place.repo().join("B.md").exists());
    // A person's own file has nothing to do with the run.
    place.write("mine.txt", "mine\n");
    keyboard.types("/undo").until("brings back what was here").until("> ");
    assert!(!place.repo().join("A.md").exists());
    assert_eq!(place.read("mine.txt"), "mine\n");
    keyboard.types("/redo").until("brings back what was here").until("> ");
    keyboard.types("/redo").until("brings back what was here").until("> ");
    assert_eq!(
        (place.read("A.md"), place.read("B.md")),
        ("a\n".to_owned(), "b\n".to_owned())
    );
    keyboard
        .types("/redo")
        .until("nothing was undone")
        .until("> ")
        .types("/quit");
    assert_eq!(keyboard.end().0, 0);
    assert_eq!(place.read("mine.txt"), "mine\n");
}

#[test]
fn no_grant_comes_back_and_no_mode_changes() {
    let exit = || calls(&[("exit_plan_mode", json!({"summary": "A plan adds nothing."}))]);
    let place = Place::new();
    let model = place.script(
        "granted",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [exit(), says("I wait."), exit(), says("never asked for")]},
            {"match": {"mode": "agent"}, "turns": [writes("NOTE.md", "done\n"), says("done")]},
            {"match": {"mode": "plan"}, "turns": [exit(), says("I wait again.")]},
        ]}),
    );
    let (_, asked) = place.run(&model, &["--mode", "plan", "just do it"]);
    let pending = &asked["pending"][0];
    let named = |pending: &Value| {
        format!(
            "{}@{}",
            pending["id"].as_str().unwrap(),
            pending["digest"].as_str().unwrap()
        )
    };
    let grant = named(pending);
    let said = place.stance(&["inbox", "approve", &grant, "--resume", "--json", "--model", &model]);
    assert_eq!(said.report()["follow_up"]["outcome"], "delivered", "{}", said.err);
    let space = asked["space_id"].as_str().unwrap();
    let mode = || {
        let spaces = place.stance(&["space", "list", "--json"]).report();
        let found = spaces
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["id"] == space)
            .unwrap()
            .clone();
        found["mode"].as_str().unwrap().to_owned()
    };
    assert_eq!(mode(), "chat");
    // Back to before the exit was used, conversation and files.
    let said = place.stance(&["checkpoint", "restore", "last", "--both", "--yes"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!place.repo().join("NOTE.md").exists());
    assert_eq!(mode(), "chat", "restoring changes no mode");
    // The spent grant is spent, at every door.
    assert_eq!(place.stance(&["inbox", "--json"]).report(), json!([]));
    assert_ne!(place.stance(&["inbox", "approve", &grant]).code, 0);
    // A new stay in plan mode asks anew.
    place.stance(&["space", "mode", space, "plan"]);
    let (code, again) = place.run(&model, &["--resume", asked["thread_id"].as_str().unwrap(), "again"]);
    assert_eq!((code, &again["outcome"]), (7, &json!("waiting")), "{again:#}");
    assert_ne!(named(&again["pending"][0]), grant);
    // Back over a switch of the mode: it stays, and that is said.
    let said = place.stance(&["checkpoint", "restore", "last", "--thread", "--yes"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("it stays in Plan"), "{}", said.out);
    assert_eq!(mode(), "plan");
    assert_eq!(place.stance(&["audit", "verify"]).code, 0);
}
