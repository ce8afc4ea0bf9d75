//! One process is one unit: whatever ends it ends everything it started.

use std::time::Duration;

use stance_sandbox::{Excess, Program, Spawn, Stream};

use crate::ground::{Ground, READ_ONLY, WRITABLE};

/// Starts a daemon in a session of its own that holds a FIFO open; the FIFO ends when it dies.
const DAEMON: &str = "mkfifo /tmp/life 2>/dev/null; setsid nohup sh -c 'exec 3<>/tmp/life; sleep 1000' >/dev/null 2>&1 & \
                      sleep 1000 & echo started;";

/// Processes of the host that have this path in their arguments.
fn alive(mark: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let of_mark = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).ok();
    entries
        .filter_map(of_mark)
        .filter(|arguments| String::from_utf8_lossy(arguments).contains(mark))
        .count()
}

/// Waits for something to become true; only so that a failure ends, not for ever.
async fn until(is_true: impl Fn() -> bool) {
    let waiting = async {
        while !is_true() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), waiting).await.unwrap();
}

#[tokio::test]
async fn descendants_end_with_the_program() {
    let ground = Ground::new();
    let mark = format!("sleep-{}", ground.root().display());
    let line = format!("setsid nohup bash -c 'exec -a {mark} sleep 1000' >/dev/null 2>&1 & echo started");
    assert_eq!(ground.output(READ_ONLY, &line).await, "started\n");
    assert_eq!(alive(&mark), 0);
}

#[tokio::test]
async fn a_program_out_of_time_is_killed_with_its_output_kept() {
    let ground = Ground::new();
    let mark = format!("sleep-{}", ground.root().display());
    let line = format!("echo before; exec -a {mark} sleep 1000");
    let mut it = Spawn::new(Program::Shell(line), "/");
    it.limits.wall_time = Duration::from_millis(300);
    let finished = ground.run(READ_ONLY, it).await.unwrap();
    assert_eq!(finished.excess, Some(Excess::Time));
    assert_eq!(finished.exit, None);
    assert_eq!(finished.stdout.text(), "before\n");
    assert_eq!(alive(&mark), 0);
}

#[tokio::test]
async fn killing_ends_everything() {
    let ground = Ground::new();
    let it = Spawn::new(Program::Shell(format!("{DAEMON} sleep 1000")), "/");
    let mut running = stance_sandbox::spawn(&ground.walls, READ_ONLY, &ground.places, it).unwrap();
    let first = running.take_output().unwrap().recv().await.unwrap();
    assert_eq!(
        (first.stream, first.bytes.as_slice()),
        (Stream::Output, &b"started\n"[..])
    );
    running.kill();
    let finished = running.wait().await.unwrap();
    assert_eq!((finished.exit, finished.excess), (None, None));
    assert_eq!(alive(&ground.root().display().to_string()), 0);
}

#[tokio::test]
async fn killed_before_it_began_it_never_does() {
    let ground = Ground::new();
    let it = Spawn::new(Program::Shell("touch ran; while :; do :; done".into()), &ground.tree);
    let running = stance_sandbox::spawn(&ground.walls, WRITABLE, &ground.places, it).unwrap();
    let finished = running.wait_unless(std::future::ready(())).await.unwrap();
    assert_eq!(finished.exit, None);
    assert!(!ground.tree.join("ran").exists());
}

#[tokio::test]
async fn dropping_ends_everything_and_still_looks_for_a_planted_git() {
    let ground = Ground::new();
    let it = Spawn::new(Program::Shell("mkdir .git; echo made; sleep 1000".into()), &ground.tree);
    let mut running = stance_sandbox::spawn(&ground.walls, WRITABLE, &ground.places, it).unwrap();
    running.take_output().unwrap().recv().await.unwrap();
    assert!(ground.tree.join(".git").exists());
    drop(running);
    until(|| !ground.tree.join(".git").exists() && alive(&ground.root().display().to_string()) == 0).await;
}

/// The kernel ties a process to the thread that started it, and this runtime ends its threads at once.
#[test]
fn a_process_outlives_the_thread_that_asked_for_it() {
    let ground = Ground::new();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_keep_alive(Duration::from_millis(1))
        .enable_all()
        .build()
        .unwrap();
    let output = runtime.block_on(ground.output(READ_ONLY, "sleep 0.3; echo alive"));
    assert_eq!(output, "alive\n");
}

#[tokio::test]
async fn nothing_outlives_a_killed_parent() {
    let ground = Ground::new();
    let mark = format!("sleep-{}", ground.root().display());
    let line = format!("setsid bash -c 'exec -a {mark} sleep 1000' & echo started; sleep 1000");
    let mut parent = std::process::Command::new(env!("CARGO_BIN_EXE_stance-walls-probe"))
        .arg(ground.root())
        .args(["read", &line])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 8];
    std::io::Read::read_exact(parent.stdout.as_mut().unwrap(), &mut first).unwrap();
    assert_eq!(&first, b"started\n");
    assert!(alive(&mark) > 0);
    parent.kill().unwrap();
    parent.wait().unwrap();
    until(|| alive(&mark) == 0).await;
}
