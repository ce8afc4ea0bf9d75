//! The proof, as whoever runs the tests and, when that is the system's owner, as an ordinary user.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use stance_sandbox::{Probe, WallsState};

use crate::ground::Ground;

const NOBODY: u32 = 65534;

#[tokio::test]
async fn every_try_is_forbidden_and_leaves_no_trace() {
    let ground = Ground::new();
    let proof = ground.walls.prove(&ground.outside).await;
    assert_eq!(proof.state(), WallsState::Proven, "{:#?}", proof.probes);
    for expected in [
        "write",
        "rename",
        "link",
        "chmod",
        "utime",
        "xattr",
        "delete",
        "remount the worktree",
        "mount",
        "mknod of a device",
        "nested namespace",
        "foreign descriptor",
        "a setting of the machine",
        "unix socket in the worktree",
        "abstract socket",
        "FIFO write",
        "loopback",
        "call ptrace",
        "call add_key",
        "vsock",
        "call io_uring_setup",
        "git write",
        "git rename",
        "seen from outside: files",
        "seen from outside: connections",
    ] {
        let tried = |writable| {
            let is = |probe: &&Probe| probe.name == expected && probe.writable == writable;
            proof.probes.iter().filter(is).count()
        };
        assert!(tried(false) > 0, "{expected}");
    }
    let proxied = [
        "loopback through the proxy",
        "call socket of another family",
        "loopback",
    ];
    for expected in proxied {
        assert!(
            proof
                .probes
                .iter()
                .any(|probe| probe.name == expected && probe.writable),
            "{expected}"
        );
    }
    assert_eq!(
        fs::read_dir(&ground.outside).unwrap().count(),
        1,
        "only the file that was there"
    );
}

#[tokio::test]
async fn a_throw_away_view_takes_changes_and_keeps_none() {
    let ground = Ground::new();
    let proof = ground.walls.prove_throw_away(&ground.outside).await;
    assert_eq!(proof.state(), WallsState::Proven, "{:#?}", proof.probes);
    for expected in [
        "a copy takes changes",
        "seen from outside: files",
        "seen from outside: connections",
        "unix socket in the worktree",
        "loopback",
        "remount the worktree",
    ] {
        assert!(proof.probes.iter().any(|probe| probe.name == expected), "{expected}");
    }
    assert_eq!(fs::read_dir(&ground.outside).unwrap().count(), 1);
}

#[test]
fn the_walls_hold_for_an_ordinary_user() {
    let ground = Ground::new();
    let folder = ground.root();
    let (helper, scratch) = (folder.join("helper"), folder.join("nobody"));
    fs::copy(env!("CARGO_BIN_EXE_stance-walls-probe"), &helper).unwrap();
    fs::create_dir(&scratch).unwrap();
    for (path, mode) in [(&folder, 0o755), (&helper, 0o755), (&scratch, 0o777)] {
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }
    let mut command = Command::new(&helper);
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command
        .arg(&scratch)
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Proven Proven");
    assert!(output.status.success());
}

/// Without the other walls, where the system's owner would be allowed most of these calls: it is the
/// filter alone that denies them.
#[test]
fn the_filter_alone_denies_every_call_of_its_list() {
    let output = Command::new(env!("CARGO_BIN_EXE_stance-walls-probe"))
        .args(["stance:try-walls", "filter"])
        .output()
        .unwrap();
    let tried: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    let allowed: Vec<_> = tried.iter().filter(|one| one["held"] != true).collect();
    assert!(allowed.is_empty(), "{allowed:#?}");
    assert!(tried.len() >= 45, "{}", tried.len());
}
