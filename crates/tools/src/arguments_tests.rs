//! Texts that are one object, and texts that are not.

use serde::Deserialize;
use serde_json::json;

use super::*;

fn refused(text: &str) -> String {
    parse_arguments(text).unwrap_err().0
}

#[test]
fn an_object_is_read_and_blank_text_is_an_empty_one() {
    assert_eq!(
        parse_arguments(r#"{"a": [1, -2, 1.5, "x", null, true], "b": {}}"#),
        Ok(json!({"a": [1, -2, 1.5, "x", null, true], "b": {}}))
    );
    assert_eq!(parse_arguments(" \n"), Ok(json!({})));
    assert_eq!(parse_arguments(r#"{"a": "\ud83d\ude00"}"#), Ok(json!({"a": "😀"})));
}

#[test]
fn each_fault_is_refused_with_a_sentence() {
    let cases = [
        ("[1]", "a list"),
        ("\"x\"", "a string"),
        ("null", "null"),
        ("7", "a number"),
        ("true", "a boolean"),
        ("{\"a\": 1", "EOF"),
        ("{'a': 1}", "line 1 column 2"),
        ("{\"a\": 1} {\"b\": 2}", "trailing"),
        (r#"{"a": 1, "a": 2}"#, "\"a\" stands twice"),
        (r#"{"a": [{"deep": 1, "d\u0065ep": 2}]}"#, "\"deep\" stands twice"),
        (r#"{"a": "\ud83d"}"#, "hex escape"),
        (r#"{"a": "\ude00"}"#, "surrogate"),
        (r#"{"a": "\ud83d\u0041"}"#, "surrogate"),
        ("{\"a\": NaN}", "expected value"),
        ("{\"a\": 1e999}", "number out of range"),
        ("{\"a\": \"\u{1}\"}", "control character"),
    ];
    for (text, expected) in cases {
        let why = refused(text);
        assert!(why.contains(expected), "{text}: {why:?} lacks {expected:?}");
        assert!(why.ends_with('.'), "{why}");
    }
}

#[test]
fn depth_and_size_have_a_limit_and_never_kill_the_process() {
    let nested = |depth: usize| format!("{{\"a\": {}1{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
    assert!(parse_arguments(&nested(64)).is_ok());
    assert!(refused(&nested(65)).contains("nested more than 64 deep"));
    assert!(!refused(&nested(1_000_000)).is_empty());
    let objects = format!("{}1{}", "{\"a\":".repeat(65), "}".repeat(65));
    assert!(refused(&objects).contains("nested more than 64 deep"));
    let long = format!("{{\"a\": \"{}\"}}", "x".repeat(4 * 1024 * 1024));
    assert!(refused(&long).contains("at most 4194304"));
}

#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Sample {
    /// Where.
    path: String,
    #[serde(default)]
    count: Option<u32>,
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Item {
    label: String,
}

#[test]
fn an_error_names_the_field_the_wanted_type_and_an_example() {
    let read = |arguments: Value| read::<Sample>("sample", r#"{"path": "a"}"#, &arguments).unwrap_err().0;
    let missing = read(json!({}));
    assert_eq!(
        missing,
        "sample cannot take these arguments: missing field `path`. It takes path: string, count?: integer, items?: list of object. Example: {\"path\": \"a\"}"
    );
    assert!(read(json!({"path": 7})).contains("`path`: invalid type: integer `7`, expected a string"));
    assert!(read(json!({"path": "a", "pth": 1})).contains("unknown field `pth`"));
    assert!(read(json!({"path": "a", "count": -1})).contains("`count`: invalid value"));
    assert!(read(json!({"path": "a", "items": [{"label": "x"}, {"lable": "y"}]})).contains("`items[1]"));
}

#[test]
fn a_schema_says_what_a_model_needs_and_no_more() {
    assert_eq!(
        schema::<Sample>(),
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Where."},
                "count": {"type": "integer", "minimum": 0},
                "items": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"label": {"type": "string"}},
                        "required": ["label"],
                        "additionalProperties": false
                    }
                }
            },
            "required": ["path"],
            "additionalProperties": false
        })
    );
}

proptest::proptest! {
    #[test]
    fn what_is_read_is_what_a_lenient_reader_reads(text in r#"[\[\]{}:,"ab1 \\ud8]{0,24}"#) {
        match (parse_arguments(&text), serde_json::from_str::<Value>(&text)) {
            (Ok(strict), Ok(lenient)) => proptest::prop_assert_eq!(strict, lenient),
            (Ok(strict), Err(_)) => {
                proptest::prop_assert!(text.trim().is_empty());
                proptest::prop_assert_eq!(strict, json!({}));
            }
            (Err(why), _) => proptest::prop_assert!(why.0.ends_with('.')),
        }
    }
}
