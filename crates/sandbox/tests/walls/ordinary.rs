//! What a program inside can do, and what it sees.

use stance_sandbox::{Access, Generated, Keep, Mount, Program, SandboxError, Spawn, Stream};

use crate::ground::{Ground, READ_ONLY, WRITABLE, content};

#[tokio::test]
async fn output_exit_code_and_input_come_through() {
    let ground = Ground::new();
    let line = "read word; echo got $word; echo bad >&2; pwd; exit 3";
    let mut it = Spawn::new(Program::Shell(line.into()), &ground.tree);
    it.stdin = b"hello\nrest".to_vec();
    let finished = ground.run(READ_ONLY, it).await.unwrap();
    assert_eq!(finished.exit, Some(3));
    assert_eq!(
        finished.stdout.text(),
        format!("got hello\n{}\n", ground.tree.display())
    );
    assert_eq!(finished.stderr.text(), "bad\n");
    assert_eq!(finished.excess, None);
    assert_eq!(finished.violations, []);
}

#[tokio::test]
async fn a_signal_and_a_missing_program_are_told_as_a_shell_tells_them() {
    let ground = Ground::new();
    assert_eq!(ground.shell(READ_ONLY, "kill -KILL $$").await.exit, Some(137));
    let program = Program::Argv {
        program: "no-such-program".into(),
        arguments: Vec::new(),
    };
    let finished = ground.run(READ_ONLY, Spawn::new(program, "/")).await.unwrap();
    assert_eq!(finished.exit, Some(127));
    assert!(finished.stderr.text().starts_with("no-such-program cannot be started"));
}

#[tokio::test]
async fn the_environment_is_rebuilt_from_nothing() {
    let ground = Ground::new();
    let program = Program::Argv {
        program: "env".into(),
        arguments: Vec::new(),
    };
    let mut it = Spawn::new(program, "/");
    it.environment.push(("STANCE_RUN".into(), "r1".into()));
    let finished = ground.run(READ_ONLY, it).await.unwrap();
    let text = finished.stdout.text();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "HOME=/home/stance",
            "LANG=C.UTF-8",
            "LOGNAME=stance",
            "PATH=/usr/local/bin:/usr/bin:/bin",
            "PWD=/",
            "SHELL=/bin/bash",
            "STANCE_RUN=r1",
            "TERM=dumb",
            "TMPDIR=/tmp",
            "USER=stance",
            "XDG_RUNTIME_DIR=/run/user/1000",
        ]
    );
}

#[tokio::test]
async fn private_places_are_empty_writable_and_last_as_long_as_the_scratch_folder() {
    let ground = Ground::new();
    for place in ["/tmp", "/home/stance", "/run/user/1000", "/dev/shm"] {
        let line = format!(
            "ls -A {place} | grep -v \"^$(echo {} | cut -d/ -f3)\" ; echo x > {place}/kept && cat {place}/kept",
            ground.tree.display()
        );
        assert_eq!(ground.output(READ_ONLY, &line).await, "x\n", "{place}");
    }
    let kept = "cat /tmp/kept /home/stance/kept; ls -A /run/user/1000 /dev/shm";
    assert_eq!(
        ground.output(READ_ONLY, kept).await,
        "x\nx\n/dev/shm:\n\n/run/user/1000:\n"
    );
}

#[tokio::test]
async fn a_writable_worktree_is_written_at_its_own_path() {
    let ground = Ground::new();
    let line = "echo new > made && mkdir -p a/b && mv file a/b/moved && chmod 600 made && stat -c %a made";
    assert_eq!(ground.output(WRITABLE, line).await, "600\n");
    assert_eq!(content(&ground.tree.join("made")), "new\n");
    assert_eq!(content(&ground.tree.join("a/b/moved")), "as it was\n");
}

