//! Single words of the command line that mean more than text.

use std::convert::Infallible;
use std::str::FromStr;

use modes::{Mode, Verdict};

use crate::near::near;

/// `ID@DIGEST`, or a bare ID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// The thing.
    pub(crate) id: String,
    /// The digest it was shown with.
    pub(crate) digest: Option<String>,
}

impl FromStr for Named {
    type Err = Infallible;

    fn from_str(word: &str) -> Result<Named, Infallible> {
        Ok(match word.rsplit_once('@') {
            Some((id, digest)) => Named {
                id: id.to_owned(),
                digest: Some(digest.to_owned()),
            },
            None => Named {
                id: word.to_owned(),
                digest: None,
            },
        })
    }
}

/// A mode a person can choose.
pub(crate) fn chosen_mode(word: &str) -> Result<Mode, String> {
    Mode::chosen(word).map_err(|error| with_suggestion(word, &error.to_string(), &["agent", "plan", "orchestrate"]))
}

/// A mode a person can look at.
pub(crate) fn named_mode(word: &str) -> Result<Mode, String> {
    Mode::named(word).map_err(|_| {
        let error = format!("{word:?} is not a mode: name agent, plan, orchestrate or review");
        with_suggestion(word, &error, &["agent", "plan", "orchestrate", "review"])
    })
}

/// What a rule says.
pub(crate) fn verdict(word: &str) -> Result<Verdict, String> {
    const WORDS: [(&str, Verdict); 4] = [
        ("allow", Verdict::Allow),
        ("ask", Verdict::Ask),
        ("plan", Verdict::Plan),
        ("deny", Verdict::Deny),
    ];
    WORDS
        .iter()
        .find_map(|(known, verdict)| (*known == word).then_some(*verdict))
        .ok_or_else(|| {
            let known = WORDS.map(|(known, _)| known);
            with_suggestion(word, "a rule says allow, ask, plan or deny", &known)
        })
}

fn with_suggestion(word: &str, error: &str, known: &[&str]) -> String {
    match near(word, known.iter().copied()).first() {
        Some(meant) if *meant != word => format!("{error}; did you mean `{meant}`?"),
        _ => error.to_owned(),
    }
}
