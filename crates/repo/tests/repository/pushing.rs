//! Whether a push would still send the same things to the same place.

use std::fs;

use crate::ground::Ground;

#[tokio::test]
async fn what_a_push_is_about_changes_with_references_and_remotes_alone() {
    let ground = Ground::new();
    ground.person(&["branch", "topic"]);
    ground.person(&["remote", "add", "origin", "https://example.org/a.git"]);
    let checkout = ground.checkout().await;
    let now = || (checkout.references(), checkout.destinations());
    let first = now();
    ground.write("file", "changed\n");
    ground.person(&["add", "."]);
    ground.person(&["status"]);
    assert_eq!(now(), first);

    ground.person(&["commit", "-q", "-m", "second"]);
    let second = now();
    assert!(second.0 != first.0 && second.1 == first.1);
    ground.person(&["pack-refs", "--all"]);
    let packed = now();
    ground.person(&["branch", "-f", "topic", "main"]);
    assert_ne!(now().0, packed.0);
    ground.person(&["checkout", "-q", "topic"]);
    let elsewhere = now();
    assert!(elsewhere.0 != packed.0 && elsewhere.1 == first.1);
    ground.person(&[
        "config",
        "url.https://evil.example/.pushInsteadOf",
        "https://example.org/",
    ]);
    assert!(now().0 == elsewhere.0 && now().1 != first.1);

    // What is no file of git's is passed by.
    let before = now();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        ground.tree.join(".git/refs/heads/pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    std::os::unix::fs::symlink("/dev/zero", ground.tree.join(".git/refs/heads/endless")).unwrap();
    assert_eq!(now(), before);
    fs::write(ground.tree.join(".git/refs/heads/new"), "x").unwrap();
    assert_ne!(now().0, before.0);
}
