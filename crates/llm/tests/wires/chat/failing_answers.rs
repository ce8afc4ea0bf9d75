//! Answers that fail, as a whole or in the middle, and answers that would never end.

use std::time::Duration;

use serde_json::json;
use stance_llm::{Block, ErrorKind};

use crate::server::KEY;

use super::fixture::{Reply, Step, answer_to, delta, events, failure, finish, text};

#[tokio::test]
async fn how_long_to_wait_in_all_its_forms() {
    let check = async |headers: &[(&'static str, &str)], words: &str, expected: Option<Duration>| {
        let body = json!({"error": {"message": words, "type": "requests", "code": "rate_limit_exceeded"}});
        let mut reply = Reply::failing(429, &body.to_string()).header("date", "Wed, 21 Oct 2015 07:28:00 GMT");
        for (name, value) in headers {
            reply = reply.header(name, value);
        }
        let error = answer_to(reply).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::RateLimited);
        assert_eq!(error.retry_after, expected, "{headers:?} {words}");
    };
    check(&[("retry-after", "12")], "", Some(Duration::from_secs(12))).await;
    check(&[("retry-after-ms", "340")], "", Some(Duration::from_millis(340))).await;
    let date = "Wed, 21 Oct 2015 07:29:00 GMT";
    check(&[("retry-after", date)], "", Some(Duration::from_mins(1))).await;
    let rations = [
        ("x-ratelimit-remaining-tokens", "0"),
        ("x-ratelimit-reset-tokens", "6m0s"),
    ];
    check(&rations, "", Some(Duration::from_mins(6))).await;
    let words = "Limit reached for gpt-5. Please try again in 1.5s. Visit the site.";
    check(&[], words, Some(Duration::from_millis(1_500))).await;
    check(&[("retry-after", "2")], words, Some(Duration::from_secs(2))).await;
    check(&[], "later", None).await;
}

#[tokio::test]
async fn statuses_name_the_kind() {
    for (status, kind) in [
        (500, ErrorKind::Server),
        (502, ErrorKind::Server),
        (503, ErrorKind::Overloaded),
        (529, ErrorKind::Overloaded),
        (401, ErrorKind::Auth),
        (404, ErrorKind::BadRequest),
    ] {
        let error = answer_to(Reply::failing(status, r#"{"error": {"message": "no"}}"#))
            .await
            .unwrap_err();
        assert_eq!(
            (error.kind, error.status, error.message.as_str()),
            (kind, Some(status), "no")
        );
    }
}

#[tokio::test]
async fn a_failure_in_the_middle_of_a_stream() {
    let check = async |event, kind| {
        let error = failure(&[text("half"), event, text("never read"), finish("stop")]).await;
        assert_eq!(error.kind, kind, "{error}");
        assert_eq!(error.message, "gone");
        assert_eq!(error.partial.blocks, [Block::Text("half".into())]);
    };
    check(
        json!({"error": {"message": "gone", "code": 502}, "choices": []}),
        ErrorKind::Server,
    )
    .await;
    check(
        json!({"error": {"message": "gone", "type": "server_error"}}),
        ErrorKind::Server,
    )
    .await;
    check(
        json!({"object": "error", "message": "gone", "code": 400}),
        ErrorKind::BadRequest,
    )
    .await;
    check(json!({"error": "gone"}), ErrorKind::BadRequest).await;
}

#[tokio::test]
async fn chunks_that_cannot_be_read() {
    let error = answer_to(Reply::stream("data: {\"choices\": \n\n")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Malformed);
    assert!(error.message.starts_with("an event that cannot be read"));
    assert_eq!(failure(&[json!({"choices": 7})]).await.kind, ErrorKind::Malformed);
}

#[tokio::test]
async fn chunks_that_say_nothing_are_passed_over() {
    let written = [
        json!({"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}),
        json!({"id": "x", "choices": null, "usage": null}),
        json!({"choices": [{"index": 1, "delta": {"content": "another answer"}}]}),
        json!({"choices": [{"index": 0, "delta": null}]}),
        delta(json!({"content": null, "tool_calls": null})),
        text("x"),
        finish("stop"),
    ];
    let answer = answer_to(Reply::stream(&events(&written))).await.unwrap();
    assert_eq!(answer.blocks, [Block::Text("x".into())]);
}

#[tokio::test]
async fn ten_megabytes() {
    let big = "x".repeat(100_000);
    for chunk in [
        text(&big),
        delta(json!({"reasoning_content": big})),
        delta(json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "read", "arguments": big}}]})),
    ] {
        let steps = (0..100).map(|_| Step::Bytes(format!("data: {chunk}\n\n").into_bytes()));
        let error = answer_to(Reply::steps(steps.collect())).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Malformed);
        assert_eq!(error.message, "the answer is larger than 8388608 bytes");
    }
}

#[tokio::test]
async fn a_provider_that_repeats_the_key_is_quoted_without_it() {
    let words = format!("Incorrect API key provided: {KEY}.");
    let whole = Reply::failing(401, &json!({"error": {"message": words}}).to_string());
    let said = "Incorrect API key provided: [key].";
    assert_eq!(answer_to(whole).await.unwrap_err().message, said);
    assert_eq!(answer_to(Reply::failing(401, &words)).await.unwrap_err().message, said);
    assert_eq!(failure(&[json!({"error": {"message": words}})]).await.message, said);
    let odd = Reply::stream(&words).header("content-type", "text/plain");
    assert!(!answer_to(odd).await.unwrap_err().message.contains(KEY));
}
