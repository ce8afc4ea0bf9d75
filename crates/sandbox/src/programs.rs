//! Finding the programs of ours (bwrap, bash, git): by absolute path, once, where nobody but the
//! system's owner can put a file. Never by PATH, which may name a folder of the repository.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::SandboxError;

/// Where a system keeps its programs, best first.
const FOLDERS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// The absolute path, symbolic links resolved, of a trusted program.
pub(crate) fn find(name: &'static str) -> Result<PathBuf, SandboxError> {
    find_in(name, &FOLDERS.map(Path::new))
}

fn find_in(name: &'static str, folders: &[&Path]) -> Result<PathBuf, SandboxError> {
    let mut distrust = None;
    for folder in folders {
        let Ok(path) = folder.join(name).canonicalize() else {
            continue;
        };
        match trust(&path) {
            Ok(()) => return Ok(path),
            Err(error) => distrust = Some(error),
        }
    }
    Err(distrust.unwrap_or_else(|| SandboxError::ProgramMissing {
        name,
        searched: folders
            .iter()
            .map(|folder| folder.display().to_string())
            .collect::<Vec<_>>()
            .join(", "),
    }))
}

/// Holds when the program and every folder above it belong to the system and only its owner can
/// write them.
pub(crate) fn trust(program: &Path) -> Result<(), SandboxError> {
    for path in program.ancestors() {
        let refuse = |why| {
            Err(SandboxError::ProgramNotTrusted {
                path: path.to_owned(),
                why,
            })
        };
        let Ok(metadata) = path.metadata() else {
            return refuse("it is gone");
        };
        if metadata.uid() != 0 {
            return refuse("it does not belong to the system");
        }
        if metadata.mode() & 0o002 != 0 || (metadata.mode() & 0o020 != 0 && metadata.gid() != 0) {
            return refuse("others can write it");
        }
        if path == program && (!metadata.is_file() || metadata.mode() & 0o111 == 0) {
            return refuse("it is not a program");
        }
    }
    Ok(())
}

/// Refuses a program that lies in, or is, a place that a run can write.
pub(crate) fn out_of_reach(program: &Path, writable: &[&Path]) -> Result<(), SandboxError> {
    if writable.iter().any(|place| program.starts_with(place)) {
        return Err(SandboxError::ProgramNotTrusted {
            path: program.to_owned(),
            why: "a run can write the folder it lies in",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn plant(folder: &Path, mode: u32) {
        let program = folder.join("git");
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_program_in_a_folder_open_to_all_is_passed_over() {
        let open = tempfile::tempdir().unwrap();
        plant(open.path(), 0o755);
        let found = find_in("git", &[open.path(), Path::new("/usr/bin")]).unwrap();
        assert!(found.starts_with("/usr"), "{found:?}");
        let error = find_in("git", &[open.path()]).unwrap_err();
        assert!(matches!(error, SandboxError::ProgramNotTrusted { .. }), "{error}");
    }

    #[test]
    fn what_is_nowhere_is_missing_and_says_where_it_was_sought() {
        let error = find_in("bwrap", &[Path::new("/nonexistent")]).unwrap_err();
        assert_eq!(error.to_string(), "bwrap was not found in /nonexistent");
    }

    #[test]
    fn a_program_within_a_writable_place_is_out_of_the_question() {
        let program = Path::new("/home/me/project/bin/git");
        assert!(out_of_reach(program, &[Path::new("/home/me/project")]).is_err());
        assert!(out_of_reach(program, &[Path::new("/home/me/proj")]).is_ok());
    }
}
