//! What the first program inside keeps of its caller: three pipes made for it. Any other descriptor
//! would carry the host's own mount, writable, past every wall.

use rustix::fs::{FileType, fstat};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::Order;
use crate::LARGEST_FILE;
/// Closes all descriptors but 0–2 and refuses if one of these is anything but a pipe.
pub(super) fn keep_three_pipes() -> Result<(), String> {
    close_the_rest()?;
    let (input, output, errors) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    for (name, status) in [
        ("input", fstat(input)),
        ("output", fstat(output)),
        ("error", fstat(errors)),
    ] {
        let kind = status.map(|status| FileType::from_raw_mode(status.st_mode));
        if kind != Ok(FileType::Fifo) {
            return Err(format!("standard {name} is not a pipe of ours"));
        }
    }
    Ok(())
}

/// A crash must not start the host's handler of crashes. One byte is the size at which the kernel
/// neither writes a core file nor hands one to a program, as zero does not.
pub(super) fn leave_no_core() -> Result<(), String> {
    let one = Rlimit {
        current: Some(1),
        maximum: Some(1),
    };
    setrlimit(Resource::Core, one).map_err(|error| format!("the size of core files: {error}"))
}

/// No file grows beyond its bound: a runaway program ends before the disk is full. No process takes more
/// memory than all of them may, and they are not more than they may be, where the kernel counts them
/// apart.
pub(super) fn bound(order: &Order) -> Result<(), String> {
    let bounds = [
        ("the size of files", Resource::Fsize, Some(LARGEST_FILE)),
        ("the memory", Resource::Data, order.memory),
        ("the number of processes", Resource::Nproc, order.processes),
    ];
    for (what, resource, most) in bounds {
        if let Some(most) = most {
            let most = Rlimit {
                current: Some(most),
                maximum: Some(most),
            };
            setrlimit(resource, most).map_err(|error| format!("{what}: {error}"))?;
        }
    }
    Ok(())
}

#[allow(unsafe_code, reason = "the libraries offer no safe way to make this call")]
fn close_the_rest() -> Result<(), String> {
    // SAFETY: this runs first in `main`, on the only thread, before anything was opened by us: no
    // value of this program owns a descriptor above 2.
    let answer = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
    if answer != 0 {
        return Err(format!(
            "inherited descriptors could not be closed: {}",
            std::io::Error::last_os_error()
        ));
    }
    Ok(())
}
