//! How servers that speak the protocols of `OpenAI` say that something failed: as the body of a
//! failing answer, or in the middle of a stream.

use serde_json::Value;

use crate::{ErrorKind, ModelError, failure};

/// The failure an answer with a failing `status` and this body is.
pub(super) fn failed(status: u16, body: &str) -> ModelError {
    if let Ok(value) = serde_json::from_str::<Value>(body)
        && let Some(error) = told(&value, Some(status))
    {
        return error;
    }
    let words = body.trim();
    let kind = failure::kind_of_status(status, words);
    if words.is_empty() {
        return ModelError::new(kind, format!("status {status} without a word"));
    }
    ModelError::new(kind, words)
}

/// The failure `value` tells of, if it does. Inside a stream there is no `status`.
pub(super) fn told(value: &Value, status: Option<u16>) -> Option<ModelError> {
    let value = match value {
        // Some servers put the one object into a list.
        Value::Array(several) => several.first()?,
        one => one,
    };
    let is_itself = ["object", "type"]
        .iter()
        .any(|key| value.get(key).and_then(Value::as_str) == Some("error"));
    let fault = match value.get("error") {
        Some(Value::Null) | None if is_itself => value,
        Some(Value::Null) | None => {
            let words = ["message", "detail"].iter().find_map(|key| value.get(key)?.as_str())?;
            return status.map(|status| ModelError::new(failure::kind_of_status(status, words), words));
        }
        Some(fault) => fault,
    };
    let text = |key: &str| fault.get(key).and_then(Value::as_str).unwrap_or_default();
    let words = match fault {
        Value::String(words) => words.as_str(),
        _ => [text("message"), text("code"), text("type")]
            .into_iter()
            .find(|words| !words.is_empty())
            .unwrap_or("no reason was given"),
    };
    // Some servers write a status where others have a word.
    let number = fault.get("code").and_then(Value::as_u64);
    let status = status.or_else(|| number.and_then(|number| u16::try_from(number).ok()));
    let named = [text("code"), text("type")].into_iter().find_map(kind_of_code);
    let kind = named.unwrap_or_else(|| {
        status.map_or_else(
            || failure::kind_of_words(words),
            |status| failure::kind_of_status(status, words),
        )
    });
    Some(ModelError::new(kind, words))
}

/// What a code or type means, where it says enough by itself.
pub(super) fn kind_of_code(code: &str) -> Option<ErrorKind> {
    Some(match code {
        "rate_limit_exceeded" | "rate_limit_error" | "requests" | "tokens" | "too_many_requests" => {
            ErrorKind::RateLimited
        }
        "insufficient_quota"
        | "invalid_api_key"
        | "billing_hard_limit_reached"
        | "authentication_error"
        | "permission_error"
        | "usage_not_included" => ErrorKind::Auth,
        "context_length_exceeded" | "exceed_context_size_error" => ErrorKind::ContextOverflow,
        "content_filter" | "content_policy_violation" | "invalid_prompt" | "cyber_policy" => ErrorKind::Refused,
        "server_is_overloaded" | "slow_down" | "overloaded_error" | "engine_overloaded_error" => ErrorKind::Overloaded,
        "server_error" | "api_error" | "internal_server_error" | "internal_error" => ErrorKind::Server,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_all_their_shapes() {
        let check = |status, body: &str, kind, words: &str| {
            let error = failed(status, body);
            assert_eq!((error.kind, error.message.as_str()), (kind, words), "{body}");
        };
        check(
            429,
            r#"{"error": {"message": "You exceeded your quota", "type": "insufficient_quota", "code": "insufficient_quota"}}"#,
            ErrorKind::Auth,
            "You exceeded your quota",
        );
        check(
            429,
            r#"{"error": {"message": "Slow down", "type": "requests", "code": "rate_limit_exceeded"}}"#,
            ErrorKind::RateLimited,
            "Slow down",
        );
        check(
            400,
            r#"{"error": {"message": "This model's maximum context length is 8192 tokens", "code": "context_length_exceeded"}}"#,
            ErrorKind::ContextOverflow,
            "This model's maximum context length is 8192 tokens",
        );
        check(
            400,
            r#"{"object": "error", "message": "wrong", "type": "BadRequestError", "code": 400}"#,
            ErrorKind::BadRequest,
            "wrong",
        );
        check(
            404,
            r#"{"error": "model 'x' not found"}"#,
            ErrorKind::BadRequest,
            "model 'x' not found",
        );
        check(401, r#"{"detail": "Unauthorized"}"#, ErrorKind::Auth, "Unauthorized");
        check(500, r#"{"message": "Broken"}"#, ErrorKind::Server, "Broken");
        check(
            400,
            r#"[{"error": {"code": 400, "message": "no such thing", "status": "INVALID_ARGUMENT"}}]"#,
            ErrorKind::BadRequest,
            "no such thing",
        );
        check(
            400,
            r#"{"error": {"code": "content_filter", "message": "triggered"}}"#,
            ErrorKind::Refused,
            "triggered",
        );
        check(502, "<h1>Bad</h1>", ErrorKind::Server, "<h1>Bad</h1>");
        check(503, "", ErrorKind::Overloaded, "status 503 without a word");
        check(500, r#"{"error": {}}"#, ErrorKind::Server, "no reason was given");
    }

    #[test]
    fn inside_a_stream_a_number_may_be_the_status() {
        let told = |text: &str| told(&serde_json::from_str(text).unwrap(), None);
        let error = told(r#"{"error": {"code": 502, "message": "upstream"}, "choices": []}"#).unwrap();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Server, "upstream"));
        assert_eq!(told(r#"{"choices": [], "error": null}"#), None);
        assert_eq!(told(r#"{"message": "no failure"}"#), None);
    }
}
