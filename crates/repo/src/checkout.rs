//! Finding a repository by reading its files ourselves: no git process has a say in where things
//! lie. Knows git's layout on disk, nothing of what is in it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::settings::{self, Settings};
use crate::{Git, RepoError};

/// No file of ours in a `.git` is longer.
const LONGEST_POINTER: u64 = 16 * 1024;

const UNLINK: &str = "Put what the link leads to in the place of the link.";
const WORK_ABOVE: &str = "Work in the superproject, or clone the submodule into a folder of its own.";
const MOVE_BACK: &str = "Put the git directory itself in the place of the `.git` file.";
const REPAIR: &str = "If the worktree was moved, run `git worktree repair FOLDER` in the main worktree.";
const OWN_OBJECTS: &str = "Run `git repack -a -d` to have all objects here, then remove this file.";
/// What helps where references are not kept as files. Git before 2.48 migrates only without reflogs.
pub(crate) const TO_FILES: &str =
    "Run `git refs migrate --ref-format=files` (git 2.48 or newer), or clone it with `git clone --ref-format=files`.";

/// A worktree and its repository. All paths are absolute and without symbolic links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The top of the worktree.
    pub worktree: PathBuf,
    /// Where HEAD and the index of this worktree lie.
    pub git_dir: PathBuf,
    /// Where objects and references lie; the same as `git_dir` but for a linked worktree.
    pub common_dir: PathBuf,
    pub(crate) settings: Settings,
}

impl Checkout {
    /// Finds the repository that a folder belongs to, from the folder upwards.
    ///
    /// A `.git` file is followed only to a git directory that points back at it, a symbolic link
    /// only within the worktree, so that a repository cannot show another one as its own.
    pub async fn discover(git: &Git, folder: &Path) -> Result<Self, RepoError> {
        let folder = canonical(folder)?;
        for worktree in folder.ancestors() {
            let dot_git = worktree.join(".git");
            if let Ok(metadata) = dot_git.symlink_metadata() {
                let (git_dir, common_dir) = if metadata.is_file() {
                    linked(worktree, &dot_git)?
                } else {
                    let git_dir = own(worktree, &dot_git)?;
                    (git_dir.clone(), git_dir)
                };
                check(&git_dir, &common_dir)?;
                let settings = settings::load(git, worktree, &common_dir.join("config")).await?;
                return Ok(Self {
                    worktree: worktree.to_owned(),
                    git_dir,
                    common_dir,
                    settings,
                });
            }
            if looks_bare(worktree) {
                return Err(RepoError::Bare(worktree.to_owned()));
            }
        }
        Err(RepoError::NoRepository(folder))
    }

    /// The addresses of the repository's remotes, as its configuration had them when it was found.
    pub fn remotes(&self) -> &[String] {
        &self.settings.remotes
    }

    /// What must stay read-only for a run's processes: the `.git` of the worktree and everything
    /// it points at.
    pub fn sealed(&self) -> Vec<PathBuf> {
        let mut sealed = vec![
            self.worktree.join(".git"),
            self.git_dir.clone(),
            self.common_dir.clone(),
        ];
        sealed.dedup();
        sealed
    }
}

fn canonical(path: &Path) -> Result<PathBuf, RepoError> {
    path.canonicalize().map_err(|source| RepoError::File {
        path: path.to_owned(),
        source,
    })
}

fn refuse<T>(path: &Path, why: &'static str, hint: Option<&'static str>) -> Result<T, RepoError> {
    Err(RepoError::Layout {
        path: path.to_owned(),
        why,
        hint,
    })
}

/// A bare repository holds what otherwise a `.git` does.
fn looks_bare(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
}

fn own(worktree: &Path, dot_git: &Path) -> Result<PathBuf, RepoError> {
    let git_dir = canonical(dot_git)?;
    if !git_dir.starts_with(worktree) || git_dir == worktree {
        return refuse(dot_git, "it leads out of the worktree", Some(UNLINK));
    }
    if git_dir.join("commondir").symlink_metadata().is_ok() {
        return refuse(
            &git_dir.join("commondir"),
            "only a linked worktree has a common folder",
            None,
        );
    }
    Ok(git_dir)
}

/// The git directory of a linked worktree is `COMMON/worktrees/NAME`, holds `gitdir` with the path
/// of this very `.git` file, and `commondir` with the way to `COMMON`.
fn linked(worktree: &Path, dot_git: &Path) -> Result<(PathBuf, PathBuf), RepoError> {
    let pointer = read_pointer(dot_git)?;
    let Some(target) = pointer.strip_prefix("gitdir: ") else {
        return refuse(dot_git, "it is not a pointer to a git directory", None);
    };
    let git_dir = canonical(&worktree.join(target))?;
    let points_back = read_pointer(&git_dir.join("gitdir"))
        .ok()
        .and_then(|back| git_dir.join(back).canonicalize().ok());
    if points_back.as_deref() != Some(dot_git) {
        let hint = if git_dir.join("gitdir").exists() {
            REPAIR
        } else if git_dir.components().any(|part| part.as_os_str() == "modules") {
            WORK_ABOVE
        } else {
            MOVE_BACK
        };
        return refuse(
            dot_git,
            "the git directory it points at does not point back",
            Some(hint),
        );
    }
    let common_dir = canonical(&git_dir.join(read_pointer(&git_dir.join("commondir"))?))?;
    if git_dir.parent() != Some(&common_dir.join("worktrees")) {
        return refuse(&git_dir, "it does not lie in the repository it names", None);
    }
    Ok((git_dir, common_dir))
}

/// The parts we borrow must be plain files and folders: a symbolic link would show another place.
fn check(git_dir: &Path, common_dir: &Path) -> Result<(), RepoError> {
    if common_dir.join("reftable").exists() {
        return refuse(
            common_dir,
            "its references are kept as a table, which is not supported",
            Some(TO_FILES),
        );
    }
    let borrowed = [
        (git_dir, "HEAD"),
        (git_dir, "index"),
        (git_dir, "logs"),
        (common_dir, "config"),
        (common_dir, "logs"),
        (common_dir, "objects"),
        (common_dir, "packed-refs"),
        (common_dir, "refs"),
        (common_dir, "shallow"),
        (common_dir, "info"),
        (common_dir, "info/exclude"),
    ];
    for (folder, name) in borrowed {
        let path = folder.join(name);
        match path.symlink_metadata() {
            Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
                let hint = metadata.is_symlink().then_some(UNLINK);
                return refuse(&path, "it is neither a file nor a folder", hint);
            }
            Err(_) if matches!(name, "HEAD" | "objects" | "refs") => {
                return refuse(&path, "it is missing", None);
            }
            _ => (),
        }
    }
    for name in ["alternates", "http-alternates"] {
        let alternates = common_dir.join("objects/info").join(name);
        if alternates.symlink_metadata().is_ok() {
            return refuse(&alternates, "it borrows objects from another place", Some(OWN_OBJECTS));
        }
    }
    Ok(())
}

/// The one line of a small file.
pub(crate) fn read_pointer(path: &Path) -> Result<String, RepoError> {
    let failed = |source| RepoError::File {
        path: path.to_owned(),
        source,
    };
    let metadata = path.symlink_metadata().map_err(failed)?;
    if !metadata.is_file() || metadata.len() > LONGEST_POINTER {
        return refuse(path, "it is not a small plain file", None);
    }
    let text = fs::read_to_string(path).map_err(failed)?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}
