//! A repository in a temporary folder, made with the system's git as a person would.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use sandbox::{Toolchains, Walls};
use stance_repo::{Checkout, Git, Identity, Read, RepoError, read};

pub(crate) struct Ground {
    folder: tempfile::TempDir,
    /// The worktree.
    pub(crate) tree: PathBuf,
    pub(crate) git: Git,
}

/// Everything of an entry that could change: mode, size, times to the nanosecond, content.
pub(crate) type Picture = BTreeMap<PathBuf, (u32, i64, i64, i64, i64, Vec<u8>)>;

impl Ground {
    /// A repository with one commit of `file` (three lines) and `src/lib.rs` on `main`.
    pub(crate) fn new() -> Self {
        let ground = Self::empty();
        ground.write("file", "one\ntwo\nthree\n");
        ground.write("src/lib.rs", "fn main() {}\n");
        ground.person(&["add", "."]);
        ground.person(&["commit", "-q", "-m", "first"]);
        ground
    }

    /// A repository without a commit.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let tree = root.join("tree");
        fs::create_dir(&tree).unwrap();
        let helper = env!("CARGO_BIN_EXE_stance-repo-walls");
        let walls = Arc::new(Walls::new(helper, Toolchains::default()).unwrap());
        let git = Git::new(walls, root.join("scratch"));
        let ground = Self { folder, tree, git };
        ground.person(&["init", "-q", "-b", "main"]);
        ground
    }

    /// A path beside the worktree.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.tree.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// A program that leaves a file behind when it runs, by absolute path.
    pub(crate) fn canary(&self, name: &str) -> (String, PathBuf) {
        let (program, trace) = (self.beside(&format!("{name}.sh")), self.beside(&format!("{name}.ran")));
        fs::write(&program, format!("#!/bin/sh\ntouch {}\ncat\n", trace.display())).unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        (program.display().to_string(), trace)
    }

    /// Git as a person runs it, which must succeed.
    pub(crate) fn person(&self, arguments: &[&str]) -> String {
        self.person_in(&self.tree, arguments)
    }

    pub(crate) fn person_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            // Else it tidies up behind us while the tests look.
            .args(["-c", "maintenance.auto=false"])
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(["AUTHOR", "COMMITTER"].map(|role| (format!("GIT_{role}_NAME"), "Ada")))
            .envs(["AUTHOR", "COMMITTER"].map(|role| (format!("GIT_{role}_EMAIL"), "ada@example.org")))
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn config(&self, key: &str, value: &str) {
        self.person(&["config", key, value]);
    }

    pub(crate) async fn checkout(&self) -> Checkout {
        Checkout::discover(&self.git, &self.tree).await.unwrap()
    }

    pub(crate) async fn read(&self, question: &Read) -> Result<String, RepoError> {
        let checkout = self.checkout().await;
        read(&self.git, &checkout, question, 1 << 20)
            .await
            .map(|answer| answer.text)
    }

    /// Everything in the worktree and its `.git`.
    pub(crate) fn picture(&self) -> Picture {
        let mut picture = Picture::new();
        let mut paths = vec![self.tree.clone()];
        while let Some(path) = paths.pop() {
            let facts = path.symlink_metadata().unwrap();
            let content = if facts.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            if facts.is_dir() {
                paths.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            picture.insert(
                path,
                (
                    facts.mode(),
                    facts.mtime(),
                    facts.mtime_nsec(),
                    facts.ctime(),
                    facts.ctime_nsec(),
                    content,
                ),
            );
        }
        picture
    }

    /// Makes a tracked file look changed by its times alone.
    pub(crate) fn touch(&self, path: &str) {
        let path = self.tree.join(path);
        let content = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, content).unwrap();
    }
}

pub(crate) fn ada() -> Identity {
    Identity::new("Ada", "ada@example.org").unwrap()
}

/// One question of each kind.
pub(crate) fn questions() -> Vec<Read> {
    let diff = |from: Option<&str>, staged| Read::Diff {
        from: from.map(str::to_owned),
        to: None,
        staged,
        paths: Vec::new(),
    };
    vec![
        Read::Status,
        Read::Log {
            revision: None,
            since: None,
            paths: Vec::new(),
            count: 20,
        },
        Read::Log {
            revision: None,
            since: None,
            paths: vec!["file".into()],
            count: 20,
        },
        diff(None, false),
        diff(Some("HEAD"), false),
        diff(None, true),
        Read::Show {
            revision: "HEAD".into(),
            path: None,
        },
        Read::Show {
            revision: "HEAD".into(),
            path: Some("file".into()),
        },
        Read::Blame {
            path: "file".into(),
            revision: None,
            lines: None,
        },
        Read::Blame {
            path: "file".into(),
            revision: Some("HEAD".into()),
            lines: Some((1, 2)),
        },
        Read::Branches,
        Read::MergeBase {
            left: "HEAD".into(),
            right: "main".into(),
        },
    ]
}
