//! What differs between two checkpoints. What one of them does not hold differs from nothing.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::tree::{Digest, Folder, Node};
use super::vault::Vault;
use super::{Change, Difference};
use crate::RepoError;

/// A path and what stood there, then and later. Neither is something that is not held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) path: PathBuf,
    pub(super) earlier: Option<Node>,
    pub(super) later: Option<Node>,
}

impl Pair {
    /// Whether a folder is later where none was.
    pub(super) fn makes_folder(&self) -> bool {
        let folder = |node: &Option<Node>| matches!(node, Some(Node::Folder { .. }));
        folder(&self.later) && !folder(&self.earlier)
    }
}

/// Everything that differs, folders before what is in them.
pub(super) fn pairs(vault: &Vault, earlier: Digest, later: Digest) -> Result<Vec<Pair>, RepoError> {
    let mut pairs = Vec::new();
    if earlier != later {
        let (earlier, later) = (vault.folder(&earlier)?, vault.folder(&later)?);
        between(vault, Path::new(""), &earlier, &later, &mut pairs)?;
    }
    pairs.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(pairs)
}

fn between(
    vault: &Vault,
    path: &Path,
    earlier: &Folder,
    later: &Folder,
    pairs: &mut Vec<Pair>,
) -> Result<(), RepoError> {
    let added = later.keys().filter(|name| !earlier.contains_key(*name));
    for name in earlier.keys().chain(added) {
        let (before, after) = (earlier.get(name), later.get(name));
        let unknown = |node: Option<&Node>| matches!(node, Some(Node::Left(_)));
        if before == after || unknown(before) || unknown(after) {
            continue;
        }
        let path = path.join(OsStr::from_bytes(name));
        let inside = (contents(vault, before)?, contents(vault, after)?);
        if inside != (None, None) {
            between(
                vault,
                &path,
                &inside.0.unwrap_or_default(),
                &inside.1.unwrap_or_default(),
                pairs,
            )?;
        }
        if !only_inside(before, after) {
            pairs.push(Pair {
                path,
                earlier: before.cloned(),
                later: after.cloned(),
            });
        }
    }
    Ok(())
}

fn contents(vault: &Vault, node: Option<&Node>) -> Result<Option<Folder>, RepoError> {
    match node {
        Some(Node::Folder { tree, .. }) => vault.folder(tree).map(Some),
        _ => Ok(None),
    }
}

/// Whether two folders differ in nothing but what is in them.
fn only_inside(before: Option<&Node>, after: Option<&Node>) -> bool {
    match (before, after) {
        (Some(Node::Folder { mode, .. }), Some(Node::Folder { mode: other, .. })) => mode == other,
        _ => false,
    }
}

/// The differences as people read them: a folder that came or went stands for itself only when nothing
/// in it does.
pub(super) fn shown(pairs: &[Pair]) -> Vec<Difference> {
    let folder = |node: &Option<Node>| matches!(node, Some(Node::Folder { .. }));
    let mut shown = Vec::new();
    for (index, pair) in pairs.iter().enumerate() {
        let is_folder = folder(&pair.earlier) || folder(&pair.later);
        let spoken_for = is_folder
            && pairs
                .get(index + 1)
                .is_some_and(|next| next.path.starts_with(&pair.path))
            && (pair.earlier.is_none() || pair.later.is_none());
        if !spoken_for {
            shown.push(Difference {
                path: pair.path.clone(),
                change: change(pair),
                earlier: Digest::of(format!("{:?}", pair.earlier).as_bytes()).to_string(),
            });
        }
    }
    shown
}

fn change(pair: &Pair) -> Change {
    match (&pair.earlier, &pair.later) {
        (None, _) => Change::Added,
        (_, None) => Change::Deleted,
        (Some(Node::File { content, .. }), Some(Node::File { content: other, .. })) if content == other => Change::Mode,
        (Some(Node::Folder { .. }), Some(Node::Folder { .. })) => Change::Mode,
        _ => Change::Content,
    }
}
