//! Paths that lead out, in, through and around: each is judged by what it leads to.

use std::fs;
use std::os::unix::net::UnixListener;

use modes::paths::WriteClass;
use modes::{Autonomy, Effect, Layer, Target};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::ground::{Came, Ground};

fn write(path: impl serde::Serialize) -> Value {
    json!({"path": path, "content": "written\n"})
}

fn target(ground: &Ground, path: impl serde::Serialize) -> Target {
    ground.judged("write_to_file", write(path)).1.remove(0)
}

#[tokio::test]
async fn nothing_outside_is_read_by_any_spelling() {
    let ground = Ground::new();
    ground.write("sub/a.txt", "x");
    ground.link("file", ground.outside.join("secret.txt"));
    ground.link("folder", &ground.outside);
    ground.link("relative", "../outside");
    ground.link("chain", "folder/secret.txt");
    let outside = ground.outside.join("secret.txt");
    for path in [
        json!(outside),
        json!("../outside/secret.txt"),
        json!("sub/../../outside/secret.txt"),
        json!("file"),
        json!("folder/secret.txt"),
        json!("relative/secret.txt"),
        json!("chain"),
        json!("/etc/passwd"),
        json!("~/notes"),
        json!("/"),
        json!(".."),
        json!("folder/../outside/secret.txt"),
        json!("folder/none"),
    ] {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("list_files", json!({"path": path})),
            ("search_files", json!({"path": path, "regex": "."})),
        ] {
            let Came::Bad(why) = ground.call(tool, arguments).await else {
                panic!("{tool} {path} was performed")
            };
            assert!(why.contains("outside the project"), "{tool} {path}: {why}");
        }
    }
}

#[tokio::test]
async fn links_that_stay_inside_work() {
    let ground = Ground::new();
    ground.write("real/a.txt", "inside\n");
    ground.link("relative", "real/a.txt");
    ground.link("absolute", ground.tree.join("real/a.txt"));
    ground.link("folder", ground.tree.join("real"));
    let alias = ground.beside("alias");
    std::os::unix::fs::symlink(&ground.tree, &alias).unwrap();
    for path in [
        json!("relative"),
        json!("absolute"),
        json!("folder/a.txt"),
        json!(alias.join("real/a.txt")),
    ] {
        assert_eq!(
            ground.call("read_file", json!({"path": path})).await.good(),
            "    1\tinside\n",
            "{path}"
        );
        assert_eq!(
            target(&ground, &path),
            Target::Write {
                path: "real/a.txt".into(),
                class: WriteClass::Ordinary,
                outside: false
            },
            "{path}"
        );
    }
    assert!(
        ground
            .call("write_to_file", json!({"path": "relative", "content": "new\n"}))
            .await
            .good()
            .contains("real/a.txt")
    );
    assert_eq!(ground.read("real/a.txt"), "new\n");
    assert!(
        ground.tree.join("relative").symlink_metadata().unwrap().is_symlink(),
        "the link still is one"
    );
}

#[tokio::test]
async fn a_write_that_leads_outside_is_asked_for_as_that_by_every_tool() {
    let ground = Ground::new();
    ground.link("file", ground.outside.join("secret.txt"));
    ground.link("folder", &ground.outside);
    ground.link("dangling", ground.outside.join("new.txt"));
    let before = Ground::picture(&ground.outside);
    for (path, real) in [
        (json!("file"), "secret.txt"),
        (json!("folder/x.txt"), "x.txt"),
        (json!("folder/new/x.txt"), "new/x.txt"),
        (json!("dangling"), "new.txt"),
        (json!("../outside/x.txt"), "x.txt"),
        (json!(ground.outside.join("x.txt")), "x.txt"),
    ] {
        let real = ground.outside.join(real).display().to_string();
        let diff = "------- SEARCH\noutside content\n=======\nchanged\n+++++++ REPLACE";
        for (tool, arguments) in [
            ("write_to_file", write(&path)),
            ("replace_in_file", json!({"path": path, "diff": diff})),
        ] {
            let (effects, targets) = ground.judged(tool, arguments.clone());
            assert!(effects.contains(Effect::FileWriteOutsideWorktree), "{tool} {path}");
            let expected = Target::Write {
                path: real.clone(),
                class: WriteClass::Ordinary,
                outside: true,
            };
            assert_eq!(targets, [expected], "{tool} {path}");
            let Came::Asked(what) = ground.call(tool, arguments).await else {
                panic!("{tool} {path} was not asked")
            };
            assert!(what.contains("write outside the project"), "{what}");
        }
    }
    assert_eq!(Ground::picture(&ground.outside), before);
}

