//! What a push would send and where to, as digests of the repository's files. Starts no git and reads no
//! object: it only tells whether anything is as it was.

#![expect(clippy::disallowed_types, reason = "only the beginning of a long file is read")]

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use crate::Checkout;

/// More of one file is not looked at.
const LONGEST: u64 = 64 * 1024 * 1024;

impl Checkout {
    /// A digest of the settings by which git finds where a push goes.
    pub fn destinations(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for path in [
            self.common_dir.join("config"),
            self.git_dir.join("config.worktree"),
            self.common_dir.join("remotes"),
            self.common_dir.join("branches"),
        ] {
            take(&mut hasher, &path);
        }
        hasher.finalize().to_hex().to_string()
    }

    /// A digest of where HEAD and each reference stand.
    pub fn references(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for path in [
            self.git_dir.join("HEAD"),
            self.git_dir.join("refs"),
            self.common_dir.join("refs"),
            self.common_dir.join("packed-refs"),
        ] {
            take(&mut hasher, &path);
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// Takes a file, or every file beneath a folder, with its name. Links and pipes are no files of git's.
fn take(hasher: &mut blake3::Hasher, path: &Path) {
    let Ok(about) = path.symlink_metadata() else { return };
    if about.is_dir() {
        let mut within: Vec<_> = fs::read_dir(path).into_iter().flatten().flatten().collect();
        within.sort_by_key(fs::DirEntry::file_name);
        for entry in within {
            take(hasher, &entry.path());
        }
    } else if about.is_file() {
        let mut content = blake3::Hasher::new();
        let read = File::open(path).and_then(|file| content.update_reader(file.take(LONGEST)).map(drop));
        hasher.update(blake3::hash(path.as_os_str().as_encoded_bytes()).as_bytes());
        hasher.update(
            if read.is_ok() {
                content.finalize()
            } else {
                blake3::hash(b"")
            }
            .as_bytes(),
        );
    }
}
