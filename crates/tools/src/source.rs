//! What a reading call begins with: a file or a folder, found, opened and judged.

use modes::ProposedCall;

use crate::place::{Held, Roots, in_words, not_a_file};
use crate::scope::Scope;
use crate::tool::BadArguments;
use crate::walk::{Start, readable};

/// Where reading begins.
pub(crate) enum Source {
    /// It is never read, and the call says so.
    Nowhere,
    File(Held),
    Folder {
        start: Start,
        /// Whether the folder itself was named like a secret, so that only names beneath it tell one.
        secret: bool,
    },
}

impl Source {
    /// Opens what a path names, and adds to the call what reading it means.
    pub(crate) fn open(path: &str, call: ProposedCall, scope: &Scope) -> Result<(ProposedCall, Source), BadArguments> {
        let roots = Roots::of(scope)?;
        let place = roots.find(path)?;
        let in_worktree = place.in_worktree();
        let (call, held) = place.for_reading(call)?;
        let Some(held) = held else {
            return Ok((call, Source::Nowhere));
        };
        let call = held.guarding(call);
        match not_a_file(&held.stat) {
            None => Ok((call, Source::File(held))),
            Some("a folder") => {
                let secret = held.secret;
                let start = start(&roots, held, in_worktree)?;
                Ok((call, Source::Folder { start, secret }))
            }
            Some(kind) => Err(BadArguments(format!("{} is {kind}, not a file or folder.", held.path))),
        }
    }
}

/// Where a walk through a folder that is held begins.
pub(crate) fn start(roots: &Roots<'_>, held: Held, in_worktree: bool) -> Result<Start, BadArguments> {
    let folder = readable(&held.node).map_err(|error| BadArguments(format!("{} {}.", held.path, in_words(error))))?;
    let worktree = in_worktree.then(|| roots.worktree().try_clone().ok()).flatten();
    Ok(Start {
        folder,
        path: held.path,
        worktree,
        shut: roots.shut(),
    })
}