#[tokio::test]
async fn a_write_outside_that_was_allowed_goes_where_it_was_judged() {
    let ground = Ground::under(Autonomy::ActFreely);
    ground.link("folder", &ground.outside);
    let result = ground.call("write_to_file", write("folder/new/x.txt")).await.result();
    assert!(!result.is_error, "{result:?}");
    assert!(result.changed.is_empty(), "it changed nothing of the worktree");
    assert_eq!(
        fs::read_to_string(ground.outside.join("new/x.txt")).unwrap(),
        "written\n"
    );
}

#[tokio::test]
async fn the_systems_own_places_are_never_touched_whatever_was_allowed() {
    let ground = Ground::under(Autonomy::ActFreely);
    ground.link("environ", "/proc/self/environ");
    ground.link("proc", "/proc/self");
    ground.link("null", "/dev/zero");
    for path in [
        "/proc/self/environ",
        "/proc/self/mem",
        "/proc/self/fd/3",
        "/sys/kernel/notes",
        "/dev/zero",
        "/dev/stdin",
        "environ",
        "proc/environ",
        "null",
        "/proc/self/root/etc/passwd",
        "/proc/self/cwd/x",
    ] {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("search_files", json!({"path": path, "regex": "."})),
            ("write_to_file", write(path)),
        ] {
            let Came::Refused(layer, why) = ground.call(tool, arguments).await else {
                panic!("{tool} {path}")
            };
            assert_eq!(layer, Layer::Never, "{tool} {path}");
            assert!(why.contains("the running system"), "{why}");
        }
    }
}

#[tokio::test]
async fn hidden_folders_credentials_and_start_up_files_are_never_touched() {
    let ground = Ground::under(Autonomy::ActFreely);
    let home = ground.beside("home");
    for (path, content) in [
        (".ssh/id", "key"),
        (".stance/store.db", "store"),
        (".netrc", "login"),
        (".bashrc", "rc"),
    ] {
        fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
        fs::write(home.join(path), content).unwrap();
    }
    ground.link("keys", home.join(".ssh"));
    ground.link("state", home.join(".stance"));
    fs::hard_link(home.join(".netrc"), ground.tree.join("copy")).unwrap();
    let before = Ground::picture(&home);
    for path in [
        "~/.ssh/id",
        "keys/id",
        "~/.stance/store.db",
        "state/store.db",
        "~/.netrc",
        "~/.aws/credentials",
        "copy",
    ] {
        for (tool, arguments) in [("read_file", json!({"path": path})), ("write_to_file", write(path))] {
            let Came::Refused(layer, _) = ground.call(tool, arguments).await else {
                panic!("{tool} {path}")
            };
            assert_eq!(layer, Layer::Never, "{tool} {path}");
        }
    }
    for path in [
        "~/.bashrc",
        "~/.profile",
        "~/.config/autostart/x.desktop",
        "~/.ssh/authorized_keys",
        "keys/new",
    ] {
        let Came::Refused(layer, _) = ground.call("write_to_file", write(path)).await else {
            panic!("{path}")
        };
        assert_eq!(layer, Layer::Never, "{path}");
    }
    assert_eq!(Ground::picture(&home), before);
    // An ordinary file of the home is outside, and no more than that.
    assert!(matches!(
        target(&ground, "~/notes.txt"),
        Target::Write { outside: true, .. }
    ));
}

#[tokio::test]
async fn a_project_that_lies_in_a_hidden_folder_is_still_the_project() {
    let mut ground = Ground::new();
    let hidden = ground.scope.hidden[0].clone();
    ground.scope.worktree = hidden.join("checkouts/one");
    ground.tree = ground.scope.worktree.clone();
    ground.write("a.txt", "mine\n");
    fs::write(hidden.join("store.db"), "store").unwrap();
    assert_eq!(
        ground.call("read_file", json!({"path": "a.txt"})).await.good(),
        "    1\tmine\n"
    );
    assert!(
        ground
            .call("write_to_file", write("b.txt"))
            .await
            .good()
            .contains("created")
    );
    for path in ["../../store.db", "../two/a.txt"] {
        let Came::Refused(layer, _) = ground.call("read_file", json!({"path": path})).await else {
            panic!("{path}")
        };
        assert_eq!(layer, Layer::Never, "{path}");
    }
    ground.write("private/a.txt", "private content\n");
    ground.scope.hidden.push(ground.tree.join("private"));
    let read = ground.call("read_file", json!({"path": "private/a.txt"})).await;
    assert!(matches!(read, Came::Refused(Layer::Never, _)), "{read:?}");
    let found = ground
        .call("search_files", json!({"path": ".", "regex": "private"}))
        .await
        .good();
    assert_eq!(found, "[nothing found]");
}

