//! Which paths of a worktree git cannot read. Asked inside the same walls, where a process may read
//! less than we may. It must not know what becomes of them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;

use crate::{Checkout, Git, RepoError};

/// Prints each name of standard input that can be read, both ended by NUL. A symbolic link is read
/// by its name alone.
const READABLE: &str = r#"while IFS= read -r -d '' name
do if [[ -L ./$name || -r ./$name ]]; then printf '%s\0' "$name"; fi
done"#;

/// Of these names, the ones that are there, or may be, and cannot be read.
pub(crate) async fn unreadable(
    git: &Git,
    checkout: &Checkout,
    names: Vec<Vec<u8>>,
) -> Result<BTreeSet<Vec<u8>>, RepoError> {
    let mut left: BTreeSet<Vec<u8>> = names.into_iter().filter(|name| !is_gone(checkout, name)).collect();
    if left.is_empty() {
        return Ok(left);
    }
    let asked = left.iter().flat_map(|name| name.iter().copied().chain([0])).collect();
    let readable = git.shell(checkout, READABLE, asked).await?;
    for name in readable.split(|byte| *byte == 0) {
        left.remove(name);
    }
    Ok(left)
}

/// Whether there surely is nothing of that name. A folder that cannot be entered leaves it open.
fn is_gone(checkout: &Checkout, name: &[u8]) -> bool {
    checkout
        .worktree
        .join(OsStr::from_bytes(name))
        .symlink_metadata()
        .is_err_and(|error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
}
