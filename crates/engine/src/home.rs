//! Where things lie beneath the home of Stance, and which workspace a folder belongs to. Nothing
//! readable from a repository takes part in its identity.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the engine keeps its folders, the journal's key and its head here and nowhere else"
)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::clock;
use crate::problem::{Problem, ProblemKind};

/// The folders of one workspace.
#[derive(Debug, Clone)]
pub(crate) struct WorkspaceHome {
    root: PathBuf,
    key: PathBuf,
}

impl WorkspaceHome {
    /// The home of the workspace whose shared folder (the common git folder, or the folder itself)
    /// is `shared`. Its random id is kept for the canonical path with device and inode.
    pub(crate) fn of(home: &Path, shared: &Path) -> Result<WorkspaceHome, Problem> {
        let failed = |error: std::io::Error| machine(format!("{}: {error}", home.display()));
        let meta = fs::metadata(shared).map_err(failed)?;
        let place = format!("{}\0{}\0{}", shared.display(), meta.dev(), meta.ino());
        let index = home.join("workspaces").join("places");
        private_folder(&index).map_err(failed)?;
        let entry = index.join(blake3::hash(place.as_bytes()).to_hex().as_str());
        let id = claim(&entry, &clock::new_id('w')).map_err(failed)?;
        let root = home.join("workspaces").join(&id);
        let keys = home.join("keys");
        for folder in [&root, &keys, &root.join("runs")] {
            private_folder(folder).map_err(failed)?;
        }
        Ok(WorkspaceHome {
            root,
            key: keys.join(id),
        })
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.root.join("journal.db")
    }

    /// Our own object folder for snapshots.
    pub(crate) fn objects(&self) -> PathBuf {
        self.root.join("objects")
    }

    /// What checkpoints hold.
    pub(crate) fn checkpoints(&self) -> PathBuf {
        self.root.join("checkpoints")
    }

    /// The journal's key, made on first use.
    pub(crate) fn journal_key(&self) -> Result<store::JournalKey, Problem> {
        let text = claim(&self.key, &hex::encode(clock::secret()))
            .map_err(|error| machine(format!("{}: {error}", self.key.display())))?;
        Ok(store::JournalKey::from_hex(&text)?)
    }

    /// Keeps the end of the journal beside its key, so that a journal cut shorter later is noticed.
    pub(crate) fn remember_head(&self, head: &store::Head) -> Result<(), Problem> {
        let file = self.head_file();
        let draft = file.with_extension(clock::new_id('d'));
        fs::write(&draft, head.to_string())
            .and_then(|()| fs::rename(&draft, &file))
            .map_err(|error| machine(format!("{}: {error}", file.display())))
    }

    /// The end of the journal as it was kept last.
    pub(crate) fn remembered_head(&self) -> Option<store::Head> {
        fs::read_to_string(self.head_file()).ok()?.parse().ok()
    }

    /// Where the end of the journal is kept.
    pub(crate) fn head_file(&self) -> PathBuf {
        self.key.with_extension("head")
    }

    /// The private scratch folder of a run, made on first use.
    pub(crate) fn scratch(&self, run: &str) -> Result<PathBuf, Problem> {
        let folder = self.root.join("runs").join(run).join("tmp");
        private_folder(&folder).map_err(|error| machine(format!("{}: {error}", folder.display())))?;
        Ok(folder)
    }