#[tokio::test]
async fn a_repositorys_records_are_never_written_in_any_spelling() {
    let ground = Ground::under(Autonomy::ActFreely);
    ground.write("a.txt", "x\n");
    let ground = ground.repository().await;
    ground.link("records", ".git");
    ground.link("hook", ".git/hooks/pre-commit");
    fs::create_dir_all(ground.tree.join("sub")).unwrap();
    let before = Ground::picture(&ground.tree.join(".git"));
    for path in [
        ".git/config",
        ".git/hooks/pre-commit",
        ".GIT/config",
        ".g\u{200c}it/config",
        ".git::$INDEX_ALLOCATION/config",
        "git~1/config",
        ".git ./config",
        ".git",
        "records/config",
        "hook",
        "sub/.git/config",
        "sub/.git",
        "sub/../.git/config",
    ] {
        for (tool, arguments) in [
            ("write_to_file", write(path)),
            (
                "replace_in_file",
                json!({"path": path, "diff": "------- SEARCH\na\n=======\nb\n+++++++ REPLACE"}),
            ),
        ] {
            let Came::Refused(layer, why) = ground.call(tool, arguments).await else {
                panic!("{tool} {path}")
            };
            assert_eq!(layer, Layer::Never, "{tool} {path}: {why}");
        }
    }
    assert_eq!(Ground::picture(&ground.tree.join(".git")), before);
}

#[tokio::test]
async fn records_under_another_name_are_known_by_identity() {
    let ground = Ground::under(Autonomy::ActFreely);
    ground.write("a.txt", "x\n");
    let ground = ground.repository().await;
    // As on a file system where another spelling opens the same folder.
    let moved = ground.tree.join("renamed");
    fs::rename(ground.tree.join(".git"), &moved).unwrap();
    std::os::unix::fs::symlink("renamed", ground.tree.join(".git")).unwrap();
    let Came::Refused(layer, _) = ground.call("write_to_file", write("renamed/config")).await else {
        panic!()
    };
    assert_eq!(layer, Layer::Never);
}

#[tokio::test]
async fn files_that_configure_are_asked_for() {
    let ground = Ground::new();
    for path in [
        ".vscode/tasks.json",
        ".github/workflows/ci.yml",
        "sub/CLAUDE.md",
        ".ENVRC",
        ".stance/settings.toml",
    ] {
        let Came::Asked(what) = ground.call("write_to_file", write(path)).await else {
            panic!("{path}")
        };
        assert!(what.contains("configures"), "{what}");
    }
    ground.link("innocent", ".mcp.json");
    let Came::Asked(what) = ground.call("write_to_file", write("innocent")).await else {
        panic!()
    };
    assert!(what.contains(".mcp.json"), "{what}");
    assert_eq!(
        fs::read_dir(&ground.tree).unwrap().count(),
        1,
        "nothing was made but the link"
    );
}

#[tokio::test]
async fn what_is_no_regular_file_is_an_error_and_blocks_nobody() {
    let ground = Ground::new();
    mknodat(
        CWD,
        ground.tree.join("fifo"),
        FileType::Fifo,
        Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
    let _listener = UnixListener::bind(ground.tree.join("socket")).unwrap();
    fs::create_dir(ground.tree.join("folder")).unwrap();
    ground.link("to-fifo", "fifo");
    ground.link("around", "around");
    for (path, kind) in [
        ("fifo", "a FIFO"),
        ("to-fifo", "a FIFO"),
        ("socket", "a socket"),
        ("folder", "a folder"),
    ] {
        for (tool, arguments) in [("read_file", json!({"path": path})), ("write_to_file", write(path))] {
            let why = ground.call(tool, arguments).await.fault();
            assert!(why.contains(kind), "{tool} {path}: {why}");
        }
    }
    let around = ground.call("read_file", json!({"path": "around"})).await.fault();
    assert!(around.contains("too many links"), "{around}");
    let found = ground
        .call("search_files", json!({"path": ".", "regex": "."}))
        .await
        .good();
    assert_eq!(found, "[nothing found]");
    let listed = ground.call("list_files", json!({"path": "."})).await.good();
    assert_eq!(
        listed,
        "around (link)\nfifo (special)\nfolder/\nsocket (special)\nto-fifo (link)"
    );
    for bad in ["", "a\u{0}b"] {
        assert!(
            ground
                .call("read_file", json!({"path": bad}))
                .await
                .fault()
                .contains("empty or holds a NUL")
        );
    }
    let long = "x/".repeat(5000);
    assert!(!ground.call("write_to_file", write(long)).await.fault().is_empty());
}
