//! Where package managers and compilers keep what they fetched and made: a folder of the workspace,
//! never the person's own. Knows their variables as data.

use std::path::Path;

use modes::{Containment, Posture};

use crate::{Access, Mount, Places, Spawn};

/// Where the folder is inside.
const INSIDE: &str = "/caches";

/// Variables that name a program's cache, and the folder each gets.
const VARIABLES: &[(&str, &str)] = &[
    ("BUNDLE_USER_CACHE", "bundle"),
    ("CARGO_HOME", "cargo"),
    ("COMPOSER_CACHE_DIR", "composer"),
    ("DENO_DIR", "deno"),
    ("GOCACHE", "go-build"),
    ("GOMODCACHE", "go-mod"),
    ("GRADLE_USER_HOME", "gradle"),
    ("MIX_HOME", "mix"),
    ("NUGET_PACKAGES", "nuget"),
    ("PIP_CACHE_DIR", "pip"),
    ("UV_CACHE_DIR", "uv"),
    ("XDG_CACHE_HOME", "other"),
    ("YARN_CACHE_FOLDER", "yarn"),
    ("npm_config_cache", "npm"),
];

/// Shows a process the caches of its workspace, which it writes where it may write the worktree.
pub fn share_caches(folder: &Path, containment: Containment, places: &mut Places, spawn: &mut Spawn) {
    let access = match containment.worktree() {
        Posture::Writable => Access::ReadWrite,
        Posture::ReadOnly => Access::ReadOnly,
    };
    places.mounts.push(Mount {
        source: folder.to_owned(),
        target: INSIDE.into(),
        access,
    });
    let variables = VARIABLES
        .iter()
        .map(|(name, part)| ((*name).to_owned(), format!("{INSIDE}/{part}")));
    spawn.environment.extend(variables);
    spawn
        .environment
        .push(("MAVEN_ARGS".to_owned(), format!("-Dmaven.repo.local={INSIDE}/maven")));
}
