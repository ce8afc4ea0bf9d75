//! Where package managers and compilers keep what they fetched and made: a folder of the workspace,
//! never the person's own. Knows their variables as data.

use std::path::Path;

use modes::{Containment, Posture};

use crate::{Access, Mount, Places, Spawn};

/// Where the folder is inside.
const INSIDE: &str = "/caches";

/// A variable that names a program's cache, the folder it gets, and whether the program works when it
/// cannot write there.
type Cache = (&'static str, &'static str, bool);

const CACHES: &[Cache] = &[
    ("BUNDLE_USER_CACHE", "bundle", false),
    ("CARGO_HOME", "cargo", true),
    ("COMPOSER_CACHE_DIR", "composer", false),
    ("DENO_DIR", "deno", false),
    ("GOCACHE", "go-build", false),
    ("GOMODCACHE", "go-mod", true),
    ("GRADLE_USER_HOME", "gradle", false),
    ("MIX_HOME", "mix", false),
    ("NUGET_PACKAGES", "nuget", false),
    ("PIP_CACHE_DIR", "pip", false),
    ("UV_CACHE_DIR", "uv", false),
    ("XDG_CACHE_HOME", "other", false),
    ("YARN_CACHE_FOLDER", "yarn", false),
    ("npm_config_cache", "npm", false),
];

/// Shows a process the caches of its workspace, which it writes where it may write the worktree. A
/// throw-away view has the person's own beneath a layer of its own, and needs none.
pub fn share_caches(folder: &Path, containment: Containment, places: &mut Places, spawn: &mut Spawn) {
    if containment.is_thrown_away() {
        return;
    }
    let access = match containment.worktree() {
        Posture::Writable => Access::ReadWrite,
        Posture::ReadOnly => Access::ReadOnly,
    };
    places.mounts.push(Mount {
        source: folder.to_owned(),
        target: INSIDE.into(),
        access,
    });
    let written = access == Access::ReadWrite;
    let used = CACHES
        .iter()
        .filter(|(_, _, can_be_read_only)| written || *can_be_read_only);
    let variables = used.map(|(name, part, _)| ((*name).to_owned(), format!("{INSIDE}/{part}")));
    spawn.environment.extend(variables);
    if written {
        let maven = format!("-Dmaven.repo.local={INSIDE}/maven");
        spawn.environment.push(("MAVEN_ARGS".to_owned(), maven));
    }
}
