//! A process that takes too much ends, with everything it began, and says so.

use stance_sandbox::{Backend, Excess, Program, Spawn, Toolchains, Walls};

use crate::ground::{Ground, WRITABLE};

const MEBIBYTE: u64 = 1 << 20;

fn grounds() -> impl Iterator<Item = Ground> {
    [Backend::Namespaces, Backend::Kernel, Backend::Nothing]
        .into_iter()
        .map(|backend| {
            let mut ground = Ground::new();
            ground.walls = Walls::of(backend, env!("CARGO_BIN_EXE_stance-walls-probe"), Toolchains::default()).unwrap();
            ground
        })
}

#[tokio::test]
async fn a_process_that_starts_others_without_end_is_ended_with_all_of_them() {
    for ground in grounds() {
        let mut it = Spawn::new(Program::Shell("while :; do sleep 600 & done".into()), &ground.tree);
        it.limits.processes = 40;
        let finished = ground.run(WRITABLE, it).await.unwrap();
        assert_eq!((finished.exit, finished.excess), (None, Some(Excess::Processes)));
    }
}

#[tokio::test]
async fn processes_that_take_too_much_memory_together_are_ended() {
    for ground in grounds() {
        let line = "for i in 1 2 3 4 5 6; do (x=$(head -c 30000000 /dev/zero | tr '\\0' x); sleep 600) & done; wait";
        let mut it = Spawn::new(Program::Shell(line.into()), &ground.tree);
        it.limits.memory = Some(120 * MEBIBYTE);
        let finished = ground.run(WRITABLE, it).await.unwrap();
        assert_eq!((finished.exit, finished.excess), (None, Some(Excess::Memory)));
    }
}

#[tokio::test]
async fn a_single_process_gets_no_more_memory_than_all_may_have() {
    for ground in grounds() {
        let mut it = Spawn::new(
            Program::Shell("x=$(printf '%1000000s'); while :; do x=$x$x; done".into()),
            &ground.tree,
        );
        it.limits.memory = Some(60 * MEBIBYTE);
        let finished = ground.run(WRITABLE, it).await.unwrap();
        let refused = finished.stderr.text().contains("cannot allocate") && finished.exit == Some(2);
        assert!(refused || finished.excess == Some(Excess::Memory), "{finished:?}");
    }
}
