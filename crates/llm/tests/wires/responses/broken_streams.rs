//! Streams that break their protocol, repeat themselves, leave things out, fail or never end.

use serde_json::{Value, json};
use stance_llm::{Block, ErrorKind, Part, StopReason};

use super::fixture::{
    PRESET, Reply, Server, Step, added, answer, answer_to, argued, called, completed, created, done, events, failure,
    function_call, message, numbered, parts, request, said, whole, whole_blocks,
};

#[tokio::test]
async fn events_sent_twice_count_and_show_once() {
    let twice = numbered(&whole())
        .into_iter()
        .map(|event| event.repeat(2))
        .collect::<String>();
    let server = Server::start([Reply::stream(&twice), Reply::stream(&events(&whole()))]).await;
    let model = server.model(PRESET);
    let repeated = parts(model.as_ref(), request("m")).await;
    assert_eq!(repeated, parts(model.as_ref(), request("m")).await);
    assert!(matches!(repeated.last(), Some(Ok(Part::Done(answer))) if answer.blocks == whole_blocks()));
}

#[tokio::test]
async fn items_told_only_when_they_are_done() {
    let written = [
        created(),
        done(0, message("Hi.")),
        done(1, function_call("c", "read", "{}")),
        completed(),
    ];
    let server = Server::start([Reply::stream(&events(&written))]).await;
    let shown = parts(server.model(PRESET).as_ref(), request("m")).await;
    assert_eq!(shown[0], Ok(Part::Text("Hi.".into())));
    assert_eq!(
        shown[1],
        Ok(Part::CallStarted {
            id: "c".into(),
            name: "read".into()
        })
    );
    assert_eq!(
        shown[2],
        Ok(Part::CallArguments {
            id: "c".into(),
            text: "{}".into()
        })
    );
}

#[tokio::test]
async fn items_told_only_at_the_end() {
    let mut end = completed();
    end["response"]["output"] = json!([message("Hi."), function_call("c", "read", "{}")]);
    let answer = answer(&[created(), end]).await;
    assert_eq!(answer.blocks, [Block::Text("Hi.".into()), called("c", "read", "{}")]);
    assert_eq!(answer.stop, StopReason::ToolUse);
}

#[tokio::test]
async fn calls_without_an_id_or_with_the_same_get_their_own() {
    let answer = answer(&[
        created(),
        done(0, function_call("", "read", "{}")),
        done(1, function_call("same", "read", "{}")),
        done(2, function_call("same", "read", "{}")),
        completed(),
    ])
    .await;
    let ids = ["call", "same", "same_2"];
    assert_eq!(answer.blocks, ids.map(|id| called(id, "read", "{}")));
}

#[tokio::test]
async fn what_makes_no_sense_is_malformed() {
    let opened = || added(0, json!({"type": "message", "content": []}));
    let check = async |written: &[Value], words: &str| {
        let error = failure(written).await;
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Malformed, words));
    };
    check(&[created(), opened(), opened()], "item 0 begins twice").await;
    check(&[created(), said(3, "x")], "item 3 is not open").await;
    check(&[created(), opened(), argued(0, "{}")], "item 0 is no call").await;
    check(&[created(), opened(), completed()], "the answer ends inside an item").await;
    check(&[created(), done(0, message("x")), said(0, "y")], "item 0 is not open").await;
    check(
        &[created(), opened(), done(0, function_call("c", "read", "{}"))],
        "item 0 ends as `function_call`, which it did not begin as",
    )
    .await;
    let error = answer_to(Reply::stream("data: {\"type\": \n\n")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Malformed);
}

#[tokio::test]
async fn failures_in_the_middle_have_the_providers_words_and_what_had_come() {
    let failed = |code: &str| json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": code, "message": "gone"}}});
    for (event, kind) in [
        (failed("server_error"), ErrorKind::Server),
        (failed("rate_limit_exceeded"), ErrorKind::RateLimited),
        (failed("insufficient_quota"), ErrorKind::Auth),
        (failed("context_length_exceeded"), ErrorKind::ContextOverflow),
        (failed("server_is_overloaded"), ErrorKind::Overloaded),
        (failed("invalid_prompt"), ErrorKind::Refused),
        (
            json!({"type": "error", "code": "server_error", "message": "gone", "param": null}),
            ErrorKind::Server,
        ),
        (
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": "gone"}}),
            ErrorKind::RateLimited,
        ),
    ] {
        let written = [
            created(),
            done(0, message("whole")),
            added(1, message("")),
            said(1, "half"),
            added(2, function_call("c", "read", "")),
            event,
        ];
        let error = failure(&written).await;
        assert_eq!((error.kind, error.message.as_str()), (kind, "gone"));
        // The call that was begun is left out.
        assert_eq!(
            error.partial.blocks,
            [Block::Text("whole".into()), Block::Text("half".into())]
        );
    }
}

#[tokio::test]
async fn ten_megabytes() {
    let mut steps = vec![Step::Bytes(format!("data: {}\n\n", added(0, message(""))).into_bytes())];
    let piece = format!("data: {}\n\n", said(0, &"x".repeat(100_000)));
    steps.extend((0..100).map(|_| Step::Bytes(piece.clone().into_bytes())));
    let error = answer_to(Reply::steps(steps)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Malformed);
    assert_eq!(error.message, "the answer is larger than 8388608 bytes");
}
