//! Finding a repository, and refusing one that pretends.

use std::fs;
use std::os::unix::fs::symlink;

use stance_repo::{Checkout, RepoError, identity};

use crate::ground::Ground;

#[tokio::test]
async fn a_repository_is_found_from_a_folder_within() {
    let ground = Ground::new();
    let checkout = Checkout::discover(&ground.git, &ground.tree.join("src")).await.unwrap();
    assert_eq!(checkout.worktree, ground.tree);
    assert_eq!(checkout.git_dir, ground.tree.join(".git"));
    assert_eq!(checkout.common_dir, checkout.git_dir);
    assert_eq!(checkout.sealed(), [ground.tree.join(".git")]);
}

#[tokio::test]
async fn a_linked_worktree_is_followed_to_its_repository() {
    let mut ground = Ground::new();
    let linked = ground.beside("linked");
    ground.person(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let main = ground.tree.join(".git");
    ground.tree = linked.clone();
    ground.write("file", "changed\n");
    let checkout = ground.checkout().await;
    assert_eq!(checkout.common_dir, main);
    assert_eq!(checkout.git_dir, main.join("worktrees/linked"));
    let status = ground.read(&stance_repo::Read::Status).await.unwrap();
    assert_eq!(status, "## side\n M file\n");
}

#[tokio::test]
async fn pretenders_are_refused() {
    let stranger = Ground::new();
    let ground = Ground::new();
    let folder = ground.beside("pretender");
    fs::create_dir(&folder).unwrap();
    let dot_git = folder.join(".git");
    let why = async || Checkout::discover(&ground.git, &folder).await.unwrap_err().to_string();

    fs::write(&dot_git, format!("gitdir: {}\n", stranger.tree.join(".git").display())).unwrap();
    assert!(why().await.ends_with("does not point back"));
    fs::write(&dot_git, "not a pointer\n").unwrap();
    assert!(why().await.ends_with("not a pointer to a git directory"));
    fs::remove_file(&dot_git).unwrap();
    symlink(stranger.tree.join(".git"), &dot_git).unwrap();
    assert!(why().await.ends_with("it leads out of the worktree"));

    ground.write(".git/commondir", "../../elsewhere\n");
    let error = Checkout::discover(&ground.git, &ground.tree).await.unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("only a linked worktree has a common folder")
    );
}

#[tokio::test]
async fn no_repository_and_a_bare_one_are_told_apart() {
    let ground = Ground::new();
    let plain = ground.beside("plain");
    fs::create_dir(&plain).unwrap();
    let error = Checkout::discover(&ground.git, &plain).await.unwrap_err();
    assert!(matches!(error, RepoError::NoRepository(folder) if folder == plain));
    let bare = ground.beside("bare");
    fs::create_dir(&bare).unwrap();
    ground.person_in(&bare, &["init", "-q", "--bare"]);
    let error = Checkout::discover(&ground.git, &bare).await.unwrap_err();
    assert!(matches!(error, RepoError::Bare(folder) if folder == bare));
}

#[tokio::test]
async fn the_repository_names_the_person_over_their_own_files() {
    let ground = Ground::new();
    let checkout = ground.checkout().await;
    let personal = ground.beside("gitconfig");
    let other = ground.beside("included");
    fs::write(&other, "[user]\nname = Nobody\n").unwrap();
    fs::write(
        &personal,
        format!("[user]\nname = Ada\n[include]\npath = {}\n", other.display()),
    )
    .unwrap();
    let files = [personal.clone()];
    assert_eq!(
        identity(&ground.git, &checkout, &files).await.unwrap(),
        None,
        "no mail yet"
    );
    ground.config("user.email", "ada@work.example");
    let found = identity(&ground.git, &checkout, &files).await.unwrap().unwrap();
    assert_eq!((found.name(), found.mail()), ("Ada", "ada@work.example"));
}
