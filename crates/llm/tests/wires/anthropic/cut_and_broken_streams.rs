//! Streams that stop too early, fail on the way or break the protocol. What had arrived is kept,
//! as far as it can be carried on with.

use futures_util::StreamExt;
use serde_json::{Value, json};
use stance_llm::{Block, ErrorKind, Part, ToolCall, Usage};
use tokio::sync::oneshot;

use super::fixture::{
    PRESET, Reply, Server, Step, answer, answer_to, begin, block, call, close, delta, ending, failure, frames, hello,
    hello_text, input, model, model_at, parts, request, stop, text,
};

#[tokio::test]
async fn cut_after_every_frame() {
    let written = hello();
    // The last frame may be missing: the answer is whole once it says why it stopped.
    for count in 0..written.len() - 2 {
        let error = failure(&written[..count]).await;
        assert_eq!(error.kind, ErrorKind::Dropped, "{count} frames");
        assert!(error.kind.retryable());
        let kept = match count {
            0..=3 => Vec::new(),
            4..=6 => vec![Block::Text("Grüße, ".into())],
            _ => vec![hello_text()],
        };
        assert_eq!(error.partial.blocks, kept, "{count} frames");
    }
    let answer = answer(&written[..written.len() - 1]).await;
    assert_eq!(answer.blocks, [hello_text()]);
}

#[tokio::test]
async fn a_broken_connection_keeps_text_and_whole_calls() {
    let written = [
        begin(),
        block(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Hm."})),
        delta(0, json!({"type": "signature_delta", "signature": "c2ln"})),
        close(0),
        call(1, "toolu_1", "read_file"),
        input(1, "{}"),
        close(1),
        call(2, "toolu_2", "read_file"),
        input(2, r#"{"path": "#),
        block(3, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(3, json!({"type": "thinking_delta", "thinking": "Unsigned."})),
        block(4, json!({"type": "text", "text": ""})),
        text(4, "And th"),
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
            Block::Native {
                provider: "anthropic".into(),
                value: json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}),
            },
            Block::ToolCall(ToolCall {
                id: "toolu_1".into(),
                name: "read_file".into(),
                arguments_text: "{}".into(),
            }),
            Block::Text("And th".into()),
        ]
    );
    assert_eq!(
        error.partial.usage,
        Usage {
            input: 25,
            output: 1,
            cache_read: 4000,
            cache_write: 300,
        }
    );
}

#[tokio::test]
async fn nobody_listens() {
    let server = Server::start([]).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = server.url.rsplit_once(':').unwrap().0;
    let model = model_at(PRESET, &format!("{url}:{port}"), "k").unwrap();
    let error = parts(model.as_ref(), request("m")).await.pop().unwrap().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Dropped);
    assert_eq!(error.status, None);
    assert!(error.partial.blocks.is_empty());
    assert!(error.message.contains("refused"), "{}", error.message);
    assert!(!error.message.contains(&port.to_string()), "{}", error.message);
}

#[tokio::test]
async fn an_error_event_on_the_way_carries_the_providers_words() {
    let check = async |kind: &str, message: &str, expected: ErrorKind| {
        let mut written = hello()[..4].to_vec();
        written.push(json!({"type": "error", "error": {"type": kind, "message": message}}));
        // Nothing after an error counts.
        written.extend([text(0, "ghost"), close(0), ending("end_turn"), stop()]);
        let error = failure(&written).await;
        assert_eq!(error.kind, expected, "{kind}");
        assert_eq!(error.message, message);
        assert_eq!(error.partial.blocks, [Block::Text("Grüße, ".into())]);
    };
    check("overloaded_error", "Overloaded", ErrorKind::Overloaded).await;
    check("rate_limit_error", "Slow down", ErrorKind::RateLimited).await;
    check("api_error", "Internal server error", ErrorKind::Server).await;
    check("authentication_error", "invalid x-api-key", ErrorKind::Auth).await;
    check("invalid_request_error", "no", ErrorKind::BadRequest).await;
    check(
        "invalid_request_error",
        "prompt is too long: 3 tokens > 2 maximum",
        ErrorKind::ContextOverflow,
    )
    .await;
}

#[tokio::test]
async fn frames_that_come_twice_or_out_of_turn() {
    let open = block(0, json!({"type": "text", "text": ""}));
    let check = async |written: &[Value], message: &str| {
        let error = failure(written).await;
        assert_eq!(error.kind, ErrorKind::Malformed, "{message}");
        assert!(!error.kind.retryable());
        assert_eq!(error.message, message);
    };
    check(&[begin(), begin()], "the answer begins twice").await;
    check(&[begin(), open.clone(), open.clone()], "block 0 begins twice").await;
    check(std::slice::from_ref(&open), "a block before the answer begins").await;
    check(&[begin(), text(3, "x")], "block 3 is not open").await;
    check(&[begin(), open.clone(), close(0), text(0, "x")], "block 0 is not open").await;
    check(&[begin(), open.clone(), close(0), close(0)], "block 0 is not open").await;
    check(
        &[begin(), open.clone(), ending("end_turn"), stop()],
        "the answer ends inside a block",
    )
    .await;
    check(&[begin(), block(0, json!({"text": "x"}))], "block 0 has no type").await;
    let error = failure(&[begin(), open, input(0, "{}")]).await;
    assert_eq!(error.kind, ErrorKind::Malformed);
    assert!(error.message.starts_with("block 0 cannot take"));
}

#[tokio::test]
async fn a_last_frame_sent_twice_ends_the_answer_once() {
    let mut written = hello();
    written.extend([stop(), stop()]);
    let server = Server::start([Reply::stream(&frames(&written))]).await;
    let parts = parts(model(&server).as_ref(), request("m")).await;
    assert_eq!(parts.len(), 3);
    assert!(matches!(parts.last(), Some(Ok(Part::Done(_)))));
}

#[tokio::test]
async fn an_end_without_a_reason_is_no_end() {
    let mut written = hello();
    written.remove(written.len() - 2);
    let error = failure(&written).await;
    assert_eq!(error.kind, ErrorKind::Dropped);
    assert_eq!(error.partial.blocks, [hello_text()]);
}

#[tokio::test]
async fn bytes_that_are_no_text_or_no_frame() {
    let mut bytes = frames(&hello()[..4]).into_bytes();
    bytes.extend(b"data: \xff\xfe\n\n");
    let error = answer_to(Reply::steps(vec![Step::Bytes(bytes)])).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Malformed);

    let error = answer_to(Reply::stream("data: {\"type\": \n\n")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Malformed);
    assert!(error.message.starts_with("an event that cannot be read"));
}
