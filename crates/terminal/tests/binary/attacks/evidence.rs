//! What an attack leaves behind: what the model was told, bytes in what Stance keeps, programs that
//! somebody opened, a repository's records.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::fs::inotify;
use rustix::io::Errno;
use serde_json::Value;

use crate::support::Place;

/// How one call of the model came out.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) tool: String,
    /// Everything the model read.
    pub(crate) text: String,
    pub(crate) error: bool,
    /// `performed`, `refused`, ….
    pub(crate) how: String,
}

/// The outcome of every call, in the order of the script.
pub(crate) fn told(events: &[Value]) -> Vec<Told> {
    let mut all: Vec<(Vec<usize>, Told)> = events
        .iter()
        .filter(|event| event["kind"] == "tool_finished")
        .map(|event| {
            let payload = &event["payload"];
            let place = payload["call"].as_str().unwrap().rsplitn(4, '_').take(3);
            let mut place: Vec<usize> = place.map(|number| number.parse().unwrap()).collect();
            place.reverse();
            let words = payload["result"]["content"].as_array().unwrap().iter();
            let told = Told {
                tool: payload["tool"].as_str().unwrap().to_owned(),
                text: words.map(|part| part["text"].as_str().unwrap_or_default()).collect(),
                error: payload["result"]["is_error"].as_bool().unwrap(),
                how: payload["how"].as_str().unwrap().to_owned(),
            };
            (place, told)
        })
        .collect();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all.into_iter().map(|(_, told)| told).collect()
}

/// Every file beneath a folder, links not followed.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
    }
    found
}

/// The files of what Stance keeps (journal, snapshots, scratch folders) that hold these bytes.
pub(crate) fn kept(place: &Place, bytes: &str) -> Vec<PathBuf> {
    let holds = |path: &PathBuf| {
        let content = fs::read(path).unwrap_or_default();
        content.windows(bytes.len()).any(|window| window == bytes.as_bytes())
    };
    files(&place.stance_home()).into_iter().filter(holds).collect()
}

/// Neither an event, nor a byte of what is kept, holds the secret. What was done is kept, or the
/// search would prove nothing.
pub(crate) fn shows_nothing_of(place: &Place, events: &[Value], secret: &str) {
    for event in events {
        assert!(!event.to_string().contains(secret), "{event:#}");
    }
    assert_eq!(kept(place, secret), Vec::<PathBuf>::new());
    assert_ne!(kept(place, "tool_finished"), Vec::<PathBuf>::new());
}

/// Programs that must never run, where the walls show them: beside a toolchain's. Opening one, as
/// whoever starts it must, is seen by the kernel, inside the walls and outside.
pub(crate) struct Canaries {
    folder: PathBuf,
    watch: OwnedFd,
    names: BTreeMap<i32, String>,
}

impl Canaries {
    pub(crate) fn new(place: &Place) -> Canaries {
        let folder = place.home().join(".cargo/bin");
        fs::create_dir_all(&folder).unwrap();
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC).unwrap();
        Canaries {
            folder,
            watch,
            names: BTreeMap::new(),
        }
    }

    /// Makes one; returns its path.
    pub(crate) fn program(&mut self, name: &str) -> String {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "#!/bin/sh\nexit 0\n").unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        let watched = inotify::add_watch(&self.watch, &path, inotify::WatchFlags::OPEN).unwrap();
        self.names.insert(watched, name.to_owned());
        path.display().to_string()
    }

    /// Those opened since this was last asked.
    pub(crate) fn opened(&self) -> BTreeSet<String> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(&self.watch, &mut buffer);
        let mut opened = BTreeSet::new();
        loop {
            match reader.next() {
                Ok(event) => opened.insert(self.names[&event.wd()].clone()),
                Err(Errno::WOULDBLOCK) => return opened,
                Err(error) => panic!("{error}"),
            };
        }
    }
}

/// Git as the person uses it, whatever comes of it.
pub(crate) fn person(place: &Place, arguments: &[&str]) -> Output {
    Command::new("git")
        .args(arguments)
        .current_dir(place.repo())
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap())
        .env("HOME", place.home())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The lines of the world that are about the records of the repository.
pub(crate) fn records(place: &Place) -> Vec<String> {
    let git = place.repo().join(".git").display().to_string();
    place
        .world()
        .into_iter()
        .filter(|line| line.starts_with(&git))
        .collect()
}
