//! `read_file` and `list_files`.

use modes::{Effect, Target};
use serde_json::json;
use stance_tools::Content;

use crate::ground::Ground;

#[tokio::test]
async fn text_is_numbered_and_a_window_goes_on() {
    let ground = Ground::new();
    let lines: Vec<String> = (1..=1500).map(|n| format!("line {n}")).collect();
    ground.write("a.txt", lines.join("\n"));
    let first = ground.call("read_file", json!({"path": "a.txt"})).await.good();
    assert!(first.starts_with("    1\tline 1\n"));
    assert!(
        first.ends_with("[lines 1 to 1000 of 1500; go on with start_line 1001]"),
        "{first}"
    );
    let rest = ground
        .call("read_file", json!({"path": "./a.txt", "start_line": 1001}))
        .await
        .good();
    assert!(rest.contains(" 1500\tline 1500"));
    let part = ground
        .call(
            "read_file",
            json!({"path": ground.tree.join("a.txt"), "start_line": 3, "end_line": 4}),
        )
        .await;
    assert_eq!(part.good(), "    3\tline 3\n    4\tline 4\n[lines 3 to 4 of 1500]");
    let backwards = ground
        .call("read_file", json!({"path": "a.txt", "start_line": 4, "end_line": 3}))
        .await
        .fault();
    assert!(backwards.contains("end_line"), "{backwards}");
    let zero = ground
        .call("read_file", json!({"path": "a.txt", "start_line": 0}))
        .await
        .fault();
    assert!(zero.contains("`start_line`"), "{zero}");
}

#[tokio::test]
async fn what_is_no_plain_text_is_told_or_shown_for_what_it_is() {
    let ground = Ground::new();
    ground.write("p.bin", b"\x89PNG\r\n\x1a\n\0\0rest");
    ground.write("data.png", b"ELF\0\0\0");
    ground.write("latin.txt", b"caf\xe9\n");
    ground.write("bom.txt", b"\xef\xbb\xbfone\n");
    let image = ground.call("read_file", json!({"path": "p.bin"})).await.result();
    assert!(
        matches!(&image.content[1], Content::Image { media_type, data }
        if media_type == "image/png" && data == "iVBORw0KGgoAAHJlc3Q="),
        "{image:?}"
    );
    let binary = ground.call("read_file", json!({"path": "data.png"})).await.good();
    assert!(binary.contains("binary file of 6 bytes"), "{binary}");
    let latin = ground.call("read_file", json!({"path": "latin.txt"})).await.good();
    assert!(
        latin.contains("caf\u{fffd}") && latin.contains("not valid UTF-8 from byte 3"),
        "{latin}"
    );
    assert_eq!(
        ground.call("read_file", json!({"path": "bom.txt"})).await.good(),
        "    1\tone\n"
    );
    ground.write("long.txt", vec![b'x'; 10 * 1024 * 1024 + 1]);
    let long = ground.call("read_file", json!({"path": "long.txt"})).await.fault();
    assert!(long.contains("longer than 10 MiB"), "{long}");
    let folder = ground.call("read_file", json!({"path": "."})).await.fault();
    assert!(folder.contains("a folder") && folder.contains("list_files"), "{folder}");
    let nothing = ground.call("read_file", json!({"path": "no/such.txt"})).await.fault();
    assert!(nothing.contains("no/such.txt does not exist"), "{nothing}");
}

#[tokio::test]
async fn what_was_seen_is_recorded_by_its_content() {
    let ground = Ground::new();
    ground.write("a.txt", "one\n");
    let result = ground.call("read_file", json!({"path": "sub/../a.txt"})).await;
    assert!(matches!(result, crate::ground::Came::Bad(_)), "sub does not exist");
    let result = ground.call("read_file", json!({"path": "./a.txt"})).await.result();
    assert_eq!(
        result.seen.get("a.txt"),
        Some(&blake3::hash(b"one\n").to_hex().to_string())
    );
}

#[test]
fn a_secret_is_told_by_the_name_asked_and_by_the_name_found() {
    let ground = Ground::new();
    ground.write(".env", "KEY=1\n");
    ground.write("plain.txt", "x\n");
    ground.link("notes.txt", ".env");
    ground.link("id_rsa", "plain.txt");
    for (path, secret, found) in [
        (".env", true, ".env"),
        ("notes.txt", true, ".env"),
        ("id_rsa", true, "plain.txt"),
        ("plain.txt", false, "plain.txt"),
    ] {
        let (effects, targets) = ground.judged("read_file", json!({"path": path}));
        assert_eq!(effects.contains(Effect::SecretAccess), secret, "{path}");
        assert_eq!(targets, [Target::Read { path: found.into() }], "{path}");
    }
}

#[tokio::test]
async fn a_listing_honours_ignore_files_and_shows_no_repository() {
    let ground = Ground::new();
    for file in [
        ".git/config",
        "src/a.rs",
        "src/deep/b.rs",
        "target/x",
        "src/.gitignore",
        "src/kept.log",
        "src/other.log",
        ".github/w.yml",
    ] {
        ground.write(file, "x");
    }
    ground.write(".gitignore", "/target\n*.log\n");
    ground.write("src/.gitignore", "!kept.log\nb.rs\n");
    ground.link("src/out", "/etc");
    let flat = ground.call("list_files", json!({"path": "."})).await.good();
    assert_eq!(flat, ".github/\n.gitignore\nsrc/");
    let deep = ground
        .call("list_files", json!({"path": ".", "recursive": true}))
        .await
        .good();
    assert_eq!(
        deep,
        ".github/\n.gitignore\nsrc/\n.github/w.yml\nsrc/.gitignore\nsrc/a.rs\nsrc/deep/\nsrc/kept.log\nsrc/out (link)"
    );
    let beneath = ground.call("list_files", json!({"path": "src/deep"})).await.good();
    assert_eq!(
        beneath, "[nothing here that is not ignored]",
        "the rules above a folder hold in it"
    );
    let asked = ground.call("list_files", json!({"path": "target"})).await.good();
    assert_eq!(asked, "target/x", "an ignored folder can be asked for");
    let file = ground.call("list_files", json!({"path": "src/a.rs"})).await.fault();
    assert!(file.contains("not a folder"), "{file}");
}

#[tokio::test]
async fn a_long_listing_says_how_many_more() {
    let ground = Ground::new();
    for n in 0..250 {
        ground.write(&format!("many/{n:03}"), "");
    }
    let listed = ground.call("list_files", json!({"path": "many"})).await.good();
    assert_eq!(listed.lines().count(), 201);
    assert!(
        listed.starts_with("many/000\n") && listed.ends_with("[50 more; list a folder beneath]"),
        "{listed}"
    );
}

#[tokio::test]
async fn the_scratch_folder_can_be_read() {
    let ground = Ground::new();
    let path = ground.scope.scratch.join("output.txt");
    std::fs::write(&path, "spilled\n").unwrap();
    assert_eq!(
        ground.call("read_file", json!({"path": path})).await.good(),
        "    1\tspilled\n"
    );
    let listed = ground
        .call("list_files", json!({"path": ground.scope.scratch}))
        .await
        .good();
    assert!(listed.contains("output.txt"), "{listed}");
}
