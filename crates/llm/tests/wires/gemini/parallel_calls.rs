//! Several calls in one answer. Some models give calls an id, others do not, and none may be given
//! twice in a conversation; results go back in the order of their calls.

use serde_json::json;
use stance_llm::{Block, Message, Part, StopReason};

use super::fixture::{
    Reply, Server, answer, call, chunk, contents, ended, followed_by, frames, model, native, parts, request, result,
};

#[tokio::test]
async fn calls_without_an_id_get_one_and_keep_it_to_themselves() {
    let written = [
        chunk(json!([
            {"functionCall": {"name": "read_file", "args": {"path": "a.rs"}}},
            {"functionCall": {"name": "list_files"}},
        ])),
        ended("STOP"),
    ];
    let answer = answer(&written).await;
    assert_eq!(answer.stop, StopReason::ToolUse);
    assert_eq!(
        answer.blocks,
        [
            call("call", "read_file", r#"{"path":"a.rs"}"#),
            call("call_2", "list_files", "{}")
        ]
    );
    // The results arrive the other way round.
    let sent = contents(
        "gemini-2.5-pro",
        followed_by(
            &answer,
            vec![result("call_2", "two", true), result("call", "one", false)],
        ),
    )
    .await;
    assert_eq!(
        sent[1]["parts"],
        json!([
            {"functionCall": {"name": "read_file", "args": {"path": "a.rs"}}},
            {"functionCall": {"name": "list_files", "args": {}}},
        ])
    );
    assert_eq!(
        sent[2]["parts"],
        json!([
            {"functionResponse": {"name": "read_file", "response": {"output": "one"}}},
            {"functionResponse": {"name": "list_files", "response": {"error": "two"}}},
        ])
    );
}

#[tokio::test]
async fn calls_with_an_id_are_answered_by_it() {
    let written = [
        chunk(json!([{"functionCall": {"id": "f-1", "name": "read_file", "args": {"path": "a.rs"}}}])),
        chunk(json!([{"functionCall": {"id": "f-2", "name": "read_file", "args": {"path": "b.rs"}}}])),
        ended("STOP"),
    ];
    let answer = answer(&written).await;
    let sent = contents(
        "gemini-2.5-pro",
        followed_by(&answer, vec![result("f-1", "one", false), result("f-2", "two", false)]),
    )
    .await;
    assert_eq!(
        sent[1]["parts"],
        json!([
            {"functionCall": {"id": "f-1", "name": "read_file", "args": {"path": "a.rs"}}},
            {"functionCall": {"id": "f-2", "name": "read_file", "args": {"path": "b.rs"}}},
        ])
    );
    assert_eq!(sent[2]["parts"][0]["functionResponse"]["id"], "f-1");
    assert_eq!(sent[2]["parts"][1]["functionResponse"]["id"], "f-2");
}

#[tokio::test]
async fn an_id_given_twice_is_told_apart() {
    let twice = json!({"functionCall": {"id": "same", "name": "list_files", "args": {}}});
    let answer = answer(&[chunk(json!([twice, twice])), ended("STOP")]).await;
    let own = native("gemini", json!({"functionCall": {"id": "same", "name": "list_files"}}));
    assert_eq!(
        answer.blocks,
        [
            call("same", "list_files", "{}"),
            own.clone(),
            call("same_2", "list_files", "{}"),
            own,
        ]
    );
    let sent = contents("m", followed_by(&answer, Vec::new())).await;
    assert_eq!(sent[1]["parts"][1]["functionCall"]["id"], "same_2");
    assert_eq!(sent[2]["parts"][1]["functionResponse"]["id"], "same_2");
}

#[tokio::test]
async fn a_call_is_shown_whole_as_it_comes_whole() {
    let written = [
        chunk(json!([{"functionCall": {"id": "f", "name": "read_file", "args": {"path": "a"}}}])),
        ended("STOP"),
    ];
    let server = Server::start([Reply::stream(&frames(&written))]).await;
    let mut parts = parts(model(&server).as_ref(), request("m")).await;
    parts.pop();
    assert_eq!(
        parts,
        [
            Ok(Part::CallStarted {
                id: "f".into(),
                name: "read_file".into()
            }),
            Ok(Part::CallArguments {
                id: "f".into(),
                text: r#"{"path":"a"}"#.into()
            }),
        ]
    );
}

#[tokio::test]
async fn arguments_that_are_no_object_go_back_as_what_they_were() {
    let sent = contents(
        "m",
        vec![
            Message::user(vec![Block::Text("hi".into())]),
            Message::assistant(vec![call("a", "read_file", r#"{"path": "#)]),
            Message::user(vec![result("a", "not JSON", true)]),
        ],
    )
    .await;
    assert_eq!(
        sent[1]["parts"][0]["functionCall"]["args"],
        json!({"malformed_arguments": r#"{"path": "#})
    );
}
