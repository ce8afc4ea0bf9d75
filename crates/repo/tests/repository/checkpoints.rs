//! Checkpoints against real folders: what is restored is what was there, byte by byte, and nothing
//! outside of the worktree is touched.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use stance_repo::checkpoint::{Change, Checkpoints, Taken, Why, would_hold};

/// Long before any file was written: every file may still be changing, and is read.
const BEFORE: i64 = 0;

/// Long after every file was written: what looks the same is not read again.
const LATER: i64 = i64::MAX / 4;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tree")).unwrap();
        Place { folder }
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.tree().join(path)
    }

    fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let file = self.at(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }

    fn checkpoints(&self) -> Checkpoints {
        Checkpoints::of(&self.folder.path().join("kept"), &self.tree(), Vec::new()).unwrap()
    }

    fn take(&self) -> Taken {
        self.checkpoints().take(BEFORE).unwrap()
    }

    /// Restores all of a checkpoint; what could not be restored.
    fn restore(&self, tree: &str) -> Vec<(PathBuf, String)> {
        self.checkpoints().put_back(tree, &self.take(), &[]).unwrap().left
    }

    fn state(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        state(&self.tree())
    }
}

/// Every path beneath a folder with its mode and its content or target.
fn state(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let facts = fs::symlink_metadata(&path).unwrap();
            let content = if facts.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_vec()
            } else if facts.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            if facts.is_dir() {
                open.push(path.clone());
            }
            found.insert(path, (facts.mode(), content));
        }
    }
    found
}

fn left(taken: &Taken) -> Vec<(&str, Why)> {
    taken
        .left
        .iter()
        .map(|left| (left.path.to_str().unwrap(), left.why))
        .collect()
}

#[test]
fn what_git_would_have_changed_comes_back_byte_by_byte() {
    let place = Place::new();
    place.write(
        ".gitattributes",
        "* text=auto\n*.lfs filter=lfs diff=lfs\n*.utf16 working-tree-encoding=UTF-16\n*.id ident\n",
    );
    place.write(".gitignore", "*.log\nbuild/\n");
    place.write("crlf.txt", "one\r\ntwo\r\nthree\n");
    place.write("big.lfs", "version https://git-lfs\r\n\0\0");
    place.write("text.utf16", [0xff, 0xfe, b'a', 0, b'\n', 0]);
    place.write("who.id", "$Id$\n");
    place.write("ignored.log", "kept all the same");
    place.write("build/out.o", "\x7fELF");
    place.write("nested/.git/config", "[core]\n");
    place.write("nested/inner.txt", "of another repository");
    place.write("dir/täst \u{1F980}\nnew line.txt", "odd name");
    place.write(OsString::from_vec(b"not-\xff-text".to_vec()), "name that is no text");
    place.write("run.sh", "#!/bin/sh\n");
    fs::set_permissions(place.at("run.sh"), Permissions::from_mode(0o751)).unwrap();
    place.write("one.txt", "two names");
    fs::hard_link(place.at("one.txt"), place.at("other.txt")).unwrap();
    symlink("run.sh", place.at("link")).unwrap();
    symlink("/nowhere/at/all", place.at("dangling")).unwrap();
    fs::create_dir(place.at("empty")).unwrap();
    fs::set_permissions(place.at("empty"), Permissions::from_mode(0o700)).unwrap();
    let (before, taken) = (place.state(), place.take());
    assert_eq!(left(&taken), []);
    assert_eq!(taken.files, 14);

    fs::write(place.at("crlf.txt"), "one\ntwo\nthree\n").unwrap();
    fs::write(place.at("big.lfs"), "pointer").unwrap();
    fs::remove_file(place.at("text.utf16")).unwrap();
    fs::remove_file(place.at("who.id")).unwrap();
    symlink("/etc/passwd", place.at("who.id")).unwrap();
    fs::write(place.at("ignored.log"), "").unwrap();
    fs::remove_dir_all(place.at("build")).unwrap();
    fs::write(place.at("build"), "a file now").unwrap();
    fs::write(place.at("nested/inner.txt"), "changed").unwrap();
    fs::remove_dir_all(place.at("dir")).unwrap();
    fs::remove_file(place.at(OsStr::from_bytes(b"not-\xff-text"))).unwrap();
    fs::set_permissions(place.at("run.sh"), Permissions::from_mode(0o644)).unwrap();
    fs::write(place.at("one.txt"), "both names").unwrap();
    fs::remove_file(place.at("link")).unwrap();
    fs::create_dir(place.at("link")).unwrap();
    fs::write(place.at("link/inside"), "x").unwrap();
    fs::remove_file(place.at("dangling")).unwrap();
    fs::remove_dir(place.at("empty")).unwrap();
    place.write("added/deep/er.txt", "new");

    assert_eq!(place.restore(&taken.tree), []);
    assert_eq!(place.state(), before);
    assert_eq!(place.take().tree, taken.tree);
}

