//! The tries of the proof: what a process inside must not be able to do, each with the real kernel
//! call. Run inside the walls, on the scratch folder that `proof` has prepared.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::{Path, PathBuf};

use modes::{Containment, Posture};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Timespec, Timestamps, XattrFlags, chmodat, linkat, mkdirat, mknodat, openat,
    renameat, setxattr, symlinkat, unlinkat, utimensat,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::{Filter, Held, denied, kernel};
use crate::socket_path::with_room;

/// One try and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attempt {
    /// What was tried.
    pub(crate) name: String,
    /// Whether the walls forbade it.
    pub(crate) held: bool,
    /// The kernel's answer.
    pub(crate) detail: String,
}

/// Where to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ground {
    /// The worktree.
    pub(crate) tree: PathBuf,
    /// A folder of the host that is in no view.
    pub(crate) outside: PathBuf,
    /// A port of the host's loopback that somebody listens on.
    pub(crate) port: u16,
    /// An abstract socket of the host that somebody listens on.
    pub(crate) abstract_name: String,
    /// What writing to the worktree comes to.
    pub(crate) worktree: Worktree,
    /// Which calls are denied.
    pub(crate) filter: Filter,
}

/// What writing to the worktree comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worktree {
    /// It is forbidden.
    Sealed,
    /// It is done, but for its `.git`.
    Written,
    /// All of it is done, in a layer that is gone afterwards.
    ThrownAway,
}

impl Worktree {
    /// What becomes of it under a containment.
    pub(crate) fn under(containment: Containment) -> Self {
        match containment.worktree() {
            Posture::Writable => Worktree::Written,
            Posture::ReadOnly if containment.is_thrown_away() => Worktree::ThrownAway,
            Posture::ReadOnly => Worktree::Sealed,
        }
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Worktree::Sealed => "sealed",
            Worktree::Written => "written",
            Worktree::ThrownAway => "thrown-away",
        }
    }

    fn of_word(word: &OsStr) -> Option<Self> {
        [Worktree::Sealed, Worktree::Written, Worktree::ThrownAway]
            .into_iter()
            .find(|kind| word == kind.word())
    }
}

/// The arguments that make our executable try on this ground.
pub(crate) fn attempts(ground: &Ground) -> Vec<OsString> {
    vec![
        ground.tree.clone().into(),
        ground.outside.clone().into(),
        ground.port.to_string().into(),
        ground.abstract_name.clone().into(),
        ground.worktree.word().into(),
        ground.filter.held.word().into(),
        ground.filter.proxied.to_string().into(),
    ]
}

/// Tries everything, or with the argument `filter` only the call filter, and prints one JSON
/// array. Returns the exit code.
pub(super) fn run(arguments: impl Iterator<Item = OsString>) -> i32 {
    let arguments: Vec<OsString> = arguments.collect();
    let outcome = match arguments.as_slice() {
        [only] if only == "filter" => {
            let filter = Filter::default();
            denied::install(filter).map(|()| filtered(filter))
        }
        [tree, outside, port, name, word, held, proxied] if let Some(worktree) = Worktree::of_word(word) => {
            Ok(all(&Ground {
                tree: tree.into(),
                outside: outside.into(),
                port: port.to_str().and_then(|port| port.parse().ok()).unwrap_or(0),
                abstract_name: name.to_string_lossy().into_owned(),
                worktree,
                filter: Filter {
                    held: Held::of_word(held).unwrap_or_default(),
                    proxied: proxied == "true",
                },
            }))
        }
        _ => Err("not a ground to try on".to_owned()),
    };
    let printed = outcome.and_then(|attempts| {
        let text = serde_json::to_string(&attempts).map_err(|error| error.to_string())?;
        std::io::stdout()
            .write_all(text.as_bytes())
            .map_err(|error| error.to_string())
    });
    i32::from(printed.is_err())
}

fn attempt(name: &str, outcome: Result<(), impl ToString>) -> Attempt {
    Attempt {
        name: name.to_owned(),
        held: outcome.is_err(),
        detail: outcome.map_or_else(|error| error.to_string(), |()| "it was done".to_owned()),
    }
}

