//! Ways out that were seen to work elsewhere.

use std::fs;
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;

use modes::Containment;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use stance_sandbox::{Program, SandboxError, Spawn, Toolchains, Walls};

use crate::ground::{Ground, READ_ONLY, WRITABLE, content};

fn facts(path: &Path) -> (u32, i64, i64, i64, i64) {
    let facts = path.symlink_metadata().unwrap();
    (
        facts.mode(),
        facts.mtime(),
        facts.mtime_nsec(),
        facts.ctime(),
        facts.ctime_nsec(),
    )
}

#[tokio::test]
async fn a_read_only_worktree_stays_as_it_is() {
    let ground = Ground::new();
    let (tree, file) = (facts(&ground.tree), facts(&ground.tree.join("file")));
    for line in [
        "echo x > file",
        "echo x > new",
        "rm file",
        "mv file other",
        "ln file other",
        "chmod 777 file",
        "touch file",
        "mkdir d",
        "ln -s x l",
        "setfattr -n user.x -v y file || exit 1",
        "truncate -s 0 file",
        "mount -o remount,rw,bind / ; echo x > file",
        "mount --bind /tmp . ; echo x > file",
        "unshare -Ur sh -c 'mount -o remount,rw,bind . && echo x > file'",
        "cp /bin/sh /tmp/s; chmod u+s /tmp/s; /tmp/s -c 'echo x > file'",
        "cd /proc/self/root; echo x > .$PWD/file",
        "echo x > /proc/1/root$PWD/file",
        "echo x > /proc/1/cwd/file",
    ] {
        let finished = ground.shell(READ_ONLY, line).await;
        assert_ne!(finished.exit, Some(0), "{line}");
        assert_eq!(facts(&ground.tree), tree, "{line}");
        assert_eq!(facts(&ground.tree.join("file")), file, "{line}");
    }
    assert_eq!(content(&ground.tree.join("file")), "as it was\n");
}

#[tokio::test]
async fn nothing_outside_of_a_writable_worktree_is_reached() {
    let ground = Ground::new();
    let outside = ground.outside.display();
    let before = (facts(&ground.outside), facts(&ground.outside.join("file")));
    for line in [
        format!("cat {outside}/file"),
        format!("echo x > {outside}/file"),
        "echo x > ../outside/file".to_owned(),
        format!("ln -s {outside}/file link && echo x > link"),
        format!("ln -s {outside} folder && echo x > folder/new"),
        "echo x > /usr/bin/x".to_owned(),
        "echo x > /etc/x".to_owned(),
        "echo x > /x".to_owned(),
        "echo core > /proc/sys/kernel/core_pattern".to_owned(),
        "echo x > /proc/sysrq-trigger".to_owned(),
        "cat /etc/shadow".to_owned(),
        "cat /root/.bashrc".to_owned(),
        "ls /sys/kernel".to_owned(),
        "cat /var/log/* ".to_owned(),
        "mknod /tmp/disk b 254 0 && cat /tmp/disk".to_owned(),
    ] {
        assert_ne!(ground.shell(WRITABLE, &line).await.exit, Some(0), "{line}");
    }
    let after = (facts(&ground.outside), facts(&ground.outside.join("file")));
    assert_eq!(after, before);
    assert_eq!(content(&ground.outside.join("file")), "as it was\n");
}

