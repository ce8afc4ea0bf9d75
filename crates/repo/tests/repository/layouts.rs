//! Repositories that are kept in less usual ways.

use std::path::PathBuf;

use stance_repo::{Read, commit, head, snapshot, stage};

use crate::ground::{Ground, ada, questions};

/// Reads, takes a snapshot, and commits a change, as on any other repository.
async fn all_works(ground: &Ground) {
    ground.write("file", "changed\n");
    let checkout = ground.checkout().await;
    let before = ground.picture();
    for question in questions() {
        ground.read(&question).await.unwrap();
    }
    assert_eq!(ground.read(&Read::Status).await.unwrap(), "## main\n M file\n");
    let taken = snapshot(&ground.git, &checkout, &ground.beside("store")).await.unwrap();
    assert_eq!(taken.changed.len(), 1, "{:?}", taken.changed);
    assert_eq!(ground.picture(), before);
    stage(&ground.git, &checkout, &[PathBuf::from("file")]).await.unwrap();
    let seen = head(&ground.git, &checkout).await.unwrap();
    assert_eq!(seen.branch.as_deref(), Some("main"));
    let made = commit(&ground.git, &checkout, "Change", None, &ada(), seen.id.as_deref())
        .await
        .unwrap();
    assert_eq!(ground.person(&["rev-parse", "HEAD"]).trim(), made.id);
    assert_eq!(ground.person(&["status", "--porcelain"]), "");
    ground.person(&["fsck", "--strict", "--no-dangling"]);
}

#[tokio::test]
async fn packed_objects_and_references() {
    let ground = Ground::new();
    ground.person(&["gc", "-q", "--prune=now"]);
    ground.person(&["pack-refs", "--all"]);
    all_works(&ground).await;
}

#[tokio::test]
async fn a_split_index() {
    let ground = Ground::new();
    ground.person(&["update-index", "--split-index"]);
    all_works(&ground).await;
}

#[tokio::test]
async fn long_object_names() {
    let mut ground = Ground::empty();
    ground.tree = ground.beside("long names of objects, \u{e4}");
    std::fs::create_dir(&ground.tree).unwrap();
    ground.person(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    ground.write("file", "one\ntwo\nthree\n");
    ground.person(&["add", "."]);
    ground.person(&["commit", "-q", "-m", "first"]);
    all_works(&ground).await;
}

#[tokio::test]
async fn a_shallow_clone() {
    let mut ground = Ground::new();
    ground.write("file", "one\ntwo\nthree\nfour\n");
    ground.person(&["commit", "-qam", "second"]);
    let shallow = ground.beside("shallow");
    let source = format!("file://{}", ground.tree.display());
    ground.person(&["clone", "-q", "--depth=1", &source, shallow.to_str().unwrap()]);
    ground.tree = shallow;
    let log = ground.read(&questions()[1]).await.unwrap();
    assert_eq!(log.matches("commit ").count(), 1, "{log}");
    ground.person(&["branch", "--unset-upstream"]);
    all_works(&ground).await;
}

#[tokio::test]
async fn reads_work_while_the_person_holds_the_index() {
    let ground = Ground::new();
    ground.write(".git/index.lock", "");
    ground.write("file", "changed\n");
    assert_eq!(ground.read(&Read::Status).await.unwrap(), "## main\n M file\n");
}
