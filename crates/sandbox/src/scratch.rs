//! Private folders of ours, for processes and what they leave.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::SandboxError;

/// Makes a folder, and what is missing above it, that only we can look into. Returns its real path.
pub fn private_folder(path: &Path) -> Result<PathBuf, SandboxError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .and_then(|()| path.canonicalize())
        .map_err(SandboxError::system("making a private folder"))
}

/// A private folder that is removed, with everything in it, when this value is dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes the folder.
    pub fn new(path: &Path) -> Result<Self, SandboxError> {
        private_folder(path).map(Self)
    }

    /// Its real path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed lies in a private folder of ours, to be swept with that.
        drop(fs::remove_dir_all(&self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_scratch_folder_is_private_and_goes_with_its_value() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("a/b");
        let scratch = Scratch::new(&path).unwrap();
        fs::write(scratch.path().join("file"), "x").unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        drop(scratch);
        assert!(!path.exists());
        assert!(above.path().join("a").exists());
    }
}
