//! The schema of scripts stands in the documentation exactly as the reader understands them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[test]
fn the_published_schema_of_scripts_is_the_readers_own() {
    let published = include_str!("../../../docs/schemas/script.json");
    let own = format!(
        "{}\n",
        serde_json::to_string_pretty(&stance_llm::scripted::schema()).unwrap()
    );
    assert_eq!(published, own, "docs/schemas/script.json is stale; it must be:\n{own}");
}
