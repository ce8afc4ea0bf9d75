//! What a refusal tells the person to do is true: after it the repository is taken.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use stance_repo::{Checkout, RepoError, commit, head};

use crate::ground::{Ground, ada};

async fn refusal(ground: &Ground, folder: &Path) -> RepoError {
    Checkout::discover(&ground.git, folder).await.unwrap_err()
}

async fn hint(ground: &Ground, folder: &Path) -> &'static str {
    let error = refusal(ground, folder).await;
    error.hint().unwrap_or_else(|| panic!("{error} has no hint"))
}

async fn is_taken(ground: &Ground, folder: &Path) {
    let checkout = Checkout::discover(&ground.git, folder).await.unwrap();
    assert_eq!(checkout.worktree, folder);
    assert!(head(&ground.git, &checkout).await.unwrap().id.is_some());
}

#[tokio::test]
async fn a_submodule_is_worked_on_from_above_or_cloned() {
    let ground = Ground::new();
    let other = Ground::new();
    let source = other.tree.to_str().unwrap();
    ground.person(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        source,
        "module",
    ]);
    let module = ground.tree.join("module");
    let said = hint(&ground, &module).await;
    assert!(said.contains("superproject") && said.contains("clone"), "{said}");
    is_taken(&ground, &ground.tree).await;
    let own = ground.beside("own");
    ground.person(&["clone", "-q", source, own.to_str().unwrap()]);
    is_taken(&ground, &own).await;
}

#[tokio::test]
async fn a_git_directory_elsewhere_is_moved_back() {
    let ground = Ground::new();
    let elsewhere = ground.beside("elsewhere");
    ground.person(&["init", "-q", "--separate-git-dir", elsewhere.to_str().unwrap()]);
    let dot_git = ground.tree.join(".git");
    assert!(
        hint(&ground, &ground.tree)
            .await
            .contains("in the place of the `.git` file")
    );
    fs::remove_file(&dot_git).unwrap();
    fs::rename(&elsewhere, &dot_git).unwrap();
    is_taken(&ground, &ground.tree).await;

    fs::rename(&dot_git, &elsewhere).unwrap();
    symlink(&elsewhere, &dot_git).unwrap();
    assert!(hint(&ground, &ground.tree).await.contains("in the place of the link"));
    fs::remove_file(&dot_git).unwrap();
    fs::rename(&elsewhere, &dot_git).unwrap();
    is_taken(&ground, &ground.tree).await;
}

#[tokio::test]
async fn a_moved_worktree_is_repaired() {
    let ground = Ground::new();
    let (linked, moved) = (ground.beside("linked"), ground.beside("moved"));
    ground.person(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    fs::rename(&linked, &moved).unwrap();
    assert!(hint(&ground, &moved).await.contains("`git worktree repair FOLDER`"));
    ground.person(&["worktree", "repair", moved.to_str().unwrap()]);
    is_taken(&ground, &moved).await;
}

#[tokio::test]
async fn borrowed_objects_are_packed_here() {
    let mut ground = Ground::new();
    let shared = ground.beside("shared");
    let source = ground.tree.clone();
    ground.person(&[
        "clone",
        "-q",
        "--shared",
        source.to_str().unwrap(),
        shared.to_str().unwrap(),
    ]);
    ground.tree = shared.clone();
    assert!(hint(&ground, &shared).await.contains("`git repack -a -d`"));
    ground.person(&["repack", "-q", "-a", "-d"]);
    fs::remove_file(shared.join(".git/objects/info/alternates")).unwrap();
    is_taken(&ground, &shared).await;
    ground.person(&["fsck", "--strict"]);
}

#[tokio::test]
async fn references_in_a_table_are_made_files() {
    let ground = Ground::new();
    fs::create_dir(ground.tree.join(".git/reftable")).unwrap();
    let by_folder = hint(&ground, &ground.tree).await;
    assert!(by_folder.contains("--ref-format=files"), "{by_folder}");
    fs::remove_dir(ground.tree.join(".git/reftable")).unwrap();
    let config = fs::read_to_string(ground.tree.join(".git/config")).unwrap();
    ground.write(
        ".git/config",
        &format!("{config}[extensions]\n\trefStorage = reftable\n"),
    );
    assert_eq!(hint(&ground, &ground.tree).await, by_folder);
}

#[tokio::test]
async fn a_bare_repository_is_given_a_worktree() {
    let ground = Ground::new();
    let (bare, folder) = (ground.beside("bare"), ground.beside("folder"));
    let source = ground.tree.to_str().unwrap();
    ground.person(&["clone", "-q", "--bare", source, bare.to_str().unwrap()]);
    assert!(hint(&ground, &bare).await.contains("`git worktree add FOLDER`"));
    ground.person_in(&bare, &["worktree", "add", "-q", folder.to_str().unwrap()]);
    is_taken(&ground, &folder).await;
}

#[tokio::test]
async fn a_commit_without_a_branch_is_helped_and_a_pretender_is_not() {
    let ground = Ground::new();
    ground.person(&["switch", "-q", "--detach"]);
    let checkout = ground.checkout().await;
    let error = commit(&ground.git, &checkout, "Change", None, &ada(), None)
        .await
        .unwrap_err();
    assert_eq!(
        error.hint(),
        Some("Put HEAD on a branch: `git switch -c NAME`."),
        "{error}"
    );
    ground.write(".git/commondir", "../../elsewhere\n");
    assert_eq!(refusal(&ground, &ground.tree).await.hint(), None);
}
