//! Streams that stop too early, fail on the way or break the protocol. What had arrived is kept,
//! as far as it can be carried on with.

use futures_util::StreamExt;
use serde_json::json;
use stance_llm::{Block, ErrorKind, Part};
use tokio::sync::oneshot;

use super::fixture::{
    Reply, Server, Step, answer, answer_to, begin, call, calls, close, counted, delta, ended, event, exception,
    failure, frame, hello, hello_text, input, model, native, request, stream, streamed, text,
};

#[tokio::test]
async fn cut_after_every_frame() {
    let written = hello();
    // The last frame may be missing: the answer is whole once it says why it stopped.
    for count in 0..written.len() - 1 {
        let error = failure(&written[..count]).await;
        assert_eq!(error.kind, ErrorKind::Dropped, "{count} frames");
        let kept = match count {
            0 | 1 => Vec::new(),
            2..=4 => vec![Block::Text("Grüße, ".into())],
            _ => vec![hello_text()],
        };
        assert_eq!(error.partial.blocks, kept, "{count} frames");
    }
    let answer = answer(&written[..written.len() - 1]).await;
    assert_eq!(answer.blocks, [hello_text()]);
}

#[tokio::test]
async fn cut_inside_of_a_frame() {
    let mut bytes = hello()[..5].concat();
    bytes.truncate(bytes.len() - 1);
    let error = answer_to(streamed(vec![Step::Bytes(bytes)])).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Dropped);
    assert_eq!(error.partial.blocks, [Block::Text("Grüße, ".into())]);
}

#[tokio::test]
async fn a_broken_connection_keeps_text_and_whole_blocks() {
    let written = [
        begin(),
        delta(0, json!({"reasoningContent": {"text": "Hm."}})),
        delta(0, json!({"reasoningContent": {"signature": "c2ln"}})),
        close(0),
        calls(1, "tooluse_1", "read_file"),
        input(1, "{}"),
        close(1),
        calls(2, "tooluse_2", "read_file"),
        input(2, r#"{"path": "#),
        delta(3, json!({"reasoningContent": {"text": "Unsigned."}})),
        close(3),
        text(4, "And th"),
    ];
    let (go_on, waiting) = oneshot::channel();
    let server = Server::start([streamed(vec![
        Step::Bytes(written.concat()),
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
    assert_eq!(
        error.partial.blocks,
        [
            native(json!({"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}})),
            call("tooluse_1", "read_file", "{}"),
            Block::Text("And th".into()),
        ]
    );
}

#[tokio::test]
async fn exceptions_on_the_way_carry_the_providers_words() {
    let check = async |broken: Vec<u8>, expected: ErrorKind, message: &str| {
        // Nothing after an exception counts.
        let written = [
            hello()[..2].concat(),
            broken,
            text(0, "ghost"),
            close(0),
            ended("end_turn"),
        ];
        let error = failure(&written).await;
        assert_eq!(error.kind, expected, "{message}");
        assert_eq!(error.message, message);
        assert_eq!(error.partial.blocks, [Block::Text("Grüße, ".into())]);
    };
    check(
        exception("throttlingException", "Slow down."),
        ErrorKind::RateLimited,
        "Slow down.",
    )
    .await;
    check(
        exception("serviceUnavailableException", "Full."),
        ErrorKind::Overloaded,
        "Full.",
    )
    .await;
    check(
        exception("internalServerException", "Broken."),
        ErrorKind::Server,
        "Broken.",
    )
    .await;
    check(
        exception("modelStreamErrorException", "Odd."),
        ErrorKind::Server,
        "Odd.",
    )
    .await;
    check(exception("validationException", "No."), ErrorKind::BadRequest, "No.").await;
    let words = "Input is too long for requested model.";
    check(
        exception("validationException", words),
        ErrorKind::ContextOverflow,
        words,
    )
    .await;
    let headers = [
        (":message-type", "error"),
        (":error-code", "InternalFailure"),
        (":error-message", "Gone."),
    ];
    check(frame(&headers, ""), ErrorKind::Server, "Gone.").await;
}

#[tokio::test]
async fn frames_that_come_twice_or_out_of_turn() {
    let check = async |written: &[Vec<u8>], message: &str| {
        let error = failure(written).await;
        assert_eq!(error.kind, ErrorKind::Malformed, "{message}");
        assert_eq!(error.message, message);
    };
    check(&[begin(), begin()], "the answer begins twice").await;
    check(&[text(0, "x")], "a block before the answer begins").await;
    check(&[calls(0, "a", "b")], "a block before the answer begins").await;
    check(
        &[begin(), calls(0, "a", "b"), calls(0, "a", "b")],
        "block 0 begins twice",
    )
    .await;
    check(&[begin(), text(0, "x"), close(0), text(0, "y")], "block 0 is not open").await;
    check(&[begin(), text(0, "x"), close(0), close(0)], "block 0 is not open").await;
    check(
        &[begin(), text(0, "x"), ended("end_turn"), counted()],
        "the answer ends inside a block",
    )
    .await;
    check(&[begin(), text(0, "x"), input(0, "{}")], "block 0 is no open call").await;
    check(&[begin(), input(0, "{}")], "block 0 is no open call").await;
    check(&[begin(), calls(0, "a", "b"), text(0, "x")], "block 0 is of two kinds").await;
}

#[tokio::test]
async fn a_changed_byte_is_noticed() {
    let mut bytes = hello().concat();
    let place = bytes.len() / 2;
    bytes[place] ^= 1;
    let error = answer_to(streamed(vec![Step::Bytes(bytes)])).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Malformed);
    assert!(error.message.ends_with("not what was sent"), "{}", error.message);
}

#[tokio::test]
async fn an_event_that_cannot_be_read() {
    let error = failure(&[begin(), event("contentBlockDelta", json!({"delta": 7}))]).await;
    assert_eq!(error.kind, ErrorKind::Malformed);
    assert!(
        error.message.starts_with("an event that cannot be read"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn a_block_without_a_piece_is_none() {
    let answer = answer(&[begin(), close(0), ended("end_turn"), counted()]).await;
    assert_eq!(answer.blocks, []);
}

#[tokio::test]
async fn success_that_is_no_stream_of_frames_is_malformed() {
    let error = answer_to(Reply::stream("data: {}\n\n")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Malformed);
    let error = answer_to(stream(&[b"<html>Sign in</html>".to_vec()]))
        .await
        .unwrap_err();
    assert_eq!(error.message, "a frame whose beginning is not what was sent");
}
