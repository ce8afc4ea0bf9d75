//! What the walls are made of on this host: the programs of ours, found once, and the toolchains.

use std::path::{Path, PathBuf};

use modes::Containment;

use crate::{Places, Proof, SandboxError, Toolchains, programs, proof};

/// The walls of this host, ready to be put up around a process. Cheap to clone behind an `Arc`.
#[derive(Debug, Clone)]
pub struct Walls {
    pub(crate) bwrap: PathBuf,
    pub(crate) bash: PathBuf,
    pub(crate) git: Option<PathBuf>,
    pub(crate) helper: PathBuf,
    pub(crate) toolchains: Toolchains,
}

/// Whether walls can stand on this host, for a person to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WallsState {
    /// They stood and held when they were tried.
    Proven,
    /// They cannot stand, or did not hold; nothing is started.
    Absent {
        /// The reason, in words.
        why: String,
    },
}

impl Walls {
    /// Finds the programs. `helper` is this very executable (or one whose `main` first calls
    /// `enter_if_asked`); it is re-entered as the first program inside.
    pub fn new(helper: impl AsRef<Path>, toolchains: Toolchains) -> Result<Self, SandboxError> {
        let helper = helper
            .as_ref()
            .canonicalize()
            .map_err(SandboxError::system("finding our own executable"))?;
        Ok(Self {
            bwrap: programs::find("bwrap")?,
            bash: programs::find("bash")?,
            git: programs::find("git").ok(),
            helper,
            toolchains,
        })
    }

    /// The programs of ours, by name, each at the absolute path it is started from.
    pub fn programs(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let found = [
            ("bwrap", Some(&self.bwrap)),
            ("bash", Some(&self.bash)),
            ("git", self.git.as_ref()),
        ];
        found
            .into_iter()
            .filter_map(|(name, path)| Some((name, path?.as_path())))
    }

    /// Tries the walls from inside and from outside, in a fresh folder beneath `scratch`.
    pub async fn prove(&self, scratch: &Path) -> Proof {
        proof::prove(self, scratch).await
    }

    /// The programs still belong to the system, and this process cannot replace one of them.
    pub(crate) fn check(&self, containment: Containment, places: &Places) -> Result<(), SandboxError> {
        let written = places.written(containment);
        for program in [&self.bwrap, &self.bash].into_iter().chain(&self.git) {
            programs::trust(program)?;
            programs::out_of_reach(program, &written)?;
        }
        programs::out_of_reach(&self.helper, &written)
    }
}
