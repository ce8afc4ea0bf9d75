//! Words that somebody may have meant. It must not know what the words are for.

/// How alike two words must be to be offered, from 0 to 1.
const ALIKE: f64 = 0.7;
/// How many words are offered.
const MOST: usize = 3;

/// The known words most like `word`, best first.
pub(crate) fn near<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        .map(|candidate| {
            (
                strsim::jaro_winkler(&word.to_lowercase(), &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(score, _)| *score >= ALIKE)
        .collect();
    scored.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    scored.into_iter().take(MOST).map(|(_, candidate)| candidate).collect()
}

/// `did you mean `a` or `b`?`, or else what there is.
pub(crate) fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let offered = near(word, known.clone());
    if offered.is_empty() {
        format!("one of: {}", known.into_iter().collect::<Vec<_>>().join(", "))
    } else {
        let quoted: Vec<String> = offered.iter().map(|candidate| format!("`{candidate}`")).collect();
        format!("did you mean {}?", quoted.join(" or "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_nonsense_finds_the_list() {
        let known = ["provider", "model", "effort"];
        assert_eq!(suggestion("modle", known), "did you mean `model`?");
        assert_eq!(suggestion("Effort", known), "did you mean `effort`?");
        assert_eq!(suggestion("zzz", known), "one of: provider, model, effort");
        assert_eq!(near("proivder", known), ["provider"]);
    }
}
