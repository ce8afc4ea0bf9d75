//! Asking the kernel for a call by number, to see that it is refused.

use rustix::io::Errno;

/// Calls the kernel with up to six plain numbers.
///
/// Only for numbers that are not addresses of anything: zero (a null address, which the kernel
/// itself refuses), flags, and descriptors.
#[allow(unsafe_code, reason = "the libraries offer no safe way to make this call")]
pub(crate) fn call(number: libc::c_long, arguments: [libc::c_long; 6]) -> Result<(), Errno> {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    // SAFETY: no argument is the address of memory of ours, so the kernel can neither read nor
    // write any; callers pass numbers of calls that do not change this process's memory map.
    let answer = unsafe { libc::syscall(number, first, second, third, fourth, fifth, sixth) };
    if answer == -1 {
        let code = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        return Err(Errno::from_raw_os_error(code));
    }
    Ok(())
}
