//! Paths of git calls: names beneath the worktree, which need not exist. Git takes them literally,
//! inside its walls; here they are only judged.

use std::path::{Component, Path, PathBuf};

use modes::paths::{names_repository, secret_shaped};
use modes::{Effect, ProposedCall, Target};

use crate::scope::Scope;
use crate::tool::BadArguments;

/// Judges paths and turns them into paths beneath the repository's own worktree. A secret-shaped
/// one adds its effect; the flag says whether any is.
pub(super) fn judged(
    asked: &[String],
    mut call: ProposedCall,
    scope: &Scope,
) -> Result<(ProposedCall, Vec<PathBuf>, bool), BadArguments> {
    let mut paths = Vec::new();
    let mut secret = false;
    for path in asked {
        let relative = beneath(path, scope)?;
        let shown = if relative.as_os_str().is_empty() {
            ".".to_owned()
        } else {
            relative.to_string_lossy().into_owned()
        };
        if secret_shaped(&shown) {
            secret = true;
            call = call.with_effect(Effect::SecretAccess);
        }
        call = call.with_target(Target::Read { path: shown });
        paths.push(in_repository(&relative, scope));
    }
    Ok((call, paths, secret))
}

fn beneath(asked: &str, scope: &Scope) -> Result<PathBuf, BadArguments> {
    let refused = |why: &str| {
        BadArguments(format!(
            "{asked:?} {why}; give paths beneath the project. Example: src/main.rs"
        ))
    };
    let path = Path::new(asked);
    let path = if path.is_absolute() {
        path.strip_prefix(&scope.worktree)
            .map_err(|_| refused("lies outside the project"))?
    } else {
        path
    };
    if asked.is_empty() || asked.contains('\0') {
        return Err(refused("is no path"));
    }
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) if !names_repository(&name.to_string_lossy()) => plain.push(name),
            Component::Normal(_) => return Err(refused("belongs to the repository's own records")),
            _ => return Err(refused("goes up with `..`")),
        }
    }
    Ok(plain)
}

/// The run's worktree may be a folder within the repository's.
fn in_repository(relative: &Path, scope: &Scope) -> PathBuf {
    let top = scope
        .checkout
        .as_ref()
        .and_then(|checkout| scope.worktree.strip_prefix(&checkout.worktree).ok());
    let path = top.map_or_else(|| relative.to_owned(), |top| top.join(relative));
    if path.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        path
    }
}
