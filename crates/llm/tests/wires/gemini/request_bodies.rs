//! What a request looks like on the wire: address, headers, fields.

use serde_json::json;
use stance_llm::{Block, Message, ToolSpec};

use super::fixture::{KEY, PRESET, Reply, Server, frames, hello, model_at, parts, request, sent};

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: format!("The tool {name}."),
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": false}),
    }
}

#[tokio::test]
async fn the_whole_of_a_small_request() {
    let mut request = request("some-model");
    request.tools = vec![tool("write"), tool("read")];
    request.settings.max_output = Some(2_000);
    request.settings.temperature = Some(0.5);
    request.context.mode = "plan".into();
    let seen = sent(request).await;
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": false});
    assert_eq!(
        seen.body,
        json!({
            "systemInstruction": {"parts": [{"text": "You are terse."}]},
            "tools": [{"functionDeclarations": [
                {"name": "read", "description": "The tool read.", "parametersJsonSchema": schema},
                {"name": "write", "description": "The tool write.", "parametersJsonSchema": schema},
            ]}],
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "generationConfig": {"maxOutputTokens": 2_000, "temperature": 0.5},
        })
    );
}

#[tokio::test]
async fn what_is_empty_is_left_out() {
    let mut request = request("m");
    request.system = " \n".into();
    let seen = sent(request).await;
    assert_eq!(
        seen.body,
        json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]})
    );
}

#[tokio::test]
async fn the_key_goes_in_a_header_and_nowhere_else() {
    let seen = sent(request("m")).await;
    let header = |name: &str| seen.headers.get(name).map(|value| value.to_str().unwrap());
    assert_eq!(header("x-goog-api-key"), Some(KEY));
    assert_eq!(header("authorization"), None);
    assert_eq!(header("content-type"), Some("application/json"));
    assert!(!seen.path.contains(KEY));
}

#[tokio::test]
async fn the_model_stands_in_the_address_and_the_version_is_never_doubled() {
    for (base, model, path) in [
        ("", "gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro"),
        ("/", "models/gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro"),
        ("/v1beta", "m", "/v1beta/models/m"),
        ("/v1/", "m", "/v1/models/m"),
        ("/proxy", "m", "/proxy/v1beta/models/m"),
        ("", "../../a b?c", "/v1beta/models/..%2F..%2Fa%20b%3Fc"),
    ] {
        let server = Server::start([Reply::stream(&frames(&hello()))]).await;
        let at = model_at(PRESET, &format!("{}{base}", server.url), KEY).unwrap();
        parts(at.as_ref(), request(model)).await;
        assert_eq!(
            server.seen().path,
            format!("{path}:streamGenerateContent"),
            "{base} {model}"
        );
    }
}

#[tokio::test]
async fn the_prefix_does_not_depend_on_the_order_of_tools() {
    let body = async |names: [&str; 3]| {
        let mut request = request("m");
        request.tools = names.map(tool).to_vec();
        sent(request).await.body.to_string()
    };
    assert_eq!(body(["a", "b", "c"]).await, body(["c", "a", "b"]).await);
}

#[tokio::test]
async fn images_go_as_base64() {
    let mut request = request("m");
    request.messages = vec![Message::user(vec![
        Block::Image {
            media_type: "image/png".into(),
            data_base64: "iVBORw0KGgo=".into(),
        },
        Block::Text("What is it?".into()),
    ])];
    assert_eq!(
        sent(request).await.body["contents"][0]["parts"],
        json!([
            {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
            {"text": "What is it?"},
        ])
    );
}
