//! The walls without a view of their own, and no walls at all: what holds, what is lost, and that
//! everything a process began ends with it.

use std::fs;
use std::os::unix::fs::MetadataExt;

use stance_sandbox::{Backend, Program, Spawn, Toolchains, Walls, WallsState};

use crate::ground::{Ground, READ_ONLY, WRITABLE, content};

fn ground(backend: Backend) -> Ground {
    let mut ground = Ground::with_repository();
    let helper = env!("CARGO_BIN_EXE_stance-walls-probe");
    ground.walls = Walls::of(backend, helper, Toolchains::default()).unwrap();
    ground.places.hidden.push(ground.outside.clone());
    ground
}

fn picture(ground: &Ground) -> (String, u32, i64, i64) {
    let file = ground.tree.join("file");
    let facts = fs::metadata(&file).unwrap();
    (content(&file), facts.mode(), facts.mtime(), facts.ctime_nsec())
}

#[tokio::test]
async fn the_kernel_alone_is_tried_and_is_partial() {
    let ground = ground(Backend::Kernel);
    let scratch = ground.root().join("proof");
    let proof = ground.walls.prove(&scratch).await;
    let fallen: Vec<_> = proof.probes.iter().filter(|probe| !probe.held).collect();
    assert_eq!(proof.state(), WallsState::Partial, "{fallen:#?} {:?}", proof.failure);
    for name in [
        "call fchmod",
        "call utimensat",
        "call setxattr",
        "call fchownat",
        "call flock",
        "call setsid",
        "call prlimit64 of another process",
        "call setpriority of another process",
    ] {
        assert!(proof.probes.iter().any(|probe| probe.name == name), "{name}");
    }
}

#[tokio::test]
async fn a_reading_process_changes_nothing_and_sees_nothing_else() {
    let ground = ground(Backend::Kernel);
    let before = picture(&ground);
    let outside = ground.outside.join("file");
    let lines = [
        "echo x > file".to_owned(),
        "echo x > new".to_owned(),
        "chmod 777 file".to_owned(),
        "touch -d 2001-01-01 file".to_owned(),
        "mv file other".to_owned(),
        "rm -f file; test ! -e file".to_owned(),
        "ln file other".to_owned(),
        format!("cat {}", outside.display()),
        format!("ls {}", ground.outside.display()),
        "cat /proc/$PPID/cmdline".to_owned(),
        "cat /proc/$PPID/environ".to_owned(),
        "ls /proc".to_owned(),
        "cat /etc/shadow".to_owned(),
        "exec 3<>/dev/tcp/127.0.0.1/1".to_owned(),
        "kill -0 $PPID; kill -0 1".to_owned(),
        "setsid true".to_owned(),
        "echo x > /tmp/stance-was-here".to_owned(),
        "mount -t tmpfs none /mnt".to_owned(),
        "mknod device c 1 8".to_owned(),
    ];
    for line in lines {
        let finished = ground.shell(READ_ONLY, &line).await;
        assert_ne!(finished.exit, Some(0), "{line}: {}", finished.stdout.text());
    }
    assert_eq!(picture(&ground), before);
    assert_eq!(
        ground
            .output(
                READ_ONLY,
                "cat file; echo x > $TMPDIR/x; cat $TMPDIR/x; git log --format=%s"
            )
            .await,
        "as it was\nx\nfirst\n"
    );
}

#[tokio::test]
async fn a_writing_process_writes_the_worktree_and_neither_git_nor_what_is_hidden() {
    let ground = ground(Backend::Kernel);
    fs::create_dir(ground.tree.join("src")).unwrap();
    fs::write(ground.tree.join("src/.env"), "word\n").unwrap();
    fs::create_dir(ground.tree.join("src/deep")).unwrap();
    ground
        .output(WRITABLE, "echo new > file; echo made > src/deep/made")
        .await;
    assert_eq!(content(&ground.tree.join("file")), "new\n");
    assert_eq!(content(&ground.tree.join("src/deep/made")), "made\n");
    for line in [
        "echo x > .git/config",
        "echo x > .git/hooks/pre-commit",
        "mv .git other",
        "rm -rf .git; test ! -e .git/config",
        "ln -s x .git/hooks/post-commit",
        "cat src/.env",
        "mv src/.env src/deep/plain",
        "ln src/.env src/deep/plain",
        "mv src plain; cat plain/.env",
        "git commit -q --allow-empty -m x",
    ] {
        let finished = ground.shell(WRITABLE, line).await;
        assert_ne!(finished.exit, Some(0), "{line}: {}", finished.stdout.text());
    }
    assert_eq!(ground.git(&["log", "--format=%s"]), "first\n");
}

/// A line whose processes want to outlive it, each with the worktree's path among its arguments.
fn lives_on(ground: &Ground) -> String {
    let tree = ground.tree.display();
    let stays = format!("trap '' HUP TERM; echo begun >> {tree}/file; exec tail -f {tree}/file");
    format!(
        "(setsid bash -c \"{stays}\" & disown) >/dev/null 2>&1 </dev/null; bash -c \"{stays}\" >/dev/null 2>&1 & \
         until grep -q begun file; do :; done"
    )
}

/// The host's processes that have the worktree's path among their arguments.
fn left(ground: &Ground) -> Vec<String> {
    let tree = ground.tree.display().to_string();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let arguments = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    let arguments = arguments.map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "));
    arguments.filter(|arguments| arguments.contains(&tree)).collect()
}

#[tokio::test]
async fn what_a_process_began_ends_with_it_under_every_backend() {
    for backend in [Backend::Namespaces, Backend::Kernel, Backend::Nothing] {
        let ground = ground(backend);
        let finished = ground.shell(WRITABLE, &lives_on(&ground)).await;
        assert_eq!(finished.exit, Some(0), "{backend:?} {}", finished.stderr.text());
        assert_eq!(left(&ground), [""; 0], "{backend:?}");
    }
}

#[tokio::test]
async fn a_killed_process_takes_what_it_began_with_it_under_every_backend() {
    for backend in [Backend::Namespaces, Backend::Kernel, Backend::Nothing] {
        let ground = ground(backend);
        let line = format!("{}; echo ready; sleep 600", lives_on(&ground));
        let it = Spawn::new(Program::Shell(line), &ground.tree);
        let mut running = stance_sandbox::spawn(&ground.walls, WRITABLE, &ground.places, it).unwrap();
        let mut output = running.take_output().unwrap();
        assert!(output.recv().await.is_some());
        running.kill();
        let finished = running.wait().await.unwrap();
        assert_eq!((finished.exit, finished.excess), (None, None), "{backend:?}");
        assert_eq!(left(&ground), [""; 0], "{backend:?}");
    }
}

#[tokio::test]
async fn without_walls_a_line_runs_with_the_rebuilt_environment_and_private_folders() {
    let ground = ground(Backend::Nothing);
    let said = ground
        .output(
            WRITABLE,
            "echo $USER; pwd; echo x > $HOME/x; echo x > $TMPDIR/y; echo new > file",
        )
        .await;
    assert_eq!(said, format!("stance\n{}\n", ground.tree.display()));
}
