//! A wall that is missing is noticed from inside before the program starts.

use std::ffi::OsString;
use std::io::{PipeReader, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use stance_sandbox::{Program, Spawn, arguments};

use crate::ground::{Ground, READ_ONLY, WRITABLE};

fn start(arguments: &[OsString]) -> Output {
    Command::new("bwrap")
        .args(arguments)
        .stdin(go_ahead())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap()
}

/// A pipe that holds what the helper waits for before it becomes the program.
fn go_ahead() -> PipeReader {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"\n").unwrap();
    reader
}

/// The arguments of a program that would leave a file in its worktree's `.git`.
fn built(ground: &Ground, read_only: bool) -> Vec<OsString> {
    let it = Spawn::new(Program::Shell("touch ran .git/ran; echo ran".into()), &ground.tree);
    for folder in ["tmp", "home"] {
        std::fs::create_dir_all(ground.places.scratch.join(folder)).unwrap();
    }
    let containment = if read_only { READ_ONLY } else { WRITABLE };
    arguments(&ground.walls, containment, &ground.places, &it).unwrap()
}

fn position(arguments: &[OsString], flag: &str, path: &Path) -> usize {
    arguments
        .windows(2)
        .position(|pair| pair[0] == flag && pair[1] == path)
        .unwrap()
}

fn refused(arguments: &[OsString], why: &str) {
    let output = start(arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(125), "{errors}");
    assert!(errors.starts_with("stance walls: refused: "), "{errors}");
    assert!(errors.contains(why), "{errors}");
    assert!(output.stdout.is_empty());
}

#[test]
fn whole_walls_let_the_program_start() {
    let ground = Ground::with_repository();
    let output = start(&built(&ground, false));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.starts_with("stance walls: proven\n"), "{errors}");
    assert_eq!(output.stdout, b"ran\n");
    assert!(ground.tree.join("ran").exists() && !ground.tree.join(".git/ran").exists());
}

#[test]
fn a_writable_worktree_where_none_should_be() {
    let ground = Ground::with_repository();
    let mut arguments = built(&ground, true);
    let place = position(&arguments, "--ro-bind", &ground.tree);
    arguments[place] = "--bind".into();
    refused(&arguments, "tree is on a writable mount");
    assert!(!ground.tree.join("ran").exists());
}

#[test]
fn a_repository_that_is_not_sealed() {
    let ground = Ground::with_repository();
    let mut arguments = built(&ground, false);
    let place = position(&arguments, "--ro-bind", &ground.tree.join(".git"));
    arguments.drain(place..place + 3);
    refused(&arguments, ".git is on a writable mount");
}

#[test]
fn something_hidden_that_is_shown() {
    let mut ground = Ground::new();
    ground.places.hidden.push(ground.tree.join("file"));
    std::fs::write(ground.tree.join(".env"), "word").unwrap();
    let whole = built(&ground, true);
    for (path, why) in [
        (ground.tree.join("file"), "file can be read"),
        (ground.tree.join(".env"), ".env can be read"),
        ("/proc/keys".into(), "/proc/keys can be read"),
    ] {
        let mut arguments = whole.clone();
        let place = position(&arguments, "/dev/null", &path) - 1;
        arguments.drain(place..place + 3);
        refused(&arguments, why);
    }
}

#[test]
fn a_namespace_or_a_capability_too_many() {
    let ground = Ground::new();
    let whole = built(&ground, true);
    let without = |flags: &[&str], extra: &[&str]| {
        let kept = whole
            .iter()
            .filter(|argument| !flags.iter().any(|flag| *argument == flag));
        extra
            .iter()
            .map(OsString::from)
            .chain(kept.cloned())
            .collect::<Vec<_>>()
    };
    refused(
        &without(&["--unshare-pid"], &[]),
        "the process sees the host's processes",
    );
    refused(
        &without(&["--cap-drop", "ALL"], &["--cap-add", "CAP_SYS_ADMIN"]),
        "capabilities",
    );
    let interfaces = std::fs::read_to_string("/proc/net/dev").unwrap();
    if interfaces
        .lines()
        .skip(2)
        .any(|line| !line.trim_start().starts_with("lo:"))
    {
        refused(&without(&["--unshare-net"], &[]), "the process has a network");
    }
}

#[test]
fn standard_output_that_is_a_file_of_the_host() {
    let ground = Ground::new();
    let file = std::fs::File::create(ground.outside.join("output")).unwrap();
    let output = Command::new("bwrap")
        .args(built(&ground, true))
        .stdin(Stdio::piped())
        .stdout(file)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    assert_eq!(output.status.code(), Some(125));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(errors, "stance walls: refused: standard output is not a pipe of ours\n");
}
