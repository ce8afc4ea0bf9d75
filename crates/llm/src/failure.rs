//! Reading what sort a provider's failure is. What HTTP wires have in common; no wire's error body
//! is known here.

use crate::{ErrorKind, ModelError};

/// How providers say that a request is larger than the window. They use status 400 for it, like
/// for any other fault of a request, so that only the words tell.
const OVERFLOW_WORDS: [&str; 11] = [
    "prompt is too long",
    "input is too long",
    "exceed context limit",
    "exceed your context limit",
    "exceeds context window",
    "context window exceeded",
    "maximum context length",
    "exceeds the maximum number of tokens",
    "available context size",
    "maximum prompt length",
    "reduce the length of the messages",
];

/// How providers say that they will not have this content.
const REFUSAL_WORDS: [&str; 2] = ["content filtering policy", "content policy"];

/// The sort of failure an HTTP status with the provider's `words` is.
pub(crate) fn kind_of_status(status: u16, words: &str) -> ErrorKind {
    match status {
        401..=403 => ErrorKind::Auth,
        408 | 500..=502 | 504..=528 | 530.. => ErrorKind::Server,
        413 => ErrorKind::ContextOverflow,
        429 => ErrorKind::RateLimited,
        503 | 529 => ErrorKind::Overloaded,
        _ => kind_of_words(words),
    }
}

/// The sort of failure a refused request is, by the provider's `words`.
pub(crate) fn kind_of_words(words: &str) -> ErrorKind {
    let words = words.to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(phrase));
    if says(&OVERFLOW_WORDS) {
        ErrorKind::ContextOverflow
    } else if says(&REFUSAL_WORDS) {
        ErrorKind::Refused
    } else {
        ErrorKind::BadRequest
    }
}

/// The failure that an answer is whose body is not in its protocol's form, by its status and words.
pub(crate) fn unread(status: u16, text: &str) -> ModelError {
    let words = text.trim();
    let message = if words.is_empty() {
        format!("status {status} without a word")
    } else {
        words.to_owned()
    };
    ModelError::new(kind_of_status(status, words), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_names_its_kind_and_words_decide_the_rest() {
        let check = |status, words, kind| assert_eq!(kind_of_status(status, words), kind, "{status}");
        check(401, "", ErrorKind::Auth);
        check(402, "", ErrorKind::Auth);
        check(403, "", ErrorKind::Auth);
        check(404, "model: nothing", ErrorKind::BadRequest);
        check(408, "", ErrorKind::Server);
        check(413, "", ErrorKind::ContextOverflow);
        check(429, "", ErrorKind::RateLimited);
        check(500, "", ErrorKind::Server);
        check(503, "", ErrorKind::Overloaded);
        check(504, "", ErrorKind::Server);
        check(529, "", ErrorKind::Overloaded);
        check(400, "messages: wrong", ErrorKind::BadRequest);
        check(
            400,
            "Prompt is too long: 210000 tokens > 200000 maximum",
            ErrorKind::ContextOverflow,
        );
        check(
            400,
            "input length and `max_tokens` exceed context limit: 1 + 2 > 2",
            ErrorKind::ContextOverflow,
        );
        for words in [
            "the request exceeds the available context size, try increasing it",
            "This model's maximum prompt length is 131072 but the request contains 131080 tokens.",
            "Please reduce the length of the messages or completion.",
        ] {
            check(400, words, ErrorKind::ContextOverflow);
        }
        check(400, "Output blocked by content filtering policy", ErrorKind::Refused);
    }
}
