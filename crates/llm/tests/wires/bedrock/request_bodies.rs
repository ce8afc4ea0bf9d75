//! What a request looks like on the wire: address, headers, fields, cache points.

use serde_json::{Value, json};
use stance_llm::{Block, Message, ToolSpec};

use super::fixture::{CLAUDE, KEY, PRESET, Server, hello, model_at, parts, request, sent, stream};

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: format!("The tool {name}."),
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    }
}

fn spec(name: &str) -> Value {
    json!({"toolSpec": {
        "name": name, "description": format!("The tool {name}."),
        "inputSchema": {"json": {"type": "object", "properties": {"path": {"type": "string"}}}},
    }})
}

#[tokio::test]
async fn the_whole_of_a_small_request() {
    let mut request = request("some-model");
    request.tools = vec![tool("write"), tool("read")];
    request.settings.max_output = Some(2_000);
    request.settings.temperature = Some(0.5);
    request.context.mode = "plan".into();
    assert_eq!(
        sent(request).await.body,
        json!({
            "system": [{"text": "You are terse."}],
            "toolConfig": {"tools": [spec("read"), spec("write")]},
            "messages": [{"role": "user", "content": [{"text": "hi"}]}],
            "inferenceConfig": {"maxTokens": 2_000, "temperature": 0.5},
        })
    );
}

#[tokio::test]
async fn what_is_empty_is_left_out() {
    let mut request = request("m");
    request.system = " \n".into();
    assert_eq!(
        sent(request).await.body,
        json!({"messages": [{"role": "user", "content": [{"text": "hi"}]}]})
    );
}

#[tokio::test]
async fn cache_points_stand_where_the_model_takes_them() {
    let point = json!({"cachePoint": {"type": "default"}});
    let body = async |model: &str| {
        let mut request = request(model);
        request.tools = vec![tool("read")];
        for round in ["one", "two"] {
            request
                .messages
                .push(Message::assistant(vec![Block::Text("ok".into())]));
            request.messages.push(Message::user(vec![Block::Text(round.into())]));
        }
        sent(request).await.body
    };
    let claude = body(CLAUDE).await;
    assert_eq!(claude["system"][1], point);
    assert_eq!(claude["toolConfig"]["tools"][1], point);
    assert_eq!(claude["messages"][0]["content"], json!([{"text": "hi"}]));
    assert_eq!(claude["messages"][2]["content"], json!([{"text": "one"}, point]));
    assert_eq!(claude["messages"][4]["content"], json!([{"text": "two"}, point]));
    // The protocol takes four at most.
    assert_eq!(claude.to_string().matches("cachePoint").count(), 4);

    let nova = body("eu.amazon.nova-pro-v1:0").await;
    assert_eq!(nova["system"][1], point);
    assert_eq!(nova["toolConfig"]["tools"], json!([spec("read")]));
    for without in [
        "anthropic.claude-3-haiku-20240307-v1:0",
        "meta.llama3-3-70b-instruct-v1:0",
    ] {
        assert!(!body(without).await.to_string().contains("cachePoint"), "{without}");
    }
}

#[tokio::test]
async fn the_model_stands_in_the_address_whatever_its_id_holds() {
    for (base, model, path) in [
        (
            "",
            CLAUDE,
            "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream",
        ),
        (
            "/proxy/",
            "arn:aws:bedrock:us-east-1:1:inference-profile/x",
            "/proxy/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx/converse-stream",
        ),
    ] {
        let server = Server::start([stream(&hello())]).await;
        let at = model_at(PRESET, &format!("{}{base}", server.url), KEY).unwrap();
        parts(at.as_ref(), request(model)).await;
        assert_eq!(server.seen().path, path);
    }
}

#[tokio::test]
async fn a_key_goes_along_and_nothing_is_signed() {
    let seen = sent(request("m")).await;
    assert_eq!(seen.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(seen.headers["content-type"], "application/json");
    assert_eq!(seen.headers.get("x-amz-date"), None);
}