    /// Whether this is the first time that something is said in this workspace.
    pub(crate) fn first_time(&self, what: &str) -> Result<bool, Problem> {
        let said = self.root.join("said");
        match private_folder(&said).and_then(|()| fs::File::create_new(said.join(what))) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(machine(format!("{}: {error}", said.display()))),
        }
    }

    /// Where packages and builds of the workspace are kept for processes of its runs, made on first use.
    pub(crate) fn caches(&self) -> Result<PathBuf, Problem> {
        let folder = self.root.join("caches");
        private_folder(&folder).map_err(|error| machine(format!("{}: {error}", folder.display())))?;
        Ok(folder)
    }

    /// Where the repositories of a checkout are kept in mind while a process of a run writes there.
    pub(crate) fn repositories(&self, worktree: &Path) -> PathBuf {
        let name = blake3::hash(worktree.as_os_str().as_encoded_bytes()).to_hex();
        self.root.join(format!("repositories-{name}.json"))
    }

    /// All such records: those of MCP servers have a name of their own.
    pub(crate) fn all_repositories(&self, worktree: &Path) -> Vec<PathBuf> {
        let shared = self.repositories(worktree);
        let servers = shared.with_extension("mcp-");
        let begins = servers.file_name().unwrap_or_default().as_encoded_bytes();
        let own = fs::read_dir(&self.root)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| {
                let name = entry.file_name();
                name.as_encoded_bytes().starts_with(begins) && name.as_encoded_bytes().ends_with(b".json")
            });
        std::iter::once(shared.clone())
            .chain(own.map(|entry| entry.path()))
            .collect()
    }

    /// The folder of an MCP server, made on first use: its home and `/tmp`, and nobody else's.
    pub(crate) fn server(&self, name: &str) -> Result<PathBuf, Problem> {
        let folder = self.root.join("mcp").join(name);
        private_folder(&folder).map_err(|error| machine(format!("{}: {error}", folder.display())))?;
        Ok(folder)
    }

    /// Marks that the effect of a call is about to begin. Between the event that says a call was
    /// started and this mark nothing has happened yet.
    pub(crate) fn mark_begun(&self, run: &str, call: &str) -> Result<(), Problem> {
        let mark = self.mark(run, call);
        let folder = self.root.join("runs").join(run).join("begun");
        private_folder(&folder)
            .and_then(|()| {
                fs::OpenOptions::new()
                    .write(true)
                    .create(true)
                    .truncate(true)
                    .mode(0o600)
                    .open(&mark)
            })
            .map(drop)
            .map_err(|error| machine(format!("{}: {error}", mark.display())))
    }

    /// Whether the effect of a started call may have begun.
    pub(crate) fn has_begun(&self, run: &str, call: &str) -> bool {
        self.mark(run, call).exists()
    }

    fn mark(&self, run: &str, call: &str) -> PathBuf {
        let name = blake3::hash(call.as_bytes()).to_hex();
        self.root.join("runs").join(run).join("begun").join(name.as_str())
    }
}

fn machine(message: String) -> Problem {
    Problem::new(ProblemKind::Machine, message).hint("STANCE_HOME names the folder where Stance keeps its state.")
}

fn private_folder(folder: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// The text of a file that is written once and then only read, whoever comes first.
fn claim(file: &Path, text: &str) -> std::io::Result<String> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    let draft = folder.join(format!(".{}", clock::new_id('d')));
    let mut open = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    open.write_all(text.as_bytes())?;
    open.sync_all()?;
    match fs::hard_link(&draft, file) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            fs::remove_file(&draft)?;
            return Err(error);
        }
        _ => fs::remove_file(&draft)?,
    }
    fs::read_to_string(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_keeps_its_workspace_and_a_copy_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let (home, a, b) = (
            folder.path().join("home"),
            folder.path().join("a"),
            folder.path().join("b"),
        );
        fs::create_dir(&a).unwrap();
        fs::create_dir(&b).unwrap();
        let first = WorkspaceHome::of(&home, &a).unwrap();
        assert_eq!(WorkspaceHome::of(&home, &a).unwrap().database(), first.database());
        assert_ne!(WorkspaceHome::of(&home, &b).unwrap().database(), first.database());
        fs::rename(&a, folder.path().join("old")).unwrap();
        fs::create_dir(&a).unwrap();
        assert_ne!(WorkspaceHome::of(&home, &a).unwrap().database(), first.database());
    }

    #[test]
    fn the_head_is_kept_beside_the_key() {
        let folder = tempfile::tempdir().unwrap();
        let home = WorkspaceHome::of(&folder.path().join("home"), folder.path()).unwrap();
        assert_eq!(home.remembered_head(), None);
        let head = store::Head {
            number: 7,
            link: "ab".repeat(32),
        };
        home.remember_head(&head).unwrap();
        assert_eq!(home.remembered_head(), Some(head));
    }

    #[test]
    fn the_key_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let home = WorkspaceHome::of(&folder.path().join("home"), folder.path()).unwrap();
        home.journal_key().unwrap();
        let text = fs::read_to_string(&home.key).unwrap();
        home.journal_key().unwrap();
        assert_eq!(fs::read_to_string(&home.key).unwrap(), text);
        assert_eq!(text.len(), 64);
    }
}
