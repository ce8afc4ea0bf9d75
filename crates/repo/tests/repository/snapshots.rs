//! The state of a dirty worktree, kept outside of the user's repository.

use std::path::Path;

use stance_repo::{Change, ChangedPath, Snapshot, changed_between, snapshot};

use crate::ground::Ground;

async fn take(ground: &Ground) -> Snapshot {
    let checkout = ground.checkout().await;
    snapshot(&ground.git, &checkout, &ground.beside("store")).await.unwrap()
}

fn paths(changed: &[ChangedPath]) -> Vec<(&str, Change)> {
    changed
        .iter()
        .map(|one| (one.path.to_str().unwrap(), one.change))
        .collect()
}

#[tokio::test]
async fn uncommitted_and_untracked_are_kept_and_ignored_is_not() {
    let ground = Ground::new();
    ground.write(".gitignore", "ignored\n");
    ground.write(".git/info/exclude", "private\n");
    ground.write("ignored", "x");
    ground.write("private", "x");
    ground.write("file", "changed\r\n");
    ground.write("deep/new file", "new\n");
    std::fs::remove_file(ground.tree.join("src/lib.rs")).unwrap();
    let before = ground.picture();
    let taken = take(&ground).await;
    assert_eq!(ground.picture(), before, "the user's repository is as it was");
    assert_eq!(
        taken.base.as_deref(),
        Some(ground.person(&["rev-parse", "HEAD"]).trim())
    );
    assert_eq!(
        paths(&taken.changed),
        [
            (".gitignore", Change::Added),
            ("deep/new file", Change::Added),
            ("file", Change::Modified),
            ("src/lib.rs", Change::Deleted),
        ]
    );
    let hash = ground.person(&["hash-object", "--no-filters", "file"]);
    assert_eq!(taken.changed[2].content.as_deref(), Some(hash.trim()));
    assert_eq!(taken.changed[3].content, None);
}

#[tokio::test]
async fn a_clean_worktree_is_its_commit() {
    let ground = Ground::new();
    ground.touch("file");
    let taken = take(&ground).await;
    assert_eq!(taken.changed, []);
    assert_eq!(taken.tree, ground.person(&["rev-parse", "HEAD^{tree}"]).trim());
    let copied = ground.beside("store/objects");
    let objects = std::fs::read_dir(copied).unwrap().count();
    assert!(objects <= 2, "what the repository has is not copied: {objects}");
}

#[tokio::test]
async fn two_snapshots_differ_by_what_happened_between() {
    let ground = Ground::new();
    ground.write("file", "a person's change\n");
    let earlier = take(&ground).await;
    ground.write("file", "a step's change\n");
    ground.write("made", "made\n");
    std::fs::remove_file(ground.tree.join("src/lib.rs")).unwrap();
    ground.write("src/lib.rs/now-a-folder", "x\n");
    ground.person(&["commit", "-q", "--allow-empty", "-m", "moves the base"]);
    let later = take(&ground).await;
    let checkout = ground.checkout().await;
    let store = ground.beside("store");
    let changed = changed_between(&ground.git, &checkout, &store, &earlier, &later)
        .await
        .unwrap();
    assert_eq!(
        paths(&changed),
        [
            ("file", Change::Modified),
            ("made", Change::Added),
            ("src/lib.rs", Change::Deleted),
            ("src/lib.rs/now-a-folder", Change::Added),
        ]
    );
    let back = changed_between(&ground.git, &checkout, &store, &later, &later)
        .await
        .unwrap();
    assert_eq!(back, []);
}

#[tokio::test]
async fn files_are_taken_byte_by_byte() {
    let ground = Ground::new();
    ground.config("core.autocrlf", "true");
    ground.write(
        ".gitattributes",
        "*.txt text eol=crlf ident working-tree-encoding=UTF-16\n",
    );
    ground.write("windows.txt", "$Id$\r\nline\r\n");
    ground.write("src/lib.rs", "changed\n");
    let taken = take(&ground).await;
    let kept = taken
        .changed
        .iter()
        .find(|one| one.path == Path::new("windows.txt"))
        .unwrap();
    let exact = ground.person(&["hash-object", "--no-filters", "windows.txt"]);
    assert_eq!(kept.content.as_deref(), Some(exact.trim()));
}

#[tokio::test]
async fn what_the_users_index_hides_is_seen() {
    let ground = Ground::new();
    ground.person(&["update-index", "--assume-unchanged", "file"]);
    ground.person(&["update-index", "--skip-worktree", "src/lib.rs"]);
    ground.write("file", "hidden change\n");
    ground.write("src/lib.rs", "hidden change\n");
    let taken = take(&ground).await;
    assert_eq!(
        paths(&taken.changed),
        [("file", Change::Modified), ("src/lib.rs", Change::Modified)]
    );
}

#[tokio::test]
async fn a_branch_without_a_commit_has_a_state_too() {
    let ground = Ground::empty();
    ground.write("new", "new\n");
    let taken = take(&ground).await;
    assert_eq!(taken.base, None);
    assert_eq!(paths(&taken.changed), [("new", Change::Added)]);
}
