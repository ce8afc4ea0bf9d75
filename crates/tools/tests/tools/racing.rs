//! A folder of the project and a link to the outside change places ten thousand times while tools
//! go through it: whatever a call finds, it never reads or writes outside.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::ground::{Came, Ground};

const CALLS: usize = 900;

struct Swapping<'a> {
    stop: &'a AtomicBool,
}

impl Drop for Swapping<'_> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

fn swap(one: &Path, other: &Path) {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
}

/// Runs calls while two entries of the tree change places all the time.
fn racing(ground: &Ground, one: &str, other: &str, mut calls: impl FnMut()) {
    let (stop, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (one, other) = (ground.tree.join(one), ground.tree.join(other));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                swap(&one, &other);
                swaps.fetch_add(1, Ordering::SeqCst);
            }
        });
        let _stops_also_when_a_call_panics = Swapping { stop: &stop };
        calls();
        while swaps.load(Ordering::SeqCst) < 10_000 {
            calls();
        }
    });
}

fn ground() -> Ground {
    let ground = Ground::new();
    ground.write("d/secret.txt", "inside content\n");
    ground.link("swapped", &ground.outside);
    ground
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

#[test]
fn a_swapped_folder_never_lets_a_read_out() {
    let ground = ground();
    let runtime = runtime();
    racing(&ground, "d", "swapped", || {
        for round in 0..CALLS {
            let (tool, arguments) = match round % 3 {
                0 => ("read_file", json!({"path": "d/secret.txt"})),
                1 => ("search_files", json!({"path": ".", "regex": "content"})),
                _ => ("list_files", json!({"path": ".", "recursive": true})),
            };
            match runtime.block_on(ground.call(tool, arguments)) {
                Came::Done(result) => {
                    let words = result.words();
                    assert!(!words.contains("outside content"), "{tool}: {words}");
                }
                Came::Bad(_) => assert_eq!(tool, "read_file"),
                other => panic!("{other:?}"),
            }
        }
    });
}

#[test]
fn a_swapped_folder_never_lets_a_write_out() {
    let ground = ground();
    let runtime = runtime();
    let before = Ground::picture(&ground.outside);
    let mut written = 0;
    racing(&ground, "d", "swapped", || {
        for round in 0..CALLS {
            let name = format!("d/new-{round}/{written}.txt");
            match runtime.block_on(ground.call("write_to_file", json!({"path": name, "content": "inside\n"}))) {
                Came::Done(result) if !result.is_error => written += 1,
                // Judged as a write outside, or it found the link where the folder had been.
                Came::Asked(_) | Came::Done(_) | Came::Bad(_) => {}
                Came::Refused(layer, why) => panic!("{layer:?} {why}"),
            }
        }
    });
    assert_eq!(Ground::picture(&ground.outside), before);
    // The folder and the link stand still now; the count of what was written is in the folder.
    let folder = ["d", "swapped"]
        .map(|name| ground.tree.join(name))
        .into_iter()
        .find(|path| !path.symlink_metadata().unwrap().is_symlink());
    let files = Ground::picture(&folder.unwrap())
        .into_iter()
        .filter(|(_, facts)| facts.5 == b"inside\n")
        .count();
    assert_eq!(files, written);
    assert!(written > 0);
}

#[test]
fn a_proposal_acts_where_it_was_judged_whatever_happened_since() {
    let ground = ground();
    let runtime = runtime();
    let before = Ground::picture(&ground.outside);
    let read = ground.propose("read_file", json!({"path": "d/secret.txt"})).unwrap();
    let write = ground
        .propose("write_to_file", json!({"path": "d/new.txt", "content": "x\n"}))
        .unwrap();
    let search = ground
        .propose("search_files", json!({"path": "d", "regex": "content"}))
        .unwrap();
    swap(&ground.tree.join("d"), &ground.tree.join("swapped"));
    assert_eq!(runtime.block_on(ground.settle(read)).good(), "    1\tinside content\n");
    assert!(runtime.block_on(ground.settle(write)).good().contains("created"));
    assert!(
        runtime
            .block_on(ground.settle(search))
            .good()
            .contains("inside content")
    );
    assert_eq!(
        ground.read("swapped/new.txt"),
        "x\n",
        "the folder moved, and the write with it"
    );
    assert_eq!(Ground::picture(&ground.outside), before);
}

#[test]
fn a_swapped_file_never_lets_a_call_out() {
    let ground = Ground::new();
    ground.write("f", "inside content\n");
    ground.link("link", ground.outside.join("secret.txt"));
    let runtime = runtime();
    let before = Ground::picture(&ground.outside);
    racing(&ground, "f", "link", || {
        for round in 0..CALLS {
            let (tool, arguments) = if round % 2 == 0 {
                ("read_file", json!({"path": "f"}))
            } else {
                ("search_files", json!({"path": ".", "regex": "content"}))
            };
            if let Came::Done(result) = runtime.block_on(ground.call(tool, arguments)) {
                assert!(
                    !result.words().contains("outside content"),
                    "{tool}: {}",
                    result.words()
                );
            }
        }
    });
    assert_eq!(Ground::picture(&ground.outside), before);
    assert_eq!(
        fs::read_to_string(ground.outside.join("secret.txt")).unwrap(),
        "outside content\n"
    );
}
