//! The places of a view: what a process sees of the host beside the system, and where it may write.
//! Knows paths only; `view` turns them into walls.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use modes::{Containment, Posture};

use crate::{Guards, SandboxError};

/// Whether a mount can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It can be read.
    ReadOnly,
    /// It can be read and written. Only under a `Writable` containment.
    ReadWrite,
}

/// One file or folder of the host, shown at a path of the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Absolute path on the host.
    pub source: PathBuf,
    /// Absolute path inside.
    pub target: PathBuf,
    /// Whether it can be written.
    pub access: Access,
}

/// A file that exists only in the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// Absolute path inside.
    pub target: PathBuf,
    /// What it holds.
    pub content: Vec<u8>,
}

/// Which secret-shaped files of a worktree a process sees; every other one is there and cannot be
/// opened. Asked with a path relative to the worktree.
#[derive(Clone)]
pub struct Secrets {
    shows: Decides,
    /// None where nothing else is denied, so that no path has to be asked for.
    denies: Option<Decides>,
}

type Decides = Arc<dyn Fn(&str) -> bool + Send + Sync>;

impl Secrets {
    /// None of them.
    pub fn hidden() -> Self {
        Self::shown_if(|_| false)
    }

    /// All of them: for our own git, which compares files and shows none unasked.
    pub fn shown() -> Self {
        Self::shown_if(|_| true)
    }

    /// Those that somebody decides upon.
    pub fn shown_if(decides: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self {
            shows: Arc::new(decides),
            denies: None,
        }
    }

    /// Files besides that nobody may read, whatever they are called.
    #[must_use]
    pub fn denying(self, denies: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self {
            denies: Some(Arc::new(denies)),
            ..self
        }
    }

    /// These paths besides.
    #[must_use]
    pub fn and(&self, paths: Vec<String>) -> Self {
        let decides = Arc::clone(&self.shows);
        Self {
            denies: self.denies.clone(),
            ..Self::shown_if(move |path| paths.iter().any(|shown| shown == path) || decides(path))
        }
    }

    pub(crate) fn shows(&self, path: &str) -> bool {
        (self.shows)(path) && !self.denies(path)
    }

    /// Whether nobody may read this file, whatever it is called.
    pub fn denies(&self, path: &str) -> bool {
        self.denies.as_ref().is_some_and(|denies| denies(path))
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secrets")
    }
}

/// The places of one process. All paths are absolute; a deeper path wins over one above it, and of
/// one path `hidden` wins over `mounts`, `mounts` over `sealed`, `sealed` over the worktree.
#[derive(Debug, Clone)]
pub struct Places {
    /// Shown at its own path; written if the containment says so. Must have no symbolic link in it.
    pub worktree: PathBuf,
    /// Read-only even if the worktree is writable: every `.git` folder or file, the common folder; or
    /// the worktree itself, for a git of ours that writes its repository alone.
    pub sealed: Vec<PathBuf>,
    /// A private folder of ours. Its `tmp` is `/tmp` inside, its `home` is HOME; both are made here
    /// if they are missing and last as long as the folder does.
    pub scratch: PathBuf,
    /// Never readable: the product's home, credential stores.
    pub hidden: Vec<PathBuf>,
    /// Which secret-shaped files of the worktree can be read.
    pub secrets: Secrets,
    /// What of a writable worktree cannot be changed.
    pub guards: Guards,
    /// Further things shown, for our own git processes.
    pub mounts: Vec<Mount>,
    /// Where the repositories of a writable worktree are kept in mind while a process runs. One file
    /// for all processes of a worktree, out of their reach; without being set it is in the scratch folder.
    pub record: PathBuf,
    /// The person's home folder: no process writes a worktree that is it or holds it.
    pub home: Option<PathBuf>,
    /// Small files made for this process, read-only. Two processes at a time with generated files
    /// must not share a scratch folder.
    pub files: Vec<Generated>,
}

