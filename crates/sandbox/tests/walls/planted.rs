//! Repositories and sockets put where a look does not easily reach, as whoever runs the tests and as
//! an ordinary user, in whose way the modes of folders stand.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use stance_sandbox::{Program, SandboxError, Spawn, Violation, recover, spawn};

use crate::ground::{Ground, READ_ONLY, WRITABLE};

const NOBODY: u32 = 65534;

/// The identities to try with: our own and, when that is the system's owner, an ordinary one.
fn users() -> Vec<Option<u32>> {
    let root = rustix::process::geteuid().is_root();
    std::iter::once(None).chain(root.then_some(Some(NOBODY))).collect()
}

/// The program that runs a line in the ground as a user who owns all of it.
fn program(ground: &Ground, user: Option<u32>, line: &str) -> Command {
    let folder = ground.root();
    let helper = folder.join("helper");
    if !helper.exists() {
        fs::copy(env!("CARGO_BIN_EXE_stance-walls-probe"), &helper).unwrap();
        fs::set_permissions(&helper, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(&helper);
    if let Some(user) = user {
        let given = Command::new("chown")
            .args(["-hR", &format!("{user}:{user}")])
            .arg(&folder)
            .status();
        assert!(given.unwrap().success());
        command.uid(user).gid(user);
    }
    command
        .arg(folder)
        .args(["write", line])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit());
    command
}

fn run(ground: &Ground, user: Option<u32>, line: &str) -> (String, bool) {
    let Output { status, stdout, .. } = program(ground, user, line).output().unwrap();
    (String::from_utf8(stdout).unwrap(), status.success())
}

fn planted(ground: &Ground, paths: &[&str]) -> String {
    let line = |path: &&str| format!("planted {}", ground.tree.join(path).display());
    sorted(&paths.iter().map(line).collect::<Vec<_>>().join("\n"))
}

fn sorted(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.join("\n") + "\n"
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o7777
}

#[test]
fn a_closed_folder_hides_no_planted_repository() {
    for user in users() {
        let ground = Ground::new();
        let line = "for m in 111 000 555 444 300; do mkdir -p d$m/in; git init -q d$m/in; git init -q d$m; \
                    chmod 500 d$m/.git; chmod $m d$m/in d$m; done";
        let (text, fine) = run(&ground, user, line);
        let folders = ["d111", "d000", "d555", "d444", "d300"];
        let expected: Vec<String> = folders
            .iter()
            .flat_map(|folder| [format!("{folder}/.git"), format!("{folder}/in/.git")])
            .collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        assert_eq!(sorted(&text), planted(&ground, &expected), "{user:?}");
        assert!(fine);
        for (folder, as_left) in folders.iter().zip([0o111, 0, 0o555, 0o444, 0o300]) {
            assert_eq!(mode(&ground.tree.join(folder)), as_left, "{user:?} {folder}");
        }
        assert!(!ground.places.record.exists());
    }
}

#[test]
fn a_repository_in_a_closed_folder_is_sealed_and_a_socket_masked() {
    for user in users() {
        for closed in [0o111, 0] {
            let ground = Ground::new();
            let (nested, socket) = (ground.tree.join("nested"), ground.tree.join("sock"));
            for folder in [&nested, &socket] {
                fs::create_dir(folder).unwrap();
            }
            ground.git(&["init", "-q", "nested"]);
            let _listener = UnixListener::bind(socket.join("s")).unwrap();
            let config = fs::read_to_string(nested.join(".git/config")).unwrap();
            for folder in [&nested, &socket] {
                fs::set_permissions(folder, PermissionsExt::from_mode(closed)).unwrap();
            }
            let line = "chmod 755 nested sock; echo x >> nested/.git/config; rm -f nested/.git/HEAD; test -c sock/s && echo masked; true";
            let (text, fine) = run(&ground, user, line);
            assert!(fine && text.contains("masked\n"), "{user:?} {text}");
            assert!(!text.contains("planted "), "{user:?} {text}");
            assert_eq!(
                fs::read_to_string(nested.join(".git/config")).unwrap(),
                config,
                "{user:?}"
            );
            assert!(nested.join(".git/HEAD").exists());
        }
    }
}

#[test]
fn a_path_longer_than_the_kernel_takes_hides_nothing() {
    for user in users() {
        let ground = Ground::new();
        let line = "for i in $(seq 30); do d=$(printf 'n%.0s' $(seq 200)); mkdir $d; cd $d; done; mkdir .git; echo 1 > .git/HEAD";
        let (text, fine) = run(&ground, user, line);
        assert!(
            fine && text.starts_with("planted ") && text.ends_with("/.git\n"),
            "{user:?} {text}"
        );
        assert!(ground.places.scratch.join("quarantine/made-0/HEAD").exists());
    }
}

#[test]
fn a_folder_too_deep_to_look_through_is_moved_away_or_refused() {
    let ground = Ground::new();
    let line = "for i in $(seq 320); do mkdir d; cd d; done; mkdir .git";
    let (text, fine) = run(&ground, None, line);
    assert!(
        fine && text.lines().count() == 1 && text.starts_with("planted "),
        "{text}"
    );
    let mut deep = ground.tree.join("deep");
    deep.extend(std::iter::repeat_n("d", 320));
    fs::create_dir_all(deep).unwrap();
    let (text, fine) = run(&ground, None, "touch ran");
    assert!(!fine && text.contains("too deep"), "{text}");
    assert!(!ground.tree.join("ran").exists());
}

#[test]
fn a_folder_of_somebody_else_that_may_be_passed_is_refused_and_a_locked_one_is_not() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    for (closed, refused) in [(0o700, false), (0o711, true)] {
        let ground = Ground::new();
        let mut command = program(&ground, Some(NOBODY), "touch ran");
        let folder = ground.tree.join("of-root");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, PermissionsExt::from_mode(closed)).unwrap();
        let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert_eq!(text.contains("of-root cannot be looked through"), refused, "{text}");
        assert_eq!(ground.tree.join("ran").exists(), !refused);
    }
}

