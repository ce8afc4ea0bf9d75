//! Every way out that a command could take. A line that gets through says REACHED.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::site::{SECRET, Site, Who};
use crate::attacks::evidence::{files, shows_nothing_of, told};
use crate::support::{calls, says, turns, unseen};

/// Each works without walls, which is tried too: none of these fails for another reason.
const REAL: [&str; 55] = [
    // Writing outside.
    "echo x > {OUT}/file && echo REACHED",
    "echo x > ../outside/new && echo REACHED",
    "cd {OUT} && touch new && echo REACHED",
    "ln -s {OUT} way && echo x > way/file && echo REACHED",
    "ln {OUT}/file hard && echo x > hard && echo REACHED",
    "mv {OUT}/file stolen && echo REACHED",
    "mv README.md {OUT}/ && echo REACHED",
    "rm {OUT}/file && echo REACHED",
    "chmod 777 {OUT}/file && echo REACHED",
    "chown $(id -u) {OUT}/file && echo REACHED",
    "test -e {OUT}/file && touch -d 2001-01-01 {OUT}/file && echo REACHED",
    "truncate -s 0 {OUT}/file && echo REACHED",
    "perl -e 'utime(1,1,$ARGV[0]) or exit 1' {OUT}/file && echo REACHED",
    "test -e {HOME}/.bashrc && echo x >> {HOME}/.bashrc && echo REACHED",
    "test -e {TMP} && echo x >> {TMP} && echo REACHED",
    // Reading what is nobody's business.
    "cat {OUT}/file && echo REACHED",
    "cat {TMP} && echo REACHED",
    "cat {HOME}/.ssh/secret && echo REACHED",
    "cat {HOME}/.aws/secret && echo REACHED",
    "cat {STATE}/settings.toml && echo REACHED",
    "ls {STATE}/settings.toml && echo REACHED",
    "ln -s {STATE} state && cat state/settings.toml && echo REACHED",
    "grep -r mistakes {STATE} && echo REACHED",
    // The repository's own records.
    "echo x >> .git/config && echo REACHED",
    "echo x > .git/HEAD && echo REACHED",
    "echo x > .git/index && echo REACHED",
    "echo x > .git/refs/heads/topic && echo REACHED",
    "echo x > .git/new && echo REACHED",
    "rm -rf .git && echo REACHED",
    "mv .git .old && echo REACHED",
    "chmod 700 .git && echo REACHED",
    "touch .git/index && echo REACHED",
    "git branch -f topic HEAD~1 && echo REACHED",
    "git update-ref -d refs/heads/topic && echo REACHED",
    "git config x.y z && echo REACHED",
    "git -c user.name=x -c user.email=x@y commit -q --allow-empty -m x && echo REACHED",
    // Those who listen.
    "echo x > /dev/tcp/127.0.0.1/{TCP} && echo REACHED",
    "echo x > /dev/udp/127.0.0.1/{UDP} && echo REACHED",
    "echo x > pipe && echo REACHED",
    "echo x > {OUT}/pipe && echo REACHED",
    "echo x 1<> pipe && test -p pipe && echo REACHED",
    "perl -MSocket -e 'socket(S,PF_UNIX,SOCK_STREAM,0) && connect(S,pack_sockaddr_un($ARGV[0])) or exit 1' {REPO}/socket && echo REACHED",
    "perl -MSocket -e 'socket(S,PF_UNIX,SOCK_STREAM,0) && connect(S,pack_sockaddr_un($ARGV[0])) or exit 1' {OUT}/socket && echo REACHED",
    "perl -MSocket -e 'socket(S,PF_UNIX,SOCK_STREAM,0) && connect(S,pack_sockaddr_un(\"\\0$ARGV[0]\")) or exit 1' '{ABSTRACT}' && echo REACHED",
    "mv socket other && perl -MSocket -e 'socket(S,PF_UNIX,SOCK_STREAM,0) && connect(S,pack_sockaddr_un(\"other\")) or exit 1' && echo REACHED",
    // What the caller left open.
    "echo x > /proc/self/fd/7/new && echo REACHED",
    "ls /proc/self/fd/7/ && echo REACHED",
    "echo x > /proc/self/fd/5 && echo REACHED",
    "cat <&5 && echo REACHED",
    "(cd /proc/self/fd/7 && touch by-descriptor) && echo REACHED",
    // Other processes.
    "cat /proc/{VICTIM}/environ && echo REACHED",
    "cat /proc/{VICTIM}/cmdline && echo REACHED",
    "cat /proc/{VICTIM}/root{OUT}/file && echo REACHED",
    "kill -0 {VICTIM} && echo REACHED",
    "kill -9 {VICTIM} && echo REACHED",
];

