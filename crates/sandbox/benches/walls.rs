//! What the walls cost: a program started plainly and inside them, in turn, in one run. Prints one
//! JSON object with medians in milliseconds.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement takes the time and starts a plain process to compare with"
)]

use std::process::Command;
use std::time::Instant;

use modes::Containment;
use stance_sandbox::{Places, Program, Spawn, Toolchains, Walls};

const TURNS: usize = 40;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    stance_sandbox::enter_if_asked();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let worktree = root.join("tree");
    std::fs::create_dir(&worktree).unwrap();
    for number in 0..100 {
        std::fs::write(worktree.join(format!("{number}.txt")), "x\n").unwrap();
    }
    let walls = Walls::new(std::env::current_exe().unwrap(), Toolchains::default()).unwrap();
    let places = Places::new(&worktree, root.join("scratch"));
    let (mut plain, mut walled) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let start = Instant::now();
        assert!(
            Command::new("bash")
                .args(["--norc", "-c", "true"])
                .status()
                .unwrap()
                .success()
        );
        plain.push(start.elapsed().as_secs_f64() * 1000.0);
        let start = Instant::now();
        let spawn = Spawn::new(Program::Shell("true".to_owned()), &worktree);
        let finished = stance_sandbox::spawn(&walls, Containment::read_only(), &places, spawn)
            .unwrap()
            .wait()
            .await
            .unwrap();
        walled.push(start.elapsed().as_secs_f64() * 1000.0);
        assert_eq!(finished.exit, Some(0));
    }
    let (plain, walled) = (median(plain), median(walled));
    println!("{{\"plain_ms\": {plain:.3}, \"walled_ms\": {walled:.3}}}");
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap()
}
