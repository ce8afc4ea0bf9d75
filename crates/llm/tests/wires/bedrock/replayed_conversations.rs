//! Conversations going back: results and their errors, images, ids, arguments that are no object.

use serde_json::json;
use stance_llm::{Block, Message, ResultPart};

use super::fixture::{CLAUDE, call, messages, result, said};

fn conversation(reply: Vec<Block>) -> Vec<Message> {
    vec![
        Message::user(vec![Block::Text("hi".into())]),
        Message::assistant(vec![call("a", "look", "{}"), call("b", "list_files", "{}")]),
        Message::user(reply),
    ]
}

#[tokio::test]
async fn results_come_first_and_say_whether_they_failed() {
    let reply = || {
        vec![
            Block::Text("steering".into()),
            result("b", vec![said("two")], true),
            result("a", vec![said("")], false),
        ]
    };
    assert_eq!(
        messages(CLAUDE, conversation(reply())).await[2]["content"],
        json!([
            {"toolResult": {"toolUseId": "a", "content": [{"text": "(no message)"}]}},
            {"toolResult": {"toolUseId": "b", "status": "error", "content": [{"text": "two"}]}},
            {"text": "steering"},
        ])
    );
    // Where the protocol's mark is not taken, the model reads it.
    assert_eq!(
        messages("meta.llama3-3-70b-instruct-v1:0", conversation(reply())).await[2]["content"][1],
        json!({"toolResult": {"toolUseId": "b", "content": [{"text": "error:"}, {"text": "two"}]}})
    );
}

#[tokio::test]
async fn images_go_as_bytes_of_a_format() {
    let image = |media_type: &str| ResultPart::Image {
        media_type: media_type.into(),
        data_base64: "/9j/".into(),
    };
    let sent = messages(
        CLAUDE,
        conversation(vec![
            result("a", vec![said("seen"), image("image/jpg")], false),
            result("b", vec![image("image/webp")], false),
            Block::Image {
                media_type: "image/png".into(),
                data_base64: "iVBORw0KGgo=".into(),
            },
        ]),
    )
    .await;
    let written = |format: &str, bytes: &str| json!({"image": {"format": format, "source": {"bytes": bytes}}});
    assert_eq!(
        sent[2]["content"],
        json!([
            {"toolResult": {"toolUseId": "a", "content": [{"text": "seen"}, written("jpeg", "/9j/")]}},
            {"toolResult": {"toolUseId": "b", "content": [written("webp", "/9j/")]}},
            written("png", "iVBORw0KGgo="),
        ])
    );
}

#[tokio::test]
async fn ids_and_arguments_of_another_provider_fit() {
    let long = "call:".repeat(20);
    let sent = messages(
        CLAUDE,
        vec![
            Message::user(vec![Block::Text("hi".into())]),
            Message::assistant(vec![call(&long, "look", "[1]")]),
            Message::user(vec![result(&long, vec![said("x")], false)]),
        ],
    )
    .await;
    let used = &sent[1]["content"][0]["toolUse"];
    let id = used["toolUseId"].as_str().unwrap();
    assert!(id.len() <= 64 && !id.contains(':'), "{id}");
    assert_eq!(sent[2]["content"][0]["toolResult"]["toolUseId"], id);
    assert_eq!(used["input"], json!({"malformed_arguments": "[1]"}));
}