/// These would need the system's owner, or hurt the machine without walls.
const FORBIDDEN: [&str; 52] = [
    "echo x > /stance-was-here && echo REACHED",
    "echo x > /etc/stance-was-here && echo REACHED",
    "echo x > /usr/bin/stance-was-here && echo REACHED",
    "echo x > /usr/local/bin/git && echo REACHED",
    "echo x >> /.stance/walls && echo REACHED",
    "cat /etc/shadow && echo REACHED",
    "ls /root /home/*/.ssh && echo REACHED",
    "ls /var/log /srv /boot && echo REACHED",
    "mount -o remount,rw,bind / && echo REACHED",
    "mount -o remount,rw,bind $PWD/.git && echo x >> .git/config && echo REACHED",
    "mount --bind /tmp /usr/bin && echo REACHED",
    "mount -t tmpfs none .git && echo REACHED",
    "mount -t proc proc /tmp && echo REACHED",
    "umount .git && echo REACHED",
    "umount -l $PWD && echo REACHED",
    "umount -l / && echo REACHED",
    "unshare -Ur true && echo REACHED",
    "unshare -Urm sh -c 'mount -o remount,rw,bind .git' && echo REACHED",
    "unshare -n true && echo REACHED",
    "bwrap --dev-bind / / true && echo REACHED",
    "bwrap --unshare-user --dev-bind / / sh -c 'echo x >> .git/config' && echo REACHED",
    "nsenter -t 1 -m true && echo REACHED",
    "chroot / true && echo REACHED",
    "cp /bin/bash b && chmod u+s b && ./b -p -c 'echo x >> .git/config' && echo REACHED",
    "cp /bin/bash made && chmod 4755 made && echo REACHED",
    "cp /bin/bash made && chmod g+s made && echo REACHED",
    "perl -e 'use Fcntl; sysopen(F, \"made-so\", O_CREAT|O_WRONLY, 06755) or exit 1' && echo REACHED",
    "su -c true && echo REACHED",
    "sudo -n true && echo REACHED",
    "mknod disk b 254 0 && cat disk && echo REACHED",
    "cat /dev/mem /dev/kmsg /dev/sda && echo REACHED",
    "echo x > /proc/sys/kernel/core_pattern && echo REACHED",
    "echo x > /proc/sysrq-trigger && echo REACHED",
    "echo 1000 > /proc/self/oom_score_adj && echo -1000 > /proc/self/oom_score_adj && echo REACHED",
    "sysctl -w kernel.hostname=x && echo REACHED",
    "hostname stolen && echo REACHED",
    "date -s 2001-01-01 && echo REACHED",
    "echo x > /proc/1/root$PWD/.git/new && echo REACHED",
    "echo x > /proc/1/cwd/.git/new && echo REACHED",
    "cd /proc/self/root && echo x > .$OLDPWD/.git/new && echo REACHED",
    "echo x > /proc/1/mem && echo REACHED",
    "for fd in /proc/1/fd/*; do echo ROGUE > $fd && echo REACHED; done; false",
    "for fd in /proc/$PPID/fd/*; do echo ROGUE > $fd && echo REACHED; done; false",
    "perl -MSocket -e 'socket(S,40,SOCK_STREAM,0) or exit 1' && echo REACHED",
    "perl -MSocket -e 'socket(S,PF_INET,SOCK_DGRAM,0) or exit 1' && echo REACHED",
    "perl -MSocket -e 'socket(S,PF_INET6,SOCK_STREAM,0) or exit 1' && echo REACHED",
    "perl -MSocket -e 'socket(S,16,3,0) or exit 1' && echo REACHED",
    "perl -e 'exit(syscall(425, 8, my $x = \"\\0\" x 120) < 0)' && echo REACHED",
    "curl -s -m 1 --noproxy '*' http://127.0.0.1:{TCP}/ && echo REACHED",
    "curl -s -m 5 --fail http://127.0.0.1:{TCP}/ && echo REACHED",
    "curl -s -m 5 --proxytunnel http://127.0.0.1:{TCP}/ && echo REACHED",
    "getent ahosts example.org && echo REACHED",
];

