//! What a request looks like on the wire: headers, fields, cache breakpoints.

use serde_json::json;
use stance_llm::{Block, Message, ToolSpec};

use super::fixture::{KEY, request, sent};

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: format!("The tool {name}."),
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    }
}

#[tokio::test]
async fn the_whole_of_a_small_request() {
    let mut request = request("some-model");
    request.tools = vec![tool("write"), tool("read")];
    request.settings.max_output = Some(2_000);
    request.settings.temperature = Some(0.5);
    request.context.mode = "plan".into();
    request.cursor = Some("not for providers".into());
    let seen = sent(request).await;
    let cached = json!({"type": "ephemeral"});
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    assert_eq!(
        seen.body,
        json!({
            "model": "some-model",
            "max_tokens": 2_000,
            "stream": true,
            "temperature": 0.5,
            "tools": [
                {"name": "read", "description": "The tool read.", "input_schema": schema},
                {"name": "write", "description": "The tool write.", "input_schema": schema,
                 "cache_control": cached},
            ],
            "system": [{"type": "text", "text": "You are terse.", "cache_control": cached}],
            "messages": [{"role": "user", "content": [
                {"type": "text", "text": "hi", "cache_control": cached},
            ]}],
        })
    );
}

#[tokio::test]
async fn headers_name_version_and_key_and_us() {
    let seen = sent(request("m")).await;
    let header = |name: &str| seen.headers.get(name).map(|value| value.to_str().unwrap());
    assert_eq!(header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(header("x-api-key"), Some(KEY));
    assert_eq!(header("content-type"), Some("application/json"));
    assert_eq!(header("anthropic-beta"), None);
    assert!(header("user-agent").unwrap().starts_with("stance/"));
    assert_eq!(header("authorization"), None);
}

#[tokio::test]
async fn an_empty_system_prompt_and_no_tools_are_left_out() {
    let mut request = request("m");
    request.system = " \n".into();
    let seen = sent(request).await;
    assert_eq!(seen.body.get("system"), None);
    assert_eq!(seen.body.get("tools"), None);
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
async fn breakpoints_move_along_with_the_last_two_user_messages() {
    let mut request = request("m");
    for round in ["one", "two"] {
        request
            .messages
            .push(Message::assistant(vec![Block::Text("ok".into())]));
        request.messages.push(Message::user(vec![
            Block::Text(format!("{round} a")),
            Block::Text(format!("{round} b")),
        ]));
    }
    let seen = sent(request).await;
    let marked = seen.body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|message| message["content"].as_array().unwrap())
        .filter(|block| block.get("cache_control").is_some())
        .map(|block| block["text"].as_str().unwrap())
        .collect::<Vec<_>>();
    assert_eq!(marked, ["one b", "two b"]);
}

#[tokio::test]
async fn images_go_as_base64() {
    let mut request = request("m");
    request.messages[0].blocks.insert(
        0,
        Block::Image {
            media_type: "image/png".into(),
            data_base64: "iVBORw0KGgo=".into(),
        },
    );
    let seen = sent(request).await;
    assert_eq!(
        seen.body["messages"][0]["content"][0],
        json!({"type": "image", "source": {
            "type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo=",
        }})
    );
}
