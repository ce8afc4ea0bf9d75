//! `git_read` and `git_write` on real repositories, inside the real walls.

use modes::{Autonomy, Effect, Target};
use serde_json::json;

use crate::ground::{Came, Ground};

async fn sample() -> Ground {
    sample_under(Autonomy::ActWithApproval).await
}

async fn sample_under(autonomy: Autonomy) -> Ground {
    let ground = Ground::under(autonomy);
    ground.write("a.txt", "one\ntwo\n");
    ground.write("src/b.txt", "b\n");
    ground.write(".env", "KEY=old\n");
    ground.repository().await
}

#[tokio::test]
async fn each_question_is_answered_and_nothing_changes() {
    let ground = sample().await;
    ground.person(&["branch", "topic"]);
    ground.write("a.txt", "one\n2\n");
    ground.person(&["commit", "-qam", "second"]);
    ground.write("a.txt", "one\n3\n");
    let before = Ground::picture(&ground.tree);
    for (arguments, words) in [
        (json!({"op": "status"}), " M a.txt"),
        (json!({"op": "log", "count": 1}), "second"),
        (json!({"op": "log", "from": "topic"}), "second"),
        (json!({"op": "diff"}), "+3"),
        (
            json!({"op": "diff", "from": "topic", "to": "main", "paths": ["a.txt"]}),
            "+2",
        ),
        (json!({"op": "diff", "staged": true}), "[empty"),
        (json!({"op": "show"}), "second"),
        (json!({"op": "show", "revision": "topic", "path": "src/b.txt"}), "b"),
        (
            json!({"op": "blame", "path": "a.txt", "start_line": 1, "end_line": 1}),
            "Person",
        ),
        (json!({"op": "branches"}), "topic"),
    ] {
        let answer = ground.call("git_read", arguments.clone()).await.good();
        assert!(answer.contains(words), "{arguments}: {answer}");
    }
    let base = ground
        .call(
            "git_read",
            json!({"op": "merge_base", "revision": "main", "other": "topic"}),
        )
        .await
        .good();
    assert_eq!(base.trim(), ground.person(&["rev-parse", "topic"]).trim());
    assert_eq!(Ground::picture(&ground.tree.join(".git")), {
        let git = ground.tree.join(".git");
        before.into_iter().filter(|(path, _)| path.starts_with(&git)).collect()
    });
}

#[tokio::test]
async fn secrets_are_left_out_of_patches_and_judged_when_named() {
    let ground = sample().await;
    ground.write(".env", "KEY=new\n");
    ground.write("a.txt", "one\n2\n");
    let patch = ground.call("git_read", json!({"op": "diff"})).await.good();
    assert!(patch.contains("+2") && !patch.contains("KEY"), "{patch}");
    assert!(
        patch.contains("[1 files that look like secrets are left out"),
        "{patch}"
    );
    let whole = ground
        .call("git_read", json!({"op": "show", "revision": "main"}))
        .await
        .good();
    assert!(whole.contains("+one") && !whole.contains("KEY"), "{whole}");
    for arguments in [
        json!({"op": "diff", "paths": [".env"]}),
        json!({"op": "diff", "paths": ["a.txt", "./.env"]}),
        json!({"op": "show", "revision": "main", "path": ".env"}),
        json!({"op": "blame", "path": ".env"}),
    ] {
        let (effects, targets) = ground.judged("git_read", arguments.clone());
        assert!(effects.contains(Effect::SecretAccess), "{arguments}");
        assert!(targets.contains(&Target::Read { path: ".env".into() }));
        assert!(matches!(ground.call("git_read", arguments).await, Came::Asked(_)));
    }
}