/// Calls by their number, which differs between machines: tracing, the keyring.
#[cfg(target_arch = "x86_64")]
const NUMBERS: [(&str, u32); 4] = [("ptrace", 101), ("add_key", 248), ("keyctl", 250), ("bpf", 321)];
#[cfg(not(target_arch = "x86_64"))]
const NUMBERS: [(&str, u32); 4] = [("ptrace", 117), ("add_key", 217), ("keyctl", 219), ("bpf", 280)];

fn lines(site: &Site) -> Vec<String> {
    let by_number = NUMBERS.map(|(name, number)| {
        let arguments = match name {
            "add_key" => r#""user", "stance-key", "x", 1, -3"#,
            _ => "0, 0, 0, 0, 0",
        };
        // With bad arguments too the call must be denied for what it is: EPERM.
        format!("perl -e '$r = syscall({number}, {arguments}); exit($r >= 0 || $! != 1 ? 0 : 1)' && echo REACHED")
    });
    REAL.iter()
        .chain(&FORBIDDEN)
        .map(|line| site.named(line))
        .chain(by_number)
        .collect()
}

fn every_way_out_is_closed(who: Who) {
    let mut site = Site::new(who);
    let lines = lines(&site);
    let made: Vec<(&str, Value)> = lines
        .iter()
        .map(|line| ("execute_command", json!({"command": unseen(line), "timeout_s": 20})))
        .collect();
    let model = site.place.script("tries", &turns(&[calls(&made), says("done")]));
    site.hand_over();
    let before = site.untouchable();
    let events = site.stream(&model);
    assert_eq!(site.untouchable(), before);
    site.nobody_heard();
    shows_nothing_of(&site.place, &events, SECRET);
    let told = told(&events);
    assert_eq!(told.len(), lines.len());
    for (told, line) in told.iter().zip(&lines) {
        assert_eq!(told.how, "performed", "{line}: {told:?}");
        assert!(told.error && !told.text.contains("REACHED"), "{line}: {told:?}");
    }
    for file in files(&site.place.repo()) {
        let mode = file.symlink_metadata().unwrap().mode();
        assert_eq!(mode & 0o6000, 0, "{} lets others act as its owner", file.display());
    }
    for trace in ["/stance-was-here", "/etc/stance-was-here", "/usr/bin/stance-was-here"] {
        assert!(!Path::new(trace).exists(), "{trace}");
    }
    let keys = fs::read_to_string("/proc/keys").unwrap_or_default();
    assert!(!keys.contains("stance-key"), "{keys}");
}

#[test]
fn every_way_out_is_closed_for_whoever_runs_this() {
    every_way_out_is_closed(Who::AsStarted);
}

#[test]
fn every_way_out_is_closed_for_an_ordinary_user() {
    every_way_out_is_closed(Who::Ordinary);
}

#[test]
fn without_walls_the_ways_are_open() {
    let site = Site::new(Who::Ordinary);
    let top = site.place.repo().with_file_name("");
    let kept = tempfile::tempdir().unwrap();
    let copy = |from: &Path, to: &Path| {
        assert!(
            Command::new("cp")
                .args(["-a", "--"])
                .arg(from)
                .arg(to)
                .status()
                .unwrap()
                .success()
        );
    };
    let parts = ["repo/.git", "repo/README.md", "outside/file"];
    let store = |part: &str| kept.path().join(part.replace('/', "-"));
    for part in parts {
        copy(&top.join(part), &store(part));
    }
    for line in REAL {
        let said = site.unwalled(&site.named(line));
        assert!(said.contains("REACHED"), "this fails without walls too: {line}: {said}");
        for part in parts {
            let path = top.join(part);
            drop(fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path)));
            copy(&store(part), &path);
        }
        drop(fs::rename(top.join("repo/other"), top.join("repo/socket")));
    }
}
