//! The program before bubblewrap of a throw-away view: our own executable, re-entered. It takes
//! namespaces of its own, lays a layer in memory over each folder it is told, and becomes bubblewrap.
//! When the last process within has ended, nothing of the layers is left. Knows paths, nothing of
//! what they are for.

use std::ffi::{CString, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};

use crate::environment;
use crate::overlay::capacity;

/// The argument that asks for the layers; nobody types it.
pub(crate) const LAY: &str = "stance:lay-layers";
/// The private folders of a view beside its layers: `/tmp` and HOME inside.
pub(crate) const PRIVATE: [(&str, &str); 2] = [("tmp", "/tmp"), ("home", environment::HOME)];
/// Entries a view can hold.
const MOST_ENTRIES: u32 = 2_000_000;

/// Where the written part of a layer lies, beneath the base.
pub(crate) fn upper(number: usize) -> PathBuf {
    Path::new(&number.to_string()).join("upper")
}

/// Where the whole of a layered folder is shown.
pub(crate) fn shown(base: &Path, number: usize) -> PathBuf {
    base.join(number.to_string()).join("shown")
}

pub(crate) fn arguments<'a>(
    base: &Path,
    sources: impl Iterator<Item = &'a Path>,
    bwrap: &Path,
    rest: Vec<OsString>,
) -> Vec<OsString> {
    let sources = sources.map(OsString::from);
    [LAY.into(), base.into()]
        .into_iter()
        .chain(sources)
        .chain(["--".into(), bwrap.into()])
        .chain(rest)
        .collect()
}

/// Returns why bubblewrap was not started.
pub(crate) fn lay(mut arguments: impl Iterator<Item = OsString>) -> String {
    let Some(base) = arguments.next().map(PathBuf::from) else {
        return "the layers have no base".into();
    };
    let sources: Vec<PathBuf> = arguments
        .by_ref()
        .take_while(|argument| argument != "--")
        .map(PathBuf::from)
        .collect();
    if let Err(why) = laid(&base, &sources) {
        return why;
    }
    let Some(bwrap) = arguments.next() else {
        return "bubblewrap is not named".into();
    };
    Command::new(bwrap).args(arguments).exec().to_string()
}

fn laid(base: &Path, sources: &[PathBuf]) -> Result<(), String> {
    let mark = own_namespaces().map_err(|error| format!("namespaces of a throw-away view: {error}"))?;
    memory(base).map_err(|error| format!("memory for a throw-away view: {error}"))?;
    for (number, source) in sources.iter().enumerate() {
        layer(base, number, source, mark).map_err(|error| {
            let hint = if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) {
                "; another file system may be mounted within it, which only the system's owner can lay over"
            } else {
                ""
            };
            format!(
                "no throw-away layer can be laid over {}: {error}{hint}",
                source.display()
            )
        })?;
    }
    Ok(())
}

/// Mounts of our own, as the system's owner or in a user namespace where we are that. Returns the
/// option by which layers are then marked.
fn own_namespaces() -> io::Result<&'static str> {
    let unshare = |flags: libc::c_int| {
        crate::inside::call(libc::SYS_unshare, [flags.into(), 0, 0, 0, 0, 0]).map_err(io::Error::from)
    };
    let mark = if unshare(libc::CLONE_NEWNS).is_ok() {
        ""
    } else {
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
        ",userxattr"
    };
    // Nothing of what follows is seen by the host.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    Ok(mark)
}

const FLAGS: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV).union(MountFlags::NOATIME);

fn memory(base: &Path) -> io::Result<()> {
    let options = format!("mode=0700,size={},nr_inodes={MOST_ENTRIES}", capacity());
    mount("stance", base, "tmpfs", FLAGS, CString::new(options)?.as_c_str())?;
    for (name, _) in PRIVATE {
        fs::create_dir(base.join(name))?;
    }
    Ok(())
}

fn layer(base: &Path, number: usize, source: &Path, mark: &str) -> io::Result<()> {
    let folder = base.join(number.to_string());
    for name in ["upper", "work", "shown"] {
        fs::create_dir_all(folder.join(name))?;
    }
    // By descriptor: an option cannot hold every path, and whatever is put in its place meanwhile is
    // not what was opened.
    let lower = File::from(rustix::fs::open(
        source,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?);
    alike(&lower, &folder.join("upper"))?;
    std::env::set_current_dir(&folder)?;
    let options = format!(
        "lowerdir=/proc/self/fd/{},upperdir=upper,workdir=work{mark}",
        lower.as_raw_fd()
    );
    mount("stance", "shown", "overlay", FLAGS, CString::new(options)?.as_c_str())?;
    std::env::set_current_dir("/")
}

/// The root of a layered folder has the mode of its written part.
fn alike(lower: &File, upper: &Path) -> io::Result<()> {
    fs::set_permissions(upper, lower.metadata()?.permissions())
}
