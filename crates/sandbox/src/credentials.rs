//! Where people and their tools keep secrets: hidden from every process, and for in-process tools
//! to refuse. Names only; nothing here is ever opened.

use std::path::{Path, PathBuf};

/// Beneath a home folder. A folder stands for everything in it.
const STORES: [&str; 34] = [
    ".1password",
    ".aws",
    ".azure",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude",
    ".codex",
    ".composer/auth.json",
    ".config/containers/auth.json",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/google-chrome",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".docker/config.json",
    ".gem/credentials",
    ".git-credentials",
    ".gnupg",
    ".gradle/gradle.properties",
    ".kube",
    ".local/share/keyrings",
    ".m2/settings.xml",
    ".mozilla",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".ssh",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
];

/// The credential stores of a home folder, there or not.
pub fn credential_stores(home: &Path) -> Vec<PathBuf> {
    STORES.iter().map(|store| home.join(store)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Toolchains;

    #[test]
    fn no_toolchain_shows_a_store() {
        let home = tempfile::tempdir().unwrap();
        for folder in [".cargo/bin", ".rustup", ".pyenv", ".volta", ".bun/bin", ".deno/bin"] {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        let toolchains = Toolchains::of_home(home.path());
        assert_eq!(toolchains.folders.len(), 6);
        for store in credential_stores(home.path()) {
            assert!(
                !toolchains.folders.iter().any(|folder| store.starts_with(folder)),
                "{store:?}"
            );
        }
    }

    #[test]
    fn the_list_is_sorted_and_beneath_home() {
        assert!(STORES.is_sorted());
        let stores = credential_stores(Path::new("/home/ada"));
        assert!(stores.contains(&"/home/ada/.ssh".into()));
        assert!(stores.iter().all(|store| store.starts_with("/home/ada")));
    }
}