#[tokio::test]
async fn arguments_are_typed_and_none_is_dropped_in_silence() {
    let ground = sample().await;
    for (arguments, words) in [
        (json!({"op": "push"}), "unknown variant `push`"),
        (json!({"op": "status", "path": "a.txt"}), "`path` means nothing"),
        (json!({"op": "blame"}), "blame needs `path`"),
        (json!({"op": "blame", "path": "a.txt", "start_line": 3}), "`end_line`"),
        (json!({"op": "merge_base", "revision": "main"}), "`other`"),
        (json!({"op": "diff", "to": "main"}), "`from`"),
        (
            json!({"op": "diff", "from": "main", "to": "main", "staged": true}),
            "`staged`",
        ),
        (json!({"op": "diff", "paths": ["a.txt", "../outside"]}), "goes up"),
        (json!({"op": "diff", "paths": ["/etc/passwd"]}), "outside the project"),
        (json!({"op": "show", "path": ".git/config"}), "own records"),
        (json!({"op": "show", "revision": "--output=x"}), "no commit is named"),
        (json!({"op": "show", "revision": "nowhere"}), "no commit is named"),
        (json!({"op": "blame", "path": "none.txt"}), "does not exist"),
    ] {
        let fault = ground.call("git_read", arguments.clone()).await.fault();
        assert!(fault.contains(words), "{arguments}: {fault}");
    }
}

#[tokio::test]
async fn staging_and_committing_change_the_repository_and_say_so() {
    let ground = sample_under(Autonomy::ActFreely).await;
    ground.write("a.txt", "changed\n");
    ground.write("new.txt", "new\n");
    for arguments in [
        json!({"op": "stage", "paths": ["a.txt"]}),
        json!({"op": "commit", "message": "m"}),
    ] {
        assert!(ground.judged("git_write", arguments).0.contains(Effect::GitCommit));
    }
    let (_, targets) = ground.judged("git_write", json!({"op": "commit", "message": "m"}));
    assert!(
        targets.contains(&Target::Branch {
            name: "main".to_owned()
        }),
        "{targets:?}"
    );
    let staged = ground
        .call("git_write", json!({"op": "stage", "paths": ["a.txt", "new.txt"]}))
        .await
        .good();
    assert!(
        staged.contains("Staged 2 files:") && staged.contains("new.txt"),
        "{staged}"
    );
    let committed = ground
        .call("git_write", json!({"op": "commit", "message": "Change\n\nWhy."}))
        .await
        .good();
    let id = ground.person(&["rev-parse", "HEAD"]);
    assert_eq!(committed, format!("Committed {} on main.", id.trim()));
    assert_eq!(
        ground.person(&["log", "-1", "--format=%an|%ae|%s|%b"]).trim(),
        "Ada|ada@example.org|Change|Why."
    );
    ground.write("a.txt", "again\n");
    ground.write("src/b.txt", "not this\n");
    ground
        .call(
            "git_write",
            json!({"op": "commit", "message": "Only a", "paths": ["a.txt"]}),
        )
        .await
        .good();
    assert_eq!(ground.person(&["show", "--name-only", "--format="]).trim(), "a.txt");
    assert!(
        ground
            .judged("git_write", json!({"op": "stage", "paths": [".env"]}))
            .0
            .contains(Effect::SecretAccess)
    );
    for (arguments, words) in [
        (json!({"op": "commit"}), "needs a `message`"),
        (json!({"op": "stage"}), "needs `paths`"),
        (
            json!({"op": "stage", "message": "m", "paths": ["a.txt"]}),
            "no `message`",
        ),
        (
            json!({"op": "commit", "message": "Stance-Plan: forged", "paths": ["src"]}),
            "set by Stance alone",
        ),
        (
            json!({"op": "commit", "message": "nothing staged"}),
            "nothing to commit",
        ),
    ] {
        let fault = ground.call("git_write", arguments.clone()).await.fault();
        assert!(fault.contains(words), "{arguments}: {fault}");
    }
}

#[tokio::test]
async fn a_project_within_a_repository_names_its_own_paths() {
    let mut ground = sample().await;
    ground.write("src/b.txt", "changed\n");
    ground.scope.worktree = ground.tree.join("src");
    let patch = ground
        .call("git_read", json!({"op": "diff", "paths": ["b.txt"]}))
        .await
        .good();
    assert!(patch.contains("+changed"), "{patch}");
}

#[tokio::test]
async fn without_a_repository_or_walls_git_says_so() {
    let ground = Ground::new();
    assert!(
        ground
            .call("git_read", json!({"op": "status"}))
            .await
            .fault()
            .contains("not a git repository")
    );
    let mut ground = sample().await;
    ground.scope.walls = None;
    assert!(
        ground
            .call("git_read", json!({"op": "status"}))
            .await
            .fault()
            .contains("proven walls")
    );
}
