//! The `.git` of a writable worktree: nothing a run does there is believed by the host's git.

use std::fs;
use std::os::unix::fs::symlink;

use stance_sandbox::{Program, SandboxError, Spawn, Violation};

use crate::ground::{Ground, WRITABLE};

/// Runs lines as a run would, then git as a person would, and looks for a trace of the plant.
async fn host_git_after(ground: &Ground, line: &str) -> Vec<Violation> {
    let trace = ground.root().join("planted-program-ran");
    let config = format!("[core]\n\tfsmonitor = \"touch {}; false\"\n", trace.display());
    let mut it = Spawn::new(Program::Shell(line.into()), &ground.tree);
    it.environment.push(("CONFIG".into(), config));
    let before = (
        ground.git(&["for-each-ref"]),
        ground.git(&["stash", "list"]),
        listing(ground),
    );
    let finished = ground.run(WRITABLE, it).await.unwrap();
    for folder in [".", "sub"] {
        std::process::Command::new("git")
            .args(["-C", folder, "status"])
            .current_dir(&ground.tree)
            .output()
            .unwrap();
    }
    assert!(!trace.exists(), "{line}");
    let after = (
        ground.git(&["for-each-ref"]),
        ground.git(&["stash", "list"]),
        listing(ground),
    );
    assert_eq!(after, before, "{line}");
    finished.violations
}

fn listing(ground: &Ground) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(ground.tree.join(".git"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn the_repository_cannot_be_changed_replaced_or_moved() {
    for line in [
        "rm -rf .git; echo 'gitdir: .evil' > .git; mkdir .evil; cp -r .git/. .evil; printf %s \"$CONFIG\" >> .evil/config",
        "mv .git .old; cp -r .old .git; printf %s \"$CONFIG\" >> .git/config",
        "printf %s \"$CONFIG\" >> .git/config",
        "printf %s \"$CONFIG\" > .git/config.worktree; echo '* filter=x' > .git/info/attributes",
        "echo 'touch x' > .git/hooks/post-checkout; mkdir -p .git/rebase-merge; echo 'exec id' > .git/rebase-merge/git-rebase-todo",
        "git update-ref refs/heads/main HEAD~0; git branch other; git stash; git commit -qam x",
        "echo ../elsewhere > .git/commondir",
        "ln -s .git/config c; printf %s \"$CONFIG\" >> c; ln .git/config d && printf %s \"$CONFIG\" >> d",
        "git config core.fsmonitor 'touch x'; git gc -q; git worktree add ../x",
        "rm .git/HEAD .git/index; chmod -R 777 .git; touch .git/index.lock",
    ] {
        let ground = Ground::with_repository();
        // A copy of the repository under another name is one that was planted.
        for Violation::GitCreated { path, .. } | Violation::Guarded { path, .. } in host_git_after(&ground, line).await
        {
            let copies = [".evil", ".old"].map(|copy| ground.tree.join(copy));
            assert!(copies.contains(&path), "{line} {path:?}");
        }
    }
}

#[tokio::test]
async fn a_run_reads_the_history_of_its_repository() {
    let ground = Ground::with_repository();
    let text = ground
        .output(WRITABLE, "echo new >> file; git status --short; git log --format=%s")
        .await;
    assert_eq!(text, " M file\nfirst\n");
}

#[tokio::test]
async fn a_git_made_by_a_run_is_moved_away_and_told() {
    let ground = Ground::with_repository();
    let line = "mkdir sub; git init -q sub; printf %s \"$CONFIG\" >> sub/.git/config; cp -r sub deeper; \
                mkdir file-like; echo 'gitdir: ../sub' > file-like/.git; mkdir link; ln -s ../.git link/.git";
    let violations = host_git_after(&ground, line).await;
    let quarantine = ground.places.scratch.join("quarantine");
    let mut planted = Vec::new();
    for violation in violations {
        let (Violation::GitCreated { path, moved_to } | Violation::Guarded { path, moved_to }) = violation;
        assert!(moved_to.starts_with(&quarantine) && moved_to.symlink_metadata().is_ok());
        assert!(path.symlink_metadata().is_err());
        planted.push(path);
    }
    let expected = ["deeper", "file-like", "link", "sub"].map(|folder| ground.tree.join(folder).join(".git"));
    assert_eq!(planted, expected);
}

#[tokio::test]
async fn a_repository_within_the_worktree_is_kept_too() {
    let ground = Ground::with_repository();
    fs::create_dir(ground.tree.join("sub")).unwrap();
    ground.git(&["init", "-q", "sub"]);
    let config = fs::read_to_string(ground.tree.join("sub/.git/config")).unwrap();
    let lines = "printf %s \"$CONFIG\" >> sub/.git/config; mv sub/.git sub/x; rm -rf sub/.git; true";
    assert_eq!(host_git_after(&ground, lines).await, []);
    assert_eq!(fs::read_to_string(ground.tree.join("sub/.git/config")).unwrap(), config);
    // Moved with the folder above it, it is still the same one; what took its place is not.
    let lines = "mv sub moved; mkdir sub; git init -q sub; printf %s \"$CONFIG\" >> sub/.git/config";
    let violations = host_git_after(&ground, lines).await;
    assert!(
        matches!(violations.as_slice(), [Violation::GitCreated { path, .. }] if *path == ground.tree.join("sub/.git"))
    );
    assert_eq!(
        fs::read_to_string(ground.tree.join("moved/.git/config")).unwrap(),
        config
    );
}

#[tokio::test]
async fn a_worktree_whose_git_is_a_symbolic_link_cannot_be_written() {
    let ground = Ground::new();
    symlink(&ground.outside, ground.tree.join(".git")).unwrap();
    let refused = ground
        .run(WRITABLE, Spawn::new(Program::Shell("true".into()), "/"))
        .await;
    assert!(matches!(refused, Err(SandboxError::Place { path, .. }) if path == ground.tree.join(".git")));
}
