//! A proof that still stands: kept in a file of ours under everything it depends on, so that not every
//! command has to try the walls anew. Knows nothing of who asks.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::scratch::private_folder;
use crate::{Proof, Walls, WallsState};

/// What is remembered of a throw-away view.
const THROW_AWAY: &str = "throw-away";

impl Walls {
    /// Whether the walls stand: as they were proven last on this very machine since it was started, or
    /// tried now in `folder`, a private one of ours.
    pub async fn stand(&self, folder: &Path) -> WallsState {
        let stood = self.state_when_proven();
        if self.remembers(&self.memory(folder)) {
            stood
        } else {
            self.prove_and_remember(folder).await.state()
        }
    }

    /// Whether a throw-away view stands, in the same way.
    pub async fn throw_away_stands(&self, folder: &Path) -> WallsState {
        if self.remembers(&folder.join(THROW_AWAY)) {
            WallsState::Proven
        } else {
            self.prove_throw_away_and_remember(folder).await.state()
        }
    }

    /// Tries the walls in `folder` and keeps what came of it for `stand`.
    pub async fn prove_and_remember(&self, folder: &Path) -> Proof {
        let scratch = folder.join(std::process::id().to_string());
        let proof = self.prove(&scratch).await;
        let stood = proof.state() == self.state_when_proven();
        self.remember(&scratch, &self.memory(folder), stood);
        proof
    }

    /// Tries a throw-away view in `folder` and keeps what came of it for `throw_away_stands`.
    pub async fn prove_throw_away_and_remember(&self, folder: &Path) -> Proof {
        let scratch = folder.join(format!("{THROW_AWAY}-{}", std::process::id()));
        let proof = self.prove_throw_away(&scratch).await;
        let stood = proof.state() == WallsState::Proven;
        self.remember(&scratch, &folder.join(THROW_AWAY), stood);
        proof
    }

    fn remembers(&self, memory: &Path) -> bool {
        self.depends_on()
            .is_some_and(|now| fs::read_to_string(memory).is_ok_and(|then| then == now))
    }

    fn remember(&self, scratch: &Path, memory: &Path, stood: bool) {
        // What is left is an empty folder, and harmless.
        drop(fs::remove_dir(scratch));
        let kept = match self.depends_on() {
            Some(now) if stood => {
                let folder = memory.parent().unwrap_or(Path::new("/"));
                private_folder(folder).is_ok() && fs::write(memory, now).is_ok()
            }
            _ => false,
        };
        if !kept {
            // It is tried again next time.
            drop(fs::remove_file(memory));
        }
    }

    fn memory(&self, folder: &Path) -> PathBuf {
        folder.join(self.around.held().word())
    }

    fn state_when_proven(&self) -> WallsState {
        match self.around {
            crate::walls::Around::Namespaces { .. } => WallsState::Proven,
            crate::walls::Around::Kernel | crate::walls::Around::Nothing => WallsState::Partial,
        }
    }

    /// Kernel, start of the machine, user, user namespace, and every program of ours as it is now. None
    /// where one of them cannot be told.
    fn depends_on(&self) -> Option<String> {
        let kernel = rustix::system::uname();
        let mut lines = vec![
            kernel.release().to_string_lossy().into_owned(),
            kernel.version().to_string_lossy().into_owned(),
            fs::read_to_string("/proc/sys/kernel/random/boot_id")
                .ok()?
                .trim()
                .to_owned(),
            rustix::process::geteuid().as_raw().to_string(),
            fs::read_link("/proc/self/ns/user").ok()?.display().to_string(),
            fs::read_link("/proc/self/ns/mnt").ok()?.display().to_string(),
        ];
        for (_, program) in self.programs().chain([("stance", self.helper.as_path())]) {
            let facts = program.metadata().ok()?;
            lines.push(format!(
                "{} {} {} {} {}.{} {}.{}",
                program.display(),
                facts.dev(),
                facts.ino(),
                facts.size(),
                facts.mtime(),
                facts.mtime_nsec(),
                facts.ctime(),
                facts.ctime_nsec()
            ));
        }
        Some(lines.join("\n"))
    }
}
