//! What a folder held, as a value: names and what stood at each. A folder is known by the digest of
//! its own record, so that equal folders are one and are never gone through twice.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use modes::paths::names_repository;
use serde::{Deserialize, Serialize};

use super::Why;
use crate::RepoError;

/// BLAKE3 of a content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct Digest([u8; 32]);

impl Digest {
    pub(super) fn of(bytes: &[u8]) -> Digest {
        Digest(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl FromStr for Digest {
    type Err = RepoError;

    fn from_str(text: &str) -> Result<Digest, RepoError> {
        blake3::Hash::from_hex(text)
            .map(|hash| Digest(*hash.as_bytes()))
            .map_err(|_| RepoError::Damaged(text.to_owned()))
    }
}

/// What stood at a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Node {
    File {
        content: Digest,
        size: u64,
        mode: u32,
    },
    Link {
        target: Vec<u8>,
    },
    Folder {
        tree: Digest,
        mode: u32,
    },
    /// It is not held: nothing is known of it, and nothing is done to it.
    Left(Why),
}

/// What stood in a folder, by name.
pub(super) type Folder = BTreeMap<Vec<u8>, Node>;

/// The record of a folder.
pub(super) fn encoded(folder: &Folder) -> Result<Vec<u8>, RepoError> {
    postcard::to_stdvec(folder).map_err(|error| RepoError::Damaged(error.to_string()))
}

/// A folder from its record. A name that is no plain one makes it damaged.
pub(super) fn decoded(bytes: &[u8]) -> Result<Folder, RepoError> {
    let damaged = |why: String| RepoError::Damaged(why);
    let folder: Folder = postcard::from_bytes(bytes).map_err(|error| damaged(error.to_string()))?;
    let odd = |name: &[u8]| {
        name.is_empty()
            || name.contains(&b'/')
            || name.contains(&0)
            || matches!(name, b"." | b"..")
            || names_repository(&String::from_utf8_lossy(name))
    };
    match folder.keys().find(|name| odd(name)) {
        Some(name) => Err(damaged(String::from_utf8_lossy(name).into_owned())),
        None => Ok(folder),
    }
}
