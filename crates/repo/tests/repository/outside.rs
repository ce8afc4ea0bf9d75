//! A repository that points at files outside of it: no byte of them is shown.

use std::fs;
use std::os::unix::fs::symlink;

use stance_repo::{Checkout, Read, RepoError, snapshot};

use crate::ground::{Ground, questions};

const SECRET: &str = "the-secret-of-the-outside";

/// Asks everything; neither an answer nor an error may hold the secret.
async fn shows_nothing(ground: &Ground) {
    let checkout = match Checkout::discover(&ground.git, &ground.tree).await {
        Ok(checkout) => checkout,
        Err(error) => {
            assert!(!format!("{error} {error:?}").contains(SECRET));
            return;
        }
    };
    for question in questions() {
        let answer = stance_repo::read(&ground.git, &checkout, &question, 1 << 20).await;
        assert!(!format!("{answer:?}").contains(SECRET), "{question:?}: {answer:?}");
    }
    let store = ground.beside("store");
    let taken = snapshot(&ground.git, &checkout, &store).await;
    assert!(!format!("{taken:?}").contains(SECRET));
}

fn secret(ground: &Ground) -> String {
    let path = ground.beside("secret");
    fs::write(&path, format!("{SECRET}\n")).unwrap();
    path.display().to_string()
}

#[tokio::test]
async fn keys_that_name_a_file() {
    let ground = Ground::new();
    let secret = secret(&ground);
    ground.write("file", "changed\n");
    let config = fs::read_to_string(ground.tree.join(".git/config")).unwrap();
    let planted = [
        ("blame", "ignoreRevsFile"),
        ("mailmap", "file"),
        ("core", "attributesFile"),
        ("core", "excludesFile"),
        ("core", "worktree"),
        ("diff", "orderFile"),
        ("include", "path"),
        ("includeIf \"gitdir:/\"", "path"),
        ("commit", "template"),
    ]
    .map(|(section, key)| format!("[{section}]\n\t{key} = {secret}\n"));
    ground.write(".git/config", &(config + &planted.concat()));
    shows_nothing(&ground).await;
    assert_eq!(ground.read(&Read::Status).await.unwrap(), "## main\n M file\n");
}

#[tokio::test]
async fn a_worktree_elsewhere_is_not_looked_at() {
    let ground = Ground::new();
    let other = ground.beside("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("file"), SECRET).unwrap();
    ground.config("core.worktree", other.to_str().unwrap());
    shows_nothing(&ground).await;
    assert_eq!(ground.read(&Read::Status).await.unwrap(), "## main\n");
}

#[tokio::test]
async fn objects_of_another_repository_are_refused() {
    let ground = Ground::new();
    let other = Ground::new();
    other.write("file", SECRET);
    other.person(&["commit", "-qam", "other"]);
    let objects = other.tree.join(".git/objects");
    ground.write(".git/objects/info/alternates", &format!("{}\n", objects.display()));
    let id = other.person(&["rev-parse", "HEAD"]);
    ground.write(".git/refs/heads/main", &id);
    let error = Checkout::discover(&ground.git, &ground.tree).await.unwrap_err();
    assert!(
        error.to_string().ends_with("it borrows objects from another place"),
        "{error}"
    );
    shows_nothing(&ground).await;
}

#[tokio::test]
async fn symbolic_links_within_git_lead_nowhere() {
    for name in ["HEAD", "index", "packed-refs", "config", "info/exclude", "shallow"] {
        let ground = Ground::new();
        let secret = secret(&ground);
        let path = ground.tree.join(".git").join(name);
        drop(fs::remove_file(&path));
        symlink(&secret, &path).unwrap();
        let error = Checkout::discover(&ground.git, &ground.tree).await.unwrap_err();
        assert!(matches!(error, RepoError::Layout { .. }), "{name}: {error}");
    }
    let ground = Ground::new();
    let secret = secret(&ground);
    symlink(&secret, ground.tree.join(".git/refs/heads/leak")).unwrap();
    shows_nothing(&ground).await;
}

#[tokio::test]
async fn symbolic_links_in_the_worktree_are_links() {
    let ground = Ground::new();
    let secret = secret(&ground);
    fs::remove_file(ground.tree.join("file")).unwrap();
    symlink(&secret, ground.tree.join("file")).unwrap();
    symlink(&secret, ground.tree.join(".mailmap")).unwrap();
    symlink(&secret, ground.tree.join(".gitignore")).unwrap();
    symlink(&secret, ground.tree.join(".gitattributes")).unwrap();
    shows_nothing(&ground).await;
}
