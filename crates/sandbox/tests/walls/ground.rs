//! A worktree, a folder outside of it, and processes inside the walls.

use std::fs;
use std::path::{Path, PathBuf};

use modes::Containment;
use stance_sandbox::{Finished, Places, Program, SandboxError, Spawn, Toolchains, Walls, spawn};

pub(crate) struct Ground {
    folder: tempfile::TempDir,
    pub(crate) tree: PathBuf,
    pub(crate) outside: PathBuf,
    pub(crate) places: Places,
    pub(crate) walls: Walls,
}

pub(crate) const READ_ONLY: Containment = Containment::read_only();

/// The containment of a run that may write its worktree.
pub(crate) const WRITABLE: Containment = Containment::repository_write();

impl Ground {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (tree, outside) = (root.join("tree"), root.join("outside"));
        for path in [&tree, &outside] {
            fs::create_dir(path).unwrap();
            fs::write(path.join("file"), "as it was\n").unwrap();
        }
        let places = Places::new(&tree, root.join("scratch"));
        let walls = Walls::new(env!("CARGO_BIN_EXE_stance-walls-probe"), Toolchains::default()).unwrap();
        Self {
            folder,
            tree,
            outside,
            places,
            walls,
        }
    }

    /// With a git repository of one commit, sealed as a run's is.
    pub(crate) fn with_repository() -> Self {
        let mut ground = Self::new();
        ground.git(&["init", "-q", "-b", "main"]);
        ground.git(&["add", "."]);
        ground.git(&["commit", "-q", "-m", "first"]);
        ground.places.sealed.push(ground.tree.join(".git"));
        ground
    }

    /// Git as a person runs it on the host.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = std::process::Command::new("git")
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
            // Else it tidies up behind us while the tests look.
            .args(["-c", "maintenance.auto=false"])
            .args(arguments)
            .current_dir(&self.tree)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) async fn run(&self, containment: Containment, spawn_it: Spawn) -> Result<Finished, SandboxError> {
        spawn(&self.walls, containment, &self.places, spawn_it)?.wait().await
    }

    /// Runs a shell line in the worktree.
    pub(crate) async fn shell(&self, containment: Containment, line: &str) -> Finished {
        let spawn_it = Spawn::new(Program::Shell(line.into()), &self.tree);
        self.run(containment, spawn_it).await.unwrap()
    }

    /// Standard output of a shell line that succeeds.
    pub(crate) async fn output(&self, containment: Containment, line: &str) -> String {
        let finished = self.shell(containment, line).await;
        assert_eq!(finished.exit, Some(0), "{}", finished.stderr.text());
        finished.stdout.text()
    }
}

pub(crate) fn content(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}