#[tokio::test]
async fn nobody_listening_on_the_host_hears_anything() {
    let ground = Ground::new();
    let loopback = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let datagrams = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let name = format!("stance-test-{}", ground.root().display());
    let sockets = [
        UnixListener::bind(ground.tree.join("socket")).unwrap(),
        UnixListener::bind(ground.outside.join("socket")).unwrap(),
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap(),
    ];
    mknodat(
        CWD,
        ground.tree.join("fifo"),
        FileType::Fifo,
        Mode::RUSR | Mode::WUSR,
        0,
    )
    .unwrap();
    let fifo = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(ground.tree.join("fifo"))
        .unwrap();
    loopback.set_nonblocking(true).unwrap();
    datagrams.set_nonblocking(true).unwrap();
    rustix::io::ioctl_fionbio(fifo.as_fd(), true).unwrap();

    let tcp = loopback.local_addr().unwrap().port();
    let udp = datagrams.local_addr().unwrap().port();
    let tree = ground.tree.display();
    let outside = ground.outside.display();
    let connect = format!(
        "import socket,sys\n\
         def tried(family,kind,address,send):\n\
         \x20 try:\n\
         \x20  s=socket.socket(family,kind); s.connect(address); s.send(b'x'); print('reached',address)\n\
         \x20 except OSError: pass\n\
         tried(socket.AF_INET,socket.SOCK_STREAM,('127.0.0.1',{tcp}),0)\n\
         tried(socket.AF_INET,socket.SOCK_DGRAM,('127.0.0.1',{udp}),0)\n\
         tried(socket.AF_UNIX,socket.SOCK_STREAM,'{tree}/socket',0)\n\
         tried(socket.AF_UNIX,socket.SOCK_STREAM,'{outside}/socket',0)\n\
         tried(socket.AF_UNIX,socket.SOCK_STREAM,'\\0{name}',0)\n"
    );
    for containment in [READ_ONLY, WRITABLE] {
        let lines = [
            format!("exec 3<>/dev/tcp/127.0.0.1/{tcp} && echo reached"),
            format!("echo x > /dev/udp/127.0.0.1/{udp} && echo reached"),
            "timeout 1 sh -c 'echo x > fifo' && echo reached".to_owned(),
            "timeout 1 cat fifo && echo reached".to_owned(),
            format!("test -x /usr/bin/python3 || exit 0; /usr/bin/python3 -c \"$SCRIPT\" # {containment:?}"),
        ];
        for line in lines {
            let mut it = Spawn::new(Program::Shell(line), &ground.tree);
            it.environment.push(("SCRIPT".into(), connect.clone()));
            let finished = ground.run(containment, it).await.unwrap();
            assert_eq!(finished.stdout.text(), "", "{}", finished.stderr.text());
        }
    }
    assert!(loopback.accept().is_err());
    assert!(datagrams.recv(&mut [0; 8]).is_err());
    assert!(rustix::io::read(&fifo, &mut [0; 8]).is_err());
    for socket in sockets {
        socket.set_nonblocking(true).unwrap();
        assert!(socket.accept().is_err());
    }
}

#[tokio::test]
async fn descriptors_of_the_caller_do_not_come_along() {
    let ground = Ground::new();
    let folder = fs::File::open(&ground.outside).unwrap();
    let file = fs::File::open(ground.outside.join("file")).unwrap();
    for open in [&folder, &file] {
        rustix::io::fcntl_setfd(open.as_fd(), rustix::io::FdFlags::empty()).unwrap();
    }
    let line = "for fd in /proc/self/fd/*; do readlink $fd; done | sed 's/[0-9]//g' | sort | uniq -c | sed 's/^ *//'; \
                for fd in /proc/self/fd/*; do echo x > $fd/made; echo x > $fd; done 2>/dev/null; exit 0";
    let text = ground.output(WRITABLE, line).await;
    assert!(text.starts_with("3 pipe:[]\n"), "{text}");
    assert!(!text.contains(&ground.outside.display().to_string()), "{text}");
    assert_eq!(content(&ground.outside.join("file")), "as it was\n");
    assert!(!ground.outside.join("made").exists());
}

#[tokio::test]
async fn what_is_hidden_is_nowhere_even_under_a_wider_place() {
    let mut ground = Ground::new();
    let store = ground.tree.join("store");
    fs::create_dir(&store).unwrap();
    fs::write(store.join("secret"), "secret").unwrap();
    fs::write(ground.tree.join("token"), "secret").unwrap();
    ground.places.hidden = vec![store.clone(), ground.tree.join("token"), ground.outside.clone()];
    for containment in [READ_ONLY, WRITABLE] {
        let line = "cat store/secret token 2>/dev/null; ls -A store; cat store/../token; mv store elsewhere; \
                    rm -rf store token; echo x > store/new; echo x > token; true";
        assert_eq!(ground.output(containment, line).await, "");
        assert_eq!(content(&store.join("secret")), "secret");
        assert_eq!(content(&ground.tree.join("token")), "secret");
        assert_eq!(fs::read_dir(&store).unwrap().count(), 1);
    }
}

