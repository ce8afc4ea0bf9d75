//! How long a provider that refused asks to wait, in every form providers say it. Whether somebody
//! waits is not known here.

use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// Waiting longer than a day is not retrying; a larger number is most likely no number of seconds.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// Headers that tell what is left of a ration, and when it is full again.
const RATIONS: [(&str, &str); 2] = [
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
];

/// How long an answer asks to wait: `retry-after-ms` in milliseconds, `retry-after` in seconds or
/// as a date, and where requests are rationed, the longest span after which a ration that is used
/// up is full again. A date is read against the answer's own `date`, because this room has no
/// clock.
pub(crate) fn retry_after(status: u16, headers: &HeaderMap) -> Option<Duration> {
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
    });
    let rationed = || {
        let used_up = RATIONS
            .iter()
            .filter(|(remaining, _)| status == 429 && text(remaining) == Some("0"));
        used_up.filter_map(|(_, reset)| span(text(reset)?)).max()
    };
    asked.or_else(rationed).filter(|wait| *wait <= LONGEST_WAIT)
}

/// How long the words of a failure ask to wait, such as `try again in 1m2.5s`.
pub(crate) fn asked_in_words(words: &str) -> Option<Duration> {
    let words = words.to_lowercase();
    let (_, behind) = ["try again in ", "retry in ", "retry after "]
        .iter()
        .find_map(|phrase| words.split_once(phrase))?;
    let mut words = behind.split_whitespace();
    let amount = words.next()?.trim_end_matches(['.', ',', ';']);
    let wait = match amount.parse::<f64>() {
        Err(_) => span(amount)?,
        Ok(number) => span(&format!("{number}{}", words.next()?.get(..1)?))?,
    };
    (wait <= LONGEST_WAIT).then_some(wait)
}

/// A span of time as Go writes it: `6m0s`, `1.5s`, `20ms`.
pub(crate) fn span(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut whole = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, behind) = rest.split_at(digits);
        let letters = behind
            .find(|letter: char| letter.is_ascii_digit())
            .unwrap_or(behind.len());
        let (unit, after) = behind.split_at(letters);
        let seconds = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        let part = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?;
        whole = whole.checked_add(part)?;
        rest = after;
    }
    (!text.is_empty()).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(headers: &[(&'static str, &'static str)]) -> Option<Duration> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        retry_after(429, &map)
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
    fn a_ration_that_is_used_up_says_when_it_is_full_again() {
        let tokens = [
            ("x-ratelimit-remaining-requests", "7"),
            ("x-ratelimit-reset-requests", "1h0m0s"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "1m2.5s"),
        ];
        assert_eq!(wait(&tokens), Some(Duration::from_millis(62_500)));
        let mut map = HeaderMap::new();
        map.insert("x-ratelimit-remaining-tokens", "0".parse().unwrap());
        map.insert("x-ratelimit-reset-tokens", "20ms".parse().unwrap());
        assert_eq!(retry_after(429, &map), Some(Duration::from_millis(20)));
        assert_eq!(retry_after(500, &map), None);
    }

    #[test]
    fn words_may_say_how_long() {
        let check = |words: &str, millis: Option<u64>| {
            assert_eq!(asked_in_words(words), millis.map(Duration::from_millis), "{words}");
        };
        check("Limit reached. Please try again in 1.898s. Visit …", Some(1_898));
        check("Please try again in 6m0s.", Some(360_000));
        check("try again in 20ms", Some(20));
        check("Please retry after 12 seconds.", Some(12_000));
        check("Please retry in 3.5s.", Some(3_500));
        check("Please try again in 2 minutes", Some(120_000));
        check("Please try again in a while.", None);
        check("Please try again in 99h", None);
        check("Slow down.", None);
    }
}
