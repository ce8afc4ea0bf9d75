//! The repositories of a worktree as they were before the process that runs there now, kept in a
//! file: should this program be killed meanwhile, the next one knows what was planted.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::guards::{Guarded, Made};
use crate::scratch::private_folder;
use crate::survey::{self, Violation};
use crate::walk::Identity;
use crate::{Places, SandboxError};

/// The folder of a scratch folder that planted repositories are moved to; not shown inside.
const QUARANTINE: &str = "quarantine";

/// Moves away what a writable process planted whose program was killed before it could look. Does
/// nothing where the last one was looked after. Not to be called while a process of the same record
/// is running.
pub fn recover(places: &Places) -> Result<Vec<Violation>, SandboxError> {
    let text = match fs::read(&places.record) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(SandboxError::system("reading the record of repositories")(error)),
    };
    let before: BTreeSet<Identity> = serde_json::from_slice(&text).map_err(|error| SandboxError::Place {
        path: places.record.clone(),
        why: format!("this record of the repositories before the last command cannot be read ({error}); look for planted .git entries, then remove it"),
    })?;
    settle(places, &before, None).map_err(|error| match error {
        SandboxError::Planted { what } => SandboxError::Unsettled { what },
        other => other,
    })
}

/// Writes the record, lastingly, before a process starts.
pub(crate) fn keep(record: &Path, before: &BTreeSet<Identity>) -> Result<(), SandboxError> {
    let folder = record.parent().unwrap_or(Path::new("/"));
    let written = || {
        let draft = record.with_extension("draft");
        let mut file = File::create(&draft)?;
        file.write_all(&serde_json::to_vec(before)?)?;
        file.sync_all()?;
        fs::rename(&draft, record)?;
        File::open(folder)?.sync_all()
    };
    private_folder(folder)?;
    written().map_err(SandboxError::system("writing the record of repositories"))
}

/// Removes the record of a process that never started.
pub(crate) fn drop_unused(places: &Places) {
    // One that stays makes the next process look once more.
    drop(fs::remove_file(&places.record));
}

/// Moves away what is not in `before`, and what was made of the guarded paths; only when everything is, the record is removed.
pub(crate) fn settle(
    places: &Places,
    before: &BTreeSet<Identity>,
    guarded: Option<&Guarded>,
) -> Result<Vec<Violation>, SandboxError> {
    let made = guarded.map(|before| Made::new(&places.guards, &places.worktree, before));
    let violations = survey::neutralise(&places.worktree, before, made, &places.scratch.join(QUARANTINE))?;
    if let Some(before) = guarded {
        before.put_links_back(&places.guards, &places.worktree);
    }
    match fs::remove_file(&places.record) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(SandboxError::system("removing the record of repositories")(error))
        }
        _ => Ok(violations),
    }
}
