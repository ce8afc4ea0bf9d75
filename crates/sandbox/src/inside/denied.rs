//! The kernel calls that no process inside makes, as data, and the filter that denies them.

mod alone;

use std::collections::BTreeMap;

use libc::c_long;
use rustix::io::Errno;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::{Filter, Held, kernel};
use alone::{ALONE, ALONE_BY_PATH};

/// When a call is denied. Only the lower 32 bits of an argument are looked at, as the kernel does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// Always, "not permitted".
    Always,
    /// Always, "does not exist": the C library then falls back to a call that can be judged.
    Unknown,
    /// When this argument has one of these bits.
    Bits(u8, u32),
    /// When this argument is this number.
    Equal(u8, u32),
    /// When this argument is any other number.
    Other(u8, u32),
}

/// One denied call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Denied {
    name: &'static str,
    number: c_long,
    when: When,
}

const fn set_id(name: &'static str, number: c_long, mode: u8) -> Denied {
    Denied {
        name,
        number,
        when: When::Bits(mode, SET_ID),
    }
}

const fn always(name: &'static str, number: c_long) -> Denied {
    Denied {
        name,
        number,
        when: When::Always,
    }
}

/// `CLONE_NEW*` of mount, cgroup, uts, ipc, user, pid and net.
const CLONE_NAMESPACES: u32 = 0x7e02_0000;
/// With time; for `clone` that bit is a part of the signal number.
const UNSHARE_NAMESPACES: u32 = CLONE_NAMESPACES | 0x80;
const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;
/// The bits that let a program act as its file's owner or group. What is made in the worktree belongs
/// to the person on the host: with one of them anybody there could become that person.
const SET_ID: u32 = libc::S_ISUID | libc::S_ISGID;
/// The bit that datagram and raw sockets have in their type, and the others have not: one of a pair
/// of these still sends to any path it is told.
const ADDRESSABLE: u32 = 2;
/// Newer than the C library's list.
const OPEN_TREE_ATTR: c_long = 467;
const FCHMODAT2: c_long = 452;

const DENIED: &[Denied] = &[
    always("mount", libc::SYS_mount),
    always("umount2", libc::SYS_umount2),
    always("pivot_root", libc::SYS_pivot_root),
    always("chroot", libc::SYS_chroot),
    always("open_tree", libc::SYS_open_tree),
    always("open_tree_attr", OPEN_TREE_ATTR),
    always("move_mount", libc::SYS_move_mount),
    always("fsopen", libc::SYS_fsopen),
    always("fsconfig", libc::SYS_fsconfig),
    always("fsmount", libc::SYS_fsmount),
    always("fspick", libc::SYS_fspick),
    always("mount_setattr", libc::SYS_mount_setattr),
    always("quotactl", libc::SYS_quotactl),
    always("quotactl_fd", libc::SYS_quotactl_fd),
    always("swapon", libc::SYS_swapon),
    always("swapoff", libc::SYS_swapoff),
    always("setns", libc::SYS_setns),
    Denied {
        name: "unshare",
        number: libc::SYS_unshare,
        when: When::Bits(0, UNSHARE_NAMESPACES),
    },
    Denied {
        name: "clone",
        number: libc::SYS_clone,
        when: When::Bits(0, CLONE_NAMESPACES),
    },
    Denied {
        name: "clone3",
        number: libc::SYS_clone3,
        when: When::Unknown,
    },
    always("ptrace", libc::SYS_ptrace),
    always("process_vm_readv", libc::SYS_process_vm_readv),
    always("process_vm_writev", libc::SYS_process_vm_writev),
    always("process_madvise", libc::SYS_process_madvise),
    always("pidfd_getfd", libc::SYS_pidfd_getfd),
    always("kcmp", libc::SYS_kcmp),
    always("keyctl", libc::SYS_keyctl),
    always("add_key", libc::SYS_add_key),
    always("request_key", libc::SYS_request_key),
    always("bpf", libc::SYS_bpf),
    always("perf_event_open", libc::SYS_perf_event_open),
    always("userfaultfd", libc::SYS_userfaultfd),
    always("io_uring_setup", libc::SYS_io_uring_setup),
    always("io_uring_enter", libc::SYS_io_uring_enter),
    always("io_uring_register", libc::SYS_io_uring_register),
    always("open_by_handle_at", libc::SYS_open_by_handle_at),
    always("name_to_handle_at", libc::SYS_name_to_handle_at),
    always("fanotify_init", libc::SYS_fanotify_init),
    always("kexec_load", libc::SYS_kexec_load),
    always("init_module", libc::SYS_init_module),
    always("finit_module", libc::SYS_finit_module),
    always("delete_module", libc::SYS_delete_module),
    always("reboot", libc::SYS_reboot),
    always("acct", libc::SYS_acct),
    always("syslog", libc::SYS_syslog),
    Denied {
        name: "ioctl TIOCSTI",
        number: libc::SYS_ioctl,
        when: When::Equal(1, TIOCSTI),
    },
    Denied {
        name: "ioctl TIOCLINUX",
        number: libc::SYS_ioctl,
        when: When::Equal(1, TIOCLINUX),
    },
    Denied {
        name: "socketpair of another family",
        number: libc::SYS_socketpair,
        when: When::Other(0, libc::AF_UNIX.cast_unsigned()),
    },
    Denied {
        name: "socketpair that can be addressed",
        number: libc::SYS_socketpair,
        when: When::Bits(1, ADDRESSABLE),
    },
];

