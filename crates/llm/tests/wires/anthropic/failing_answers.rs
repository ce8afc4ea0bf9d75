//! Answers that fail as a whole: the provider's own words and status, how long to wait, and
//! nothing followed or read that should not be.

use std::time::Duration;

use stance_llm::{ErrorKind, SetupError};

use super::fixture::{KEY, PRESET, Reply, Server, Step, answer_to, frames, hello, model_at, parts, request};

fn body(kind: &str, message: &str) -> String {
    serde_json::json!({
        "type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1",
    })
    .to_string()
}

#[tokio::test]
async fn statuses_and_types_name_the_kind() {
    let check = async |status, kind: &str, message: &str, expected| {
        let error = answer_to(Reply::failing(status, &body(kind, message)))
            .await
            .unwrap_err();
        assert_eq!(error.kind, expected, "{status} {kind}");
        assert_eq!(error.status, Some(status));
        assert_eq!(error.message, message);
        assert!(error.partial.blocks.is_empty());
    };
    check(401, "authentication_error", "invalid x-api-key", ErrorKind::Auth).await;
    check(403, "permission_error", "not yours", ErrorKind::Auth).await;
    check(402, "billing_error", "no credit", ErrorKind::Auth).await;
    check(404, "not_found_error", "model: claude-none", ErrorKind::BadRequest).await;
    check(413, "request_too_large", "too large", ErrorKind::ContextOverflow).await;
    check(429, "rate_limit_error", "later", ErrorKind::RateLimited).await;
    check(500, "api_error", "broken", ErrorKind::Server).await;
    check(504, "timeout_error", "slow", ErrorKind::Server).await;
    check(529, "overloaded_error", "Overloaded", ErrorKind::Overloaded).await;
    check(400, "invalid_request_error", "max_tokens: wrong", ErrorKind::BadRequest).await;
    check(
        400,
        "invalid_request_error",
        "prompt is too long: 345320 tokens > 199999 maximum",
        ErrorKind::ContextOverflow,
    )
    .await;
    check(
        400,
        "invalid_request_error",
        "Output blocked by content filtering policy",
        ErrorKind::Refused,
    )
    .await;
}

#[tokio::test]
async fn a_body_that_is_not_the_protocols_is_shown_as_it_is() {
    let error = answer_to(Reply::failing(502, "<h1>Bad gateway</h1>\n"))
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Server);
    assert_eq!(error.message, "<h1>Bad gateway</h1>");

    let error = answer_to(Reply::failing(503, "")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Overloaded);
    assert_eq!(error.message, "status 503 without a word");
}

#[tokio::test]
async fn how_long_to_wait_in_all_its_forms() {
    let check = async |name, value: &str, expected| {
        let reply = Reply::failing(429, &body("rate_limit_error", "later"))
            .header("date", "Wed, 21 Oct 2015 07:28:00 GMT")
            .header(name, value);
        let error = answer_to(reply).await.unwrap_err();
        assert_eq!(error.retry_after, expected, "{name}: {value}");
    };
    check("retry-after", "12", Some(Duration::from_secs(12))).await;
    check("retry-after-ms", "340", Some(Duration::from_millis(340))).await;
    check(
        "retry-after",
        "Wed, 21 Oct 2015 07:29:00 GMT",
        Some(Duration::from_mins(1)),
    )
    .await;
    check("retry-after", "whenever", None).await;
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let reply = Reply::failing(307, "").header("location", "http://127.0.0.1:1/elsewhere");
    let error = answer_to(reply).await.unwrap_err();
    assert_eq!(error.status, Some(307));
    assert_eq!(error.kind, ErrorKind::BadRequest);
}

#[tokio::test]
async fn success_that_is_no_stream_is_malformed() {
    let reply = Reply::stream("<html>Sign in</html>").header("content-type", "text/html");
    let error = answer_to(reply).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Malformed);
    assert_eq!(
        error.message,
        "expected a stream of events, found `<html>Sign in</html>`"
    );
}

#[tokio::test]
async fn a_failing_body_without_end_is_read_no_further_than_its_words() {
    let mut steps = vec![Step::Bytes(vec![b'x'; 100_000])];
    let (_never, waiting) = tokio::sync::oneshot::channel();
    steps.push(Step::Wait(waiting));
    let mut reply = Reply::failing(500, "");
    reply.steps = steps;
    let error = answer_to(reply).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Server);
    assert_eq!(error.message.len(), 64 * 1024);
}

#[test]
fn base_urls_requests_cannot_be_sent_to() {
    let check = |url: &str, expected: &str| {
        let error = model_at(PRESET, url, KEY).err().unwrap();
        assert!(matches!(error, SetupError::BaseUrl { .. }));
        assert_eq!(error.to_string(), expected);
    };
    check("ftp://host", "base URL `ftp://host/`: expected http or https");
    check(
        "https://host/?key=1",
        "base URL `https://host/?key=1`: a query or fragment does not belong there",
    );
    check(
        "https://me:secret@host",
        "base URL `host`: a user name or password does not belong there",
    );
    check("me:secret@", "base URL `me:secret@`: expected http or https");
    check("host", "base URL `…`: relative URL without a base");
}

#[test]
fn a_key_no_header_can_carry_is_refused_and_not_shown() {
    let error = model_at(PRESET, "http://host", "se\ncret").err().unwrap();
    assert_eq!(
        error.to_string(),
        "the API key for `anthropic` has characters that cannot be sent"
    );
    assert!(!error.to_string().contains("cret"));
}

#[tokio::test]
async fn the_version_segment_is_never_doubled() {
    for (base, path) in [
        ("", "/v1/messages"),
        ("/", "/v1/messages"),
        ("/v1", "/v1/messages"),
        ("/v1/", "/v1/messages"),
        ("/proxy/anthropic", "/proxy/anthropic/v1/messages"),
        ("/proxy/v1/", "/proxy/v1/messages"),
        ("/apiv1", "/apiv1/v1/messages"),
    ] {
        let server = Server::start([Reply::stream(&frames(&hello()))]).await;
        let url = format!("{}{base}", server.url);
        let model = model_at(PRESET, &url, KEY).unwrap();
        parts(model.as_ref(), request("m")).await;
        assert_eq!(server.seen().path, path, "base {base}");
    }
}