#[test]
fn what_is_not_held_is_named_and_left_alone() {
    let place = Place::new();
    place.write(".env", "KEY=fake");
    place.write("certs/server.key", "fake");
    place.write("plain.txt", "plain");
    fs::File::create(place.at("large.bin"))
        .unwrap()
        .set_len(64 * 1024 * 1024 + 1)
        .unwrap();
    place.write(".gitignore", "heap/\nsmall/\n");
    place.write("small/a", "a");
    fs::create_dir(place.at("heap")).unwrap();
    fs::File::create(place.at("heap/one"))
        .unwrap()
        .set_len(40 * 1024 * 1024)
        .unwrap();
    fs::File::create(place.at("heap/two"))
        .unwrap()
        .set_len(40 * 1024 * 1024)
        .unwrap();
    let _socket = UnixListener::bind(place.at("socket")).unwrap();
    let taken = place.take();
    let named = [
        (".env", Why::Secret),
        ("certs/server.key", Why::Secret),
        ("heap", Why::IgnoredFolder),
        ("large.bin", Why::TooLarge),
        ("socket", Why::Special),
    ];
    assert_eq!(left(&taken), named);
    for (path, _) in named {
        assert!(!would_hold(&place.tree(), Path::new(path)), "{path}");
    }
    for (path, held) in [
        ("plain.txt", true),
        ("small/a", false),
        ("heap/one", false),
        ("absent", false),
        ("certs", true),
        ("small", false),
        ("../kept", false),
        (".git/config", false),
    ] {
        assert_eq!(would_hold(&place.tree(), Path::new(path)), held, "{path}");
    }
    fs::write(place.at(".env"), "KEY=other").unwrap();
    fs::remove_file(place.at("large.bin")).unwrap();
    fs::write(place.at("heap/one"), "changed").unwrap();
    fs::remove_file(place.at("plain.txt")).unwrap();
    assert_eq!(place.restore(&taken.tree), []);
    assert_eq!(fs::read_to_string(place.at(".env")).unwrap(), "KEY=other");
    assert_eq!(fs::read_to_string(place.at("heap/one")).unwrap(), "changed");
    assert!(!place.at("large.bin").exists());
    assert_eq!(fs::read_to_string(place.at("plain.txt")).unwrap(), "plain");
}

