//! Secret-shaped files of the worktree: there, and not to be opened by a process that nobody allowed
//! to, under whatever name.

use std::fs;

use stance_sandbox::Secrets;

use crate::ground::{Ground, READ_ONLY, WRITABLE, content};

/// A tree with a secret of every kind, each with the word in it.
fn ground() -> Ground {
    let ground = Ground::with_repository();
    for path in [
        ".env",
        "deploy/server.key",
        ".ssh/id_rsa",
        ".ssh/notes",
        "config/linked",
        "node_modules/pack/.npmrc",
        ".env.example",
        "venv-of-mine/.ssh/plain",
    ] {
        let path = ground.tree.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "the-word\n").unwrap();
    }
    fs::write(ground.tree.join("venv-of-mine/pyvenv.cfg"), "").unwrap();
    fs::hard_link(ground.tree.join(".env"), ground.tree.join("src-copy")).unwrap();
    std::os::unix::fs::symlink("config/linked", ground.tree.join(".env.local")).unwrap();
    ground
}

const WAYS: [&str; 12] = [
    "cat .env",
    "source .env; cat < .env",
    "cp .env x && cat x",
    "mv .env x && cat x",
    "ln .env x && cat x",
    "ln -s .env x; cat x",
    "cat src-copy",
    "cat deploy/server.key; mv deploy e && cat e/server.key",
    "cat .ssh/id_rsa .ssh/notes; ls .ssh/*; mv .ssh plain && cat plain/notes",
    "cat config/linked .env.local",
    "tar c .env .ssh deploy config src-copy | grep -a the-word",
    "grep -rn the-word . --exclude-dir=node_modules --exclude-dir=venv-of-mine --exclude=.env.example",
];

#[tokio::test]
async fn no_way_of_opening_a_hidden_secret_shows_it() {
    for containment in [READ_ONLY, WRITABLE] {
        for line in WAYS {
            let ground = ground();
            let finished = ground.shell(containment, &format!("({line}) 2>&1")).await;
            let said = finished.stdout.text();
            let plain = ["node_modules", "venv-of-mine", ".env.example"];
            let shown = said
                .lines()
                .any(|line| line.contains("the-word") && !plain.iter().any(|plain| line.contains(plain)));
            assert!(!shown, "{line}: {said}");
            let hidden: Vec<_> = finished
                .hidden
                .iter()
                .map(|path| path.strip_prefix(&ground.tree).unwrap())
                .collect();
            let expected = [
                ".env",
                ".ssh/id_rsa",
                ".ssh/notes",
                "config/linked",
                "deploy/server.key",
                "src-copy",
            ];
            assert_eq!(hidden, expected.map(std::path::Path::new));
            assert_eq!(content(&ground.tree.join(".env")), "the-word\n");
        }
    }
}

#[tokio::test]
async fn what_is_no_secret_is_read() {
    let ground = ground();
    let line = "cat .env.example node_modules/pack/.npmrc venv-of-mine/.ssh/plain";
    assert_eq!(ground.output(READ_ONLY, line).await, "the-word\n".repeat(3));
}

#[tokio::test]
async fn what_somebody_allowed_is_read_and_nothing_else() {
    let mut ground = ground();
    ground.places.secrets = Secrets::hidden().and(vec![".ssh/notes".into()]);
    let said = ground
        .output(WRITABLE, "cat .ssh/notes; ! cat .ssh/id_rsa 2>&1; ! cat .env 2>&1")
        .await;
    assert_eq!(said.matches("the-word").count(), 1, "{said}");
    assert_eq!(said.matches("Permission denied").count(), 2, "{said}");
    ground.places.secrets = Secrets::shown();
    assert_eq!(
        ground.output(WRITABLE, "cat .env .ssh/id_rsa").await,
        "the-word\n".repeat(2)
    );
}
