//! What is known of files without reading them: a file whose number, size and times are those it had
//! when it was read has the content it had, once its times are old enough to tell.

use std::collections::BTreeMap;
use std::fs;

use rustix::fs::Stat;
use serde::{Deserialize, Serialize};

use super::tree::Digest;
use super::vault::{self, Vault};
use crate::RepoError;

/// A file that changed in the last moments before a walk may change again within the same tick of
/// the file system's clock. In milliseconds; the coarsest clocks in use tick every two seconds.
const SETTLED_MS: i64 = 2_000;

/// A file as the system describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    device: u64,
    number: u64,
    size: i64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl Stamp {
    pub(super) fn of(stat: &Stat) -> Stamp {
        Stamp {
            device: stat.st_dev,
            number: stat.st_ino,
            size: stat.st_size,
            modified: (stat.st_mtime, stat.st_mtime_nsec),
            changed: (stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// Whether nobody wrote the file in between. Another name of it may have come or gone.
    pub(super) fn same_content(&self, other: &Stamp) -> bool {
        Stamp {
            changed: other.changed,
            ..*self
        } == *other
    }

    fn settled(&self, at_ms: i64) -> bool {
        let (seconds, nanoseconds) = self.changed;
        let changed_ms = seconds
            .saturating_mul(1_000)
            .saturating_add(i64::try_from(nanoseconds / 1_000_000).unwrap_or_default());
        changed_ms.saturating_add(SETTLED_MS) < at_ms
    }
}

/// The files of one walk, by path.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Known {
    at_ms: i64,
    files: BTreeMap<Vec<u8>, (Stamp, Digest)>,
}

impl Known {
    pub(super) fn at(at_ms: i64) -> Known {
        Known {
            at_ms,
            files: BTreeMap::new(),
        }
    }

    /// What the walk before this one knew; nothing when that cannot be read.
    pub(super) fn load(vault: &Vault, name: &str) -> Known {
        fs::read(vault.beside(name))
            .ok()
            .and_then(|bytes| postcard::from_bytes(&bytes).ok())
            .unwrap_or_default()
    }

    pub(super) fn save(&self, vault: &Vault, name: &str) -> Result<(), RepoError> {
        let bytes = postcard::to_stdvec(self).map_err(|error| RepoError::Damaged(error.to_string()))?;
        vault::replace(&vault.beside(name), &bytes)
    }

    pub(super) fn note(&mut self, path: &[u8], stamp: Stamp, content: Digest) {
        self.files.insert(path.to_owned(), (stamp, content));
    }

    /// The content of a file that surely was not written since.
    pub(super) fn content(&self, path: &[u8], stamp: &Stamp) -> Option<Digest> {
        let (known, content) = self.files.get(path)?;
        (known == stamp && known.settled(self.at_ms)).then_some(*content)
    }

    /// How the walk found a file.
    pub(super) fn stamp(&self, path: &[u8]) -> Option<Stamp> {
        self.files.get(path).map(|(stamp, _)| *stamp)
    }
}