#[test]
fn nothing_of_a_secret_is_kept() {
    let place = Place::new();
    place.write(".env", "KEY=fake-and-long-enough-to-find");
    place.write("plain.txt", "plain");
    place.take();
    for (path, (mode, content)) in state(&place.folder.path().join("kept")) {
        let found = content.windows(6).any(|bytes| bytes == b"fake-a");
        assert!(!found, "{}", path.display());
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn a_folder_that_became_a_link_leads_nowhere_outside() {
    let place = Place::new();
    place.write("sub/a.txt", "a");
    place.write("sub/b.txt", "b");
    let taken = place.take();
    let outside = place.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a.txt"), "not ours").unwrap();
    let before = state(&outside);
    fs::remove_dir_all(place.at("sub")).unwrap();
    symlink(&outside, place.at("sub")).unwrap();
    // Looked at as a folder, and swapped for the link only then.
    let present = {
        fs::remove_file(place.at("sub")).unwrap();
        place.write("sub/a.txt", "changed");
        let present = place.take();
        fs::remove_dir_all(place.at("sub")).unwrap();
        symlink(&outside, place.at("sub")).unwrap();
        present
    };
    let put_back = place.checkpoints().put_back(&taken.tree, &present, &[]).unwrap();
    assert_eq!(put_back.restored, Vec::<PathBuf>::new());
    assert_eq!(put_back.left.len(), 2);
    assert_eq!(state(&outside), before);
    // Looked at as the link it is now, it gives way to the folder.
    assert_eq!(place.restore(&taken.tree), []);
    assert!(fs::symlink_metadata(place.at("sub")).unwrap().is_dir());
    assert_eq!(fs::read_to_string(place.at("sub/a.txt")).unwrap(), "a");
    assert_eq!(state(&outside), before);
}

#[test]
fn what_somebody_wrote_in_between_stays() {
    let place = Place::new();
    place.write("mine.txt", "then");
    place.write("gone.txt", "then");
    place.write("other.txt", "then");
    let taken = place.take();
    place.write("mine.txt", "by the run");
    place.write("other.txt", "by the run");
    place.write("added.txt", "by the run");
    fs::remove_file(place.at("gone.txt")).unwrap();
    let present = place.take();
    place.write("mine.txt", "by a person, this moment");
    place.write("added.txt", "by a person, this moment");
    place.write("gone.txt", "by a person, this moment");
    let put_back = place.checkpoints().put_back(&taken.tree, &present, &[]).unwrap();
    assert_eq!(put_back.restored, [PathBuf::from("other.txt")]);
    let stays: Vec<&str> = put_back.left.iter().map(|(path, _)| path.to_str().unwrap()).collect();
    assert_eq!(stays, ["added.txt", "gone.txt", "mine.txt"]);
    for path in stays {
        assert_eq!(fs::read_to_string(place.at(path)).unwrap(), "by a person, this moment");
    }
    assert_eq!(state(&place.tree()).len(), 4);
}

#[test]
fn a_restoring_that_was_cut_off_comes_to_the_same_end() {
    let place = Place::new();
    for name in ["a", "b", "c", "d/e"] {
        place.write(name, name);
    }
    let (before, taken) = (place.state(), place.take());
    fs::remove_dir_all(place.at("d")).unwrap();
    for name in ["a", "b", "c", "new"] {
        place.write(name, "changed");
    }
    // As it stands when a process is killed: some paths are done, of one only the draft is there.
    let some = [PathBuf::from("a"), PathBuf::from("d")];
    place.checkpoints().put_back(&taken.tree, &place.take(), &some).unwrap();
    let draft = format!(".stance-restore-{}", &blake3::hash(b"b").to_hex()[..16]);
    place.write(&draft, "half of");
    assert_eq!(place.restore(&taken.tree), []);
    assert_eq!(place.state(), before);
}

#[test]
fn only_what_is_named_is_restored() {
    let place = Place::new();
    place.write("src/a.txt", "a");
    place.write("src/deep/b.txt", "b");
    place.write("other.txt", "c");
    let taken = place.take();
    fs::remove_dir_all(place.at("src")).unwrap();
    place.write("other.txt", "changed");
    let named = [PathBuf::from("src/deep")];
    let put_back = place
        .checkpoints()
        .put_back(&taken.tree, &place.take(), &named)
        .unwrap();
    assert!(put_back.left.is_empty());
    assert_eq!(fs::read_to_string(place.at("src/deep/b.txt")).unwrap(), "b");
    assert!(!place.at("src/a.txt").exists());
    assert_eq!(fs::read_to_string(place.at("other.txt")).unwrap(), "changed");
}

#[test]
fn differences_say_what_happened_to_each_path() {
    let place = Place::new();
    place.write("same.txt", "same");
    place.write("content.txt", "one");
    place.write("mode.sh", "x");
    place.write("deleted/a.txt", "a");
    let earlier = place.take();
    place.write("content.txt", "two");
    fs::set_permissions(place.at("mode.sh"), Permissions::from_mode(0o755)).unwrap();
    fs::remove_dir_all(place.at("deleted")).unwrap();
    place.write("added/b.txt", "b");
    fs::create_dir(place.at("empty")).unwrap();
    let later = place.take();
    let differences = place.checkpoints().differences(&earlier.tree, &later.tree).unwrap();
    let seen: Vec<(&str, Change)> = differences
        .iter()
        .map(|one| (one.path.to_str().unwrap(), one.change))
        .collect();
    assert_eq!(
        seen,
        [
            ("added/b.txt", Change::Added),
            ("content.txt", Change::Content),
            ("deleted/a.txt", Change::Deleted),
            ("empty", Change::Added),
            ("mode.sh", Change::Mode),
        ]
    );
    assert!(
        place
            .checkpoints()
            .holds(&earlier.tree, Path::new("deleted/a.txt"))
            .unwrap()
    );
    assert!(
        !place
            .checkpoints()
            .holds(&later.tree, Path::new("deleted/a.txt"))
            .unwrap()
    );
}

#[test]
fn a_file_is_read_again_only_where_its_times_do_not_tell() {
    let place = Place::new();
    place.write("a.txt", "one");
    let take = |at| place.checkpoints().take(at).unwrap().tree;
    let changed = || {
        let facts = fs::metadata(place.at("a.txt")).unwrap();
        (facts.ctime(), facts.ctime_nsec())
    };
    let (one, at_one) = (take(LATER), changed());
    // Written with its size and its time of change kept; the system's own time tells.
    let time = fs::metadata(place.at("a.txt")).unwrap().modified().unwrap();
    while changed() == at_one {
        fs::write(place.at("a.txt"), "two").unwrap();
        let file = fs::File::options().write(true).open(place.at("a.txt")).unwrap();
        file.set_modified(time).unwrap();
    }
    let two = take(LATER);
    assert_ne!(two, one);
    // Not read again: what is kept of it is believed, and there is no copy made.
    let hash = blake3::hash(b"two").to_hex();
    let object = place
        .folder
        .path()
        .join("kept/objects")
        .join(&hash[..2])
        .join(&hash[2..]);
    fs::write(&object, "owt").unwrap();
    assert_eq!(take(LATER), two);
    assert_eq!(fs::read_to_string(&object).unwrap(), "owt");
    // A copy that is gone is made again.
    fs::remove_file(&object).unwrap();
    assert_eq!(take(LATER), two);
    assert_eq!(fs::read_to_string(&object).unwrap(), "two");
}

#[test]
fn what_no_checkpoint_holds_any_more_is_swept() {
    let place = Place::new();
    place.write("a.txt", "the first content");
    let first = place.take();
    place.write("a.txt", "the second content");
    let second = place.take();
    place.checkpoints().sweep(std::slice::from_ref(&second.tree)).unwrap();
    assert!(place.checkpoints().differences(&first.tree, &second.tree).is_err());
    fs::remove_file(place.at("a.txt")).unwrap();
    assert_eq!(place.restore(&second.tree), []);
    assert_eq!(fs::read_to_string(place.at("a.txt")).unwrap(), "the second content");
}

#[test]
fn a_damaged_copy_is_never_restored() {
    let place = Place::new();
    place.write("a.txt", "right content");
    place.write("b.txt", "b");
    let taken = place.take();
    let hash = blake3::hash(b"right content").to_hex();
    let object = place
        .folder
        .path()
        .join("kept/objects")
        .join(&hash[..2])
        .join(&hash[2..]);
    fs::write(object, "wrong content").unwrap();
    fs::remove_file(place.at("a.txt")).unwrap();
    fs::remove_file(place.at("b.txt")).unwrap();
    let left = place.restore(&taken.tree);
    assert_eq!(
        left,
        [(PathBuf::from("a.txt"), "the checkpoint's copy is damaged".to_owned())]
    );
    assert!(!place.at("a.txt").exists());
    assert!(place.at("b.txt").exists());
}

#[test]
fn a_folder_that_may_not_be_read_is_not_entered() {
    let place = Place::new();
    place.write("open/a.txt", "a");
    place.write("closed/b.txt", "b");
    let kept = place.folder.path().join("kept");
    let checkpoints = Checkpoints::of(&kept, &place.tree(), vec![place.at("closed")]).unwrap();
    assert_eq!(left(&checkpoints.take(LATER).unwrap()), [("closed", Why::Closed)]);
}

#[test]
fn an_unreadable_file_is_named() {
    let place = Place::new();
    place.write("locked.txt", "x");
    fs::set_permissions(place.at("locked.txt"), Permissions::from_mode(0o000)).unwrap();
    if fs::read(place.at("locked.txt")).is_ok() {
        // The system's owner reads everything; then it is held like any other.
        assert_eq!(left(&place.take()), []);
    } else {
        assert_eq!(left(&place.take()), [("locked.txt", Why::Unreadable)]);
    }
}

/// One thing done to a tree, at one of a few paths.
#[derive(Debug, Clone)]
enum Act {
    Write(usize, Vec<u8>),
    Mode(usize, u32),
    Link(usize, usize),
    HardLink(usize, usize),
    Folder(usize),
    Remove(usize),
}

const PATHS: [&str; 9] = ["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "d/e/b c", "f/ü"];

fn act() -> impl Strategy<Value = Act> {
    let path = || 0..PATHS.len();
    prop_oneof![
        4 => (path(), prop::collection::vec(any::<u8>(), 0..12)).prop_map(|(path, bytes)| Act::Write(path, bytes)),
        1 => (path(), prop::sample::select(vec![0o600, 0o644, 0o755, 0o700])).prop_map(|(path, mode)| Act::Mode(path, mode)),
        1 => (path(), path()).prop_map(|(path, to)| Act::Link(path, to)),
        1 => (path(), path()).prop_map(|(path, to)| Act::HardLink(path, to)),
        2 => path().prop_map(Act::Folder),
        2 => path().prop_map(Act::Remove),
    ]
}

/// What cannot be done where it stands is not done.
fn done(place: &Place, act: &Act) {
    let path = |index: &usize| place.at(PATHS[*index]);
    let ready = |path: &Path| drop(fs::create_dir_all(path.parent().unwrap()));
    let _ = match act {
        Act::Write(index, bytes) => {
            ready(&path(index));
            let link = fs::symlink_metadata(path(index)).is_ok_and(|facts| facts.is_symlink());
            if link { Ok(()) } else { fs::write(path(index), bytes) }
        }
        Act::Mode(index, mode) => match fs::symlink_metadata(path(index)) {
            // A folder stays one that an ordinary user can look into.
            Ok(facts) if facts.is_dir() => fs::set_permissions(path(index), Permissions::from_mode(mode | 0o700)),
            Ok(facts) if facts.is_file() => fs::set_permissions(path(index), Permissions::from_mode(*mode)),
            _ => Ok(()),
        },
        Act::Link(index, to) => {
            ready(&path(index));
            symlink(PATHS[*to], path(index))
        }
        Act::HardLink(index, to) => {
            ready(&path(index));
            fs::hard_link(path(to), path(index))
        }
        Act::Folder(index) => {
            ready(&path(index));
            fs::create_dir(path(index))
        }
        Act::Remove(index) => fs::remove_file(path(index)).or_else(|_| fs::remove_dir_all(path(index))),
    };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_is_restored_is_what_was(
        first in prop::collection::vec(act(), 0..14),
        then in prop::collection::vec(act(), 0..14),
    ) {
        let place = Place::new();
        for act in &first {
            done(&place, act);
        }
        let (before, taken) = (place.state(), place.take());
        for act in &then {
            done(&place, act);
        }
        let (after, present) = (place.state(), place.take());
        let put_back = place.checkpoints().put_back(&taken.tree, &present, &[]).unwrap();
        prop_assert_eq!(put_back.left, []);
        prop_assert_eq!(place.state(), before);
        // And back again.
        prop_assert_eq!(place.restore(&present.tree), []);
        prop_assert_eq!(place.state(), after);
    }
}
