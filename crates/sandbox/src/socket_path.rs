//! Paths of sockets: an address has room for a hundred characters or so, and a folder may lie deeper.
//! Knows nothing of who listens.

use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

/// Bytes of a path that the address of a socket has room for.
const ROOM: usize = 107;

/// Hands over a path to this very socket that an address has room for.
pub(crate) fn with_room<T>(socket: &Path, act: impl FnOnce(PathBuf) -> io::Result<T>) -> io::Result<T> {
    let (Some(folder), Some(name)) = (socket.parent(), socket.file_name()) else {
        return act(socket.to_owned());
    };
    if socket.as_os_str().len() <= ROOM {
        return act(socket.to_owned());
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = openat(CWD, folder, flags, Mode::empty())?;
    let held = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string());
    act(held.join(name))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn a_socket_lies_and_is_reached_where_its_path_is_too_long() {
        let root = tempfile::tempdir().unwrap();
        for depth in [0, 1, 6] {
            let folder = (0..depth).fold(root.path().to_owned(), |path, _| path.join("a-folder-with-a-long-name"));
            std::fs::create_dir_all(&folder).unwrap();
            let socket = folder.join("socket");
            let listener = with_room(&socket, UnixListener::bind).unwrap();
            assert!(socket.symlink_metadata().is_ok(), "{}", socket.display());
            with_room(&socket, UnixStream::connect).unwrap();
            listener.accept().unwrap();
        }
        assert!(with_room(&root.path().join("none").join("x".repeat(200)), UnixStream::connect).is_err());
    }
}
