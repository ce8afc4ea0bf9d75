//! Trying this very process's own boundary before it becomes the program: the mounts first, alone,
//! then everything together. A try never changes anything if it succeeds.

use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, StatVfsMountFlags, openat, statfs, statvfs};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount_remount};
use rustix::net::{AddressFamily, SocketType, socket};
use rustix::process::{getppid, test_kill_process};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

use super::{Held, Order, kernel};
use crate::overlay::{OVERLAY, TMPFS, capacity};

/// A setting of the whole machine that the machine's owner may write.
const MACHINE_SETTING: &str = "/proc/sys/kernel/core_pattern";

/// Where no user namespace of its own took them.
pub(super) fn give_up_capabilities() -> Result<(), String> {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, none).map_err(|error| format!("capabilities: {error}"))?;
    no_capabilities()
}

fn no_capabilities() -> Result<(), String> {
    let held = capabilities(None).map_err(|error| format!("capabilities: {error}"))?;
    if held.effective != CapabilitySet::empty() || held.permitted != CapabilitySet::empty() {
        return Err("the process still has capabilities".into());
    }
    Ok(())
}

/// The view alone: without Landlock and the filter, which would hide a missing mount.
pub(super) fn mounts_hold(order: &Order) -> Result<(), String> {
    no_capabilities()?;
    namespaces_are_own()?;
    for path in &order.sealed {
        let name = path.display();
        match statvfs(path) {
            Ok(status) if status.f_flag.contains(StatVfsMountFlags::RDONLY) => (),
            Err(Errno::NOENT | Errno::ACCESS) => continue,
            Ok(_) => return Err(format!("{name} is on a writable mount")),
            Err(error) => return Err(format!("{name} cannot be looked at: {error}")),
        }
        cannot_be_written(path)?;
        if mount_remount(path.as_path(), MountFlags::BIND, c"").is_ok() {
            return Err(format!("{name} can be mounted again, writable"));
        }
    }
    order.hidden.iter().try_for_each(|path| shows_nothing(path))?;
    order.thrown_away.iter().try_for_each(|path| lies_in_memory(path))
}

/// A layer tells the size of the memory its changes go to; a folder of the host never has just that.
fn lies_in_memory(path: &Path) -> Result<(), String> {
    let name = path.display();
    let found = statfs(path).map_err(|error| format!("{name} cannot be looked at: {error}"))?;
    let kind = found.f_type.cast_unsigned();
    let size = found.f_blocks.saturating_mul(found.f_bsize.cast_unsigned());
    if [OVERLAY, TMPFS].contains(&kind) && size == capacity() {
        Ok(())
    } else {
        Err(format!("{name} is not thrown away"))
    }
}

/// Another user, another process tree and another network than the host's.
fn namespaces_are_own() -> Result<(), String> {
    if rustix::process::getuid().is_root() {
        return Err("the process still is the system's owner".into());
    }
    // Bubblewrap is the first process of its tree, and our parent.
    if rustix::process::getppid() != Some(rustix::process::Pid::INIT) {
        return Err("the process sees the host's processes".into());
    }
    let interfaces =
        std::fs::read_to_string("/proc/self/net/dev").map_err(|error| format!("the network interfaces: {error}"))?;
    let own = |line: &str| line.trim_start().starts_with("lo:");
    // The first two lines are headings.
    if !interfaces.lines().skip(2).all(own) {
        return Err("the process has a network".into());
    }
    Ok(())
}

/// All walls together.
pub(super) fn calls_are_denied(order: &Order) -> Result<(), String> {
    for path in order
        .sealed
        .iter()
        .map(AsRef::as_ref)
        .chain([Path::new(MACHINE_SETTING), Path::new("/")])
    {
        cannot_be_written(path)?;
    }
    let internet = if order.proxy.is_some() {
        socket(AddressFamily::INET, SocketType::DGRAM, None).err()
    } else {
        socket(AddressFamily::INET, SocketType::STREAM, None).err()
    };
    let tries = [
        ("an Internet socket", internet),
        (
            "a socket of another family",
            socket(AddressFamily::UNIX, SocketType::STREAM, None).err(),
        ),
        (
            "another user namespace",
            kernel::call(libc::SYS_unshare, [libc::CLONE_NEWUSER.into(), 0, 0, 0, 0, 0]).err(),
        ),
        ("a mount", mount_remount(c"/", MountFlags::BIND, c"").err()),
    ];
    for (what, answer) in tries {
        if answer != Some(Errno::PERM) {
            return Err(format!("{what} is not denied by the call filter"));
        }
    }
    if order.held == Held::Kernel {
        order.hidden.iter().try_for_each(|path| shows_nothing(path))?;
        outside_is_out_of_reach()?;
    }
    Ok(())
}

/// Without a process tree of its own: no signal reaches the host, and nothing of its processes is read.
fn outside_is_out_of_reach() -> Result<(), String> {
    let watcher = getppid().ok_or("the process has no parent")?;
    if test_kill_process(watcher).is_ok() {
        return Err("this kernel's Landlock holds no signals; that takes Linux 6.12".into());
    }
    if std::fs::read(format!("/proc/{watcher}/cmdline")).is_ok() {
        return Err("other processes can be looked at".into());
    }
    match kernel::call(libc::SYS_fchmod, [-1, 0o700, 0, 0, 0, 0]) {
        Err(Errno::PERM) => Ok(()),
        _ => Err("changing the mode of a file is not denied by the call filter".into()),
    }
}

fn cannot_be_written(path: &Path) -> Result<(), String> {
    let how = if path.is_dir() {
        OFlags::TMPFILE | OFlags::WRONLY
    } else {
        OFlags::WRONLY | OFlags::NONBLOCK
    };
    match openat(CWD, path, how | OFlags::CLOEXEC, Mode::RUSR) {
        Err(Errno::ROFS | Errno::ACCESS | Errno::PERM | Errno::NOENT) => Ok(()),
        Ok(_) => Err(format!("{} can be written", path.display())),
        Err(error) => Err(format!("{} cannot be tried: {error}", path.display())),
    }
}

fn shows_nothing(path: &Path) -> Result<(), String> {
    let shown = if path.is_dir() {
        std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
    } else {
        std::fs::File::open(path).is_ok()
    };
    if shown {
        Err(format!("{} can be read", path.display()))
    } else {
        Ok(())
    }
}
