//! The names of what a repository has recorded, wherever they are reached from.

use std::collections::BTreeSet;

use stance_repo::Recorded;

use crate::ground::Ground;

async fn names(recorded: &Recorded, ground: &Ground) -> (BTreeSet<String>, BTreeSet<String>) {
    let names = recorded.names(&ground.git, &ground.checkout().await).await.unwrap();
    ((*names.index).clone(), (*names.history).clone())
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[tokio::test]
async fn every_name_is_found_that_a_reference_or_its_log_reaches() {
    let ground = Ground::new();
    let commit = |name: &str| {
        ground.write(name, &format!("{name}\n"));
        ground.person(&["add", name]);
        ground.person(&["commit", "-q", "-m", name]);
    };
    commit("gone");
    ground.person(&["rm", "-q", "gone"]);
    ground.person(&["commit", "-q", "-m", "removed"]);
    ground.person(&["switch", "-q", "-c", "side"]);
    commit("of-a-branch");
    ground.person(&["switch", "-q", "main"]);
    commit("of-main");
    ground.person(&["merge", "-q", "--no-commit", "side"]);
    ground.write("of-the-merge", "1\n");
    ground.person(&["add", "of-the-merge"]);
    ground.person(&["commit", "-q", "-m", "merged"]);
    commit("of-a-log");
    ground.person(&["reset", "-q", "--hard", "HEAD~1"]);
    ground.write("of-a-stash", "1\n");
    ground.person(&["add", "of-a-stash"]);
    ground.person(&["stash", "-q"]);
    ground.write("with space\nand line", "1\n");
    ground.person(&["add", "-A"]);

    let (index, history) = names(&Recorded::default(), &ground).await;
    let now = ["file", "src/lib.rs", "of-a-branch", "of-main", "of-the-merge"];
    assert_eq!(index, set(&[&now[..], &["with space\nand line"]].concat()));
    assert_eq!(history, set(&[&now[..], &["gone", "of-a-log", "of-a-stash"]].concat()));
}

#[tokio::test]
async fn names_are_looked_up_again_when_index_or_references_changed() {
    let ground = Ground::new();
    let recorded = Recorded::default();
    let before = names(&recorded, &ground).await;
    assert_eq!(names(&recorded, &ground).await, before);
    ground.write("new", "1\n");
    ground.person(&["add", "new"]);
    let (index, history) = names(&recorded, &ground).await;
    assert!(index.contains("new") && !history.contains("new"));
    ground.person(&["commit", "-q", "-m", "new"]);
    assert!(names(&recorded, &ground).await.1.contains("new"));
}

#[tokio::test]
async fn a_repository_without_a_commit_holds_nothing() {
    let ground = Ground::empty();
    assert_eq!(names(&Recorded::default(), &ground).await, Default::default());
}
