//! Which open files the first program inside keeps: three pipes made for it. A descriptor of the
//! caller would carry the host's own mount, writable, past every wall.

use rustix::fs::{FileType, fstat};

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

#[allow(unsafe_code)]
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
