//! Starting a process without a view of its own: where no namespace can be made, or where an operator
//! wants no walls of ours. What a view would mount stands in the private folder as links and copies,
//! and what a view would show elsewhere is named as the host knows it. Knows nothing of why.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use modes::Containment;

use crate::inside::{Order, WATCH};
use crate::scratch::private_folder;
use crate::survey::Survey;
use crate::walls::Around;
use crate::{Access, Mount, Places, SandboxError, Spawn, Walls, environment, spawn, view};

/// What of `/proc` tells about the machine and about no process.
const MACHINE: [&str; 7] = [
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/uptime",
    "/proc/version",
];

/// The private folders of a view, and their names in the scratch folder.
const PRIVATE: [(&str, &str); 3] = [
    ("/tmp", "tmp"),
    (environment::HOME, "home"),
    (environment::RUNTIME, "run"),
];

/// A program to be started in a folder.
pub(crate) struct Prepared {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) folder: PathBuf,
}

pub(crate) fn prepare(
    walls: &Walls,
    containment: Containment,
    places: &Places,
    spawn: &Spawn,
    survey: &Survey,
    variables: Vec<(OsString, OsString)>,
) -> Result<Prepared, SandboxError> {
    let names = Names { walls, places };
    private_folder(&places.scratch.join("run"))?;
    stage(places, &names)?;
    let mut order = match walls.around {
        Around::Kernel => held(walls, containment, places, survey),
        Around::Namespaces { .. } | Around::Nothing => Order::default(),
    };
    order.held = walls.around.held();
    order.limit(&spawn.limits);
    let mut arguments: Vec<OsString> = vec![WATCH.into()];
    arguments.extend(order.into_arguments());
    let program = spawn::program_arguments(walls, &spawn.program)?;
    arguments.extend(match &spawn.program {
        // A line means what it says; only what was written for a view is named anew.
        crate::Program::Shell(_) => program,
        _ => program.iter().map(|argument| names.real(argument)).collect(),
    });
    let handed_in: BTreeSet<&str> = spawn.environment.iter().map(|(name, _)| name.as_str()).collect();
    let ours = ["HOME", "TMPDIR", "XDG_RUNTIME_DIR"];
    let mut variables: Vec<(OsString, OsString)> = variables
        .into_iter()
        .map(|(name, value)| {
            let for_a_view = name
                .to_str()
                .is_some_and(|name| ours.contains(&name) || handed_in.contains(name));
            let value = if for_a_view { names.real(&value) } else { value };
            (name, value)
        })
        .collect();
    let folder = PathBuf::from(names.real(spawn.cwd.as_os_str()));
    variables.push(("PWD".into(), folder.clone().into()));
    Ok(Prepared {
        program: walls.helper.clone(),
        arguments,
        variables,
        folder,
    })
}

/// How the host names what lies in a private folder of a view.
struct Names<'a> {
    walls: &'a Walls,
    places: &'a Places,
}

impl Names<'_> {
    fn real(&self, name: &OsStr) -> OsString {
        let path = Path::new(name);
        if self.is_shown_there(path) {
            return name.to_owned();
        }
        let beneath = |(inner, folder): &(&str, &str)| {
            let rest = path.strip_prefix(inner).ok()?;
            let folder = self.places.scratch.join(folder);
            Some(if rest == Path::new("") {
                folder
            } else {
                folder.join(rest)
            })
        };
        PRIVATE
            .iter()
            .find_map(beneath)
            .map_or_else(|| name.to_owned(), OsString::from)
    }

    /// Whether a view shows the path where it really is.
    fn is_shown_there(&self, path: &Path) -> bool {
        let there = self.places.mounts.iter().filter(|mount| mount.source == mount.target);
        let there = there.map(|mount| &mount.target);
        there
            .chain([&self.places.worktree, &self.walls.helper])
            .chain(&self.walls.toolchains.folders)
            .any(|shown| path.starts_with(shown))
    }
}

/// Puts mounts and generated files where a process finds them, parents first.
fn stage(places: &Places, names: &Names<'_>) -> Result<(), SandboxError> {
    let mut mounts: Vec<&Mount> = places
        .mounts
        .iter()
        .filter(|mount| mount.source != mount.target)
        .collect();
    mounts.sort_by_key(|mount| mount.target.components().count());
    for mount in &mounts {
        let at = PathBuf::from(names.real(mount.target.as_os_str()));
        let holds_others = mounts
            .iter()
            .any(|other| *other != *mount && other.target.starts_with(&mount.target));
        stand_in(mount, &at, holds_others).map_err(SandboxError::system("standing in for a mount"))?;
    }
    for (number, file) in places.files.iter().enumerate() {
        let at = PathBuf::from(names.real(file.target.as_os_str()));
        fresh(&at)
            .and_then(|()| fs::copy(view::generated(places, number), &at))
            .map_err(SandboxError::system("making a private file"))?;
    }
    Ok(())
}

