//! The script's file format: its schema and how its faults read.

use serde_json::json;
use stance_llm::scripted::{Scripted, schema};

#[test]
fn faults_name_file_and_place() {
    let check = |text: &str, expected: &str| {
        let error = Scripted::new("s.json", text.as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    };
    check("{}", "s.json: at `.`: a script has either `turns` or `runs`");
    check(
        r#"{"turns": [], "runs": []}"#,
        "s.json: at `.`: a script has either `turns` or `runs`",
    );
    check(
        r#"{"runs": [], "expect": {}}"#,
        "s.json: at `expect`: with `runs`, each entry states its own `expect`",
    );
    check(
        r#"{"turns": [], "delay": 3}"#,
        "s.json: at `delay`: unknown field `delay`",
    );
    check(
        r#"{"runs": [{"turns": [{"txt": "x"}]}]}"#,
        "s.json: at `runs[0].turns[0].txt`: unknown field `txt`",
    );
    check(
        r#"{"runs": [{"match": {"model": "x"}, "turns": []}]}"#,
        "s.json: at `runs[0].match.model`: unknown field `model`",
    );
    check(
        r#"{"turns": [{"tool_calls": [{"name": "a", "arguments": [1]}]}]}"#,
        "s.json: at `turns[0].tool_calls[0].arguments`: \
         expected an object or a string, found `[1]`",
    );
    check(
        r#"{"turns": [{"usage": {"input": -1}}]}"#,
        "s.json: at `turns[0].usage.input`: invalid value",
    );
    check(
        r#"{"turns": [{"error": {"status": "x"}}]}"#,
        "s.json: at `turns[0].error.status`:",
    );
    check(r#"{"turns": []} more"#, "s.json: at `.`: trailing characters");
    check("turns", "s.json: at `.`:");
}

#[test]
fn the_schema_and_the_reader_agree() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    for (script, good) in [
        (json!({"turns": []}), true),
        (
            json!({"turns": [{"text": "x", "usage": {"input": 1}, "error": {"status": 529}}]}),
            true,
        ),
        (json!({"turns": [], "expect": {"mode": "plan"}}), true),
        (
            json!({"runs": [{"match": {"mode": "plan", "agent": "a", "step": "s"},
                             "expect": {"mode": "plan", "tools_include": ["a"],
                                        "tools_exclude": ["b"], "contains": "c"},
                             "turns": [{"tool_calls": [{"name": "a", "arguments": {}},
                                                       {"name": "a", "arguments": "{"}]}]}]}),
            true,
        ),
        (json!({}), false),
        (json!({"turns": [], "runs": []}), false),
        (json!({"runs": [], "expect": {}}), false),
        (json!({"turns": [{"other": 1}]}), false),
        (json!({"turns": [{"tool_calls": [{"arguments": {}}]}]}), false),
        (
            json!({"turns": [{"tool_calls": [{"name": "a", "arguments": 1}]}]}),
            false,
        ),
        (json!({"turns": [{"usage": {"input": -1}}]}), false),
        (json!({"turns": [{"usage": {"bytes": 1}}]}), false),
        (json!({"runs": [{"match": {"mode": "plan"}}]}), false),
        (json!([]), false),
    ] {
        let read = Scripted::new("s", script.to_string().as_bytes());
        assert_eq!(read.is_ok(), good, "{script}: {read:?}");
        assert_eq!(validator.is_valid(&script), good, "{script}");
    }
}