#[tokio::test]
async fn the_host_keyring_and_processes_are_out_of_sight() {
    let ground = Ground::new();
    let before = fs::read_to_string("/proc/keys").unwrap_or_default();
    let line = "ls -d /proc/[0-9]* | wc -l; cat /proc/keys 2>/dev/null | wc -l; kill -0 1 && echo 1; \
                kill -9 -1; true";
    let finished = ground.shell(WRITABLE, line).await;
    let text = finished.stdout.text();
    let processes: usize = text.lines().next().unwrap().parse().unwrap();
    assert!(processes < 6, "{text}");
    assert_eq!(fs::read_to_string("/proc/keys").unwrap_or_default(), before);
}

#[tokio::test]
async fn programs_of_ours_are_not_taken_from_where_a_run_writes() {
    let mut ground = Ground::new();
    let helper = ground.tree.join("stance");
    fs::copy(env!("CARGO_BIN_EXE_stance-walls-probe"), &helper).unwrap();
    fs::set_permissions(&helper, PermissionsExt::from_mode(0o755)).unwrap();
    ground.walls = Walls::new(&helper, Toolchains::default()).unwrap();
    let it = || Spawn::new(Program::Shell("true".into()), "/");
    let refused = ground.run(WRITABLE, it()).await;
    assert!(matches!(refused, Err(SandboxError::ProgramNotTrusted { path, .. }) if path == helper));
    assert_eq!(ground.run(READ_ONLY, it()).await.unwrap().exit, Some(0));
}

#[tokio::test]
async fn a_program_of_the_same_name_in_the_worktree_is_not_ours() {
    let ground = Ground::new();
    for name in ["bash", "bwrap", "git", "env"] {
        let path = ground.tree.join(name);
        fs::write(&path, "#!/bin/sh\necho hijacked\n").unwrap();
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    for program in [
        Program::Shell("echo mine".into()),
        Program::Git(vec!["--version".into()]),
        Program::Argv {
            program: "env".into(),
            arguments: Vec::new(),
        },
    ] {
        let containment: Containment = READ_ONLY;
        let finished = ground
            .run(containment, Spawn::new(program, &ground.tree))
            .await
            .unwrap();
        assert!(!finished.stdout.text().contains("hijacked"));
        assert_eq!(finished.exit, Some(0));
    }
}

#[tokio::test]
async fn a_crash_starts_no_handler_of_the_host() {
    let ground = Ground::new();
    let line = "grep 'core file' /proc/self/limits | tr -s ' '; ulimit -c unlimited 2>/dev/null; bash -c 'kill -SEGV $$'; echo $?; ls /tmp";
    let text = ground.output(READ_ONLY, line).await;
    assert!(text.starts_with("Max core file size 1 1 bytes"), "{text}");
    assert!(text.contains("\n139\n") && !text.contains("core."), "{text}");
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn the_other_numberings_of_calls_do_not_exist() {
    // `getpid` by its number for the x32 interface, from a language that can call by number.
    let ground = Ground::new();
    let script = "import ctypes; libc=ctypes.CDLL(None,use_errno=True); \
                  print(libc.syscall(0x40000000+39), ctypes.get_errno())";
    let line = format!("test -x /usr/bin/python3 || {{ echo -1 38; exit 0; }}; /usr/bin/python3 -c '{script}'");
    assert_eq!(ground.output(READ_ONLY, &line).await, "-1 38\n");
}

#[tokio::test]
async fn no_program_is_made_that_acts_as_its_owner() {
    let ground = Ground::new();
    fs::copy("/bin/true", ground.tree.join("own")).unwrap();
    for line in [
        "chmod u+s own",
        "chmod 4755 own",
        "chmod g+s own",
        "install -m 6755 own made",
        "perl -e 'chmod(04755, \"own\") or exit 1'",
        "perl -e 'use Fcntl; sysopen(F, \"made\", O_CREAT|O_WRONLY, 04755) or exit 1'",
        "perl -e 'exit(syscall(452, -100, my $name = \"own\", 04755, 0) < 0)'",
    ] {
        assert_ne!(ground.shell(WRITABLE, line).await.exit, Some(0), "{line}");
    }
    for entry in fs::read_dir(&ground.tree).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().mode() & 0o6000, 0, "{entry:?}");
    }
    let line = "chmod 755 own && chmod 1777 . && install -m 700 own other && stat -c %a own other";
    assert_eq!(ground.output(WRITABLE, line).await, "755\n700\n");
}
