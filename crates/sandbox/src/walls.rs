//! What the walls are made of on this host: the programs of ours, found once, and the toolchains.

use std::path::{Path, PathBuf};

use modes::Containment;

use crate::inside::Held;
use crate::{Places, Proof, SandboxError, Toolchains, programs, proof};

/// What is put up around a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// bubblewrap, Landlock and seccomp.
    Namespaces,
    /// Landlock and seccomp alone, where no namespace can be made; see `LOST`.
    Kernel,
    /// Nothing: an operator does without, or the container is the wall.
    Nothing,
}

/// What programs lose, and what is lost of the walls, without namespaces.
pub const LOST: &str = "programs change no modes, owners, times or locks of files, make nothing new beside a `.git` \
                        or a hidden file, and see no `/proc`; they can tell that files and processes outside exist";

/// The walls of this host, ready to be put up around a process. Cheap to clone behind an `Arc`.
#[derive(Debug, Clone)]
pub struct Walls {
    pub(crate) around: Around,
    pub(crate) bash: PathBuf,
    pub(crate) git: Option<PathBuf>,
    pub(crate) helper: PathBuf,
    pub(crate) toolchains: Toolchains,
}

/// A backend with its program.
#[derive(Debug, Clone)]
pub(crate) enum Around {
    Namespaces { bwrap: PathBuf },
    Kernel,
    Nothing,
}

impl Around {
    pub(crate) fn held(&self) -> Held {
        match self {
            Self::Namespaces { .. } => Held::Namespaces,
            Self::Kernel => Held::Kernel,
            Self::Nothing => Held::Nothing,
        }
    }

    fn bwrap(&self) -> Option<&PathBuf> {
        match self {
            Self::Namespaces { bwrap } => Some(bwrap),
            Self::Kernel | Self::Nothing => None,
        }
    }
}

/// Whether walls can stand on this host, for a person to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WallsState {
    /// They stood and held when they were tried.
    Proven,
    /// What the kernel holds without namespaces held when it was tried; `LOST` is lost.
    Partial,
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
        Self::of(Backend::Namespaces, helper, toolchains)
    }

    /// The same with what is put up around a process. Only an operator's word makes it anything but
    /// `Namespaces`.
    pub fn of(backend: Backend, helper: impl AsRef<Path>, toolchains: Toolchains) -> Result<Self, SandboxError> {
        let helper = helper
            .as_ref()
            .canonicalize()
            .map_err(SandboxError::system("finding our own executable"))?;
        Ok(Self {
            around: match backend {
                Backend::Namespaces => Around::Namespaces {
                    bwrap: programs::find("bwrap")?,
                },
                Backend::Kernel => Around::Kernel,
                Backend::Nothing => Around::Nothing,
            },
            bash: programs::find("bash")?,
            git: programs::find("git").ok(),
            helper,
            toolchains,
        })
    }

    /// The programs of ours, by name, each at the absolute path it is started from.
    pub fn programs(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let found = [
            ("bwrap", self.around.bwrap()),
            ("bash", Some(&self.bash)),
            ("git", self.git.as_ref()),
        ];
        found
            .into_iter()
            .filter_map(|(name, path)| Some((name, path?.as_path())))
    }

    /// Where the inner PATH leads for the name of a program.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let system = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
        let folders = self.toolchains.path.iter().chain(&system);
        folders.map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    /// Tries the walls from inside and from outside, in a fresh folder beneath `scratch`.
    pub async fn prove(&self, scratch: &Path) -> Proof {
        let mut containments = vec![Containment::read_only(), Containment::repository_write()];
        // Only a network of its own can have the proxy in it.
        if self.around.held() == Held::Namespaces {
            containments.push(Containment::gated());
        }
        proof::prove(self, &containments, scratch).await
    }

    /// Tries a throw-away view in the same way: what is written there is gone, and all else holds.
    pub async fn prove_throw_away(&self, scratch: &Path) -> Proof {
        proof::prove(self, &[Containment::throw_away()], scratch).await
    }

    /// The programs still belong to the system, and this process cannot replace one of them.
    pub(crate) fn check(&self, containment: Containment, places: &Places) -> Result<(), SandboxError> {
        if containment.is_thrown_away() && self.around.held() != Held::Namespaces {
            return Err(SandboxError::WallsFailed(
                "a throw-away copy needs bubblewrap and its namespaces".into(),
            ));
        }
        let written = places.written(containment);
        for program in self.around.bwrap().into_iter().chain([&self.bash]).chain(&self.git) {
            programs::trust(program)?;
            programs::out_of_reach(program, &written)?;
        }
        programs::out_of_reach(&self.helper, &written)
    }
}
