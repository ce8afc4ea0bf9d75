//! What a script expects of requests, and how a difference reads.

use serde_json::{Value, json};
use stance_llm::{Block, ErrorKind, Message, Request, ResultPart, ToolSpec};

use crate::{Conversation, ask, entering, scripted};

#[tokio::test]
async fn expectations_show_expected_and_found() {
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: String::new(),
        schema: json!({}),
    };
    let mut asked = entering("1", "agent", None, None);
    asked.tools = vec![tool("read_file"), tool("write_to_file")];
    asked.messages.push(Message::user(vec![Block::ToolResult {
        call_id: "c".into(),
        content: vec![ResultPart::Text("exit code 7".into())],
        is_error: false,
    }]));
    let check = async |expect: Value, expected: &str| {
        for script in [
            json!({"expect": expect, "turns": [{"text": "fine"}]}),
            json!({"runs": [{"expect": expect, "turns": [{"text": "fine"}]}]}),
            json!({"turns": [{"text": "fine", "expect": expect}]}),
        ] {
            assert_eq!(Conversation::new(&script).ask(asked.clone()).await, expected);
        }
    };
    check(
        json!({"mode": "agent", "tools_include": ["read_file"], "tools_exclude": ["submit_plan"],
               "contains": "exit code 7"}),
        "fine",
    )
    .await;
    check(json!({"contains": "You plan."}), "fine").await;
    check(json!({"contains": "the parser"}), "fine").await;
    check(
        json!({"mode": "plan"}),
        "!entry 0, turn 0: mode: expected `plan`, found `agent`",
    )
    .await;
    check(
        json!({"tools_include": ["submit_plan"], "tools_exclude": ["write_to_file"]}),
        "!entry 0, turn 0: tools_include: expected `submit_plan`, \
         found [read_file, write_to_file]; tools_exclude: expected no `write_to_file`, \
         found [read_file, write_to_file]",
    )
    .await;
    check(
        json!({"contains": "nowhere"}),
        "!entry 0, turn 0: contains: expected `nowhere`, found it nowhere in the system prompt \
         and messages (3 texts, 35 bytes)",
    )
    .await;
}

#[tokio::test]
async fn a_mismatch_is_an_expectation_and_consumes_no_turn() {
    let script = json!({"turns": [{"text": "fine", "expect": {"mode": "plan"}}]});
    let model = scripted(&script);
    let error = ask(&model, entering("1", "agent", None, None)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Expectation);
    assert!(!error.kind.retryable());
    let request = Request {
        cursor: error.cursor,
        ..entering("1", "plan", None, None)
    };
    assert_eq!(ask(&model, request).await.unwrap().blocks, [Block::Text("fine".into())]);
}
