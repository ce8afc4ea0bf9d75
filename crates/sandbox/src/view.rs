//! From places to bubblewrap's arguments: an allow-list that starts from an empty root. Pure but
//! for looking at which folders of the system exist.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

use modes::Containment;

use crate::inside::Order;
use crate::lay::PRIVATE;
use crate::overlay::Overlays;
use crate::survey::{self, Survey};
use crate::{Access, Places, SandboxError, Spawn, Walls, environment, spawn};

/// Folders of the system, shown read-only where they exist.
pub(crate) const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc"];
/// Folders the kernel or the boot fills; a worktree never lies in one.
pub(crate) const KERNEL: [&str; 4] = ["/proc", "/sys", "/dev", "/run"];

/// What of `/etc` is shown: what the loader, the C library, TLS and language runtimes need. Nothing
/// in here is a secret or a user's.
const ETC: [&str; 19] = [
    "alternatives",
    "fonts",
    "group",
    "host.conf",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/tls/certs",
    "protocols",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
];
/// Runtimes that keep a part of themselves in `/etc` under a versioned name.
const ETC_PREFIXES: [&str; 2] = ["java-", "python3"];

/// Lists of the machine's keys, which no namespace hides from their owner.
const MACHINE_SECRETS: [&str; 2] = ["/proc/keys", "/proc/key-users"];

/// Where our own executable stands inside.
pub(crate) const HELPER: &str = "/.stance/walls";

/// The folder of a scratch folder that holds generated files; not shown as a whole.
pub(crate) const GENERATED: &str = "generated";

/// Where a generated file lies on the host.
pub(crate) fn generated(places: &Places, number: usize) -> PathBuf {
    places.scratch.join(GENERATED).join(number.to_string())
}

/// Why a mount is there; of two at one path the later wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Base,
    Worktree,
    Sealed,
    Mount,
    Hidden,
    Mask,
}

struct Layer {
    rank: Rank,
    target: PathBuf,
    arguments: Vec<OsString>,
}

#[derive(Default)]
struct Layers(Vec<Layer>);

impl Layers {
    fn add(&mut self, rank: Rank, target: &Path, arguments: Vec<OsString>) {
        self.0.push(Layer {
            rank,
            target: target.to_owned(),
            arguments,
        });
    }

    fn bind(&mut self, rank: Rank, access: Access, source: &Path, target: &Path) {
        let flag = match access {
            Access::ReadOnly => "--ro-bind",
            Access::ReadWrite => "--bind",
        };
        self.add(rank, target, vec![flag.into(), source.into(), target.into()]);
    }

    fn read_only(&mut self, rank: Rank, path: &Path) {
        self.bind(rank, Access::ReadOnly, path, path);
    }
}

/// The exact arguments bubblewrap is started with; for showing and for trying what happens when
/// one of them is missing.
pub fn arguments(
    walls: &Walls,
    containment: Containment,
    places: &Places,
    spawn: &Spawn,
) -> Result<Vec<OsString>, SandboxError> {
    let survey = survey::survey(places, places.worktree_is_written(containment))?;
    let overlays = overlays(walls, containment, places)?;
    build(walls, containment, places, spawn, &survey, None, overlays.as_ref())
}

/// The layers of a view whose changes are thrown away.
pub(crate) fn overlays(
    walls: &Walls,
    containment: Containment,
    places: &Places,
) -> Result<Option<Overlays>, SandboxError> {
    let wanted = containment.is_thrown_away();
    wanted.then(|| Overlays::of(walls, places)).transpose()
}

