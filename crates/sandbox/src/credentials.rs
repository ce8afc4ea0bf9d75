//! Where people and their tools keep secrets: hidden from every process, and for in-process tools
//! to refuse. The list of names stands in `modes`; nothing here is ever opened.

use std::path::{Path, PathBuf};

use modes::paths::CREDENTIAL_STORES;

/// The credential stores of a home folder, there or not.
pub fn credential_stores(home: &Path) -> Vec<PathBuf> {
    CREDENTIAL_STORES.iter().map(|store| home.join(store)).collect()
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
        assert!(CREDENTIAL_STORES.is_sorted());
        let stores = credential_stores(Path::new("/home/ada"));
        assert!(stores.contains(&"/home/ada/.ssh".into()));
        assert!(stores.iter().all(|store| store.starts_with("/home/ada")));
    }
}
