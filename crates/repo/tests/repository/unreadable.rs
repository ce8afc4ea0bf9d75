//! Files that cannot be read: a snapshot names them and takes the others.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use stance_repo::{Change, Snapshot, changed_between, snapshot};

use crate::ground::Ground;

/// The system's user who owns nothing.
const NOBODY: u32 = 65534;

async fn take(ground: &Ground) -> Snapshot {
    let checkout = ground.checkout().await;
    snapshot(&ground.git, &checkout, &ground.beside("store")).await.unwrap()
}

async fn between(ground: &Ground, earlier: &Snapshot, later: &Snapshot) -> Vec<PathBuf> {
    let checkout = ground.checkout().await;
    let changed = changed_between(&ground.git, &checkout, &ground.beside("store"), earlier, later).await;
    changed.unwrap().into_iter().map(|one| one.path).collect()
}

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

/// Forbids reading for as long as it lives, so that the folder can be removed afterwards.
struct Forbidden(PathBuf, Permissions);

impl Forbidden {
    fn new(path: PathBuf) -> Self {
        let before = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap();
        Self(path, before)
    }
}

impl Drop for Forbidden {
    fn drop(&mut self) {
        fs::set_permissions(&self.0, self.1.clone()).unwrap();
    }
}

#[tokio::test]
async fn a_new_file_is_named_and_the_others_are_taken() {
    let ground = Ground::new();
    ground.write("file", "changed\n");
    ground.write("new", "new\n");
    ground.write("private key", "private\n");
    std::os::unix::fs::symlink("nowhere", ground.tree.join("link")).unwrap();
    let forbidden = Forbidden::new(ground.tree.join("private key"));
    let taken = take(&ground).await;
    assert_eq!(taken.unreadable, paths(&["private key"]));
    let changed: Vec<_> = taken.changed.iter().map(|one| one.path.clone()).collect();
    assert_eq!(changed, paths(&["file", "link", "new"]));
    drop(forbidden);
    let later = take(&ground).await;
    assert_eq!(later.unreadable, paths(&[]));
    assert_eq!(between(&ground, &taken, &later).await, paths(&["private key"]));
}

#[tokio::test]
async fn a_file_that_became_unreadable_keeps_the_entry_it_had() {
    let ground = Ground::new();
    ground.write("file", "a person's change\n");
    ground.write("untracked", "as it was\n");
    let earlier = take(&ground).await;
    let forbidden = ["file", "untracked"].map(|name| Forbidden::new(ground.tree.join(name)));
    fs::remove_file(ground.tree.join("src/lib.rs")).unwrap();
    ground.person(&["commit", "-q", "--allow-empty", "-m", "moves the base"]);
    let later = take(&ground).await;
    assert_eq!(later.unreadable, paths(&["file", "untracked"]));
    assert_eq!(between(&ground, &earlier, &later).await, paths(&["src/lib.rs"]));
    // And so on, however many snapshots follow.
    let last = take(&ground).await;
    assert_eq!((last.tree, last.unreadable), (later.tree, later.unreadable));
    drop(forbidden);
}

#[tokio::test]
async fn a_folder_that_cannot_be_entered_is_not_deleted() {
    let ground = Ground::new();
    ground.write("src/untracked.rs", "untracked\n");
    ground.write("made/by a step", "made\n");
    let earlier = take(&ground).await;
    let forbidden = ["src", "made"].map(|name| Forbidden::new(ground.tree.join(name)));
    ground.write("file", "changed\n");
    let later = take(&ground).await;
    assert_eq!(
        later.unreadable,
        paths(&["made/by a step", "src/lib.rs", "src/untracked.rs"])
    );
    assert_eq!(between(&ground, &earlier, &later).await, paths(&["file"]));
    drop(forbidden);
    let open = take(&ground).await;
    assert_eq!((open.tree, open.unreadable), (later.tree, paths(&[])));
}

#[tokio::test]
async fn the_first_snapshot_takes_unreadable_files_from_the_commit() {
    let ground = Ground::new();
    ground.write("new", "new\n");
    let forbidden = Forbidden::new(ground.tree.join("src"));
    let taken = take(&ground).await;
    assert_eq!(taken.unreadable, paths(&["src/lib.rs"]));
    let changed: Vec<_> = taken.changed.iter().map(|one| (one.path.clone(), one.change)).collect();
    assert_eq!(changed, [(PathBuf::from("new"), Change::Added)]);
    drop(forbidden);
}

#[tokio::test]
async fn a_file_of_another_user_is_named() {
    let ground = Ground::new();
    ground.write("another's", "private\n");
    let path = ground.tree.join("another's");
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    if chown(&path, Some(NOBODY), Some(NOBODY)).is_ok() && !is_nobody() {
        assert_eq!(take(&ground).await.unreadable, paths(&["another's"]));
    } else {
        // Only the system's owner gives files away; to everybody else their own are readable.
        assert_eq!(take(&ground).await.unreadable, paths(&[]));
    }
}

/// The same stories told by a user who owns nothing else, where we may become one.
#[test]
fn all_of_it_holds_for_an_ordinary_user() {
    if is_nobody() {
        return;
    }
    let mut stories = Command::new(std::env::current_exe().unwrap());
    stories
        .args(["unreadable::", "--skip", "ordinary_user"])
        .uid(NOBODY)
        .gid(NOBODY);
    // Whoever is not the system's owner is an ordinary user already.
    let Ok(told) = stories.output() else { return };
    let words = String::from_utf8_lossy(&told.stdout);
    assert!(told.status.success(), "{words}");
    assert!(words.contains("5 passed"), "{words}");
}

fn is_nobody() -> bool {
    Path::new("/proc/self").metadata().unwrap().uid() == NOBODY
}
