//! How much room a model's window leaves for the conversation, and how much of it is taken. Pure.

use llm::{Facts, ModelSettings};

/// Hundredths of a model's window that a request may fill.
const FILLED: u64 = 85;
/// Tokens kept free for an answer whose length the settings leave to the model, at most.
const ANSWER: u64 = 32_000;

/// The tokens at which a conversation is compacted: what `limits.compact_at` says, and never more than
/// the model's window has room for. None: nothing is known of the model, and nothing is set.
pub(super) fn compact_at(settings: &ModelSettings, limit: Option<u64>) -> Option<u64> {
    let facts = Facts::of(&settings.model);
    let window = facts.and_then(|facts| facts.context).map(|window| {
        let usual = facts.and_then(|facts| facts.output).unwrap_or_default().min(ANSWER);
        let answer = settings.max_output.unwrap_or(usual);
        // A model that may answer at any length still reads half of its window.
        (window / 100 * FILLED).min(window.saturating_sub(answer).max(window / 2))
    });
    limit.into_iter().chain(window).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_less_its_answer_is_filled_to_a_part() {
        let at = |model: &str, max_output, limit| {
            let settings = ModelSettings {
                max_output,
                ..ModelSettings::new("p", model)
            };
            compact_at(&settings, limit)
        };
        // 128,000 and an answer of at most 16,384.
        assert_eq!(at("gpt-4o", None, None), Some(108_800));
        assert_eq!(at("gpt-4o", Some(40_000), None), Some(88_000));
        // An answer of at most 100,000 keeps 32,000 free where it is not asked for.
        assert_eq!(at("o3", None, None), Some(168_000));
        assert_eq!(at("o3", Some(100_000), None), Some(100_000));
        assert_eq!(at("o3", Some(190_000), None), Some(100_000));
        assert_eq!(at("gpt-4o", None, Some(9_000)), Some(9_000));
        assert_eq!(at("gpt-4o", None, Some(900_000)), Some(108_800));
        assert_eq!(at("house-model", None, None), None);
        assert_eq!(at("house-model", None, Some(9_000)), Some(9_000));
    }
}