#[test]
fn what_a_killed_program_left_is_moved_away_by_the_next_one() {
    for user in users() {
        let ground = Ground::new();
        ground.git(&["init", "-q"]);
        let line = "mkdir sub; git init -q sub; chmod 111 sub; echo ready; sleep 1000";
        let mut killed = program(&ground, user, line).spawn().unwrap();
        let mut first = [0; 6];
        std::io::Read::read_exact(killed.stdout.as_mut().unwrap(), &mut first).unwrap();
        killed.kill().unwrap();
        killed.wait().unwrap();
        assert!(ground.places.record.exists());
        assert_eq!(
            run(&ground, user, "true").0,
            planted(&ground, &["sub/.git"]),
            "{user:?}"
        );
        assert!(ground.tree.join(".git").exists() && !ground.tree.join("sub/.git").exists());
        assert!(!ground.places.record.exists());
    }
}

#[tokio::test]
async fn recovering_needs_no_further_process_and_is_done_once() {
    let ground = Ground::new();
    ground.git(&["init", "-q"]);
    let before = ground.tree.join(".git").symlink_metadata().unwrap();
    fs::create_dir(&ground.places.scratch).unwrap();
    fs::write(&ground.places.record, format!("[[{},{}]]", before.dev(), before.ino())).unwrap();
    fs::create_dir(ground.tree.join("sub")).unwrap();
    ground.git(&["init", "-q", "sub"]);
    let violations = recover(&ground.places).unwrap();
    assert!(
        matches!(violations.as_slice(), [Violation::GitCreated { path, .. }] if *path == ground.tree.join("sub/.git"))
    );
    assert_eq!(recover(&ground.places).unwrap(), []);
    assert!(ground.tree.join(".git").exists());
    fs::write(&ground.places.record, "cut of").unwrap();
    let refused = ground
        .run(WRITABLE, Spawn::new(Program::Shell("true".into()), "/"))
        .await;
    assert!(matches!(refused, Err(SandboxError::Place { path, .. }) if path == ground.places.record));
}

