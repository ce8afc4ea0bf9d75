//! Several calls in one answer, their arguments in pieces that may take turns. Arguments are kept
//! as written, even when they are no JSON.

use stance_llm::{Part, StopReason};

use super::fixture::{
    Server, answer, begin, call, calls, close, counted, ended, input, model, parts, request, stream, text,
};

#[tokio::test]
async fn pieces_of_two_calls_take_turns() {
    let written = [
        begin(),
        text(0, "Both."),
        close(0),
        calls(1, "tooluse_1", "read_file"),
        calls(2, "tooluse_2", "list_files"),
        input(2, r#"{"pa"#),
        input(1, r#"{"path": "#),
        input(2, r#"th": "."}"#),
        close(2),
        input(1, r#""a.rs"}"#),
        close(1),
        ended("tool_use"),
        counted(),
    ];
    let server = Server::start([stream(&written)]).await;
    let mut parts = parts(model(&server).as_ref(), request("m")).await;
    let Some(Ok(Part::Done(answer))) = parts.pop() else {
        panic!("no answer");
    };
    assert_eq!(answer.stop, StopReason::ToolUse);
    assert_eq!(
        answer.blocks[1..],
        [
            call("tooluse_1", "read_file", r#"{"path": "a.rs"}"#),
            call("tooluse_2", "list_files", r#"{"path": "."}"#),
        ]
    );
    let more = |id: &str, text: &str| {
        Ok(Part::CallArguments {
            id: id.into(),
            text: text.into(),
        })
    };
    assert_eq!(
        parts[3..],
        [
            more("tooluse_2", r#"{"pa"#),
            more("tooluse_1", r#"{"path": "#),
            more("tooluse_2", r#"th": "."}"#),
            more("tooluse_1", r#""a.rs"}"#),
        ]
    );
}

#[tokio::test]
async fn malformed_and_missing_arguments_are_passed_on() {
    for (raw, kept) in [
        (r#"{"path": "a.rs""#, r#"{"path": "a.rs""#),
        (r#"{"a": 1, "a": 2}"#, r#"{"a": 1, "a": 2}"#),
        ("nonsense", "nonsense"),
        ("", "{}"),
    ] {
        let answer = answer(&[
            begin(),
            calls(0, "tooluse_1", "no_such_tool"),
            input(0, raw),
            close(0),
            ended("tool_use"),
            counted(),
        ])
        .await;
        assert_eq!(answer.blocks, [call("tooluse_1", "no_such_tool", kept)]);
    }
}

#[tokio::test]
async fn an_id_given_twice_is_told_apart() {
    let answer = answer(&[
        begin(),
        calls(0, "same", "list_files"),
        close(0),
        calls(1, "same", "list_files"),
        close(1),
        ended("tool_use"),
        counted(),
    ])
    .await;
    assert_eq!(
        answer.blocks,
        [call("same", "list_files", "{}"), call("same_2", "list_files", "{}")]
    );
}
