//! Several calls in one answer, their arguments in pieces that may take turns. Arguments are kept
//! as written, even when they are no JSON.

use serde_json::json;
use stance_llm::{Block, Part, ToolCall};

use super::fixture::{
    Reply, Server, answer, begin, block, call, close, ending, frames, input, model, parts, request, stop,
};

fn called(id: &str, name: &str, arguments_text: &str) -> Block {
    Block::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments_text: arguments_text.into(),
    })
}

#[tokio::test]
async fn pieces_of_two_calls_take_turns() {
    let written = [
        begin(),
        call(0, "toolu_1", "read_file"),
        call(1, "toolu_2", "list_files"),
        input(0, ""),
        input(1, r#"{"pa"#),
        input(0, r#"{"path": "#),
        input(1, r#"th": "."}"#),
        close(1),
        input(0, r#""a.rs"}"#),
        close(0),
        ending("tool_use"),
        stop(),
    ];
    let server = Server::start([Reply::stream(&frames(&written))]).await;
    let mut parts = parts(model(&server).as_ref(), request("claude-sonnet-4-5"))
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect::<Vec<_>>();
    let Some(Part::Done(answer)) = parts.pop() else {
        panic!("no answer");
    };
    assert_eq!(
        answer.blocks,
        [
            called("toolu_1", "read_file", r#"{"path": "a.rs"}"#),
            called("toolu_2", "list_files", r#"{"path": "."}"#),
        ]
    );
    let started = |id: &str, name: &str| Part::CallStarted {
        id: id.into(),
        name: name.into(),
    };
    let more = |id: &str, text: &str| Part::CallArguments {
        id: id.into(),
        text: text.into(),
    };
    assert_eq!(
        parts,
        [
            started("toolu_1", "read_file"),
            started("toolu_2", "list_files"),
            more("toolu_2", r#"{"pa"#),
            more("toolu_1", r#"{"path": "#),
            more("toolu_2", r#"th": "."}"#),
            more("toolu_1", r#""a.rs"}"#),
        ]
    );
}

#[tokio::test]
async fn malformed_arguments_are_passed_on_as_written() {
    for raw in [
        r#"{"path": "a.rs""#,
        r#"{"a": 1, "a": 2}"#,
        "[1, 2]",
        "nonsense",
        " {\"spaced\" :\n 1} ",
    ] {
        let answer = answer(&[
            begin(),
            call(0, "toolu_1", "no_such_tool"),
            input(0, raw),
            close(0),
            ending("tool_use"),
            stop(),
        ])
        .await;
        assert_eq!(answer.blocks, [called("toolu_1", "no_such_tool", raw)]);
    }
}

#[tokio::test]
async fn a_call_without_pieces_has_what_it_began_with() {
    let answer = answer(&[
        begin(),
        call(0, "toolu_1", "list_files"),
        close(0),
        block(
            1,
            json!({"type": "tool_use", "id": "toolu_2", "name": "read_file", "input": {"path": "a"}}),
        ),
        close(1),
        block(2, json!({"type": "tool_use", "id": "toolu_3", "name": "list_files"})),
        close(2),
        ending("tool_use"),
        stop(),
    ])
    .await;
    assert_eq!(
        answer.blocks,
        [
            called("toolu_1", "list_files", "{}"),
            called("toolu_2", "read_file", r#"{"path":"a"}"#),
            called("toolu_3", "list_files", "{}"),
        ]
    );
}

#[tokio::test]
async fn calls_without_an_id_or_with_the_same_get_their_own() {
    let mut written = vec![begin()];
    for (index, id) in ["", "", "toolu_1", "toolu_1"].into_iter().enumerate() {
        let index = index as u64;
        written.extend([call(index, id, "list_files"), close(index)]);
    }
    written.extend([ending("tool_use"), stop()]);
    let ids = ["call", "call_2", "toolu_1", "toolu_1_2"];
    assert_eq!(
        answer(&written).await.blocks,
        ids.map(|id| called(id, "list_files", "{}"))
    );
}
