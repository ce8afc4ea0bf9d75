//! Where contents are kept: each once, under its digest, in a private folder outside of every
//! worktree. What comes out is what its digest says, or an error. Knows nothing of paths.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "checkpoints are kept here and nowhere else"
)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use sandbox::private_folder;

use super::tree::{Digest, Folder, Node, decoded, encoded};
use crate::RepoError;

/// The contents of a workspace's checkpoints.
#[derive(Debug, Clone)]
pub(super) struct Vault {
    folder: PathBuf,
}

impl Vault {
    pub(super) fn open(folder: &Path) -> Result<Vault, RepoError> {
        let folder = private_folder(folder)?;
        private_folder(&folder.join("objects"))?;
        Ok(Vault { folder })
    }

    /// The file of this name beside the contents.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Whether a content is kept whole, as far as its length tells.
    pub(super) fn has(&self, digest: &Digest, size: u64) -> bool {
        fs::symlink_metadata(self.place(digest)).is_ok_and(|facts| facts.is_file() && facts.len() == size)
    }

    /// Keeps a content.
    pub(super) fn put(&self, bytes: &[u8]) -> Result<Digest, RepoError> {
        let digest = Digest::of(bytes);
        if !self.has(&digest, u64::try_from(bytes.len()).unwrap_or(u64::MAX)) {
            let place = self.place(&digest);
            if let Some(folder) = place.parent() {
                private_folder(folder)?;
            }
            replace(&place, bytes)?;
        }
        Ok(digest)
    }

    /// A content, as its digest says.
    pub(super) fn get(&self, digest: &Digest) -> Result<Vec<u8>, RepoError> {
        let place = self.place(digest);
        let bytes = fs::read(&place).map_err(|source| RepoError::File {
            path: place.clone(),
            source,
        })?;
        if Digest::of(&bytes) == *digest {
            Ok(bytes)
        } else {
            Err(RepoError::Damaged(digest.to_string()))
        }
    }

    /// Keeps a folder's record.
    pub(super) fn put_folder(&self, folder: &Folder) -> Result<Digest, RepoError> {
        self.put(&encoded(folder)?)
    }

    /// A folder from its record.
    pub(super) fn folder(&self, digest: &Digest) -> Result<Folder, RepoError> {
        decoded(&self.get(digest)?)
    }

    /// Forgets every content that none of these folders leads to.
    pub(super) fn sweep(&self, kept: &[Digest]) -> Result<(), RepoError> {
        let mut needed = BTreeSet::new();
        let mut open = kept.to_vec();
        while let Some(digest) = open.pop() {
            if !needed.insert(digest) {
                continue;
            }
            for node in self.folder(&digest)?.into_values() {
                match node {
                    Node::Folder { tree, .. } => open.push(tree),
                    Node::File { content, .. } => {
                        needed.insert(content);
                    }
                    Node::Link { .. } | Node::Left(_) => {}
                }
            }
        }
        let needed: BTreeSet<PathBuf> = needed.iter().map(|digest| self.place(digest)).collect();
        let objects = self.folder.join("objects");
        let listed = |folder: &Path| {
            fs::read_dir(folder).map_err(|source| RepoError::File {
                path: folder.to_owned(),
                source,
            })
        };
        for shelf in listed(&objects)?.flatten() {
            for object in listed(&shelf.path())?.flatten() {
                if !needed.contains(&object.path()) {
                    // One that stays only takes room.
                    let _ = fs::remove_file(object.path());
                }
            }
        }
        Ok(())
    }

    fn place(&self, digest: &Digest) -> PathBuf {
        let text = digest.to_string();
        let (shelf, rest) = text.split_at(2);
        self.folder.join("objects").join(shelf).join(rest)
    }
}

/// Writes a private file beside its place and renames it there.
pub(super) fn replace(place: &Path, bytes: &[u8]) -> Result<(), RepoError> {
    let draft = place.with_extension(format!("{}.draft", std::process::id()));
    let written = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&draft, place));
    written.map_err(|source| {
        let _ = fs::remove_file(&draft);
        RepoError::File {
            path: place.to_owned(),
            source,
        }
    })
}