impl Places {
    /// A worktree and a scratch folder, nothing sealed, hidden or mounted.
    pub fn new(worktree: impl Into<PathBuf>, scratch: impl Into<PathBuf>) -> Self {
        let scratch = scratch.into();
        Self {
            worktree: worktree.into(),
            record: scratch.join("repositories.json"),
            scratch,
            home: None,
            sealed: Vec::new(),
            hidden: Vec::new(),
            secrets: Secrets::hidden(),
            guards: Guards::default(),
            mounts: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Whether a process with this containment can write the worktree at all.
    pub(crate) fn worktree_is_written(&self, containment: Containment) -> bool {
        containment.worktree() == Posture::Writable && !self.sealed.contains(&self.worktree)
    }

    /// Every place of the host a process with this containment can write.
    pub(crate) fn written(&self, containment: Containment) -> Vec<&Path> {
        let mut written = vec![self.scratch.as_path()];
        if self.worktree_is_written(containment) {
            written.push(&self.worktree);
        }
        written.extend(
            self.mounts
                .iter()
                .filter(|mount| mount.access == Access::ReadWrite)
                .map(|mount| mount.source.as_path()),
        );
        written
    }

    /// Refuses places that contradict each other or the containment.
    pub(crate) fn check(&self, containment: Containment) -> Result<(), SandboxError> {
        let refuse = |path: &Path, why: &str| {
            Err(SandboxError::Place {
                path: path.to_owned(),
                why: why.to_owned(),
            })
        };
        let all = [&self.worktree, &self.scratch, &self.record]
            .into_iter()
            .chain(&self.home)
            .chain(&self.sealed)
            .chain(&self.hidden)
            .chain(self.files.iter().map(|file| &file.target))
            .chain(self.mounts.iter().flat_map(|mount| [&mount.source, &mount.target]));
        for path in all {
            if !path.is_absolute() || path.components().any(|part| part == std::path::Component::ParentDir) {
                return refuse(path, "not an absolute path without `..`");
            }
        }
        if self.worktree.canonicalize().ok().as_deref() != Some(self.worktree.as_path()) {
            return refuse(&self.worktree, "not a folder's real path");
        }
        if self.worktree.parent().is_none() {
            return refuse(&self.worktree, "the whole file system cannot be a worktree");
        }
        if crate::view::SYSTEM
            .iter()
            .any(|system| Path::new(system).starts_with(&self.worktree))
            || crate::view::KERNEL
                .iter()
                .any(|kernel| self.worktree.starts_with(kernel))
        {
            return refuse(&self.worktree, "a folder of the system cannot be a worktree");
        }
        let home = self.home.as_ref().and_then(|home| home.canonicalize().ok());
        if self.worktree_is_written(containment) && home.is_some_and(|home| home.starts_with(&self.worktree)) {
            return refuse(
                &self.worktree,
                "this is your home folder or holds it: a command could change what starts when you log in. \
                 Work in a folder inside of it, or in a mode that only reads",
            );
        }
        if self.record.starts_with(&self.worktree) {
            return refuse(&self.record, "the record of repositories lies in the worktree");
        }
        if self.scratch.starts_with(&self.worktree) {
            return refuse(&self.scratch, "the scratch folder lies in the worktree");
        }
        if self.worktree.starts_with(&self.scratch) {
            return refuse(&self.worktree, "the worktree lies in the scratch folder");
        }
        if containment.worktree() == Posture::ReadOnly
            && let Some(mount) = self.mounts.iter().find(|mount| mount.access == Access::ReadWrite)
        {
            return refuse(&mount.target, "a read-only containment writes nothing of the host");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(change: impl FnOnce(&mut Places), containment: Containment) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (worktree, scratch) = (root.join("tree"), root.join("scratch"));
        std::fs::create_dir_all(&worktree).unwrap();
        let mut places = Places::new(worktree, scratch);
        change(&mut places);
        places.check(containment).err().map(|error| error.to_string())
    }

    #[test]
    fn sound_places_pass() {
        assert_eq!(refusal(|_| (), Containment::read_only()), None);
    }

    type Change = fn(&mut Places);

    #[test]
    fn contradictions_are_refused() {
        let read_only = Containment::read_only();
        let cases: [(Change, &str); 5] = [
            (|p| p.worktree = "/".into(), "whole file system"),
            (|p| p.worktree = "/usr".into(), "folder of the system"),
            (|p| p.scratch = p.worktree.join("s"), "lies in the worktree"),
            (|p| p.hidden = vec!["relative".into()], "not an absolute path"),
            (
                |p| {
                    p.mounts = vec![Mount {
                        source: "/srv".into(),
                        target: "/srv".into(),
                        access: Access::ReadWrite,
                    }];
                },
                "writes nothing of the host",
            ),
        ];
        for (change, expected) in cases {
            let refused = refusal(change, read_only).unwrap_or_default();
            assert!(refused.contains(expected), "{refused:?} lacks {expected:?}");
        }
    }

    #[test]
    fn a_worktree_reached_through_a_symbolic_link_is_refused() {
        let refused = refusal(
            |places| {
                let link = places.scratch.with_file_name("link");
                std::os::unix::fs::symlink(&places.worktree, &link).unwrap();
                places.worktree = link;
            },
            Containment::read_only(),
        );
        assert!(refused.unwrap().contains("real path"));
    }
}
