//! Vertex: the same protocol at a project's place, with a token instead of a key. What its models
//! sign is theirs alone.

use serde_json::json;
use stance_llm::{Block, Message, Preset};

use super::fixture::{Reply, frames, hello, native, request};
use crate::server;

#[tokio::test]
async fn the_address_holds_project_location_and_publisher() {
    let seen = server::sent("vertex", Reply::stream(&frames(&hello())), request("gemini-2.5-pro")).await;
    assert_eq!(
        seen.path,
        "/publishers/google/models/gemini-2.5-pro:streamGenerateContent"
    );
    assert_eq!(seen.headers["authorization"], format!("Bearer {}", server::KEY));
    assert_eq!(seen.headers.get("x-goog-api-key"), None);

    let variable = |name: &str| match name {
        "GOOGLE_CLOUD_PROJECT" => Some("acme".to_owned()),
        "GOOGLE_CLOUD_LOCATION" => Some("europe-west4".to_owned()),
        _ => None,
    };
    assert_eq!(
        Preset::named("vertex").unwrap().address(variable).unwrap().as_deref(),
        Some("https://europe-west4-aiplatform.googleapis.com/v1/projects/acme/locations/europe-west4")
    );
}

#[tokio::test]
async fn signatures_of_another_place_are_left_out() {
    let mut request = request("gemini-2.5-pro");
    let signed = |provider: &str| {
        native(
            provider,
            json!({"text": provider, "thought": true, "thoughtSignature": "s"}),
        )
    };
    request.messages.push(Message::assistant(vec![
        signed("gemini"),
        signed("vertex"),
        Block::Text("ok".into()),
    ]));
    let seen = server::sent("vertex", Reply::stream(&frames(&hello())), request).await;
    assert_eq!(
        seen.body["contents"][1]["parts"],
        json!([{"text": "vertex", "thought": true, "thoughtSignature": "s"}, {"text": "ok"}])
    );
}
