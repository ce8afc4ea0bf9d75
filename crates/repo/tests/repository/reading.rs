//! Ordinary answers, and that asking leaves no trace.

use stance_repo::{Read, RepoError, read};

use crate::ground::{Ground, questions};

#[tokio::test]
async fn every_question_has_its_answer() {
    let ground = Ground::new();
    ground.write("file", "one\n2\nthree\n");
    ground.write("new", "new\n");
    let id = ground.person(&["rev-parse", "HEAD"]).trim().to_owned();

    assert_eq!(ground.read(&Read::Status).await.unwrap(), "## main\n M file\n?? new\n");
    let log = ground.read(&questions()[1]).await.unwrap();
    assert!(
        log.starts_with(&format!("commit {id}\nAuthor: Ada <ada@example.org>\nDate:   ")),
        "{log}"
    );
    assert!(log.contains("\n\n    first\n"), "{log}");
    let diff = ground.read(&questions()[3]).await.unwrap();
    assert!(diff.contains("-two\n+2\n"), "{diff}");
    assert_eq!(ground.read(&questions()[5]).await.unwrap(), "", "nothing is staged");
    let show = ground.read(&questions()[6]).await.unwrap();
    assert!(show.contains("+fn main() {}"), "{show}");
    assert_eq!(ground.read(&questions()[7]).await.unwrap(), "one\ntwo\nthree\n");
    let blame = ground.read(&questions()[8]).await.unwrap();
    assert_eq!(blame.lines().count(), 3);
    assert!(blame.lines().nth(1).unwrap().contains("Not Committed Yet"), "{blame}");
    assert_eq!(ground.read(&questions()[9]).await.unwrap().lines().count(), 2);
    let branches = ground.read(&Read::Branches).await.unwrap();
    assert!(branches.starts_with(&format!("* main {id} ")), "{branches}");
    assert_eq!(ground.read(&questions()[11]).await.unwrap(), format!("{id}\n"));
}

#[tokio::test]
async fn asking_leaves_no_trace() {
    let ground = Ground::new();
    // A person's `git status` would now rewrite the index.
    ground.touch("file");
    ground.write("new", "new\n");
    let before = ground.picture();
    for question in questions() {
        ground.read(&question).await.unwrap();
    }
    assert_eq!(ground.picture(), before);
}

#[tokio::test]
async fn an_answer_is_cut_at_its_limit_and_says_so() {
    let ground = Ground::new();
    let checkout = ground.checkout().await;
    let show = Read::Show {
        revision: "HEAD".into(),
        path: Some("file".into()),
    };
    let answer = read(&ground.git, &checkout, &show, 5).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.dropped), ("one\nt", 9));
}

#[tokio::test]
async fn what_is_not_there_is_said_in_our_words() {
    let ground = Ground::new();
    let blame = |path: &str| Read::Blame {
        path: path.into(),
        revision: None,
        lines: None,
    };
    let show = |revision: &str, path: Option<&str>| Read::Show {
        revision: revision.into(),
        path: path.map(Into::into),
    };
    for (question, expected) in [
        (show("nowhere", None), r#"no commit is named "nowhere""#),
        (show("--output=stolen", None), r#"no commit is named "--output=stolen""#),
        (show("HEAD:file", None), r#"no commit is named "HEAD:file""#),
        (show("HEAD", Some("gone")), r#""gone" does not exist there"#),
        (
            show("HEAD", Some("../beside")),
            r#""../beside" is not a path in this repository"#,
        ),
        (
            blame(".git/config"),
            r#"".git/config" is not a path in this repository"#,
        ),
        (blame("gone"), r#""gone" does not exist there"#),
    ] {
        let error = ground.read(&question).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    assert!(!ground.tree.join("stolen").exists());
}

#[tokio::test]
async fn a_branch_without_a_commit_can_be_asked() {
    let ground = Ground::empty();
    ground.write("new", "new\n");
    let status = ground.read(&Read::Status).await.unwrap();
    assert!(status.ends_with("\n?? new\n"), "{status}");
    let log = ground.read(&questions()[1]).await;
    assert!(matches!(log, Err(RepoError::NoSuchRevision(_))));
}

#[tokio::test]
async fn attributes_do_not_hide_a_change() {
    let ground = Ground::new();
    ground.write("file", "one\ntwo\nthree\nfour\n");
    ground.write(".gitattributes", "* binary -diff\n");
    let diff = ground.read(&questions()[3]).await.unwrap();
    assert!(diff.contains("+four\n"), "{diff}");
}
