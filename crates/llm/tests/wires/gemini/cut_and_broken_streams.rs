//! Streams that stop too early, fail on the way or break the protocol. What had arrived is kept.

use futures_util::StreamExt;
use serde_json::json;
use stance_llm::{Block, ErrorKind, Part, StopReason, Usage};
use tokio::sync::oneshot;

use super::fixture::{
    Reply, Server, Step, answer, answer_to, call, chunk, ended, failure, frames, hello, model, native, request, said,
};

#[tokio::test]
async fn cut_after_every_piece() {
    let written = hello();
    for count in 0..written.len() {
        let error = failure(&written[..count]).await;
        assert_eq!(error.kind, ErrorKind::Dropped, "{count} pieces");
        assert!(error.kind.retryable());
        let kept = match count {
            0 => Vec::new(),
            1 | 2 => vec![Block::Text("Grüße, ".into())],
            _ => vec![Block::Text("Grüße, 🌍".into())],
        };
        assert_eq!(error.partial.blocks, kept, "{count} pieces");
    }
}

#[tokio::test]
async fn a_broken_connection_keeps_whole_parts() {
    let written = [
        chunk(json!([{"text": "Hm.", "thought": true}])),
        chunk(
            json!([{"functionCall": {"id": "f1", "name": "read_file", "args": {"path": "a"}},
                      "thoughtSignature": "c2ln"}]),
        ),
        said("And th"),
    ];
    let (go_on, waiting) = oneshot::channel();
    let server = Server::start([Reply::steps(vec![
        Step::Bytes(frames(&written).into_bytes()),
        Step::Wait(waiting),
        Step::Break,
    ])])
    .await;
    let mut stream = model(&server).stream(request("m"));
    while stream.next().await != Some(Ok(Part::Text("And th".into()))) {}
    go_on.send(()).unwrap();
    let error = stream.next().await.unwrap().unwrap_err();
    assert_eq!(stream.next().await, None);
    assert_eq!(error.kind, ErrorKind::Dropped);
    assert_eq!(error.status, Some(200));
    assert_eq!(
        error.partial.blocks,
        [
            native("gemini", json!({"text": "Hm.", "thought": true})),
            call("f1", "read_file", r#"{"path":"a"}"#),
            native(
                "gemini",
                json!({"functionCall": {"id": "f1", "name": "read_file"}, "thoughtSignature": "c2ln"})
            ),
            Block::Text("And th".into()),
        ]
    );
    assert_eq!(
        error.partial.usage,
        Usage {
            input: 12,
            ..Usage::default()
        }
    );
}

#[tokio::test]
async fn a_connection_that_breaks_behind_the_whole_answer_takes_nothing_from_it() {
    let (go_on, waiting) = oneshot::channel();
    let server = Server::start([Reply::steps(vec![
        Step::Bytes(frames(&hello()).into_bytes()),
        Step::Wait(waiting),
        Step::Break,
    ])])
    .await;
    let mut stream = model(&server).stream(request("m"));
    while stream.next().await != Some(Ok(Part::Text("🌍".into()))) {}
    go_on.send(()).unwrap();
    assert!(matches!(stream.next().await, Some(Ok(Part::Done(_)))));
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn an_error_on_the_way_carries_the_providers_words() {
    let check = async |code: u16, status: &str, message: &str, expected: ErrorKind| {
        let mut written = hello()[..1].to_vec();
        written.push(json!({"error": {"code": code, "message": message, "status": status}}));
        // Nothing after an error counts.
        written.extend([said("ghost"), ended("STOP")]);
        let error = failure(&written).await;
        assert_eq!(error.kind, expected, "{status}");
        assert_eq!(error.message, message);
        assert_eq!(error.partial.blocks, [Block::Text("Grüße, ".into())]);
    };
    check(503, "UNAVAILABLE", "The model is overloaded.", ErrorKind::Overloaded).await;
    check(429, "RESOURCE_EXHAUSTED", "Quota exceeded", ErrorKind::RateLimited).await;
    check(500, "INTERNAL", "An internal error has occurred.", ErrorKind::Server).await;
    check(400, "INVALID_ARGUMENT", "no", ErrorKind::BadRequest).await;
    check(499, "CANCELLED", "The operation was cancelled.", ErrorKind::Server).await;
}

#[tokio::test]
async fn an_answer_that_ends_with_every_piece_is_read_to_its_end() {
    let stopped =
        |text: &str| json!({"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]});
    let answer = answer(&[stopped("one "), stopped("two")]).await;
    assert_eq!(answer.blocks, [Block::Text("one two".into())]);
    assert_eq!(answer.stop, StopReason::EndTurn);
}

#[tokio::test]
async fn empty_answers_are_answers() {
    for written in [
        vec![ended("STOP")],
        vec![json!({"candidates": [{"finishReason": "STOP", "index": 0}]})],
        vec![json!({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]})],
    ] {
        let answer = answer(&written).await;
        assert_eq!(answer.blocks, []);
        assert_eq!(answer.stop, StopReason::EndTurn);
    }
}

#[tokio::test]
async fn what_is_no_piece_is_malformed() {
    for written in [
        "data: {\"candidates\": \r\n\r\n",
        "data: []\r\n\r\n",
        "data: {\"candidates\": [{\"content\": {\"parts\": [7]}}]}\r\n\r\n",
    ] {
        let error = answer_to(Reply::stream(written)).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Malformed, "{written}");
        assert!(
            error.message.starts_with("an event that cannot be read"),
            "{}",
            error.message
        );
    }
}
