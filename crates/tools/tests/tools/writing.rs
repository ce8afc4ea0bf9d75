//! `write_to_file`: new files, seen files, and all that must stay.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use modes::Autonomy;
use serde_json::json;

use crate::ground::{Came, Ground};

#[tokio::test]
async fn a_new_file_and_its_folders_are_made() {
    let ground = Ground::new();
    let result = ground
        .call("write_to_file", json!({"path": "a/b/c.txt", "content": "one\ntwo"}))
        .await
        .result();
    assert_eq!(result.words(), "a/b/c.txt created: 2 lines.");
    assert_eq!(result.changed, ["a/b/c.txt"]);
    assert_eq!(ground.read("a/b/c.txt"), "one\ntwo");
    let names: Vec<_> = fs::read_dir(ground.tree.join("a/b"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["c.txt"], "nothing is left beside it");
    let again = ground
        .call("write_to_file", json!({"path": "a/b/c.txt", "content": "three\n"}))
        .await
        .good();
    assert!(again.contains("replaced"), "what the model wrote it has seen: {again}");
    let same = ground
        .call("write_to_file", json!({"path": "a/b/c.txt", "content": "three\n"}))
        .await
        .result();
    assert!(!same.is_error && same.changed.is_empty(), "{same:?}");
}

#[tokio::test]
async fn an_existing_file_is_replaced_only_as_the_model_saw_it() {
    let ground = Ground::new();
    ground.write("a.txt", "first\n");
    let arguments = json!({"path": "a.txt", "content": "mine\n"});
    let unseen = ground.call("write_to_file", arguments.clone()).await.fault();
    assert!(
        unseen.contains("you have not read it") && unseen.contains("    1\tfirst"),
        "{unseen}"
    );
    assert_eq!(ground.read("a.txt"), "first\n");
    ground.write("a.txt", "changed meanwhile\n");
    let stale = ground.call("write_to_file", arguments.clone()).await.fault();
    assert!(
        stale.contains("changed since") && stale.contains("    1\tchanged meanwhile"),
        "{stale}"
    );
    assert_eq!(ground.read("a.txt"), "changed meanwhile\n");
    let seen = ground.call("write_to_file", arguments).await.good();
    assert!(seen.contains("replaced"), "the refusal showed the fresh text: {seen}");
    assert_eq!(ground.read("a.txt"), "mine\n");
}

#[tokio::test]
async fn mode_line_endings_and_mark_stay() {
    let ground = Ground::new();
    for (mode, old, new, expected) in [
        (0o755, "a\n", "b\n", "b\n"),
        (0o640, "a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n"),
        (0o444, "\u{feff}a\n", "b\n", "\u{feff}b\n"),
    ] {
        let name = format!("file-{mode:o}");
        ground.write(&name, old);
        fs::set_permissions(ground.tree.join(&name), PermissionsExt::from_mode(mode)).unwrap();
        ground.call("read_file", json!({"path": name})).await.good();
        ground
            .call("write_to_file", json!({"path": name, "content": new}))
            .await
            .good();
        assert_eq!(ground.read(&name), expected);
        assert_eq!(
            ground.tree.join(&name).metadata().unwrap().mode() & 0o7777,
            mode,
            "{name}"
        );
    }
}

#[tokio::test]
async fn other_links_to_a_file_keep_what_they_had() {
    let ground = Ground::new();
    let shared = ground.outside.join("secret.txt");
    fs::hard_link(&shared, ground.tree.join("linked.txt")).unwrap();
    ground.call("read_file", json!({"path": "linked.txt"})).await.good();
    ground
        .call("write_to_file", json!({"path": "linked.txt", "content": "mine\n"}))
        .await
        .good();
    assert_eq!(ground.read("linked.txt"), "mine\n");
    assert_eq!(fs::read_to_string(&shared).unwrap(), "outside content\n");
    assert_eq!(shared.metadata().unwrap().nlink(), 1);
}

#[tokio::test]
async fn what_appears_between_proposal_and_act_is_left_alone() {
    let ground = Ground::new();
    let arguments = json!({"path": "new/a.txt", "content": "mine\n"});
    let into_folder = ground.propose("write_to_file", arguments.clone()).unwrap();
    std::os::unix::fs::symlink(&ground.outside, ground.tree.join("new")).unwrap();
    let before = Ground::picture(&ground.outside);
    assert!(
        !ground.settle(into_folder).await.fault().is_empty(),
        "the folder to be made has become a link"
    );
    assert_eq!(Ground::picture(&ground.outside), before);
    let new_file = ground
        .propose("write_to_file", json!({"path": "b.txt", "content": "mine\n"}))
        .unwrap();
    ground.link("b.txt", ground.outside.join("secret.txt"));
    assert!(ground.settle(new_file).await.fault().contains("a symbolic link"));
    assert_eq!(Ground::picture(&ground.outside), before);
}

#[tokio::test]
async fn a_refused_write_shows_no_secret_and_nothing_from_outside() {
    let ground = Ground::under(Autonomy::ActFreely);
    ground.write(".env", "KEY=hidden\n");
    ground.link("notes.txt", ".env");
    let outside = ground.outside.join("secret.txt");
    let diff = "------- SEARCH\nKEY=hiden outside contents\n=======\nx\n+++++++ REPLACE";
    for path in [json!(".env"), json!("notes.txt"), json!(outside)] {
        for (tool, arguments) in [
            ("write_to_file", json!({"path": path, "content": "x\n"})),
            ("replace_in_file", json!({"path": path, "diff": diff})),
        ] {
            let result = ground.call(tool, arguments).await.result();
            assert!(result.is_error && result.seen.is_empty(), "{tool} {path}: {result:?}");
            let words = result.words();
            assert!(
                !words.contains("hidden") && !words.contains("outside content"),
                "{tool} {path}: {words}"
            );
        }
    }
    assert_eq!(ground.read(".env"), "KEY=hidden\n");
    assert_eq!(fs::read_to_string(outside).unwrap(), "outside content\n");
}

#[tokio::test]
async fn a_program_does_not_keep_the_right_to_run_as_its_owner() {
    let ground = Ground::new();
    ground.write("tool.sh", "one\n");
    fs::set_permissions(ground.tree.join("tool.sh"), PermissionsExt::from_mode(0o6755)).unwrap();
    ground.call("read_file", json!({"path": "tool.sh"})).await.good();
    ground
        .call("write_to_file", json!({"path": "tool.sh", "content": "two\n"}))
        .await
        .good();
    assert_eq!(ground.tree.join("tool.sh").metadata().unwrap().mode() & 0o7777, 0o755);
}

#[test]
fn an_answer_is_bound_to_the_content_it_would_replace() {
    let ground = Ground::new();
    let arguments = json!({"path": "a.txt", "content": "mine\n"});
    let digest = || ground.propose("write_to_file", arguments.clone()).unwrap().digest();
    let absent = digest();
    assert_eq!(absent, digest());
    ground.write("a.txt", "one\n");
    let one = digest();
    ground.write("a.txt", "two\n");
    assert!(absent != one && one != digest());
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_an_error() {
    let ground = Ground::new();
    ground.write("file", "x");
    let came = ground
        .call("write_to_file", json!({"path": "file/below.txt", "content": "x"}))
        .await;
    let Came::Bad(why) = came else { panic!("{came:?}") };
    assert!(why.contains("no folder"), "{why}");
    let missing = ground
        .call("write_to_file", json!({"path": "none/../a.txt", "content": "x"}))
        .await
        .fault();
    assert!(missing.contains("does not exist"), "{missing}");
}
