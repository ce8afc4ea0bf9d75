//! The throw-away view: programs write, and the host is as it was in every respect.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use modes::Containment;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use stance_sandbox::{Cache, SandboxError, ThrownAway, ThrownChange};

use crate::ground::Ground;

const TRY: Containment = Containment::throw_away();

type Picture = BTreeMap<PathBuf, (PathBuf, Vec<i64>)>;

/// Everything about a tree that could be changed, times of access included.
fn picture(root: &Path) -> Picture {
    let mut seen = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(path) = open.pop() {
        let facts = path.symlink_metadata().unwrap();
        let target = path.read_link().unwrap_or_default();
        let times = [
            (facts.mtime(), facts.mtime_nsec()),
            (facts.ctime(), facts.ctime_nsec()),
            (facts.atime(), facts.atime_nsec()),
        ];
        let mut numbers = vec![
            i64::from(facts.mode()),
            facts.size().cast_signed(),
            facts.ino().cast_signed(),
        ];
        numbers.extend(times.into_iter().flat_map(|(second, part)| [second, part]));
        seen.insert(path.clone(), (target, numbers));
        if facts.is_dir() {
            let entries: Vec<_> = fs::read_dir(&path)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect();
            open.extend(entries);
        }
    }
    seen
}

/// A picture after which looking at it once more changes no time of access.
fn settled_picture(root: &Path) -> Picture {
    picture(root);
    picture(root)
}

async fn thrown(ground: &Ground, line: &str) -> (String, ThrownAway) {
    let finished = ground.shell(TRY, line).await;
    assert_eq!(finished.exit, Some(0), "{line}: {}", finished.stderr.text());
    (finished.stdout.text(), finished.thrown_away.unwrap())
}

fn changes(thrown: &ThrownAway) -> Vec<String> {
    let word = |ThrownChange { path, deleted }: &ThrownChange| {
        format!("{}{}", if *deleted { "-" } else { "+" }, path.display())
    };
    thrown.listed.iter().map(word).collect()
}