#[tokio::test]
async fn what_cannot_be_moved_away_is_an_error_again_and_again() {
    let ground = Ground::new();
    // A file where the quarantine would be.
    fs::create_dir(&ground.places.scratch).unwrap();
    let quarantine = ground.places.scratch.join("quarantine");
    fs::write(&quarantine, "").unwrap();
    let it = |line: &str| Spawn::new(Program::Shell(line.into()), &ground.tree);
    let error = ground
        .run(WRITABLE, it("mkdir a b; git init -q a; git init -q b"))
        .await
        .unwrap_err();
    let SandboxError::Planted { what } = &error else {
        panic!("{error}");
    };
    assert_eq!(what.len(), 2, "{what:?}");
    let error = ground.run(WRITABLE, it("touch ran")).await.unwrap_err();
    assert!(matches!(error, SandboxError::Unsettled { .. }), "{error}");
    assert!(!ground.tree.join("ran").exists());
    fs::remove_file(&quarantine).unwrap();
    assert_eq!(ground.run(WRITABLE, it("touch ran")).await.unwrap().violations.len(), 2);
    assert!(ground.tree.join("ran").exists());
}

#[tokio::test]
async fn a_folder_that_git_takes_for_a_repository_is_one() {
    let ground = Ground::new();
    ground.git(&["init", "-q", "--bare", "old"]);
    let config = fs::read_to_string(ground.tree.join("old/config")).unwrap();
    let line = "echo x >> old/config; git init -q --bare fixtures/new; echo '[core]' >> fixtures/new/config; \
                mkdir -p linked; cd linked; echo ../old > commondir; echo 'ref: refs/heads/x' > HEAD; true";
    let finished = ground.shell(WRITABLE, line).await;
    let mut paths: Vec<PathBuf> = Vec::new();
    for Violation::GitCreated { path, moved_to } | Violation::Guarded { path, moved_to } in finished.violations {
        assert!(moved_to.join("HEAD").exists());
        paths.push(path);
    }
    paths.sort();
    assert_eq!(paths, ["fixtures/new", "linked"].map(|name| ground.tree.join(name)));
    assert_eq!(fs::read_to_string(ground.tree.join("old/config")).unwrap(), config);
    assert!(ground.tree.join("old/HEAD").exists());
    for folder in ["fixtures/new", "linked"] {
        let told = ground.git(&["-C", folder, "rev-parse", "--git-dir"]);
        assert_eq!(told, "", "{folder}");
    }
}

#[tokio::test]
async fn a_home_folder_is_read_and_never_written() {
    let mut ground = Ground::new();
    for home in [ground.tree.clone(), ground.tree.join("ada")] {
        fs::create_dir_all(&home).unwrap();
        ground.places.home = Some(home);
        let it = || Spawn::new(Program::Shell("echo evil >> .bashrc".into()), &ground.tree);
        let error = spawn(&ground.walls, WRITABLE, &ground.places, it()).unwrap_err();
        assert!(error.to_string().contains("home folder"), "{error}");
        assert_eq!(ground.output(READ_ONLY, "echo fine").await, "fine\n");
    }
    ground.places.home = Some(ground.outside.clone());
    assert_eq!(ground.output(WRITABLE, "echo fine").await, "fine\n");
}

#[tokio::test]
async fn a_socket_that_appears_on_the_host_later_is_not_reached() {
    let ground = Ground::new();
    let line = "for i in 1 2 3; do read -r go; done < /dev/null; echo ready; while ! test -e go; do sleep 0.02; done; \
                perl -MSocket -e 'socketpair(A,B,AF_UNIX,SOCK_STREAM,0) and print \"pair\\n\"; \
                socket(S,AF_UNIX,SOCK_STREAM,0) and print \"socket\\n\"; \
                socketpair(A,B,AF_UNIX,SOCK_DGRAM,0) and send(A,\"x\",0,pack_sockaddr_un(\"late\")) and print \"sent\\n\"'";
    let it = Spawn::new(Program::Shell(line.into()), &ground.tree);
    let mut running = spawn(&ground.walls, WRITABLE, &ground.places, it).unwrap();
    running.take_output().unwrap().recv().await.unwrap();
    let late = std::os::unix::net::UnixDatagram::bind(ground.tree.join("late")).unwrap();
    late.set_nonblocking(true).unwrap();
    fs::write(ground.tree.join("go"), "").unwrap();
    assert_eq!(running.wait().await.unwrap().stdout.text(), "ready\npair\n");
    assert!(late.recv(&mut [0; 4]).is_err());
}
