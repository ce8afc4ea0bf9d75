//! The walls of a process as macOS takes them: a Seatbelt profile, rendered from the same containment
//! and places as every other. Text alone: nothing is started with it before `doctor` has proved on a
//! Mac that it holds.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use modes::Containment;

use crate::{Access, Places, Toolchains};

/// Read-only folders of the system. The private ones of `/private` are named by their real paths.
const SYSTEM: [&str; 7] = [
    "/System/Library",
    "/usr",
    "/bin",
    "/sbin",
    "/Library/Developer",
    "/private/etc/ssl",
    "/private/var/db/timezone",
];

const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
    "/dev/dtracehelper",
];

/// Services without which no program finds out who runs it. Every other one stays closed, and with
/// them launching, events to other programs, the keychain and the pasteboard.
const SERVICES: [&str; 1] = ["com.apple.system.opendirectoryd.libinfo"];

/// The profile. `secrets` are the files of the worktree that the process may not read.
pub fn seatbelt(containment: Containment, places: &Places, toolchains: &Toolchains, secrets: &[PathBuf]) -> String {
    let private = ["tmp", "home"].map(|name| places.scratch.join(name));
    let mut profile = String::from(
        "(version 1)\n(deny default)\n(allow process-fork)\n(allow signal (target same-sandbox))\n(allow sysctl-read)\n",
    );
    let read = SYSTEM
        .iter()
        .map(PathBuf::from)
        .chain(toolchains.folders.iter().cloned());
    let shown = read.chain(private.clone()).chain([places.worktree.clone()]);
    let mounted = places.mounts.iter().map(|mount| mount.source.clone());
    let readable: Vec<PathBuf> = shown.chain(mounted).collect();
    rule(&mut profile, "allow file-read* process-exec", &readable);
    literals(&mut profile, "allow file-read* file-write-data", &DEVICES);
    // Later rules win.
    let mut writable = private.to_vec();
    if places.worktree_is_written(containment) {
        writable.push(places.worktree.clone());
    }
    rule(&mut profile, "allow file-write*", &writable);
    let sealed: Vec<PathBuf> = places
        .sealed
        .iter()
        .chain([&places.worktree.join(".git")])
        .cloned()
        .collect();
    rule(&mut profile, "deny file-write*", &sealed);
    let written = places.mounts.iter().filter(|mount| mount.access == Access::ReadWrite);
    let written: Vec<PathBuf> = written.map(|mount| mount.source.clone()).collect();
    rule(&mut profile, "allow file-write*", &written);
    // A hidden folder may hold the private ones.
    rule(
        &mut profile,
        "deny file-read* file-write*",
        &[&places.hidden, secrets].concat(),
    );
    rule(&mut profile, "allow file-read* file-write*", &private);
    for service in SERVICES {
        let _ = writeln!(
            profile,
            "(allow mach-lookup (global-name {}))",
            quoted(Path::new(service))
        );
    }
    profile
}

/// A rule for folders with everything beneath; none without folders.
fn rule(profile: &mut String, what: &str, folders: &[PathBuf]) {
    if folders.is_empty() {
        return;
    }
    let _ = write!(profile, "({what}");
    for folder in folders {
        let _ = write!(profile, "\n  (subpath {})", quoted(folder));
    }
    profile.push_str(")\n");
}

fn literals(profile: &mut String, what: &str, paths: &[&str]) {
    let _ = write!(profile, "({what}");
    for path in paths {
        let _ = write!(profile, "\n  (literal {})", quoted(Path::new(path)));
    }
    profile.push_str(")\n");
}

/// A word of the profile's language; no path ends it early.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(containment: Containment, worktree: &str) -> String {
        let mut places = Places::new(worktree, "/Users/ada/.stance/scratch");
        places.sealed.push(Path::new(worktree).join(".git"));
        places.hidden = vec!["/Users/ada/.stance".into(), "/Users/ada/.ssh".into()];
        let secrets = [Path::new(worktree).join(".env")];
        seatbelt(containment, &places, &Toolchains::default(), &secrets)
    }

    #[test]
    fn a_reading_process_writes_its_private_folders_alone() {
        insta::assert_snapshot!(profile(Containment::read_only(), "/Users/ada/project"));
    }

    #[test]
    fn a_writing_process_writes_the_worktree_and_no_repository() {
        insta::assert_snapshot!(profile(Containment::repository_write(), "/Users/ada/project"));
    }

    #[test]
    fn everything_is_closed_that_is_not_named() {
        for containment in [
            Containment::read_only(),
            Containment::repository_write(),
            Containment::gated(),
        ] {
            let profile = profile(containment, "/Users/ada/a \"b\\");
            assert!(profile.starts_with("(version 1)\n(deny default)\n"));
            let services = profile.lines().filter(|line| line.contains("mach-lookup"));
            assert!(services.clone().count() == 1 && services.clone().all(|line| line.contains("(global-name \"")));
            for open in [
                "allow default",
                "network",
                "mach-register",
                "iokit",
                "appleevent",
                "(import",
                "regex",
                "/private/tmp",
                "\"/tmp",
            ] {
                assert!(!profile.contains(open), "{open}");
            }
            assert!(profile.contains(r#"(subpath "/Users/ada/a \"b\\")"#), "{profile}");
        }
    }
}