/// A copy of a file that is only read, a link to everything else. A folder with a further mount
/// beneath it becomes a folder of links: that mount must not land in the real one.
fn stand_in(mount: &Mount, at: &Path, holds_others: bool) -> std::io::Result<()> {
    fresh(at)?;
    if holds_others {
        fs::create_dir(at)?;
        for entry in fs::read_dir(&mount.source)? {
            let entry = entry?;
            std::os::unix::fs::symlink(entry.path(), at.join(entry.file_name()))?;
        }
        return Ok(());
    }
    let facts = fs::metadata(&mount.source)?;
    if mount.access == Access::ReadWrite || !facts.is_file() {
        return std::os::unix::fs::symlink(&mount.source, at);
    }
    fs::copy(&mount.source, at)?;
    File::options().write(true).open(at)?.set_modified(facts.modified()?)
}

/// Makes the folder above, and takes away what an earlier process was given at the path.
fn fresh(at: &Path) -> std::io::Result<()> {
    if let Some(above) = at.parent() {
        fs::create_dir_all(above)?;
    }
    match fs::symlink_metadata(at) {
        Ok(facts) if facts.is_dir() => fs::remove_dir_all(at),
        Ok(_) => fs::remove_file(at),
        Err(_) => Ok(()),
    }
}

/// What rules of the kernel let through: an allow-list of the host's own paths.
fn held(walls: &Walls, containment: Containment, places: &Places, survey: &Survey) -> Order {
    let secrets = view::hidden_secrets(places, survey);
    let mut unseen: BTreeSet<PathBuf> = secrets
        .iter()
        .chain(&survey.special)
        .chain(&places.hidden)
        .cloned()
        .collect();
    let mut order = Order {
        readable: view::system_folders()
            .chain(view::etc())
            .chain(MACHINE.map(PathBuf::from))
            .collect(),
        listed: vec![places.worktree.clone()],
        writable: PRIVATE.map(|(_, folder)| places.scratch.join(folder)).to_vec(),
        sealed: places.sealed.iter().chain(survey.git.keys()).cloned().collect(),
        hidden: places
            .hidden
            .iter()
            .filter_map(|path| path.canonicalize().ok())
            .chain(secrets)
            .collect(),
        ..Order::default()
    };
    order.readable.extend(walls.toolchains.folders.iter().cloned());
    order.readable.push(walls.helper.clone());
    for mount in &places.mounts {
        match mount.access {
            Access::ReadOnly => order.readable.push(mount.source.clone()),
            Access::ReadWrite => order.writable.push(mount.source.clone()),
        }
    }
    carve(&places.worktree, &unseen, &mut order.readable);
    if places.worktree_is_written(containment) {
        order.sealed.extend(survey.guarded.denied.iter().cloned());
        unseen.extend(order.sealed.iter().cloned());
        carve(&places.worktree, &unseen, &mut order.writable);
    } else {
        order.sealed.push(places.worktree.clone());
    }
    // What our own git writes lies in what is sealed for it.
    let written: Vec<&PathBuf> = places
        .mounts
        .iter()
        .filter(|mount| mount.access == Access::ReadWrite)
        .map(|mount| &mount.source)
        .collect();
    order.sealed.retain(|sealed| !written.contains(&sealed));
    order
}

/// The largest folders beneath `path`, and files, that hold nothing of `without`. Links are left out:
/// a rule for one would be a rule for what it leads to.
fn carve(path: &Path, without: &BTreeSet<PathBuf>, found: &mut Vec<PathBuf>) {
    if without.contains(path) {
        return;
    }
    if without
        .range(path.to_owned()..)
        .next()
        .is_none_or(|next| !next.starts_with(path))
    {
        found.push(path.to_owned());
        return;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink())) {
        carve(&entry.path(), without, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carved_holds_nothing_of_what_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in ["a/b/secret", "a/b/plain", "a/c/x", ".git/config", "top"] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), "").unwrap();
        }
        std::os::unix::fs::symlink(root.join("a/b/secret"), root.join("link")).unwrap();
        let without = ["a/b/secret", ".git"].map(|path| root.join(path)).into();
        let mut found = Vec::new();
        carve(root, &without, &mut found);
        found.sort();
        assert_eq!(found, ["a/b/plain", "a/c", "top"].map(|path| root.join(path)));
        found.clear();
        carve(root, &BTreeSet::new(), &mut found);
        assert_eq!(found, [root]);
    }
}