/// Here a success of the try means that the wall holds.
fn filtered(filter: Filter) -> Vec<Attempt> {
    denied::try_each(filter)
        .into_iter()
        .map(|(name, outcome)| Attempt {
            name: format!("call {name}"),
            held: outcome.is_ok(),
            detail: outcome.err().unwrap_or_else(|| "denied by the filter".to_owned()),
        })
        .collect()
}

fn all(ground: &Ground) -> Vec<Attempt> {
    let git = ground.tree.join(".git");
    let mut made = Vec::new();
    let of_tree = || changes(&ground.tree, &ground.tree.join("file"), "");
    let of_git = || {
        let mut made = changes(&git, &git.join("file"), "git ");
        let aside = ground.tree.join(".git-aside");
        made.push(attempt("git rename", renameat(CWD, &git, CWD, &aside)));
        made.push(attempt("git delete", std::fs::remove_dir_all(&git)));
        made
    };
    match ground.worktree {
        Worktree::Sealed => made.extend(of_tree().into_iter().chain(of_git())),
        Worktree::Written => made.extend(of_git()),
        Worktree::ThrownAway => {
            made.push(takes_changes(ground));
            // What came of these is looked at from outside.
            drop(of_tree());
            drop(of_git());
        }
    }
    made.extend(changes(Path::new("/usr/bin"), Path::new("/usr/bin/env"), "system "));
    made.push(attempt(
        "outside read",
        std::fs::read(ground.outside.join("file")).map(drop),
    ));
    made.push(attempt("outside write", open_for_writing(&ground.outside.join("file"))));
    made.extend(reaching_out(ground));
    made.extend(taking_down(ground));
    made.extend(filtered(ground.filter));
    made
}

/// The view serves: a file is changed, and a folder is made anew with nothing of the old one in it.
fn takes_changes(ground: &Ground) -> Attempt {
    let folder = ground.tree.join("folder");
    let served = std::fs::write(ground.tree.join("file"), "changed\n")
        .and_then(|()| std::fs::remove_dir_all(&folder))
        .and_then(|()| std::fs::create_dir(&folder))
        .and_then(|()| std::fs::read_dir(&folder))
        .map(Iterator::count);
    Attempt {
        name: "a copy takes changes".to_owned(),
        held: matches!(served, Ok(0)),
        detail: served.map_or_else(
            |error| error.to_string(),
            |left| format!("{left} entries shone through"),
        ),
    }
}

/// Every way to change a folder and a file in it.
fn changes(folder: &Path, target: &Path, prefix: &str) -> Vec<Attempt> {
    let new = folder.join("made-by-a-try");
    let now = Timestamps {
        last_access: Timespec { tv_sec: 1, tv_nsec: 0 },
        last_modification: Timespec { tv_sec: 1, tv_nsec: 0 },
    };
    let create = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    [
        ("write", open_for_writing(target)),
        ("create", openat(CWD, &new, create, Mode::RUSR).map(drop)),
        ("rename", renameat(CWD, target, CWD, &new)),
        ("link", linkat(CWD, target, CWD, &new, AtFlags::empty())),
        ("symbolic link", symlinkat("x", CWD, &new)),
        ("folder", mkdirat(CWD, &new, Mode::RWXU)),
        ("node", mknodat(CWD, &new, FileType::Fifo, Mode::RUSR, 0)),
        ("chmod", chmodat(CWD, target, Mode::RWXU, AtFlags::empty())),
        ("utime", utimensat(CWD, target, &now, AtFlags::empty())),
        ("xattr", setxattr(target, "user.stance", b"x", XattrFlags::empty())),
        (
            "truncate",
            openat(CWD, target, OFlags::WRONLY | OFlags::TRUNC, Mode::empty()).map(drop),
        ),
        ("delete", unlinkat(CWD, target, AtFlags::empty())),
    ]
    .map(|(name, outcome)| attempt(&format!("{prefix}{name}"), outcome))
    .into()
}

