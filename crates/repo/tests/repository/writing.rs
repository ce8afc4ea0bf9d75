//! Staging, committing and landing a step.

use std::fs;
use std::path::PathBuf;

use stance_repo::{Identity, RepoError, StepCommit, commit, commit_step, head, stage};

use crate::ground::{Ground, ada};

async fn commit_all(ground: &Ground, message: &str) -> Result<String, RepoError> {
    let checkout = ground.checkout().await;
    let now = head(&ground.git, &checkout).await?.id;
    let made = commit(&ground.git, &checkout, message, None, &ada(), now.as_deref()).await?;
    Ok(made.id)
}

async fn stage_paths(ground: &Ground, paths: &[&str]) -> Result<Vec<PathBuf>, RepoError> {
    let checkout = ground.checkout().await;
    let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
    stage(&ground.git, &checkout, &paths).await
}

#[tokio::test]
async fn what_is_staged_is_committed_and_nothing_else() {
    let ground = Ground::new();
    ground.write("src/new.rs", "new\n");
    ground.write("file", "changed\n");
    fs::remove_file(ground.tree.join("src/lib.rs")).unwrap();
    let staged = stage_paths(&ground, &["src"]).await.unwrap();
    assert_eq!(staged, [PathBuf::from("src/lib.rs"), PathBuf::from("src/new.rs")]);
    let parent = ground.person(&["rev-parse", "HEAD"]);
    let id = commit_all(&ground, "Replace the library\n\nBecause.").await.unwrap();
    assert_eq!(ground.person(&["rev-parse", "main"]).trim(), id);
    assert_eq!(ground.person(&["rev-parse", "HEAD^"]), parent);
    assert_eq!(ground.person(&["status", "--porcelain"]), " M file\n");
    let shown = ground.person(&["log", "-1", "--format=%an <%ae>|%cn|%B", "--name-status"]);
    assert_eq!(
        shown.trim(),
        "Ada <ada@example.org>|Ada|Replace the library\n\nBecause.\n\n\nD\tsrc/lib.rs\nA\tsrc/new.rs"
    );
    let log = ground.person(&["reflog", "-1", "--format=%gs", "main"]);
    assert_eq!(log.trim(), "commit: Replace the library");
    ground.person(&["fsck", "--strict"]);
}

#[tokio::test]
async fn named_paths_are_committed_without_what_else_is_staged() {
    let ground = Ground::new();
    ground.write("file", "changed\n");
    ground.write("src/lib.rs", "staged\n");
    ground.person(&["add", "src/lib.rs"]);
    let checkout = ground.checkout().await;
    let now = head(&ground.git, &checkout).await.unwrap().id;
    let paths = [PathBuf::from("file")];
    commit(
        &ground.git,
        &checkout,
        "Only the file",
        Some(&paths),
        &ada(),
        now.as_deref(),
    )
    .await
    .unwrap();
    assert_eq!(ground.person(&["status", "--porcelain"]), "M  src/lib.rs\n");
    assert_eq!(ground.person(&["show", "HEAD:file"]), "changed\n");
}

#[tokio::test]
async fn the_first_commit_of_a_branch() {
    let ground = Ground::empty();
    ground.write("file", "one\n");
    stage_paths(&ground, &["."]).await.unwrap();
    let id = commit_all(&ground, "Begin").await.unwrap();
    assert_eq!(ground.person(&["rev-list", "HEAD"]).trim(), id);
}

