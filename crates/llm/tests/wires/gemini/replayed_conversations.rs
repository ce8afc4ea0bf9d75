//! Conversations going back: results stand before anything else a person says, pictures of results
//! where the model takes them.

use serde_json::json;
use stance_llm::{Block, Message, ResultPart};

use super::fixture::{call, contents, result};

fn conversation(reply: Vec<Block>) -> Vec<Message> {
    vec![
        Message::user(vec![Block::Text("hi".into())]),
        Message::assistant(vec![call("a", "look", "{}"), call("b", "list_files", "{}")]),
        Message::user(reply),
    ]
}

fn seen(call_id: &str) -> Block {
    Block::ToolResult {
        call_id: call_id.into(),
        content: vec![
            ResultPart::Text("one".into()),
            ResultPart::Image {
                media_type: "image/jpeg".into(),
                data_base64: "/9j/".into(),
            },
            ResultPart::Text("two".into()),
        ],
        is_error: false,
    }
}

#[tokio::test]
async fn results_come_before_what_a_person_says() {
    let reply = vec![
        Block::Text("steering".into()),
        result("b", "", false),
        result("a", "no", true),
    ];
    assert_eq!(
        contents("m", conversation(reply)).await[2],
        json!({"role": "user", "parts": [
            {"functionResponse": {"name": "look", "response": {"error": "no"}}},
            {"functionResponse": {"name": "list_files", "response": {"output": ""}}},
            {"text": "steering"},
        ]})
    );
}

#[tokio::test]
async fn pictures_stand_in_the_result_or_behind_all_results() {
    let picture = json!({"inlineData": {"mimeType": "image/jpeg", "data": "/9j/"}});
    let texts = json!({"output": "one\ntwo"});
    let reply = || vec![seen("a"), result("b", "x", false)];
    assert_eq!(
        contents("gemini-3-flash-preview", conversation(reply())).await[2]["parts"],
        json!([
            {"functionResponse": {"name": "look", "response": texts, "parts": [picture]}},
            {"functionResponse": {"name": "list_files", "response": {"output": "x"}}},
        ])
    );
    assert_eq!(
        contents("gemini-2.5-flash", conversation(reply())).await[2]["parts"],
        json!([
            {"functionResponse": {"name": "look", "response": texts}},
            {"functionResponse": {"name": "list_files", "response": {"output": "x"}}},
            picture,
        ])
    );
}