pub(crate) fn build(
    walls: &Walls,
    containment: Containment,
    places: &Places,
    spawn: &Spawn,
    survey: &Survey,
    proxy: Option<RawFd>,
    overlays: Option<&Overlays>,
) -> Result<Vec<OsString>, SandboxError> {
    let mut order = Order {
        proxy,
        ..Order::default()
    };
    order.limit(&spawn.limits);
    let mut layers = Layers::default();
    system(walls, &mut layers, &mut order);
    match overlays {
        None => {
            private(|name| places.scratch.join(name), &mut layers, &mut order);
            worktree(containment, places, survey, &mut layers, &mut order)?;
        }
        Some(overlays) => thrown_away(overlays, &mut layers, &mut order),
    }
    for path in &survey.special {
        // A device file on a mount without devices: it exists and cannot be opened.
        layers.bind(Rank::Mask, Access::ReadOnly, Path::new("/dev/null"), path);
    }
    for mount in &places.mounts {
        layers.bind(Rank::Mount, mount.access, &mount.source, &mount.target);
        match mount.access {
            Access::ReadOnly => order.sealed.push(mount.target.clone()),
            Access::ReadWrite => {
                // It lies on top of what was sealed at the same path.
                order.sealed.retain(|sealed| *sealed != mount.target);
                order.writable.push(mount.target.clone());
            }
        }
    }
    for (number, file) in places.files.iter().enumerate() {
        let source = generated(places, number);
        layers.bind(Rank::Mount, Access::ReadOnly, &source, &file.target);
        order.sealed.push(file.target.clone());
    }
    let mut masked = hide(places, &mut layers, &mut order);
    masked.extend(hide_secrets(places, survey, &mut layers, &mut order));
    // A mount lies on top of what was there before: parents first.
    layers
        .0
        .sort_by_key(|layer| (layer.target.components().count(), layer.rank));
    masked.push(PathBuf::from("/"));

    let mut arguments: Vec<OsString> = [
        "--unshare-user",
        "--disable-userns",
        "--uid",
        "1000",
        "--gid",
        "1000",
        "--cap-drop",
        "ALL",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-net",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--hostname",
        "stance",
        "--new-session",
        "--die-with-parent",
    ]
    .map(OsString::from)
    .to_vec();
    arguments.extend(layers.0.into_iter().flat_map(|layer| layer.arguments));
    // Last, when every mount point beneath has been made.
    for empty in masked {
        arguments.extend(["--remount-ro".into(), empty.into()]);
    }
    arguments.extend(["--chdir".into(), spawn.cwd.clone().into(), "--".into()]);
    arguments.push(HELPER.into());
    arguments.extend(order.into_arguments());
    arguments.extend(spawn::program_arguments(walls, &spawn.program)?);
    if arguments
        .iter()
        .any(|argument| argument.as_encoded_bytes().contains(&0))
    {
        return Err(SandboxError::Arguments("one of them holds a NUL byte"));
    }
    Ok(arguments)
}

/// The system's folders but `/etc`, there or not.
pub(crate) fn system_folders() -> impl Iterator<Item = PathBuf> {
    SYSTEM.iter().filter(|folder| **folder != "/etc").map(PathBuf::from)
}

/// What of `/etc` is shown.
pub(crate) fn etc() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("/etc").into_iter().flatten().flatten();
    let versioned = entries.map(|entry| entry.file_name()).filter(|name| {
        name.to_str()
            .is_some_and(|name| ETC_PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
    });
    let named = ETC.map(OsString::from).into_iter().chain(versioned);
    named
        .map(|name| Path::new("/etc").join(name))
        .filter(|path| path.exists())
}

/// The system, the toolchains, and everything private and empty.
fn system(walls: &Walls, layers: &mut Layers, order: &mut Order) {
    for folder in system_folders() {
        if let Ok(target) = fs::read_link(&folder) {
            let arguments = vec!["--symlink".into(), target.into(), folder.clone().into()];
            layers.add(Rank::Base, &folder, arguments);
        } else if folder.is_dir() {
            layers.read_only(Rank::Base, &folder);
            order.sealed.push(folder);
        }
    }
    for path in etc() {
        layers.read_only(Rank::Base, &path);
    }
    for folder in &walls.toolchains.folders {
        layers.read_only(Rank::Base, folder);
        order.sealed.push(folder.clone());
    }
    layers.bind(Rank::Mount, Access::ReadOnly, &walls.helper, Path::new(HELPER));
    for (flag, target) in [
        ("--proc", "/proc"),
        ("--dev", "/dev"),
        ("--tmpfs", "/run"),
        ("--dir", environment::RUNTIME),
    ] {
        layers.add(Rank::Base, Path::new(target), vec![flag.into(), target.into()]);
    }
    order.writable.extend(["/run".into(), "/dev/shm".into()]);
    for secret in MACHINE_SECRETS.map(Path::new).iter().filter(|path| path.exists()) {
        layers.bind(Rank::Mask, Access::ReadOnly, Path::new("/dev/null"), secret);
        order.hidden.push((*secret).to_owned());
    }
}