#[tokio::test]
async fn what_is_written_is_seen_inside_reported_and_gone() {
    let ground = Ground::new();
    fs::create_dir_all(ground.tree.join("a/b")).unwrap();
    fs::write(ground.tree.join("a/b/deep"), "deep\n").unwrap();
    fs::write(ground.tree.join("gone"), "x").unwrap();
    symlink("file", ground.tree.join("link")).unwrap();
    fs::set_permissions(ground.tree.join("gone"), PermissionsExt::from_mode(0o640)).unwrap();
    let before = settled_picture(&ground.tree);
    let line = "echo new > made; echo more >> file; rm gone; rm -r a; mkdir a; ls -A a; ln -sf other link; \
                chmod 700 file; cat file; readlink link; echo t > /tmp/t; echo h > ~/h; cat made";
    let (text, thrown) = thrown(&ground, line).await;
    assert_eq!(text, "as it was\nmore\nother\nnew\n");
    assert_eq!(changes(&thrown), ["-a", "+file", "-gone", "+link", "+made"]);
    assert_eq!((thrown.written, thrown.deleted, thrown.more), (3, 2, false));
    assert_eq!(thrown.bytes, 15 + 5 + 4);
    assert_eq!(picture(&ground.tree), before);
    let left: Vec<_> = ["tmp", "home", "thrown-away"]
        .into_iter()
        .flat_map(|name| fs::read_dir(ground.places.scratch.join(name)).unwrap())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn reading_everything_changes_no_time_of_access() {
    let ground = Ground::with_repository();
    let outer = picture(&ground.tree);
    // Read long ago, so that a careless read would be noted down.
    let old = std::fs::FileTimes::new().set_accessed(std::time::SystemTime::UNIX_EPOCH);
    for path in outer.keys().filter(|path| path.is_file() || path.is_dir()) {
        fs::File::open(path).unwrap().set_times(old).unwrap();
    }
    let paths: Vec<PathBuf> = outer.keys().cloned().collect();
    let facts = |path: &PathBuf| {
        path.symlink_metadata()
            .map(|facts| (facts.atime(), facts.ctime(), facts.ctime_nsec()))
    };
    let before: Vec<_> = paths.iter().map(|path| facts(path).unwrap()).collect();
    let (text, _) = thrown(
        &ground,
        "grep -rc as file; git log --format=%s; git status --short; ls -laR . | wc -l > /dev/null",
    )
    .await;
    assert_eq!(text, "1\nfirst\n");
    let after: Vec<_> = paths.iter().map(|path| facts(path).unwrap()).collect();
    assert_eq!(after, before);
    assert!(before.iter().all(|(accessed, ..)| *accessed == 0));
}

#[tokio::test]
async fn nothing_of_a_hostile_line_survives() {
    for line in [
        "rm -rf . .git 2>/dev/null; true",
        "git -c user.name=x -c user.email=x@x commit -q --allow-empty -m in && git log --oneline | wc -l",
        "echo x > ../outside/file; echo x > /etc/passwd; echo x > /usr/bin/env; true",
        "(setsid sh -c 'while :; do date >> file; sleep 0.01; done' > /dev/null 2>&1 &) ; true",
        "chmod 777 . .git; touch -d @0 file; ln file hard; mv file moved; mkdir -p x/.git; echo y > .git/hooks/pre-commit",
        "mkfifo f; mknod d c 1 3; mount -t tmpfs none . ; umount .; true",
        "exec 9<file; cat /proc/self/fd/9 > /dev/null; echo x > /proc/self/fd/9; true",
    ] {
        let ground = Ground::with_repository();
        let before = settled_picture(&ground.root());
        let finished = ground.shell(TRY, line).await;
        assert_eq!(finished.exit, Some(0), "{line}: {}", finished.stderr.text());
        let mut after = picture(&ground.root());
        after.retain(|path, _| !path.starts_with(&ground.places.scratch));
        let mut expected = before;
        // The scratch folder of this run was made beside the worktree.
        after.remove(&ground.root());
        expected.remove(&ground.root());
        assert_eq!(after, expected, "{line}");
        assert_eq!(finished.violations, []);
    }
}

#[tokio::test]
async fn a_view_holds_so_much_and_no_more() {
    let ground = Ground::new();
    let line = "truncate -s 1T huge 2>/dev/null && echo grown; df --output=size -B1 . /tmp | tail -n2 | uniq | wc -l";
    let (text, _) = thrown(&ground, line).await;
    assert_eq!(text, "1\n");
}

#[tokio::test]
async fn many_changes_are_counted_and_the_first_listed() {
    let ground = Ground::new();
    let (_, thrown) = thrown(&ground, "mkdir many; cd many; seq 500 | xargs touch; touch ../first").await;
    assert_eq!((thrown.written, thrown.listed.len(), thrown.more), (501, 100, false));
    assert_eq!(changes(&thrown)[..2], ["+first", "+many/1"]);
}

#[tokio::test]
async fn a_linked_worktree_commits_into_the_view() {
    let mut ground = Ground::with_repository();
    let main = ground.tree.clone();
    let linked = ground.root().join("linked");
    ground.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    ground.tree.clone_from(&linked);
    ground.places.worktree.clone_from(&linked);
    ground.places.sealed = vec![
        linked.join(".git"),
        main.join(".git/worktrees/linked"),
        main.join(".git"),
    ];
    let before = (settled_picture(&main), settled_picture(&linked));
    let line = "echo x > new; git add new; git -c user.name=x -c user.email=x@x commit -qm second; git log --format=%s";
    let (text, thrown) = thrown(&ground, line).await;
    assert_eq!(text, "second\nfirst\n");
    assert!(changes(&thrown).contains(&"+new".to_owned()));
    let in_git = |change: &ThrownChange| change.path.starts_with(main.join(".git"));
    assert!(thrown.listed.iter().any(in_git), "{thrown:?}");
    assert_eq!((picture(&main), picture(&linked)), before);
}

#[tokio::test]
async fn package_caches_are_read_and_written_in_the_view_alone() {
    let mut ground = Ground::new();
    let cache = ground.root().join("person/.cargo/registry");
    fs::create_dir_all(&cache).unwrap();
    fs::write(cache.join("index"), "known\n").unwrap();
    fs::write(cache.parent().unwrap().join("credentials.toml"), "token\n").unwrap();
    ground.walls = stance_sandbox::Walls::new(
        env!("CARGO_BIN_EXE_stance-walls-probe"),
        stance_sandbox::Toolchains {
            caches: vec![Cache {
                folder: cache.clone(),
                beneath_home: ".cargo/registry".into(),
            }],
            ..Default::default()
        },
    )
    .unwrap();
    let (text, thrown) = thrown(&ground, "cd ~/.cargo; cat registry/index; ls; echo x > registry/lock").await;
    assert_eq!(text, "known\nregistry\n");
    assert_eq!(changes(&thrown), ["+/home/stance/.cargo/registry/lock"]);
    assert_eq!(fs::read_dir(&cache).unwrap().count(), 1);
}

#[tokio::test]
async fn what_is_mounted_within_is_shown_and_kept_or_said() {
    let ground = Ground::new();
    let inner = ground.tree.join("mounted");
    fs::create_dir(&inner).unwrap();
    if mount("none", &inner, "tmpfs", MountFlags::empty(), None).is_err() {
        println!("skipped: an ordinary user cannot mount anything here");
        return;
    }
    fs::write(inner.join("kept"), "kept\n").unwrap();
    let finished = ground
        .shell(TRY, "cat mounted/kept; rm mounted/kept; echo x > mounted/new")
        .await;
    let kept = (
        fs::read_to_string(inner.join("kept")),
        fs::read_dir(&inner).unwrap().count(),
    );
    unmount(&inner, UnmountFlags::empty()).unwrap();
    assert_eq!(finished.stdout.text(), "kept\n");
    assert_eq!(
        changes(&finished.thrown_away.unwrap()),
        ["-mounted/kept", "+mounted/new"]
    );
    assert_eq!((kept.0.unwrap(), kept.1), ("kept\n".to_owned(), 1));
}

#[tokio::test]
async fn a_layer_that_is_missing_is_noticed_before_the_program_starts() {
    let ground = Ground::new();
    let it = stance_sandbox::Spawn::new(stance_sandbox::Program::Shell("touch ran".into()), &ground.tree);
    for folder in ["tmp", "home"] {
        fs::create_dir_all(ground.places.scratch.join("thrown-away").join(folder)).unwrap();
    }
    let mut arguments = stance_sandbox::arguments(&ground.walls, TRY, &ground.places, &it).unwrap();
    let shown = ground.places.scratch.join("thrown-away/0/shown");
    let place = arguments.iter().position(|argument| *argument == shown).unwrap();
    arguments[place] = ground.tree.clone().into();
    let output = Command::new("bwrap")
        .args(arguments)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(125));
}

#[tokio::test]
async fn a_file_is_no_worktree_to_lay_over() {
    let mut ground = Ground::new();
    ground.places.sealed = vec![ground.outside.join("file")];
    assert_eq!(thrown(&ground, "cat file").await.0, "as it was\n");
    let it = stance_sandbox::Spawn::new(stance_sandbox::Program::Shell("true".into()), "/nowhere");
    let error = ground.run(TRY, it).await.unwrap_err();
    assert!(matches!(error, SandboxError::WallsFailed(_)), "{error}");
}