/// Bits that a stream's type has not: of datagrams, raw and packet sockets.
const NO_STREAM: u32 = 0b1110;
/// Bits that neither "whatever is usual" nor TCP have.
const NOT_TCP: u32 = !(libc::IPPROTO_TCP.cast_unsigned());

/// Without the proxy there are no sockets.
const NO_SOCKETS: &[Denied] = &[always("socket", libc::SYS_socket)];

/// With it there are streams of version 4, whose network holds nothing but our listener and the
/// program's own.
const OTHER_SOCKETS: &[Denied] = &[
    Denied {
        name: "socket of another family",
        number: libc::SYS_socket,
        when: When::Other(0, libc::AF_INET.cast_unsigned()),
    },
    Denied {
        name: "socket that is no stream",
        number: libc::SYS_socket,
        when: When::Bits(1, NO_STREAM),
    },
    Denied {
        name: "socket of another protocol",
        number: libc::SYS_socket,
        when: When::Bits(2, NOT_TCP),
    },
];

/// Calls with a file's mode among their arguments.
const SETTING_ID: &[Denied] = &[
    set_id("fchmod to another identity", libc::SYS_fchmod, 1),
    set_id("fchmodat to another identity", libc::SYS_fchmodat, 2),
    set_id("fchmodat2 to another identity", FCHMODAT2, 2),
    set_id("openat with another identity", libc::SYS_openat, 3),
    set_id("mknodat with another identity", libc::SYS_mknodat, 2),
    // Its mode lies in memory, where a filter cannot look.
    Denied {
        name: "openat2",
        number: libc::SYS_openat2,
        when: When::Unknown,
    },
];

/// The same by path, on processors that still have these calls.
#[cfg(target_arch = "x86_64")]
const SETTING_ID_BY_PATH: &[Denied] = &[
    set_id("chmod to another identity", libc::SYS_chmod, 1),
    set_id("open with another identity", libc::SYS_open, 2),
    set_id("creat with another identity", libc::SYS_creat, 1),
    set_id("mknod with another identity", libc::SYS_mknod, 1),
];
#[cfg(not(target_arch = "x86_64"))]
const SETTING_ID_BY_PATH: &[Denied] = &[];

fn denied(filter: Filter) -> impl Iterator<Item = &'static Denied> {
    let sockets = if filter.proxied { OTHER_SOCKETS } else { NO_SOCKETS };
    let alone = [ALONE, ALONE_BY_PATH]
        .into_iter()
        .filter(move |_| filter.held == Held::Kernel)
        .flatten();
    DENIED
        .iter()
        .chain(sockets)
        .chain(SETTING_ID)
        .chain(SETTING_ID_BY_PATH)
        .chain(alone)
}

/// Denies the calls for this process and all its descendants. No socket can be made but those the
/// proxy needs, only pairs of connected ones: a socket of the host may appear in the worktree at any
/// time.
pub(super) fn install(filter: Filter) -> Result<(), String> {
    let arch =
        TargetArch::try_from(std::env::consts::ARCH).map_err(|_| "no call filter for this processor".to_owned())?;
    let refused = rules(filter, |when| when != When::Unknown)?;
    let unknown = rules(filter, |when| when == When::Unknown)?;
    for (rules, answer) in [(refused, libc::EPERM), (unknown, libc::ENOSYS)] {
        let filter = SeccompFilter::new(
            rules,
            SeccompAction::Allow,
            SeccompAction::Errno(answer.cast_unsigned()),
            arch,
        )
        .map_err(|error| format!("the call filter: {error}"))?;
        let mut program = BpfProgram::try_from(filter).map_err(|error| format!("the call filter: {error}"))?;
        program.splice(0..0, no_other_numbering());
        apply_filter(&program).map_err(|error| format!("the call filter: {error}"))?;
    }
    Ok(())
}

