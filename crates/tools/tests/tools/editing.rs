//! `replace_in_file` on real files.

use std::fs;

use serde_json::json;

use crate::ground::Ground;

fn diff(search: &str, replace: &str) -> String {
    format!("------- SEARCH\n{search}\n=======\n{replace}\n+++++++ REPLACE\n")
}

#[tokio::test]
async fn blocks_change_what_they_name_and_keep_the_rest() {
    let ground = Ground::new();
    ground.write(
        "a.rs",
        "\u{feff}fn a() {\r\n    one();\r\n}\r\n\r\nfn b() {\r\n    two();\r\n}",
    );
    let both = diff("    one();", "    uno();\n    due();") + &diff("two();", "tre();");
    let result = ground
        .call("replace_in_file", json!({"path": "a.rs", "diff": both}))
        .await
        .result();
    assert!(!result.is_error, "{result:?}");
    assert_eq!(
        ground.read("a.rs"),
        "\u{feff}fn a() {\r\n    uno();\r\n    due();\r\n}\r\n\r\nfn b() {\r\n    tre();\r\n}"
    );
    assert_eq!(result.changed, ["a.rs"]);
    assert!(result.words().contains("line 7: indentation"), "{}", result.words());
}

#[tokio::test]
async fn a_block_that_does_not_fit_changes_nothing_at_all() {
    let ground = Ground::new();
    ground.write("a.txt", "one\ntwo\none\nprice = amount * cents\n");
    let before = Ground::picture(&ground.tree);
    for (diff, words) in [
        (
            diff("two", "2") + &diff("one", "1"),
            "block 2: SEARCH stands in 2 places (from lines 1, 3)",
        ),
        (
            diff("two", "2") + &diff("price = amount + cents", "x"),
            "    4\tprice = amount * cents",
        ),
        (diff("two", "two"), "already stands there"),
        ("no block".to_owned(), "text outside of a block"),
    ] {
        let fault = ground
            .call("replace_in_file", json!({"path": "a.txt", "diff": diff}))
            .await
            .fault();
        assert!(fault.contains(words), "{fault} lacks {words}");
    }
    assert_eq!(Ground::picture(&ground.tree), before);
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_seen_is_left_alone_and_shown() {
    let ground = Ground::new();
    ground.write("a.txt", "one\ntwo\n");
    let arguments = json!({"path": "a.txt", "diff": diff("one", "uno")});
    ground.call("read_file", json!({"path": "a.txt"})).await.good();
    ground.write("a.txt", "one\nthree\n");
    let stale = ground.call("replace_in_file", arguments.clone()).await.fault();
    assert!(
        stale.contains("changed since") && stale.contains("    2\tthree"),
        "{stale}"
    );
    ground.call("replace_in_file", arguments).await.good();
    assert_eq!(ground.read("a.txt"), "uno\nthree\n");
}

#[tokio::test]
async fn an_edit_of_a_file_never_read_does_not_count_as_having_read_it() {
    let ground = Ground::new();
    ground.write("a.txt", "one\nrest\n");
    let edited = ground
        .call("replace_in_file", json!({"path": "a.txt", "diff": diff("one", "uno")}))
        .await
        .result();
    assert!(!edited.is_error && edited.seen.is_empty(), "{edited:?}");
    let whole = ground
        .call("write_to_file", json!({"path": "a.txt", "content": "x\n"}))
        .await
        .fault();
    assert!(
        whole.contains("you have not read it") && whole.contains("rest"),
        "{whole}"
    );
}

#[tokio::test]
async fn what_cannot_be_edited_is_told() {
    let ground = Ground::new();
    ground.write("latin.txt", b"caf\xe9\n");
    let edit = |path: &str| json!({"path": path, "diff": diff("a", "b")});
    assert!(
        ground
            .call("replace_in_file", edit("latin.txt"))
            .await
            .fault()
            .contains("not valid UTF-8")
    );
    assert!(
        ground
            .call("replace_in_file", edit("none.txt"))
            .await
            .fault()
            .contains("write_to_file")
    );
    assert_eq!(fs::read(ground.tree.join("latin.txt")).unwrap(), b"caf\xe9\n");
}
