//! What a request looks like on the wire: nothing is stored, schemas are not strict, results and
//! images.

use serde_json::{Value, json};
use stance_llm::{Block, Effort, Message, ResultPart, ToolSpec};

use super::fixture::{called, request, sent};

#[tokio::test]
async fn the_whole_of_a_small_request() {
    let mut asked = request("gpt-5");
    asked.tools = vec![ToolSpec {
        name: "read".into(),
        description: "Reads.".into(),
        schema: json!({"type": "object"}),
    }];
    asked.settings.max_output = Some(2_000);
    asked.settings.effort = Some(Effort::Low);
    let seen = sent(asked).await;
    assert_eq!(seen.path, "/v1/responses");
    assert_eq!(
        seen.body,
        json!({
            "model": "gpt-5",
            "stream": true,
            "store": false,
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"summary": "auto", "effort": "low"},
            "max_output_tokens": 2_000,
            "tools": [{"type": "function", "name": "read", "description": "Reads.",
                       "parameters": {"type": "object"}, "strict": false}],
            "instructions": "You are terse.",
            "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        })
    );
}

#[tokio::test]
async fn a_model_that_does_not_think_is_not_asked_for_thoughts() {
    let mut asked = request("gpt-4.1");
    asked.settings.effort = Some(Effort::High);
    asked.settings.temperature = Some(0.5);
    let body = sent(asked).await.body;
    assert_eq!(body.get("reasoning"), None);
    assert_eq!(body.get("include"), None);
    assert_eq!(body["temperature"], 0.5);
}

async fn after_a_call(content: Vec<ResultPart>, is_error: bool) -> Value {
    let mut asked = request("m");
    asked.messages.push(Message::assistant(vec![called("a", "look", "")]));
    asked.messages.push(Message::user(vec![
        Block::ToolResult {
            call_id: "a".into(),
            content,
            is_error,
        },
        Block::Image {
            media_type: "image/png".into(),
            data_base64: "AAAA".into(),
        },
    ]));
    let mut body = sent(asked).await.body;
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA"});
    assert_eq!(body["input"][1]["arguments"], "{}");
    assert_eq!(body["input"][2]["call_id"], "a");
    assert_eq!(
        body["input"][3],
        json!({"type": "message", "role": "user", "content": [image]})
    );
    body["input"][2]["output"].take()
}

#[tokio::test]
async fn results_are_text_or_a_list_and_errors_say_so() {
    let text = |text: &str| ResultPart::Text(text.into());
    let image = || ResultPart::Image {
        media_type: "image/png".into(),
        data_base64: "BBBB".into(),
    };
    assert_eq!(after_a_call(vec![text("one")], false).await, "one");
    assert_eq!(after_a_call(vec![text("one")], true).await, "error: one");
    assert_eq!(after_a_call(vec![], true).await, "error: (no message)");
    assert_eq!(
        after_a_call(vec![text("one"), image()], true).await,
        json!([
            {"type": "input_text", "text": "error:"},
            {"type": "input_text", "text": "one"},
            {"type": "input_image", "image_url": "data:image/png;base64,BBBB"},
        ])
    );
}