fn rules(filter: Filter, wanted: impl Fn(When) -> bool) -> Result<BTreeMap<c_long, Vec<SeccompRule>>, String> {
    let mut rules = BTreeMap::<c_long, Vec<SeccompRule>>::new();
    for denied in denied(filter).filter(|denied| wanted(denied.when)) {
        let conditions = match denied.when {
            When::Always | When::Unknown => Vec::new(),
            When::Bits(argument, bits) => (0..u32::BITS)
                .map(|place| bits & (1 << place))
                .filter(|bit| *bit != 0)
                .map(|bit| (argument, SeccompCmpOp::MaskedEq(bit.into()), bit))
                .collect(),
            When::Equal(argument, number) => vec![(argument, SeccompCmpOp::Eq, number)],
            When::Other(argument, number) => vec![(argument, SeccompCmpOp::Ne, number)],
        };
        let always = conditions.is_empty() || rules.get(&denied.number).is_some_and(Vec::is_empty);
        let chain = rules.entry(denied.number).or_default();
        if always {
            // A call without conditions is denied whatever else is said of it.
            chain.clear();
            continue;
        }
        for (argument, operator, number) in conditions {
            let rule = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, number.into())
                .and_then(|condition| SeccompRule::new(vec![condition]));
            chain.push(rule.map_err(|error| format!("the call filter: {error}"))?);
        }
    }
    Ok(rules)
}

/// On this processor the kernel knows every call by a second number with bit 30 set, which the
/// filter's own comparison of the architecture does not see.
#[cfg(target_arch = "x86_64")]
fn no_other_numbering() -> Vec<sock_filter> {
    const LOAD_WORD: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const OTHER_NUMBERING: u32 = 0x4000_0000;
    const ANSWER_ERROR: u32 = 0x0005_0000;
    vec![
        sock_filter {
            code: LOAD_WORD,
            jt: 0,
            jf: 0,
            k: 0,
        },
        sock_filter {
            code: JUMP_IF_AT_LEAST,
            jt: 0,
            jf: 1,
            k: OTHER_NUMBERING,
        },
        sock_filter {
            code: RETURN,
            jt: 0,
            jf: 0,
            k: ANSWER_ERROR | libc::ENOSYS.cast_unsigned(),
        },
    ]
}

#[cfg(not(target_arch = "x86_64"))]
fn no_other_numbering() -> Vec<sock_filter> {
    Vec::new()
}

/// Makes every denied call once; of each its name and the kernel's answer if that was not the
/// filter's.
pub(super) fn try_each(filter: Filter) -> Vec<(&'static str, Result<(), String>)> {
    denied(filter).map(|denied| (denied.name, try_one(denied))).collect()
}

fn try_one(denied: &Denied) -> Result<(), String> {
    let mut arguments = [0; 6];
    let mut set = |place: u8, number: c_long| {
        if let Some(argument) = arguments.get_mut(usize::from(place)) {
            *argument = number;
        }
    };
    if denied.number == libc::SYS_socket {
        set(0, libc::AF_INET.into());
        set(1, libc::SOCK_STREAM.into());
    }
    let expected = match denied.when {
        When::Unknown => Errno::NOSYS,
        When::Always => Errno::PERM,
        When::Bits(place, bits) => {
            set(place, c_long::from(bits));
            Errno::PERM
        }
        When::Equal(place, number) => {
            set(place, c_long::from(number));
            Errno::PERM
        }
        When::Other(place, number) => {
            let inet = libc::AF_INET.cast_unsigned();
            let other = if number == inet { libc::AF_INET6 } else { libc::AF_INET };
            set(place, c_long::from(other));
            set(place + 1, c_long::from(libc::SOCK_STREAM));
            Errno::PERM
        }
    };
    match kernel::call(denied.number, arguments) {
        Err(error) if error == expected => Ok(()),
        Err(error) => Err(error.to_string()),
        Ok(()) => Err("it was done".into()),
    }
}
