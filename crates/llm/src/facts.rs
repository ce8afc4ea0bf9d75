//! What is known of models by name: windows, limits, effort words, prices, from one data file with
//! a date. What is not known is `None`; a model nobody heard of works.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::{Effort, Preset, Usage};

/// What is known of the models whose names begin alike.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// How the names begin, without the publisher's name some providers put before them.
    pub name: String,
    /// Tokens of the context window.
    pub context: Option<u64>,
    /// Output tokens at most, thinking included.
    pub output: Option<u64>,
    /// The words it takes for how hard to think, weakest first; empty for a model that takes none.
    pub efforts: Option<Vec<Effort>>,
    /// False for a model that takes no temperature.
    pub temperature: Option<bool>,
    /// What it costs.
    pub price: Option<Price>,
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input read in full.
    pub input: f64,
    /// Output, thinking included.
    pub output: f64,
    /// Input read from a cache; where it is not given, a cache costs like any input.
    pub cache_read: Option<f64>,
    /// Input written to a cache; where it is not given, it costs like any input.
    pub cache_write: Option<f64>,
}

impl Price {
    /// What `model` costs at `provider`, where that is known: not at those who run it at a price of
    /// their own.
    pub fn at(provider: &str, model: &str) -> Option<Self> {
        Preset::named(provider).filter(|preset| preset.publishers_prices)?;
        Facts::of(model)?.price
    }

    /// US dollars for `usage`.
    pub fn of(&self, usage: &Usage) -> f64 {
        let kinds = [
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read.unwrap_or(self.input)),
            (usage.cache_write, self.cache_write.unwrap_or(self.input)),
        ];
        #[expect(
            clippy::cast_precision_loss,
            reason = "no run has as many tokens as a float has digits"
        )]
        let cost = kinds
            .into_iter()
            .map(|(tokens, price)| tokens as f64 * price)
            .sum::<f64>();
        cost / 1_000_000.0
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    date: String,
    model: Vec<Facts>,
}

static FILE: LazyLock<File> = LazyLock::new(|| toml::from_str(include_str!("../data/models.toml")).unwrap_or_default());

impl Facts {
    /// What is known of `model`; the longest name that fits counts. Publishers before the name, as
    /// some providers have them (`openai/…`, `us.anthropic.…`), are no part of it. `None` for a
    /// model nobody heard of.
    pub fn of(model: &str) -> Option<&'static Self> {
        let mut name = model.rsplit('/').next().unwrap_or(model);
        loop {
            let asked = plain(name);
            let fitting = Self::all().iter().filter(|facts| names(&plain(&facts.name), &asked));
            match (fitting.max_by_key(|facts| facts.name.len()), name.split_once('.')) {
                (None, Some((_, rest))) => name = rest,
                (found, _) => return found,
            }
        }
    }

    /// Everything that is known.
    pub fn all() -> &'static [Self] {
        &FILE.model
    }

    /// The day the facts and prices were looked up, as `YYYY-MM-DD`.
    pub fn date() -> &'static str {
        &FILE.date
    }
}

/// A name in the one spelling it is compared in.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace('.', "-")
}

/// Whether `name` is `known`, or a variant of it. A number of one or two digits is another version
/// and no variant; a longer one is a date.
fn names(known: &str, name: &str) -> bool {
    let Some(rest) = name.strip_prefix(known) else {
        return false;
    };
    let mut words = rest.split(['-', ':', '@']);
    let whole = words.next() == Some("");
    let next = words.next().unwrap_or_default();
    let version = matches!(next.len(), 1 | 2) && next.bytes().all(|byte| byte.is_ascii_digit());
    whole && !version
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_file_of_models_can_be_read() {
        let file: File = toml::from_str(include_str!("../data/models.toml")).unwrap();
        let names: BTreeSet<_> = file.model.iter().map(|facts| &facts.name).collect();
        assert_eq!(names.len(), file.model.len(), "a name stands twice");
        for facts in &file.model {
            let Facts { name, efforts, .. } = facts;
            assert_eq!(name, &name.to_ascii_lowercase());
            assert!(efforts.as_ref().is_none_or(|efforts| efforts.is_sorted()), "{name}");
            assert!(
                facts
                    .output
                    .zip(facts.context)
                    .is_none_or(|(output, context)| output <= context),
                "{name}"
            );
        }
    }

    #[test]
    fn the_longest_name_counts_whoever_publishes_it() {
        let name = |model: &str| Facts::of(model).map(|facts| facts.name.as_str());
        assert_eq!(name("gpt-5-mini-2025-08-07"), Some("gpt-5-mini"));
        assert_eq!(name("gpt-5-2025-08-07"), Some("gpt-5"));
        assert_eq!(name("openai/GPT-4.1"), Some("gpt-4.1"));
        assert_eq!(name("anthropic/claude-opus-4.5"), Some("claude-opus-4-5"));
        assert_eq!(
            name("us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
            Some("claude-sonnet-4-5")
        );
        assert_eq!(name("claude-sonnet-4-20250514"), Some("claude-sonnet-4"));
        assert_eq!(name("deepseek/deepseek-chat:free"), Some("deepseek-chat"));
    }

    #[test]
    fn a_price_is_the_publishers_or_unknown() {
        let usage = Usage {
            input: 1_000_000,
            output: 100_000,
            cache_read: 2_000_000,
            cache_write: 10_000,
        };
        let cost = |provider: &str, model: &str| Price::at(provider, model).map(|price| price.of(&usage));
        let close = |cost: Option<f64>, expected: f64| assert!((cost.unwrap() - expected).abs() < 1e-9, "{cost:?}");
        close(cost("anthropic", "claude-sonnet-4-5"), 3.0 + 1.5 + 0.6 + 0.0375);
        close(cost("openai", "gpt-4.1"), 2.0 + 0.8 + 1.0 + 0.02);
        assert_eq!(cost("openrouter", "openai/gpt-4.1"), None);
        assert_eq!(cost("openai", "gpt-99"), None);
        assert_eq!(cost("scripted", "gpt-4.1"), None);
    }

    #[test]
    fn another_version_is_another_model() {
        for model in [
            "gpt-5.99",
            "gpt-5.99-mini",
            "claude-opus-4-99",
            "gpt-50",
            "gpt-4-1106-preview",
            "house-model",
            "",
        ] {
            assert_eq!(Facts::of(model), None, "{model}");
        }
    }
}
