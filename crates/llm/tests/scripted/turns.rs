//! What a turn answers with.

use std::time::Duration;

use serde_json::json;
use stance_llm::scripted::Scripted;
use stance_llm::{Block, ErrorKind, Model, Part, Request, StopReason, ToolCall, Usage};

use crate::{Conversation, ask, entering, parts, request, scripted};

#[tokio::test]
async fn a_turn_is_text_then_calls_with_their_arguments_as_written() {
    let script = json!({"turns": [{
        "text": "Looking.",
        "tool_calls": [
            {"name": "read_file", "arguments": {"path": "b", "limit": 1}},
            {"name": "no_such_tool", "arguments": "{\"path\": "},
            {"name": "list_files"},
        ],
        "usage": {"input": 7, "output": 3, "cache_read": 2, "cache_write": 1},
    }]});
    let model = scripted(&script);
    let mut parts = parts(&model, request()).await;
    let Some(Ok(Part::Done(answer))) = parts.pop() else {
        panic!("no answer");
    };
    let calls = answer.blocks[1..]
        .iter()
        .map(|block| match block {
            Block::ToolCall(ToolCall {
                name, arguments_text, ..
            }) => (name.as_str(), arguments_text.as_str()),
            other => panic!("{other:?}"),
        })
        .collect::<Vec<_>>();
    assert_eq!(answer.blocks[0], Block::Text("Looking.".into()));
    assert_eq!(
        calls,
        [
            ("read_file", r#"{"path":"b","limit":1}"#),
            ("no_such_tool", r#"{"path": "#),
            ("list_files", "{}"),
        ]
    );
    assert_eq!(answer.stop, StopReason::ToolUse);
    assert_eq!(
        answer.usage,
        Usage {
            input: 7,
            output: 3,
            cache_read: 2,
            cache_write: 1
        }
    );
    // The text, then two parts for each call.
    assert_eq!(parts.len(), 1 + 2 * 3);
    assert_eq!(parts[0], Ok(Part::Text("Looking.".into())));
}

#[tokio::test]
async fn calls_of_a_conversation_never_share_an_id() {
    let turn = json!({"tool_calls": [{"name": "a"}, {"name": "a"}]});
    let script = json!({"runs": [
        {"turns": [turn, turn]}, {"turns": [turn]},
    ]});
    let model = scripted(&script);
    let mut cursor = None;
    let mut ids = Vec::new();
    for id in ["1", "1", "2"] {
        let request = Request {
            cursor,
            ..entering(id, "agent", None, None)
        };
        let answer = ask(&model, request).await.unwrap();
        cursor = answer.cursor;
        ids.extend(answer.blocks.into_iter().map(|block| match block {
            Block::ToolCall(call) => call.id,
            other => panic!("{other:?}"),
        }));
    }
    assert_eq!(ids.len(), 6);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 6);
}

#[tokio::test]
async fn turns_run_out_into_an_empty_final_message() {
    let script = json!({"turns": [{"text": "one"}, {"text": "two"}]});
    let mut conversation = Conversation::new(&script);
    assert_eq!(conversation.ask(request()).await, "one");
    assert_eq!(conversation.ask(request()).await, "two");
    assert_eq!(conversation.ask(request()).await, "");
    assert_eq!(conversation.ask(request()).await, "");
    let answer = ask(&scripted(&json!({"turns": []})), request()).await.unwrap();
    assert_eq!(answer.blocks, []);
    assert_eq!(answer.stop, StopReason::EndTurn);
    assert_eq!(answer.usage, Usage::default());
}

#[tokio::test]
async fn errors_are_a_providers() {
    let script = json!({"turns": [{
        "text": "Half a", "usage": {"output": 2},
        "error": {"status": 429, "message": "Slow down", "retry_after": 3},
    }]});
    let parts = parts(&scripted(&script), request()).await;
    assert_eq!(parts[0], Ok(Part::Text("Half a".into())));
    let error = parts[1].clone().unwrap_err();
    assert_eq!(error.kind, ErrorKind::RateLimited);
    assert_eq!(error.message, "Slow down");
    assert_eq!(error.status, Some(429));
    assert_eq!(error.retry_after, Some(Duration::from_secs(3)));
    assert_eq!(error.partial.blocks, [Block::Text("Half a".into())]);
    assert_eq!(error.partial.usage.output, 2);

    for (error, kind) in [
        (json!({"status": 529}), ErrorKind::Overloaded),
        (json!({"status": 500}), ErrorKind::Server),
        (json!({"status": 401}), ErrorKind::Auth),
        (json!({"status": 400}), ErrorKind::BadRequest),
        (
            json!({"status": 400, "message": "prompt is too long"}),
            ErrorKind::ContextOverflow,
        ),
        (json!({}), ErrorKind::Dropped),
    ] {
        let model = scripted(&json!({"turns": [{"error": error}]}));
        let found = ask(&model, request()).await.unwrap_err();
        assert_eq!(found.kind, kind, "{error}");
        assert!(found.partial.blocks.is_empty());
    }
}

#[tokio::test]
async fn the_same_request_with_the_same_cursor_is_answered_the_same() {
    let script = json!({"turns": [{"text": "one", "tool_calls": [{"name": "a"}]}, {"text": "two"}]});
    let model = scripted(&script);
    assert_eq!(parts(&model, request()).await, parts(&model, request()).await);
}

#[test]
fn the_model_says_that_it_is_none() {
    let script = br#"{"turns": []}"#;
    let model = Scripted::new("s.json", script).unwrap();
    let digest = blake3::hash(script).to_hex();
    let identity = model.identity();
    assert_eq!(identity.provider, "scripted");
    assert!(identity.simulated);
    assert_eq!(identity.actual_model, Some(format!("scripted:{}", &digest[..12])));
}
