//! `apply_patch`: several files at once, all or none, each judged as the other tools' files are.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use modes::{Autonomy, Effect, Target};
use serde_json::{Value, json};

use crate::ground::{Came, Ground};

fn patch(lines: &[&str]) -> Value {
    json!({"input": format!("*** Begin Patch\n{}\n*** End Patch\n", lines.join("\n"))})
}

fn sample() -> Ground {
    let ground = Ground::under(Autonomy::ActFreely);
    ground.write("src/a.rs", "fn a() {\n    one();\n}\n");
    ground.write("src/old.rs", "fn old() {}\n");
    ground.write("run.sh", "echo 1\n");
    fs::set_permissions(ground.tree.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    ground
}

#[tokio::test]
async fn files_are_added_changed_moved_and_deleted_in_one_call() {
    let ground = sample();
    let result = ground
        .call(
            "apply_patch",
            patch(&[
                "*** Add File: new/deep/b.rs",
                "+fn b() {}",
                "*** Update File: src/a.rs",
                "@@ fn a() {",
                "-    one();",
                "+    two();",
                "*** Update File: run.sh",
                "*** Move to: bin/run.sh",
                "-echo 1",
                "+echo 2",
            ]),
        )
        .await
        .result();
    assert_eq!(
        result.words(),
        "new/deep/b.rs added: 1 lines.\nsrc/a.rs changed: 3 lines.\nbin/run.sh written: 1 lines.\nrun.sh moved away."
    );
    assert_eq!(result.changed, ["new/deep/b.rs", "src/a.rs", "bin/run.sh", "run.sh"]);
    assert_eq!(result.seen.keys().collect::<Vec<_>>(), ["new/deep/b.rs"]);
    assert_eq!(ground.read("new/deep/b.rs"), "fn b() {}\n");
    assert_eq!(ground.read("src/a.rs"), "fn a() {\n    two();\n}\n");
    assert_eq!(ground.read("bin/run.sh"), "echo 2\n");
    assert_eq!(
        ground.tree.join("bin/run.sh").metadata().unwrap().permissions().mode() & 0o777,
        0o755
    );
    assert!(!ground.tree.join("run.sh").exists());
}

#[tokio::test]
async fn one_part_that_cannot_be_leaves_everything_as_it_was() {
    let ground = sample();
    ground.write(".env", "KEY=1\n");
    let good = ["*** Add File: b.rs", "+fn b() {}", "*** Delete File: src/old.rs"];
    for (bad, why) in [
        (
            &["*** Update File: src/a.rs", "-    three();"][..],
            "hunk 1: its old text stands nowhere",
        ),
        (&["*** Update File: src/none.rs", "-x"], "does not exist"),
        (&["*** Add File: run.sh", "+x"], "exists: change it with"),
        (&["*** Update File: src/a.rs", "*** Move to: run.sh"], "run.sh exists"),
        (&["*** Delete File: src/none.rs"], "does not exist"),
        (&["*** Add File: ./b.rs", "+x"], "stands twice in the patch"),
        (&["*** Delete File: src"], "is a folder"),
        (
            &["*** Update File: .env", "-KEY=2"],
            "does not stand in exactly one place",
        ),
    ] {
        let before = Ground::picture(&ground.tree);
        let fault = ground.call("apply_patch", patch(&[&good, bad].concat())).await.fault();
        assert!(fault.contains(why) && !fault.contains("KEY=1"), "{bad:?}: {fault}");
        assert_eq!(Ground::picture(&ground.tree), before, "{bad:?}");
    }
}

#[tokio::test]
async fn a_write_that_fails_takes_back_those_before_it() {
    let ground = sample();
    let call = ground
        .propose(
            "apply_patch",
            patch(&[
                "*** Update File: src/a.rs",
                "-    one();",
                "+    two();",
                "*** Add File: gone/b.rs",
                "+x",
                "*** Add File: c.rs",
                "+x",
            ]),
        )
        .unwrap();
    // Where a folder was to be made stands a file by now.
    ground.write("gone", "in the way\n");
    let fault = ground.settle(call).await.fault();
    assert!(fault.ends_with("Nothing of the patch stands."), "{fault}");
    assert_eq!(ground.read("src/a.rs"), "fn a() {\n    one();\n}\n");
    assert!(!ground.tree.join("c.rs").exists());
}

#[tokio::test]
async fn what_changed_since_it_was_read_is_shown_and_kept() {
    let ground = sample();
    ground.call("read_file", json!({"path": "src/a.rs"})).await.good();
    ground.write("src/a.rs", "fn a() {\n    one();\n    more();\n}\n");
    for change in [
        &["*** Update File: src/a.rs", "-    one();"][..],
        &["*** Delete File: src/a.rs"],
    ] {
        let fault = ground.call("apply_patch", patch(change)).await.fault();
        assert!(fault.contains("changed since you last saw it"), "{fault}");
        ground
            .desk
            .seen
            .lock()
            .unwrap()
            .insert("src/a.rs".into(), "another".into());
    }
    assert!(ground.read("src/a.rs").contains("more();"));
}

#[tokio::test]
async fn every_path_is_judged_and_one_that_is_never_written_refuses_the_call() {
    let ground = sample();
    let deletes = patch(&["*** Delete File: src/old.rs"]);
    let (effects, targets) = ground.judged("apply_patch", deletes);
    assert!(effects.contains(Effect::FileDelete));
    assert!(matches!(&targets[..], [Target::Delete { path, held: true, .. }] if path == "src/old.rs"));
    let moves = patch(&["*** Update File: src/old.rs", "*** Move to: src/new.rs"]);
    assert!(ground.judged("apply_patch", moves).0.contains(Effect::FileDelete));
    for never in [".git/config", "/proc/self/mem", "~/.bashrc"] {
        let mixed = patch(&["*** Add File: fine.rs", "+x", &format!("*** Add File: {never}"), "+x"]);
        let came = ground.call("apply_patch", mixed).await;
        assert!(matches!(came, Came::Refused(..)), "{never}: {came:?}");
        assert!(!ground.tree.join("fine.rs").exists());
    }
    let configures = patch(&["*** Add File: .vscode/tasks.json", "+{}", "*** Add File: fine.rs", "+x"]);
    let came = Ground::new().call("apply_patch", configures).await;
    assert!(matches!(came, Came::Asked(_)), "{came:?}");
}