#[tokio::test]
async fn what_scripts_need_works() {
    let ground = Ground::new();
    let line = "echo a | tee /dev/stderr > /dev/null; echo b > /dev/stdout; (echo c >&2) 2>/dev/null; \
                cat <(echo d); date +%Y > /tmp/d; seq 3 | while read n; do :; done; getent passwd root | cut -d: -f1; \
                head -c 4 /dev/urandom | wc -c; nproc > /dev/null && kill -0 $$ && echo e";
    assert_eq!(ground.output(READ_ONLY, line).await, "b\nd\nroot\n4\ne\n");
}

#[tokio::test]
async fn long_output_is_bounded_at_the_end_asked_for() {
    let ground = Ground::new();
    for (keep, expected) in [(Keep::Head, "1\n2\n3\n4\n5\n"), (Keep::Tail, "999\n10000\n")] {
        let mut it = Spawn::new(Program::Shell("seq 10000".into()), "/");
        it.limits.output_bytes = 10;
        it.limits.keep = keep;
        let finished = ground.run(READ_ONLY, it).await.unwrap();
        assert_eq!(finished.stdout.text(), expected);
        assert_eq!(finished.stdout.dropped, 48_894 - 10);
    }
}

#[tokio::test]
async fn output_can_be_followed_live() {
    let ground = Ground::new();
    let it = Spawn::new(Program::Shell("echo one; echo two >&2".into()), "/");
    let mut running = stance_sandbox::spawn(&ground.walls, READ_ONLY, &ground.places, it).unwrap();
    let mut output = running.take_output().unwrap();
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    while let Some(chunk) = output.recv().await {
        match chunk.stream {
            Stream::Output => out.extend(chunk.bytes),
            Stream::Error => errors.extend(chunk.bytes),
        }
    }
    assert_eq!((out.as_slice(), errors.as_slice()), (&b"one\n"[..], &b"two\n"[..]));
    assert_eq!(running.wait().await.unwrap().exit, Some(0));
}

#[tokio::test]
async fn generated_files_and_mounts_are_seen_at_their_target() {
    let mut ground = Ground::new();
    ground.places.files.push(Generated {
        target: "/tmp/made/config".into(),
        content: b"for you\n".to_vec(),
    });
    ground.places.mounts.push(Mount {
        source: ground.outside.clone(),
        target: "/tmp/shown".into(),
        access: Access::ReadWrite,
    });
    let line = "cat /tmp/made/config; echo no > /tmp/made/config; echo yes > /tmp/shown/written";
    let finished = ground.shell(WRITABLE, line).await;
    assert_eq!(finished.stdout.text(), "for you\n");
    assert!(finished.stderr.text().contains("Read-only file system"));
    assert_eq!(content(&ground.outside.join("written")), "yes\n");
    let refused = ground
        .run(READ_ONLY, Spawn::new(Program::Shell("true".into()), "/"))
        .await;
    assert!(matches!(refused, Err(SandboxError::Place { .. })));
}

#[tokio::test]
async fn what_cannot_be_passed_is_refused_before_anything_starts() {
    let ground = Ground::new();
    let long = Spawn::new(Program::Shell("x".repeat(200_000)), "/");
    assert!(matches!(
        ground.run(READ_ONLY, long).await,
        Err(SandboxError::Arguments(_))
    ));
    let nul = Spawn::new(Program::Shell("a\0b".into()), "/");
    assert!(matches!(
        ground.run(READ_ONLY, nul).await,
        Err(SandboxError::Arguments(_))
    ));
    let nowhere = Spawn::new(Program::Shell("true".into()), "/nowhere");
    let error = ground.run(READ_ONLY, nowhere).await.unwrap_err();
    assert!(
        matches!(&error, SandboxError::WallsFailed(why) if why.contains("/nowhere")),
        "{error}"
    );
}

#[tokio::test]
async fn no_file_grows_without_end() {
    let ground = Ground::new();
    let line = "truncate -s 8G fits && rm fits; truncate -s 8589934593 large 2>/dev/null && echo grown; ulimit -f unlimited 2>/dev/null && echo lifted; true";
    assert_eq!(ground.output(WRITABLE, line).await, "");
}
