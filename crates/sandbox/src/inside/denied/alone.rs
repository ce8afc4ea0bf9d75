//! Further calls that are denied where no view of its own and no process tree of its own hold a
//! process: what Landlock leaves open, and what leads out of the group that is killed as one.

use super::{Denied, When, always};

/// Newer than the C library's list.
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;
const FILE_SETATTR: libc::c_long = 469;

/// A call that reaches another process unless this argument is zero.
const fn on_others(name: &'static str, number: libc::c_long, argument: u8) -> Denied {
    Denied {
        name,
        number,
        when: When::Other(argument, 0),
    }
}

pub(super) const ALONE: &[Denied] = &[
    always("fchmod", libc::SYS_fchmod),
    always("fchmodat", libc::SYS_fchmodat),
    always("fchmodat2", super::FCHMODAT2),
    always("fchown", libc::SYS_fchown),
    always("fchownat", libc::SYS_fchownat),
    always("utimensat", libc::SYS_utimensat),
    always("setxattr", libc::SYS_setxattr),
    always("lsetxattr", libc::SYS_lsetxattr),
    always("fsetxattr", libc::SYS_fsetxattr),
    always("setxattrat", SETXATTRAT),
    always("removexattr", libc::SYS_removexattr),
    always("lremovexattr", libc::SYS_lremovexattr),
    always("fremovexattr", libc::SYS_fremovexattr),
    always("removexattrat", REMOVEXATTRAT),
    always("file_setattr", FILE_SETATTR),
    // The C library and build tools go on without a lock where there is no such call.
    Denied {
        name: "flock",
        number: libc::SYS_flock,
        when: When::Unknown,
    },
    always("setsid", libc::SYS_setsid),
    always("setpgid", libc::SYS_setpgid),
    on_others("prlimit64 of another process", libc::SYS_prlimit64, 0),
    on_others("setpriority of another process", libc::SYS_setpriority, 1),
    on_others("ioprio_set of another process", libc::SYS_ioprio_set, 1),
    on_others("sched_setaffinity of another process", libc::SYS_sched_setaffinity, 0),
    on_others("sched_setscheduler of another process", libc::SYS_sched_setscheduler, 0),
    on_others("sched_setparam of another process", libc::SYS_sched_setparam, 0),
    on_others("sched_setattr of another process", libc::SYS_sched_setattr, 0),
    on_others("migrate_pages of another process", libc::SYS_migrate_pages, 0),
    on_others("move_pages of another process", libc::SYS_move_pages, 0),
];

/// The same by path, on processors that still have these calls.
#[cfg(target_arch = "x86_64")]
pub(super) const ALONE_BY_PATH: &[Denied] = &[
    always("chmod", libc::SYS_chmod),
    always("chown", libc::SYS_chown),
    always("lchown", libc::SYS_lchown),
    always("utime", libc::SYS_utime),
    always("utimes", libc::SYS_utimes),
    always("futimesat", libc::SYS_futimesat),
];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const ALONE_BY_PATH: &[Denied] = &[];
