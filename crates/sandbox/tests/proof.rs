//! The walls of this host, proved as whoever runs the tests and, when that is root, as an ordinary
//! user too.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use stance_sandbox::{Toolchains, Walls, WallsState};

#[tokio::test]
async fn every_try_is_forbidden_and_leaves_no_trace() {
    let scratch = tempfile::tempdir().unwrap();
    let walls = Walls::new(env!("CARGO_BIN_EXE_stance-walls-probe"), Toolchains::default()).unwrap();
    let proof = walls.prove(scratch.path()).await;
    assert_eq!(proof.state(), WallsState::Proven, "{:#?}", proof.probes);
}
