//! Compilers and interpreters that live outside of `/usr`: read-only folders of the view, with the
//! variables that let them be found. Knows folders by name; never a credential file.

use std::path::{Path, PathBuf};

/// Folders shown read-only to every walled process, and how to find the programs in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toolchains {
    /// Absolute folders, bound read-only at their own path.
    pub folders: Vec<PathBuf>,
    /// Folders put before the system's in PATH.
    pub path: Vec<PathBuf>,
    /// Variables that name a toolchain's home, such as `RUSTUP_HOME`.
    pub environment: Vec<(String, String)>,
    /// Package caches, shown in a throw-away view alone.
    pub caches: Vec<Cache>,
}

/// A folder of downloaded packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    /// Where it lies.
    pub folder: PathBuf,
    /// Where a program looks for it, beneath its HOME.
    pub beneath_home: PathBuf,
}

struct Known {
    folder: &'static str,
    programs: &'static [&'static str],
    home_variable: Option<&'static str>,
}

/// `~/.cargo` itself is not here: it holds `credentials.toml`.
const KNOWN: [Known; 6] = [
    Known {
        folder: ".cargo/bin",
        programs: &[".cargo/bin"],
        home_variable: None,
    },
    Known {
        folder: ".rustup",
        programs: &[],
        home_variable: Some("RUSTUP_HOME"),
    },
    Known {
        folder: ".pyenv",
        programs: &[".pyenv/shims", ".pyenv/bin"],
        home_variable: Some("PYENV_ROOT"),
    },
    Known {
        folder: ".volta",
        programs: &[".volta/bin"],
        home_variable: Some("VOLTA_HOME"),
    },
    Known {
        folder: ".bun/bin",
        programs: &[".bun/bin"],
        home_variable: None,
    },
    Known {
        folder: ".deno/bin",
        programs: &[".deno/bin"],
        home_variable: None,
    },
];

/// Folders of downloaded packages, each below the file its tool keeps tokens in.
const CACHES: [&str; 12] = [
    ".cache/go-build",
    ".cache/pip",
    ".cache/pypoetry",
    ".cache/uv",
    ".cache/yarn",
    ".cargo/git",
    ".cargo/registry",
    ".gradle/caches",
    ".local/share/pnpm/store",
    ".m2/repository",
    ".npm/_cacache",
    "go/pkg/mod",
];

impl Toolchains {
    /// The toolchains that stand in a person's home folder.
    pub fn of_home(home: &Path) -> Self {
        let mut found = Self::default();
        for known in &KNOWN {
            let folder = home.join(known.folder);
            if !folder.is_dir() {
                continue;
            }
            if let Some((variable, text)) = known.home_variable.zip(folder.to_str()) {
                found.environment.push((variable.into(), text.into()));
            }
            found.folders.push(folder);
            found
                .path
                .extend(known.programs.iter().map(|programs| home.join(programs)));
        }
        found.caches = CACHES
            .iter()
            .map(|cache| Cache {
                folder: home.join(cache),
                beneath_home: cache.into(),
            })
            .filter(|cache| cache.folder.is_dir())
            .collect();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_is_shown_without_its_credentials() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join(".cargo/bin")).unwrap();
        std::fs::create_dir_all(home.path().join(".rustup")).unwrap();
        let found = Toolchains::of_home(home.path());
        assert_eq!(
            found.folders,
            [home.path().join(".cargo/bin"), home.path().join(".rustup")]
        );
        assert_eq!(found.path, [home.path().join(".cargo/bin")]);
        assert_eq!(
            found.environment,
            [(
                "RUSTUP_HOME".to_owned(),
                home.path().join(".rustup").display().to_string()
            )]
        );
    }
}
