//! What nobody may write stays as it was, whatever a process tries; the rest of the worktree is written.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{Config, TestRunner};
use stance_sandbox::{Guards, Program, Spawn, Violation};

use crate::ground::{Ground, WRITABLE};

/// What a process may try on everything it finds.
const TRIES: [&str; 14] = [
    "rm -rf conf src top",
    "mv conf moved",
    "mv conf/deep moved; mv src other",
    "find . -type f -exec sh -c 'echo x >> \"$1\"' sh {} \\;",
    "find . -type f -exec truncate -s 0 {} +",
    "find . -type f -exec chmod 777 {} +; chmod -R 700 .",
    "find . -type f -exec touch -d 2001-01-01 {} +",
    "for f in top conf/a conf/deep/b src/a.rs; do echo x > new; mv -f new $f; done",
    "for f in top conf/a conf/deep/b src/a.rs; do ln -f README $f; ln -sf README $f; done",
    "for f in top conf/a conf/deep/b src/a.rs; do ln $f hard; echo x > hard; rm -f hard; done",
    "mkdir -p new/conf conf/new; for f in conf/new/a conf/c new/conf/a src/new.rs; do echo x > $f; done",
    "cp -r src conf/copied; cp -r conf new; mkdir -p conf src; echo x > conf/a; echo x > src/a.rs",
    "rm -f link; ln -s README link; rm -f conf/link",
    "python3 -c \"import os; [os.rename(d, d + '2') for d in ('conf', 'src') if os.path.isdir(d)]\"",
];

/// Denied paths, as a rule would have them.
const DENIED: [fn(&str) -> bool; 6] = [
    |path| path == "top",
    |path| path.starts_with("conf/"),
    |path| path.rsplit('.').next() == Some("rs"),
    |path| path == "conf/deep/b",
    |path| path == "link" || path == "conf/link",
    |path| path == "src" || path.starts_with("src/"),
];

fn ground() -> Ground {
    let ground = Ground::new();
    for (path, text) in [
        ("README", "read me\n"),
        ("top", "1\n"),
        ("conf/a", "2\n"),
        ("conf/deep/b", "3\n"),
        ("src/a.rs", "4\n"),
        ("src/plain", "5\n"),
    ] {
        let path = ground.tree.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    for link in ["link", "conf/link"] {
        std::os::unix::fs::symlink("top", ground.tree.join(link)).unwrap();
    }
    ground
}

/// Content, mode and time of whatever lies at paths that are denied.
fn picture(tree: &Path, denied: fn(&str) -> bool) -> BTreeMap<String, (u32, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let facts = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(tree).unwrap().to_string_lossy().into_owned();
            if facts.is_dir() {
                folders.push(path);
            } else if denied(&name) {
                let content = match fs::read_link(&path) {
                    Ok(leads_to) => leads_to.into_os_string().into_encoded_bytes(),
                    Err(_) => fs::read(&path).unwrap(),
                };
                let time = if facts.is_symlink() { 0 } else { facts.mtime() };
                found.insert(name, (facts.mode(), time, content));
            }
        }
    }
    found
}

#[test]
fn no_process_changes_what_is_denied_to_be_written() {
    let tries = subsequence(TRIES.to_vec(), 1..5).prop_shuffle();
    let mut runner = TestRunner::new(Config {
        cases: 24,
        ..Config::default()
    });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let held = runner.run(&(select(DENIED.to_vec()), tries), |(denied, tries)| {
        let mut ground = ground();
        ground.places.guards = Guards::default().denying(denied);
        let before = picture(&ground.tree, denied);
        for line in &tries {
            runtime.block_on(ground.shell(WRITABLE, &format!("({line}) 2>&1; true")));
        }
        let after = picture(&ground.tree, denied);
        prop_assert_eq!(after, before, "{:?}", tries);
        Ok(())
    });
    held.unwrap();
}

#[tokio::test]
async fn what_is_not_denied_is_written_and_what_is_made_is_told() {
    let mut ground = ground();
    ground.places.guards = Guards::default().denying(|path| path.starts_with("conf/") || path == "made");
    let line = "echo x > src/plain; echo x > src/new; echo x > made; mkdir other; echo x > other/a; echo x > conf/c";
    let finished = ground.shell(WRITABLE, line).await;
    let text = |path: &str| fs::read_to_string(ground.tree.join(path)).ok();
    assert_eq!(text("src/plain").as_deref(), Some("x\n"));
    assert_eq!(text("other/a").as_deref(), Some("x\n"));
    assert_eq!((text("conf/c"), text("made")), (None, None));
    let [Violation::Guarded { path, moved_to }] = finished.violations.as_slice() else {
        panic!("{:?}", finished.violations);
    };
    assert_eq!(*path, ground.tree.join("made"));
    assert_eq!(fs::read_to_string(moved_to).unwrap(), "x\n");
}

