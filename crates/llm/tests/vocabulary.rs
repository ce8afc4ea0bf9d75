//! The vocabulary as it is written into a journal: its JSON is a promise to runs recorded earlier.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use proptest::prelude::*;
use serde_json::json;
use stance_llm::{
    Block, Effort, ErrorKind, Message, ModelSettings, Partial, Response, ResultPart, Role, StopReason, ToolCall, Usage,
};

#[test]
fn the_json_of_a_response() {
    let response = Response {
        blocks: vec![
            Block::Text("hi".into()),
            Block::ToolCall(ToolCall {
                id: "c1".into(),
                name: "read_file".into(),
                arguments_text: "{\"path\": ".into(),
            }),
            Block::Native {
                provider: "anthropic".into(),
                value: json!({"type": "thinking", "thinking": "…", "signature": "s"}),
            },
        ],
        stop: StopReason::Other("odd".into()),
        usage: Usage {
            input: 1,
            output: 2,
            cache_read: 3,
            cache_write: 4,
        },
        actual_model: "m-1".into(),
        cursor: None,
    };
    let written = json!({
        "blocks": [
            {"text": "hi"},
            {"tool_call": {"id": "c1", "name": "read_file", "arguments_text": "{\"path\": "}},
            {"native": {"provider": "anthropic",
                        "value": {"type": "thinking", "thinking": "…", "signature": "s"}}},
        ],
        "stop": {"other": "odd"},
        "usage": {"input": 1, "output": 2, "cache_read": 3, "cache_write": 4},
        "actual_model": "m-1",
    });
    assert_eq!(serde_json::to_value(&response).unwrap(), written);
    assert_eq!(serde_json::from_value::<Response>(written).unwrap(), response);
}

#[test]
fn the_json_of_settings_and_kinds() {
    let settings = ModelSettings {
        effort: Some(Effort::XHigh),
        thinking_budget: Some(5),
        ..ModelSettings::new("p", "m")
    };
    let written = json!({"provider": "p", "model": "m", "effort": "xhigh", "thinking_budget": 5});
    assert_eq!(serde_json::to_value(&settings).unwrap(), written);
    assert_eq!(serde_json::from_value::<ModelSettings>(written).unwrap(), settings);
    assert_eq!(json!(ErrorKind::ContextOverflow), json!("context_overflow"));
    assert_eq!(json!(StopReason::EndTurn), json!("end_turn"));
    assert_eq!(json!(Role::Assistant), json!("assistant"));
}

fn words() -> impl Strategy<Value = String> + Clone {
    ".{0,12}"
}

fn block() -> impl Strategy<Value = Block> {
    let image = (words(), words());
    prop_oneof![
        words().prop_map(Block::Text),
        image.clone().prop_map(|(media_type, data_base64)| Block::Image {
            media_type,
            data_base64
        }),
        (words(), words(), words()).prop_map(|(id, name, arguments_text)| {
            Block::ToolCall(ToolCall {
                id,
                name,
                arguments_text,
            })
        }),
        (words(), words(), image, any::<bool>()).prop_map(|(call_id, text, image, is_error)| {
            let (media_type, data_base64) = image;
            Block::ToolResult {
                call_id,
                content: vec![
                    ResultPart::Text(text),
                    ResultPart::Image {
                        media_type,
                        data_base64,
                    },
                ],
                is_error,
            }
        }),
        (words(), words()).prop_map(|(provider, text)| Block::Native {
            provider,
            value: json!({"zeta": text, "alpha": [1, null, {"b": 1, "a": 2}]}),
        }),
    ]
}

proptest! {
    /// Nothing is lost by writing a message down, not even the order of keys in native blocks.
    #[test]
    fn messages_survive_the_journal(blocks in prop::collection::vec(block(), 0..6)) {
        let message = Message::assistant(blocks.clone());
        let text = serde_json::to_string(&message).unwrap();
        let read = serde_json::from_str::<Message>(&text).unwrap();
        prop_assert_eq!(&read, &message);
        prop_assert_eq!(serde_json::to_string(&read).unwrap(), text);
        let partial = Partial { blocks, usage: Usage::default() };
        let text = serde_json::to_string(&partial).unwrap();
        prop_assert_eq!(serde_json::from_str::<Partial>(&text).unwrap(), partial);
    }
}
