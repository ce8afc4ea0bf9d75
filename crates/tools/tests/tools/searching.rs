//! `search_files`.

use modes::Effect;
use serde_json::json;

use crate::ground::Ground;

fn sample() -> Ground {
    let ground = Ground::new();
    ground.write("src/a.rs", "fn one() {}\n\nfn price() {}\n// end\n");
    ground.write("src/b.txt", "price\n");
    ground.write("web/app.ts", "const price = 1;\n");
    ground.write("target/out.rs", "price\n");
    ground.write(".gitignore", "target\n");
    ground.write(".env", "price=1\n");
    ground.write("bin.dat", b"\0price\n");
    ground.write(".git/config", "price\n");
    ground
}

#[tokio::test]
async fn matches_come_with_file_line_and_context() {
    let ground = sample();
    let found = ground
        .call("search_files", json!({"path": ".", "regex": "pri.e", "context": 1}))
        .await
        .good();
    assert_eq!(
        found,
        "src/a.rs\n    2- \n    3: fn price() {}\n    4- // end\nsrc/b.txt\n    1: price\nweb/app.ts\n    1: const price = 1;\n\
         [1 files that look like secrets were skipped; to search one, give it as `path`]"
    );
}

#[tokio::test]
async fn patterns_choose_files_by_name_or_path() {
    let ground = sample();
    for (pattern, expected) in [
        ("*.rs", "src/a.rs"),
        ("src/*.txt", "src/b.txt"),
        ("**/*.ts", "web/app.ts"),
    ] {
        let found = ground
            .call(
                "search_files",
                json!({"path": ".", "regex": "price", "file_pattern": pattern}),
            )
            .await
            .good();
        let files: Vec<&str> = found.lines().filter(|line| !line.starts_with([' ', '['])).collect();
        assert_eq!(files, [expected], "{pattern}");
    }
    let beneath = ground
        .call(
            "search_files",
            json!({"path": "src", "regex": "price", "file_pattern": "*.txt"}),
        )
        .await;
    assert_eq!(beneath.good(), "src/b.txt\n    1: price");
    let one = ground
        .call("search_files", json!({"path": "web/app.ts", "regex": "(?i)PRICE"}))
        .await
        .good();
    assert_eq!(one, "web/app.ts\n    1: const price = 1;");
    let none = ground
        .call("search_files", json!({"path": "src", "regex": "absent"}))
        .await
        .good();
    assert_eq!(none, "[nothing found]");
}

#[tokio::test]
async fn arguments_that_cannot_be_used_are_named() {
    let ground = sample();
    for (arguments, named) in [
        (json!({"path": ".", "regex": "("}), "`regex`"),
        (
            json!({"path": ".", "regex": "a", "file_pattern": "["}),
            "`file_pattern`",
        ),
        (json!({"path": ".", "regex": "a", "context": 21}), "`context`"),
        (json!({"path": ".", "regex": "a{1000}{1000}{1000}"}), "`regex`"),
        (json!({"path": "."}), "`regex`"),
    ] {
        let fault = ground.call("search_files", arguments).await.fault();
        assert!(fault.contains(named), "{fault} lacks {named}");
    }
}

#[test]
fn only_a_secret_named_outright_is_searched_and_that_is_judged() {
    let ground = sample();
    let (effects, _) = ground.judged("search_files", json!({"path": ".env", "regex": "price"}));
    assert!(effects.contains(Effect::SecretAccess));
    let (effects, _) = ground.judged(
        "search_files",
        json!({"path": ".", "regex": "price", "file_pattern": ".env"}),
    );
    assert!(!effects.contains(Effect::SecretAccess));
}

#[tokio::test]
async fn output_is_bounded_and_says_so() {
    let ground = Ground::new();
    let line = format!("hit {}\n", "y".repeat(1000));
    ground.write("many.txt", line.repeat(5000));
    let found = ground
        .call("search_files", json!({"path": ".", "regex": "hit"}))
        .await
        .good();
    assert!(found.len() < 60 * 1024, "{}", found.len());
    let shown = found.lines().filter(|line| line.contains(": hit")).count();
    assert!(found.ends_with(&format!(
        "[{} more matching lines, in 1 files altogether; narrow the search]",
        5000 - shown
    )));
    assert!(found.lines().all(|line| line.chars().count() < 420));
}

#[tokio::test]
async fn links_are_not_followed() {
    let ground = Ground::new();
    ground.write("a.txt", "inside content\n");
    ground.link("file", ground.outside.join("secret.txt"));
    ground.link("folder", &ground.outside);
    let found = ground
        .call("search_files", json!({"path": ".", "regex": "content"}))
        .await
        .good();
    assert_eq!(found, "a.txt\n    1: inside content");
}
