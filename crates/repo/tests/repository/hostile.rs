//! A repository that wants programs to run: nothing does, and nothing changes.

use std::path::PathBuf;

use stance_repo::{Read, snapshot};

use crate::ground::{Ground, questions};

/// Asks everything and takes a snapshot; then no trace may exist and nothing may have changed.
async fn nothing_runs(ground: &Ground, traces: &[PathBuf]) {
    let before = ground.picture();
    for question in questions() {
        // A refusal is a fine answer too; what it may say is looked at elsewhere.
        drop(ground.read(&question).await);
    }
    let checkout = ground.checkout().await;
    snapshot(&ground.git, &checkout, &ground.beside("store")).await.unwrap();
    for trace in traces {
        assert!(!trace.exists(), "{} ran", trace.display());
    }
    let after = ground.picture();
    let changed: Vec<_> = before
        .iter()
        .filter(|(path, facts)| after.get(*path) != Some(facts))
        .collect();
    assert!(changed.is_empty(), "{changed:?}");
    assert_eq!(before.len(), after.len());
}

#[tokio::test]
async fn filters_named_in_either_attributes_file() {
    for attributes in [".gitattributes", ".git/info/attributes"] {
        let ground = Ground::new();
        let (program, trace) = ground.canary("filter");
        for part in ["clean", "smudge", "process"] {
            ground.config(&format!("filter.evil.{part}"), &program);
        }
        ground.write(attributes, "* filter=evil\n");
        ground.touch("file");
        nothing_runs(&ground, std::slice::from_ref(&trace)).await;
        // The plant is a real one: the same question asked by a person runs it.
        std::process::Command::new("git")
            .arg("status")
            .current_dir(&ground.tree)
            .output()
            .unwrap();
        assert!(trace.exists());
    }
}

#[tokio::test]
async fn programs_named_in_the_configuration() {
    let ground = Ground::new();
    let mut traces = Vec::new();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "merge.evil.driver",
        "gpg.program",
        "gpg.ssh.program",
        "alias.status",
        "alias.log",
        "pager.log",
        "pager.diff",
        "interactive.diffFilter",
        "credential.helper",
        "uploadpack.packObjectsHook",
    ] {
        let (program, trace) = ground.canary(key);
        let program = if key.starts_with("alias.") {
            format!("!{program}")
        } else {
            program
        };
        ground.config(key, &program);
        traces.push(trace);
    }
    ground.config("log.showSignature", "true");
    ground.write(".gitattributes", "* diff=evil merge=evil\n");
    ground.write("file", "changed\n");
    nothing_runs(&ground, &traces).await;
}

#[tokio::test]
async fn hooks_of_every_kind() {
    let ground = Ground::new();
    let mut traces = Vec::new();
    for hook in [
        "post-index-change",
        "fsmonitor-watchman",
        "reference-transaction",
        "pre-commit",
        "post-checkout",
    ] {
        let (program, trace) = ground.canary(hook);
        std::fs::rename(program, ground.tree.join(".git/hooks").join(hook)).unwrap();
        traces.push(trace);
    }
    ground.touch("file");
    nothing_runs(&ground, &traces).await;
}

#[tokio::test]
async fn a_signed_commit_is_not_verified() {
    let ground = Ground::new();
    let (program, trace) = ground.canary("gpg");
    ground.config("gpg.program", &program);
    ground.config("log.showSignature", "true");
    let commit = ground.person(&["cat-file", "commit", "HEAD"]);
    let (headers, message) = commit.split_once("\n\n").unwrap();
    let signature = " \n -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----";
    ground.write(
        ".git/signed",
        &format!("{headers}\ngpgsig{}\n\n{message}", &signature[2..]),
    );
    let id = ground.person(&["hash-object", "-t", "commit", "-w", ".git/signed"]);
    ground.person(&["update-ref", "refs/heads/main", id.trim()]);
    nothing_runs(&ground, &[trace]).await;
}

#[tokio::test]
async fn a_partial_clone_fetches_nothing() {
    let ground = Ground::new();
    let (program, upload) = ground.canary("uploadpack");
    let (ssh, shell) = ground.canary("ssh");
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", "ssh://nowhere.invalid/x"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", &program),
        ("core.sshCommand", &ssh),
    ] {
        ground.config(key, value);
    }
    let blob = ground.person(&["rev-parse", "HEAD:file"]);
    let (folder, name) = blob.trim().split_at(2);
    std::fs::remove_file(ground.tree.join(".git/objects").join(folder).join(name)).unwrap();

    let error = ground
        .read(&Read::Show {
            revision: "HEAD".into(),
            path: None,
        })
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "an object is missing from this repository; nothing was fetched"
    );
    nothing_runs(&ground, &[upload, shell]).await;
}

#[tokio::test]
async fn submodules_and_embedded_repositories_are_left_alone() {
    let ground = Ground::new();
    let mut traces = Vec::new();
    for name in ["module", "stray"] {
        let inner = ground.tree.join(name);
        std::fs::create_dir(&inner).unwrap();
        ground.person_in(&inner, &["init", "-q", "-b", "main"]);
        std::fs::write(inner.join("inner"), "inner\n").unwrap();
        ground.person_in(&inner, &["add", "."]);
        ground.person_in(&inner, &["commit", "-q", "-m", "inner"]);
        for key in ["filter.evil.clean", "core.fsmonitor"] {
            let (program, trace) = ground.canary(&format!("{name}-{key}"));
            ground.person_in(&inner, &["config", key, &program]);
            traces.push(trace);
        }
        std::fs::write(inner.join(".gitattributes"), "* filter=evil\n").unwrap();
    }
    ground.person(&["add", "module"]);
    ground.person(&["commit", "-q", "-m", "a submodule"]);
    std::fs::write(ground.tree.join("module/inner"), "dirty\n").unwrap();

    // A bare repository, committed as ordinary files.
    let (program, trace) = ground.canary("bare");
    traces.push(trace);
    for (path, content) in [
        ("bare/HEAD", "ref: refs/heads/main\n".to_owned()),
        ("bare/objects/info/x", String::new()),
        ("bare/refs/x", String::new()),
        (
            "bare/config",
            format!("[core]\nbare = false\nworktree = ..\nfsmonitor = {program}\n"),
        ),
    ] {
        ground.write(path, &content);
    }
    nothing_runs(&ground, &traces).await;
    let checkout = ground.checkout().await;
    let taken = snapshot(&ground.git, &checkout, &ground.beside("store")).await.unwrap();
    let paths: Vec<_> = taken.changed.iter().map(|one| one.path.to_str().unwrap()).collect();
    assert!(!paths.iter().any(|path| path.starts_with("stray")), "{paths:?}");
}

#[tokio::test]
async fn a_program_of_gits_name_in_the_worktree_is_not_git() {
    let ground = Ground::new();
    let (program, trace) = ground.canary("git");
    for folder in ["bin", "node_modules/.bin"] {
        std::fs::create_dir_all(ground.tree.join(folder)).unwrap();
        for name in ["git", "bwrap", "bash"] {
            std::fs::copy(&program, ground.tree.join(folder).join(name)).unwrap();
        }
    }
    nothing_runs(&ground, &[trace]).await;
}