/// `/tmp` and HOME.
fn private(source: impl Fn(&str) -> PathBuf, layers: &mut Layers, order: &mut Order) {
    for (name, target) in PRIVATE {
        layers.bind(Rank::Base, Access::ReadWrite, &source(name), Path::new(target));
        order.writable.push(target.into());
    }
}

/// Everything that can be written lies in memory.
fn thrown_away(overlays: &Overlays, layers: &mut Layers, order: &mut Order) {
    private(|name| overlays.private(name), layers, order);
    for (shown, target) in overlays.shown() {
        layers.bind(Rank::Worktree, Access::ReadWrite, &shown, target);
        order.writable.push(target.to_owned());
    }
    let private = PRIVATE.map(|(_, target)| Path::new(target));
    let shown = overlays.shown().map(|(_, target)| target);
    order.thrown_away = private.into_iter().chain(shown).map(Path::to_owned).collect();
}

/// So many paths are kept from being changed by a mount each.
const MOST_GUARDED: usize = 400;

/// Lays what a process may not change over the worktree, read-only. A folder above something denied becomes
/// a mount of its own, so that it cannot be given another name.
fn guard(places: &Places, survey: &Survey, layers: &mut Layers, order: &mut Order) -> Result<(), SandboxError> {
    let guarded = &survey.guarded;
    let denied = guarded.denied.len() + guarded.kept.len();
    if denied > MOST_GUARDED {
        return Err(SandboxError::Place {
            path: places.worktree.clone(),
            why: format!(
                "a deny rule is about {denied} files and folders here, and at most {MOST_GUARDED} can be held: let it \
                 name whole folders, as in edit(src/**)"
            ),
        });
    }
    let configuring = guarded.configuring.iter().take(MOST_GUARDED - denied);
    let held: Vec<&PathBuf> = guarded.denied.iter().chain(configuring).collect();
    // Nothing is laid over what is hidden, and nothing writable over what is read-only for another reason.
    let mut hidden = covering(places, survey);
    hidden.extend(places.hidden.iter().filter_map(|path| path.canonicalize().ok()));
    let is_hidden = |path: &Path| path.ancestors().any(|above| hidden.contains(above));
    let mut sealed: BTreeSet<&Path> = survey.git.keys().chain(&places.sealed).map(PathBuf::as_path).collect();
    let written: Vec<&PathBuf> = guarded
        .written
        .iter()
        .filter(|path| !is_hidden(path) && !path.ancestors().any(|above| sealed.contains(above)))
        .collect();
    sealed.extend(held.iter().map(|path| path.as_path()));
    for folder in &guarded.kept {
        if !is_hidden(folder) && !folder.ancestors().any(|above| sealed.contains(above)) {
            layers.bind(Rank::Worktree, Access::ReadWrite, folder, folder);
        }
    }
    for path in held.into_iter().filter(|path| !is_hidden(path)) {
        layers.read_only(Rank::Sealed, path);
        order.sealed.push(path.clone());
    }
    for path in written {
        layers.bind(Rank::Mount, Access::ReadWrite, path, path);
    }
    Ok(())
}