#[tokio::test]
async fn a_linked_worktree_commits_to_its_own_branch() {
    let mut ground = Ground::new();
    let main = ground.person(&["rev-parse", "main"]);
    let linked = ground.beside("linked");
    ground.person(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    ground.tree = linked;
    ground.write("file", "changed\n");
    stage_paths(&ground, &["file"]).await.unwrap();
    let id = commit_all(&ground, "On the side").await.unwrap();
    assert_eq!(ground.person(&["rev-parse", "side"]).trim(), id);
    assert_eq!(ground.person(&["rev-parse", "main"]), main);
    assert_eq!(ground.person(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn neither_hook_nor_signature_nor_filter_runs() {
    let ground = Ground::new();
    let mut traces = Vec::new();
    for hook in [
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "reference-transaction",
        "post-index-change",
    ] {
        let (program, trace) = ground.canary(hook);
        fs::rename(program, ground.tree.join(".git/hooks").join(hook)).unwrap();
        traces.push(trace);
    }
    for key in ["gpg.program", "filter.evil.clean", "core.fsmonitor", "core.editor"] {
        let (program, trace) = ground.canary(key);
        ground.config(key, &program);
        traces.push(trace);
    }
    ground.config("commit.gpgSign", "true");
    ground.write(".git/info/attributes", "* filter=evil\n");
    ground.write("file", "changed\n");
    stage_paths(&ground, &["file"]).await.unwrap();
    commit_all(&ground, "Quietly").await.unwrap();
    for trace in traces {
        assert!(!trace.exists(), "{} ran", trace.display());
    }
}

#[tokio::test]
async fn a_moved_head_is_refused_and_nothing_is_written() {
    let ground = Ground::new();
    let checkout = ground.checkout().await;
    let seen = head(&ground.git, &checkout).await.unwrap().id;
    ground.person(&["commit", "-q", "--allow-empty", "-m", "somebody else's"]);
    ground.write("file", "changed\n");
    stage_paths(&ground, &["file"]).await.unwrap();
    let now = ground.person(&["rev-parse", "HEAD"]);
    let error = commit(&ground.git, &checkout, "Late", None, &ada(), seen.as_deref())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, RepoError::HeadMoved { found, .. } if found == now.trim()),
        "{error}"
    );
    assert_eq!(ground.person(&["rev-parse", "HEAD"]), now);
}

#[tokio::test]
async fn refusals_say_why() {
    let ground = Ground::new();
    assert_eq!(
        commit_all(&ground, "Nothing").await.unwrap_err().to_string(),
        "nothing to commit"
    );
    assert!(matches!(commit_all(&ground, "  \n").await, Err(RepoError::Message)));
    let forged = commit_all(&ground, "x\n\nStance-Plan: P1 step a").await.unwrap_err();
    assert_eq!(forged.to_string(), "the trailer Stance-Plan is set by Stance alone");
    let error = stage_paths(&ground, &["gone"]).await.unwrap_err();
    assert_eq!(error.to_string(), r#""gone" does not exist there"#);
    assert!(matches!(stage_paths(&ground, &["../x"]).await, Err(RepoError::Path(_))));

    ground.write(".gitattributes", "*.bin filter=lfs\n");
    ground.write("big.bin", "big\n");
    let error = stage_paths(&ground, &["big.bin"]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        r#""big.bin" is kept through the filter "lfs", which is not run"#
    );

    ground.write("file", "changed\n");
    stage_paths(&ground, &["file"]).await.unwrap();
    fs::write(ground.tree.join(".git/index.lock"), "").unwrap();
    ground.write("file", "changed again\n");
    assert!(matches!(stage_paths(&ground, &["file"]).await, Err(RepoError::Locked)));
    fs::remove_file(ground.tree.join(".git/index.lock")).unwrap();
    ground.write(".git/MERGE_HEAD", "x\n");
    assert!(matches!(
        commit_all(&ground, "x").await,
        Err(RepoError::Busy("a merge"))
    ));
    fs::remove_file(ground.tree.join(".git/MERGE_HEAD")).unwrap();
    ground.person(&["checkout", "-q", "--detach"]);
    assert!(matches!(commit_all(&ground, "x").await, Err(RepoError::DetachedHead)));
}

#[tokio::test]
async fn a_step_lands_once() {
    let ground = Ground::new();
    let base = ground.person(&["rev-parse", "HEAD"]).trim().to_owned();
    ground.write("file", "step one\n");
    ground.write("src/lib.rs", "not of this step\n");
    let checkout = ground.checkout().await;
    let step = StepCommit {
        plan: "P1".into(),
        step: "fix".into(),
        message: "Fix it\n\nStance-Plan: P9 step forged".into(),
        paths: vec!["file".into()],
        author: Identity::new("Grace", "grace@example.org").unwrap(),
        since: Some(base.clone()),
        expected_head: Some(base),
    };
    let first = commit_step(&ground.git, &checkout, &step).await.unwrap();
    let again = commit_step(&ground.git, &checkout, &step).await.unwrap();
    assert_eq!(first, again);
    assert_eq!(first.branch, "main");
    assert_eq!(ground.person(&["rev-list", "--count", "HEAD"]).trim(), "2");
    let shown = ground.person(&["log", "-1", "--format=%an|%(trailers:key=Stance-Plan,valueonly)"]);
    assert_eq!(shown.trim(), "Grace|P1 step fix");
    assert_eq!(ground.person(&["status", "--porcelain"]), " M src/lib.rs\n");

    // Another step on top of it is another commit.
    let next = StepCommit {
        step: "more".into(),
        paths: vec!["src/lib.rs".into()],
        expected_head: Some(first.id.clone()),
        ..step
    };
    let second = commit_step(&ground.git, &checkout, &next).await.unwrap();
    assert_ne!(second.id, first.id);
    assert_eq!(ground.person(&["rev-parse", "HEAD^"]).trim(), first.id);
}
