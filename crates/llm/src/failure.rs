//! Reading a provider's failure: what sort it is and how long to wait. What HTTP wires have in
//! common; no wire's error body is known here.

use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

use crate::ErrorKind;

/// Waiting longer than a day is not retrying; a larger number is most likely no number of seconds.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// How providers say that a request is larger than the window. They use status 400 for it, like
/// for any other fault of a request, so that only the words tell.
const OVERFLOW_WORDS: [&str; 7] = [
    "prompt is too long",
    "input is too long",
    "exceed context limit",
    "exceed your context limit",
    "exceeds context window",
    "context window exceeded",
    "maximum context length",
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

/// How long an answer asks to wait: `retry-after-ms` in milliseconds, `retry-after` in seconds or
/// as a date. A date is read against the answer's own `date`, because this room has no clock.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds = text("retry-after-ms")
        .and_then(|text| text.parse::<f64>().ok())
        .and_then(|count| Duration::try_from_secs_f64(count / 1000.0).ok());
    let asked = milliseconds.or_else(|| {
        let text = text(RETRY_AFTER.as_str())?;
        let Ok(seconds) = text.parse::<f64>() else {
            let then = httpdate::parse_http_date(text).ok()?;
            let now = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
            return Some(then.duration_since(now).unwrap_or_default());
        };
        Duration::try_from_secs_f64(seconds).ok()
    })?;
    (asked <= LONGEST_WAIT).then_some(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(headers: &[(&'static str, &'static str)]) -> Option<Duration> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        retry_after(&map)
    }

    #[test]
    fn retry_after_has_three_forms() {
        let seconds = |count| Some(Duration::from_secs(count));
        assert_eq!(wait(&[("retry-after", "7")]), seconds(7));
        assert_eq!(wait(&[("retry-after", "0")]), seconds(0));
        assert_eq!(wait(&[("retry-after", "1.5")]), Some(Duration::from_millis(1500)));
        assert_eq!(
            wait(&[("retry-after-ms", "250"), ("retry-after", "9")]),
            Some(Duration::from_millis(250))
        );
        let now = ("date", "Wed, 21 Oct 2015 07:28:00 GMT");
        assert_eq!(
            wait(&[("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT"), now]),
            seconds(30)
        );
        assert_eq!(
            wait(&[("retry-after", "Wed, 21 Oct 2015 07:27:00 GMT"), now]),
            seconds(0)
        );
    }

    #[test]
    fn retry_after_that_makes_no_sense_is_none() {
        assert_eq!(wait(&[]), None);
        assert_eq!(wait(&[("retry-after", "-3")]), None);
        assert_eq!(wait(&[("retry-after", "NaN")]), None);
        assert_eq!(wait(&[("retry-after", "1e300")]), None);
        assert_eq!(wait(&[("retry-after", "86401")]), None);
        assert_eq!(wait(&[("retry-after", "soon")]), None);
        // Without the answer's own date nothing can be subtracted.
        assert_eq!(wait(&[("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT")]), None);
        // A senseless first form does not hide a sound second one.
        assert_eq!(
            wait(&[("retry-after-ms", "x"), ("retry-after", "2")]),
            Some(Duration::from_secs(2))
        );
    }

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
        check(400, "Output blocked by content filtering policy", ErrorKind::Refused);
    }
}