fn worktree(
    containment: Containment,
    places: &Places,
    survey: &Survey,
    layers: &mut Layers,
    order: &mut Order,
) -> Result<(), SandboxError> {
    let (access, destination) = if places.worktree_is_written(containment) {
        (Access::ReadWrite, &mut order.writable)
    } else {
        (Access::ReadOnly, &mut order.sealed)
    };
    destination.push(places.worktree.clone());
    layers.bind(Rank::Worktree, access, &places.worktree, &places.worktree);
    guard(places, survey, layers, order)?;
    let repositories = survey.git.keys().filter(|_| access == Access::ReadWrite);
    let named = places.sealed.iter().filter(|path| **path != places.worktree);
    for path in repositories.chain(named).collect::<BTreeSet<_>>() {
        // What the survey found is there and no symbolic link, even where we cannot see it now.
        if access == Access::ReadOnly || !survey.git.contains_key(path) {
            match fs::symlink_metadata(path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) if access == Access::ReadWrite => return Err(SandboxError::unseen(path, error)),
                Err(_) => continue,
                Ok(metadata) if metadata.is_symlink() => continue,
                Ok(_) => (),
            }
        }
        if *path == places.worktree {
            return Err(SandboxError::Place {
                path: path.clone(),
                why: "git takes this folder itself for a repository, so nothing in it can be written".into(),
            });
        }
        layers.read_only(Rank::Sealed, path);
        order.sealed.push(path.clone());
    }
    Ok(())
}

/// Covers the secret-shaped files that the process may not read: a whole folder where none in it may
/// be, so that it cannot be given another name. Returns the covering folders.
fn hide_secrets(places: &Places, survey: &Survey, layers: &mut Layers, order: &mut Order) -> Vec<PathBuf> {
    let covering = covering(places, survey);
    for path in hidden_secrets(places, survey) {
        if !path.ancestors().any(|above| covering.contains(above)) {
            layers.bind(Rank::Mask, Access::ReadOnly, Path::new("/dev/null"), &path);
        }
        order.hidden.push(path);
    }
    for folder in &covering {
        layers.add(Rank::Hidden, folder, vec!["--tmpfs".into(), folder.into()]);
    }
    covering.into_iter().collect()
}

/// The folders that are covered as a whole: each holds secrets by its name, and none of them is shown.
fn covering(places: &Places, survey: &Survey) -> BTreeSet<PathBuf> {
    let (shown, hidden): (Vec<&PathBuf>, Vec<&PathBuf>) =
        survey.secrets.iter().partition(|path| shows_secret(places, path));
    hidden
        .into_iter()
        .filter_map(|path| secret_folder(&places.worktree, path))
        .filter(|folder| !shown.iter().any(|path| path.starts_with(folder)))
        .collect()
}

/// The secrets that stay hidden from a process.
pub(crate) fn hidden_secrets(places: &Places, survey: &Survey) -> Vec<PathBuf> {
    let hidden = survey.secrets.iter().filter(|path| !shows_secret(places, path));
    hidden.cloned().collect()
}

fn shows_secret(places: &Places, path: &Path) -> bool {
    let inner = path.strip_prefix(&places.worktree).unwrap_or(path);
    places.secrets.shows(&inner.to_string_lossy())
}

/// The highest folder above a file, within the worktree, that holds nothing but secrets by its name.
fn secret_folder(worktree: &Path, path: &Path) -> Option<PathBuf> {
    let folders = path.ancestors().skip(1).take_while(|folder| *folder != worktree);
    let secret = |folder: &&Path| {
        folder
            .file_name()
            .is_some_and(|name| modes::paths::is_secret_name(&name.to_string_lossy()))
    };
    folders.filter(secret).last().map(Path::to_owned)
}

/// Covers what must not be read where a wider bind would show it. Returns the covering folders.
fn hide(places: &Places, layers: &mut Layers, order: &mut Order) -> Vec<PathBuf> {
    let mut covering = Vec::new();
    for path in &places.hidden {
        let Ok(real) = path.canonicalize() else {
            continue;
        };
        let shown = layers.0.iter().any(|layer| real.starts_with(&layer.target));
        if shown && real.is_dir() {
            layers.add(Rank::Hidden, &real, vec!["--tmpfs".into(), real.clone().into()]);
            covering.push(real.clone());
        } else if shown {
            layers.bind(Rank::Hidden, Access::ReadOnly, Path::new("/dev/null"), &real);
        }
        order.hidden.push(real);
    }
    covering
}