fn open_for_writing(path: &Path) -> Result<(), Errno> {
    let how = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    openat(CWD, path, how, Mode::empty()).map(drop)
}

/// Everything that listens on the host.
fn reaching_out(ground: &Ground) -> Vec<Attempt> {
    let loopback = std::net::TcpStream::connect(("127.0.0.1", ground.port)).map(drop);
    let abstract_socket = SocketAddr::from_abstract_name(&ground.abstract_name)
        .and_then(|address| UnixStream::connect_addr(&address))
        .map(drop);
    let vsock = libc::AF_VSOCK.into();
    let stream = libc::SOCK_STREAM.into();
    let read_fifo = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fifo = ground.tree.join("fifo");
    let mut reached = Vec::new();
    if ground.filter.proxied {
        reached.push(attempt("loopback through the proxy", through_proxy(ground.port)));
    }
    reached.extend([
        attempt("loopback", loopback),
        attempt(
            "unix socket in the worktree",
            with_room(&ground.tree.join("socket"), UnixStream::connect).map(drop),
        ),
        attempt(
            "unix socket outside",
            with_room(&ground.outside.join("socket"), UnixStream::connect).map(drop),
        ),
        attempt("abstract socket", abstract_socket),
        attempt("FIFO write", open_for_writing(&fifo)),
        attempt("FIFO read", openat(CWD, &fifo, read_fifo, Mode::empty()).map(drop)),
        attempt("vsock", kernel::call(libc::SYS_socket, [vsock, stream, 0, 0, 0, 0])),
        attempt("foreign descriptor", foreign_descriptor()),
    ]);
    reached
}

/// Asks the proxy for a tunnel to the host's loopback.
fn through_proxy(port: u16) -> Result<(), String> {
    let asked = || -> std::io::Result<String> {
        let mut proxy = std::net::TcpStream::connect(("127.0.0.1", crate::proxy::PORT))?;
        proxy.write_all(format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n").as_bytes())?;
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut proxy, &mut answer)?;
        Ok(answer)
    };
    match asked() {
        Ok(answer) if answer.starts_with("HTTP/1.1 403 ") => Err(answer.lines().last().unwrap_or_default().to_owned()),
        // Without the proxy the try says nothing about it.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Opens through every descriptor above the three pipes.
fn foreign_descriptor() -> Result<(), String> {
    let entries = std::fs::read_dir("/proc/self/fd").map_err(|error| error.to_string())?;
    // The folder being read is such a descriptor itself.
    let kept = entries
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .filter(|target| target.is_absolute() && !target.starts_with("/proc"))
        .collect::<Vec<_>>();
    if kept.is_empty() {
        Err("none was inherited".into())
    } else {
        Ok(())
    }
}

/// What would weaken the walls from inside.
fn taking_down(ground: &Ground) -> Vec<Attempt> {
    let remount = |path: &Path| rustix::mount::mount_remount(path, rustix::mount::MountFlags::BIND, c"");
    let tmpfs = rustix::mount::mount("none", "/tmp", "tmpfs", rustix::mount::MountFlags::empty(), None);
    let device = mknodat(
        CWD,
        "/tmp/device",
        FileType::CharacterDevice,
        Mode::RUSR,
        rustix::fs::makedev(1, 8),
    );
    let nested = kernel::call(
        libc::SYS_unshare,
        [
            libc::c_long::from(libc::CLONE_NEWUSER | libc::CLONE_NEWNS),
            0,
            0,
            0,
            0,
            0,
        ],
    );
    vec![
        attempt("remount the root", remount(Path::new("/"))),
        attempt("remount the worktree", remount(&ground.tree)),
        attempt("remount git", remount(&ground.tree.join(".git"))),
        attempt("mount", tmpfs),
        attempt("mknod of a device", device),
        attempt("nested namespace", nested),
        attempt(
            "a setting of the machine",
            open_for_writing(Path::new("/proc/sys/kernel/core_pattern")),
        ),
        attempt("keys of the machine", std::fs::read("/proc/keys").map(drop)),
        attempt("memory of another process", open_for_writing(Path::new("/proc/1/mem"))),
    ]
}