#[tokio::test]
async fn what_configures_is_written_only_when_it_was_answered() {
    let mut ground = ground();
    fs::write(ground.tree.join("AGENTS.md"), "as it was\n").unwrap();
    fs::create_dir_all(ground.tree.join(".github/workflows")).unwrap();
    fs::create_dir_all(ground.tree.join("node_modules/a")).unwrap();
    let asking = Guards::asking(|path| path != ".vscode/settings.json");
    let line = "echo x > AGENTS.md; echo x > .github/workflows/ci.yml; mkdir .vscode .zed; echo x > .vscode/settings.json; \
                echo x > .zed/tasks.json; echo x > node_modules/a/.npmrc; echo x > src/.editorconfig";
    ground.places.guards = asking.clone();
    let finished = ground.shell(WRITABLE, line).await;
    let made: Vec<PathBuf> = finished
        .violations
        .iter()
        .map(|violation| match violation {
            Violation::GitCreated { path, .. } | Violation::Guarded { path, .. } => path.clone(),
        })
        .collect();
    assert_eq!(
        made,
        [".zed/tasks.json", "src/.editorconfig"].map(|path| ground.tree.join(path))
    );
    let text = |path: &str| fs::read_to_string(ground.tree.join(path)).ok();
    assert_eq!(text("AGENTS.md").as_deref(), Some("as it was\n"));
    assert_eq!(text(".github/workflows/ci.yml"), None);
    assert_eq!(text(".vscode/settings.json").as_deref(), Some("x\n"));
    assert_eq!(text("node_modules/a/.npmrc").as_deref(), Some("x\n"));

    let answered = ["AGENTS.md", ".github/workflows/ci.yml", "src/.editorconfig"];
    ground.places.guards = asking.answered(answered.map(str::to_owned).to_vec());
    let finished = ground.shell(WRITABLE, line).await;
    for path in answered {
        assert_eq!(text(path).as_deref(), Some("x\n"), "{path}");
    }
    assert_eq!(finished.violations, []);
    assert_eq!(text(".zed/tasks.json"), None);
}

#[tokio::test]
async fn more_than_can_be_held_is_refused_and_a_whole_folder_is_one() {
    let mut ground = ground();
    for number in 0..500 {
        fs::write(ground.tree.join(format!("src/{number}.txt")), "x\n").unwrap();
    }
    ground.places.guards = Guards::default().denying(|path| path.rsplit('.').next() == Some("txt"));
    let refused = ground
        .run(WRITABLE, Spawn::new(Program::Shell("true".into()), &ground.tree))
        .await;
    let why = refused.unwrap_err().to_string();
    assert!(why.contains("at most 400") && why.contains("edit(src/**)"), "{why}");
    ground.places.guards = Guards::default().denying(|path| path.starts_with("src/"));
    let finished = ground.shell(WRITABLE, "echo x > src/1.txt; echo x > top").await;
    assert_eq!(finished.exit, Some(0), "{finished:?}");
    assert_eq!(fs::read_to_string(ground.tree.join("src/1.txt")).unwrap(), "x\n");
    assert_eq!(fs::read_to_string(ground.tree.join("top")).unwrap(), "x\n");
}

#[tokio::test]
async fn what_is_guarded_opens_nothing_that_is_hidden_or_read_only_for_another_reason() {
    let mut ground = ground();
    for (path, text) in [
        (".ssh/deep/key.txt", "secret\n"),
        (".ssh/key.txt", "secret\n"),
        (".github/deep/key.txt", "kept\n"),
        (".github/deep/other", "as it was\n"),
        ("bare/deep/key.txt", "kept\n"),
        ("bare/deep/other", "as it was\n"),
    ] {
        let path = ground.tree.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    for (folder, head) in [("objects", None), ("refs", None), ("", Some("HEAD"))] {
        let folder = ground.tree.join("bare").join(folder);
        fs::create_dir_all(&folder).unwrap();
        if let Some(head) = head {
            fs::write(folder.join(head), "ref: refs/heads/main\n").unwrap();
        }
    }
    ground.places.guards = Guards::asking(|_| true).denying(|path| path.ends_with("key.txt"));
    let line = "cat .ssh/key.txt .ssh/deep/key.txt; for f in .github bare; do echo x > $f/deep/other; \
                echo x > $f/deep/key.txt; echo x > $f/deep/new; done; true";
    let finished = ground.shell(WRITABLE, line).await;
    assert_eq!(
        (finished.exit, finished.stdout.text().as_str()),
        (Some(0), ""),
        "{finished:?}"
    );
    for folder in [".github", "bare"] {
        let text = |name: &str| fs::read_to_string(ground.tree.join(folder).join("deep").join(name)).ok();
        assert_eq!(text("other").as_deref(), Some("as it was\n"), "{folder}");
        assert_eq!(text("key.txt").as_deref(), Some("kept\n"), "{folder}");
        assert_eq!(text("new"), None, "{folder}");
    }
}

#[tokio::test]
async fn what_configures_goes_with_its_folder_and_only_what_is_new_is_taken_away() {
    let mut ground = ground();
    for (path, text) in [
        ("pkg/AGENTS.md", "mine\n"),
        ("pkg/sub/AGENTS.md", "mine too\n"),
        ("pkg/a.rs", "a\n"),
    ] {
        let path = ground.tree.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    std::os::unix::fs::symlink("AGENTS.md", ground.tree.join("pkg/CLAUDE.md")).unwrap();
    ground.places.guards = Guards::asking(|path| path.ends_with("AGENTS.md") || path.ends_with("CLAUDE.md"));
    let line = "mv pkg moved && mkdir moved/new && echo x > moved/new/AGENTS.md; echo x > moved/AGENTS.md; \
                rm -f moved/sub/AGENTS.md; mv moved/sub moved/deep; true";
    let finished = ground.shell(WRITABLE, line).await;
    let taken: Vec<_> = finished
        .violations
        .iter()
        .map(|violation| match violation {
            Violation::Guarded { path, .. } | Violation::GitCreated { path, .. } => path.clone(),
        })
        .collect();
    assert_eq!(taken, [ground.tree.join("moved/new/AGENTS.md")]);
    for (path, text) in [
        ("moved/AGENTS.md", "mine\n"),
        ("moved/deep/AGENTS.md", "mine too\n"),
        ("moved/CLAUDE.md", "mine\n"),
    ] {
        assert_eq!(fs::read_to_string(ground.tree.join(path)).unwrap(), text, "{path}");
    }
}
