//! Answers that fail as a whole: the provider's own words and status, and how long to wait.

use std::time::Duration;

use serde_json::{Value, json};
use stance_llm::ErrorKind;

use super::fixture::{Reply, answer_to};

#[allow(clippy::needless_pass_by_value, reason = "callers write the value in place")]
fn body(code: u16, status: &str, message: &str, details: Value) -> Value {
    json!({"error": {"code": code, "message": message, "status": status, "details": details}})
}

#[tokio::test]
async fn statuses_and_words_name_the_kind() {
    let check = async |code: u16, status: &str, message: &str, details: Value, expected: ErrorKind| {
        let error = answer_to(Reply::failing(code, &body(code, status, message, details).to_string()))
            .await
            .unwrap_err();
        assert_eq!(error.kind, expected, "{status} {message}");
        assert_eq!(error.status, Some(code));
        assert_eq!(error.message, message);
        assert!(error.partial.blocks.is_empty());
    };
    let bad_key = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
    check(400, "INVALID_ARGUMENT", "API key not valid.", bad_key, ErrorKind::Auth).await;
    check(401, "UNAUTHENTICATED", "Who?", json!([]), ErrorKind::Auth).await;
    check(403, "PERMISSION_DENIED", "No.", json!([]), ErrorKind::Auth).await;
    check(
        400,
        "FAILED_PRECONDITION",
        "Enable billing.",
        json!([]),
        ErrorKind::Auth,
    )
    .await;
    check(
        404,
        "NOT_FOUND",
        "models/x is not found",
        json!([]),
        ErrorKind::BadRequest,
    )
    .await;
    check(
        400,
        "INVALID_ARGUMENT",
        "Invalid value",
        json!([]),
        ErrorKind::BadRequest,
    )
    .await;
    check(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        json!([]),
        ErrorKind::ContextOverflow,
    )
    .await;
    check(429, "RESOURCE_EXHAUSTED", "Later.", json!([]), ErrorKind::RateLimited).await;
    check(500, "INTERNAL", "Broken.", json!([]), ErrorKind::Server).await;
    check(503, "UNAVAILABLE", "Overloaded.", json!([]), ErrorKind::Overloaded).await;
    check(504, "DEADLINE_EXCEEDED", "Slow.", json!([]), ErrorKind::Server).await;
}

#[tokio::test]
async fn how_long_to_wait_in_all_its_forms() {
    let details = |delay: &str| {
        json!([
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "x"}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
        ])
    };
    let check = async |details: Value, header: Option<&str>, expected: Option<Duration>| {
        let mut reply = Reply::failing(429, &body(429, "RESOURCE_EXHAUSTED", "later", details).to_string());
        if let Some(value) = header {
            reply = reply.header("retry-after", value);
        }
        assert_eq!(answer_to(reply).await.unwrap_err().retry_after, expected);
    };
    check(details("34.5s"), None, Some(Duration::from_millis(34_500))).await;
    check(details("7s"), None, Some(Duration::from_secs(7))).await;
    check(details("soon"), None, None).await;
    check(json!([]), None, None).await;
    check(json!([]), Some("3"), Some(Duration::from_secs(3))).await;
    check(details("7s"), Some("3"), Some(Duration::from_secs(3))).await;
}

#[tokio::test]
async fn a_list_of_one_failure_is_that_failure() {
    let listed = json!([body(429, "RESOURCE_EXHAUSTED", "Later.", json!([]))]);
    let error = answer_to(Reply::failing(429, &listed.to_string())).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::RateLimited);
    assert_eq!(error.message, "Later.");
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
