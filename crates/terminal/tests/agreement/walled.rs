//! Processes inside the real walls of a run.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use modes::{Judged, Posture, RunSpec};
use sandbox::{Places, Program, Spawn, Toolchains, Walls, spawn};

use crate::drawn::{Attempt, Call, Place};
use crate::ground::Ground;

/// The real walls, put up by the real binary, with everything a process could want to change.
pub(crate) struct Walled<'a> {
    ground: &'a Ground,
    walls: Walls,
    runtime: tokio::runtime::Runtime,
    listener: TcpListener,
}

impl<'a> Walled<'a> {
    pub(crate) fn new(ground: &'a Ground) -> Walled<'a> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Walled {
            ground,
            walls: Walls::new(PathBuf::from(env!("CARGO_BIN_EXE_stance")), Toolchains::default()).unwrap(),
            runtime: tokio::runtime::Runtime::new().unwrap(),
            listener,
        }
    }

    fn folder(&self, place: Place) -> PathBuf {
        self.ground.path(match place {
            Place::Worktree => "repo",
            Place::Repository => "repo/.git",
            Place::Outside => "outside",
            Place::Home => "home",
            Place::StanceHome => "stance-home",
        })
    }

    /// A process of the run tries to change one place and to reach loopback.
    pub(crate) fn agrees(&self, spec: &RunSpec, attempt: &Attempt) {
        let folder = self.folder(attempt.place);
        let file = folder.join("file");
        fs::write(&file, "as it was\n").unwrap();
        let everything = ["repo", "home", "stance-home", "outside"].map(|name| self.ground.path(name));
        let before = everything.each_ref().map(|root| world(root));

        let line = Call {
            tool: "execute_command",
            effects: Vec::new(),
            line: Some(attempt.how),
        };
        let may_run = !matches!(line.judged(spec), Judged::Refusal(_));
        self.tries(spec, attempt.how, &file, &folder);

        let after = everything.each_ref().map(|root| world(root));
        let writable = spec.containment().worktree() == Posture::Writable;
        let changed = before != after;
        assert_eq!(
            changed,
            writable && attempt.place == Place::Worktree,
            "{} {attempt:?}",
            spec.label()
        );
        assert!(
            !may_run || writable,
            "{} may run what its walls were not built for",
            spec.label()
        );
        assert_eq!(
            writable,
            spec.surface().find("write_to_file").is_ok(),
            "{}",
            spec.label()
        );
        let reached = self.listener.accept();
        assert!(reached.is_err(), "{} reached loopback", spec.label());
        as_it_was(&folder);
    }

    fn tries(&self, spec: &RunSpec, how: &str, file: &Path, folder: &Path) {
        let port = self.listener.local_addr().unwrap().port();
        let line = format!(
            "set -- {} {}; {how}; exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached",
            quoted(file),
            quoted(folder)
        );
        let places = Places::new(self.ground.path("repo"), self.ground.path("scratch"));
        let process = Spawn::new(Program::Shell(line), self.ground.path("repo"));
        let finished = self
            .runtime
            .block_on(async {
                spawn(&self.walls, spec.containment(), &places, process)
                    .unwrap()
                    .wait()
                    .await
            })
            .unwrap();
        assert!(
            finished.excess.is_none() && finished.exit.is_some_and(|code| code != 127),
            "{}",
            finished.stderr.text()
        );
        assert!(!finished.stdout.text().contains("reached"), "{}", spec.label());
    }
}

/// Takes away what an attempt left in the one place it was let do so.
fn as_it_was(folder: &Path) {
    for name in ["file", "file.moved", "new"] {
        fs::remove_file(folder.join(name)).ok();
    }
    fs::remove_dir(folder.join("folder")).ok();
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display())
}

/// Every path beneath the root with its kind, mode, size, link target and content.
fn world(root: &Path) -> Vec<String> {
    use std::os::unix::fs::MetadataExt as _;
    let facts = fs::symlink_metadata(root).unwrap();
    let content = match fs::read_link(root) {
        Ok(target) => target.into_os_string().into_encoded_bytes(),
        Err(_) if facts.is_file() => fs::read(root).unwrap(),
        Err(_) => Vec::new(),
    };
    let mut lines = vec![format!("{} {:o} {content:?}", root.display(), facts.mode())];
    if facts.is_dir() {
        let mut entries: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        lines.extend(entries.iter().flat_map(|entry| world(entry)));
    }
    lines
}
