//! Answers that fail as a whole: the provider's own words and status, and how long to wait.

use std::time::Duration;

use serde_json::json;
use stance_llm::ErrorKind;

use super::fixture::{Reply, answer_to};

#[tokio::test]
async fn statuses_and_words_name_the_kind() {
    let check = async |status: u16, message: &str, expected: ErrorKind| {
        for key in ["message", "Message"] {
            let reply = Reply::failing(status, &json!({key: message}).to_string());
            let error = answer_to(reply).await.unwrap_err();
            assert_eq!(error.kind, expected, "{status} {message}");
            assert_eq!(error.status, Some(status));
            assert_eq!(error.message, message);
        }
    };
    check(400, "Malformed input request", ErrorKind::BadRequest).await;
    check(
        400,
        "Input is too long for requested model.",
        ErrorKind::ContextOverflow,
    )
    .await;
    let words = "The model returned the following errors: prompt is too long: 2 tokens > 1 maximum";
    check(400, words, ErrorKind::ContextOverflow).await;
    check(
        403,
        "The security token included in the request is expired",
        ErrorKind::Auth,
    )
    .await;
    check(404, "Could not resolve the foundation model", ErrorKind::BadRequest).await;
    check(408, "Model has timed out", ErrorKind::Server).await;
    check(424, "The model failed", ErrorKind::Server).await;
    check(
        429,
        "Too many tokens, please wait before trying again.",
        ErrorKind::RateLimited,
    )
    .await;
    check(500, "Broken", ErrorKind::Server).await;
    check(503, "Bedrock is unable to process your request.", ErrorKind::Overloaded).await;
}

#[tokio::test]
async fn how_long_to_wait_stands_in_a_header() {
    let check = async |name, value: &str, expected| {
        let reply = Reply::failing(429, r#"{"message": "later"}"#)
            .header("date", "Wed, 21 Oct 2015 07:28:00 GMT")
            .header(name, value);
        assert_eq!(
            answer_to(reply).await.unwrap_err().retry_after,
            expected,
            "{name}: {value}"
        );
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
async fn a_body_that_is_not_the_protocols_is_shown_as_it_is() {
    let error = answer_to(Reply::failing(502, "<h1>Bad gateway</h1>\n"))
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Server);
    assert_eq!(error.message, "<h1>Bad gateway</h1>");
}
