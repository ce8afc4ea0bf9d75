//! The knobs of a model and fitting them to what a model takes. Which mode they belong to is not
//! known here.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::SetupError;

/// Which model answers and how. One struct per mode; it comes out of [`fold`](crate::fold()).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelSettings {
    /// Such as `anthropic` or `scripted`.
    pub provider: String,
    /// The provider's name for the model.
    pub model: String,
    /// How hard to think, in words; a wire turns it into what its protocol has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Thinking tokens; stronger than `effort`, except that effort `none` means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_budget: Option<u64>,
    /// Output tokens at most, thinking included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// Sampling temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
}

impl ModelSettings {
    /// The names of all settings, as they are written in a settings file.
    pub const KEYS: [&'static str; 6] = [
        "provider",
        "model",
        "effort",
        "thinking_budget",
        "max_output",
        "temperature",
    ];

    /// A model with every knob left to its provider.
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            model: model.into(),
            effort: None,
            thinking_budget: None,
            max_output: None,
            temperature: None,
        }
    }

    /// Settings no model can refuse for their arithmetic: no budget under effort `none`, output
    /// within `max_output` of the model, and a thinking budget below the output limit (equal is
    /// too much; a budget that must shrink leaves a fifth of the output for the answer).
    pub fn fit(&self, max_output: Option<u64>) -> Fitted {
        let mut fitted = Fitted::unchanged(self.clone());
        if self.effort == Some(Effort::None) && self.thinking_budget.is_some() {
            fitted.set_budget(None, "effort `none` means no thinking");
        }
        if let (Some(asked), Some(most)) = (self.max_output, max_output)
            && asked > most
        {
            fitted.set_output(most, "the model writes no more");
        }
        if let (Some(budget), Some(output)) = (
            fitted.settings.thinking_budget,
            fitted.settings.max_output.or(max_output),
        ) && budget >= output
        {
            fitted.set_budget(
                Some(output / 5 * 4).filter(|budget| *budget > 0),
                "thinking must leave room for the answer",
            );
        }
        fitted
    }
}

/// How hard a model should think, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// No thinking at all.
    None,
    /// As little as the model can.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    XHigh,
    /// All the model can.
    Max,
}

impl Effort {
    /// Every effort, weakest first.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::XHigh,
        Self::Max,
    ];

    /// The word in settings and in most protocols.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The thinking budget the word stands for, where a model takes only budgets.
    pub(crate) fn budget(self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Minimal => Some(1_024),
            Self::Low => Some(4_096),
            Self::Medium => Some(10_000),
            Self::High => Some(20_000),
            Self::XHigh => Some(32_000),
            Self::Max => Some(48_000),
        }
    }
}

impl FromStr for Effort {
    type Err = SetupError;

    fn from_str(word: &str) -> Result<Self, SetupError> {
        Self::ALL
            .into_iter()
            .find(|effort| effort.word() == word)
            .ok_or_else(|| SetupError::Effort { word: word.into() })
    }
}

/// Settings as they will be sent, and what had to change to get there.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// What is sent.
    pub settings: ModelSettings,
    /// Every change, in the order it was made.
    pub adjustments: Vec<Adjustment>,
}

/// One change a person should be told of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adjustment {
    /// A name out of [`ModelSettings::KEYS`].
    pub key: String,
    /// What was configured.
    pub asked: String,
    /// What is sent; `none` when nothing is.
    pub used: String,
    /// Why, as a clause.
    pub reason: String,
}

impl Fitted {
    pub(crate) fn unchanged(settings: ModelSettings) -> Self {
        Self {
            settings,
            adjustments: Vec::new(),
        }
    }

    pub(crate) fn set_budget(&mut self, used: Option<u64>, reason: &str) {
        let asked = std::mem::replace(&mut self.settings.thinking_budget, used);
        self.note("thinking_budget", words(asked), words(used), reason);
    }

    pub(crate) fn set_output(&mut self, used: u64, reason: &str) {
        let asked = self.settings.max_output.replace(used);
        self.note("max_output", words(asked), used.to_string(), reason);
    }

    /// Sends no budget, which the model does not take.
    pub(crate) fn drop_budget(&mut self, reason: &str) {
        if self.settings.thinking_budget.is_some() {
            self.set_budget(None, reason);
        }
    }

    /// Leaves thinking to the model.
    pub(crate) fn drop_thinking(&mut self, reason: &str) {
        self.drop_budget(reason);
        if self.settings.effort != Some(Effort::None) {
            self.set_effort(None, reason);
        }
    }

    /// The strongest of `words`, weakest first, that is no stronger than what was asked, else the
    /// weakest.
    pub(crate) fn fit_effort(&mut self, words: &[Effort], can_disable: bool) {
        let Some(asked) = self.settings.effort else {
            return;
        };
        let used = words.iter().rev().find(|word| **word <= asked).or(words.first());
        match asked {
            Effort::None if can_disable => {}
            Effort::None => self.set_effort(used.copied(), "the model cannot be told not to think"),
            _ => self.set_effort(used.copied(), "the model does not know the word"),
        }
    }

    pub(crate) fn set_effort(&mut self, used: Option<Effort>, reason: &str) {
        let asked = std::mem::replace(&mut self.settings.effort, used);
        if asked != used {
            let word = |effort: Option<Effort>| effort.map_or("none", Effort::word);
            self.note("effort", word(asked).into(), word(used).into(), reason);
        }
    }

    pub(crate) fn drop_output(&mut self, reason: &str) {
        if let Some(asked) = self.settings.max_output.take() {
            self.note("max_output", asked.to_string(), words(None), reason);
        }
    }

    pub(crate) fn drop_temperature(&mut self, reason: &str) {
        if let Some(asked) = self.settings.temperature.take() {
            self.note("temperature", asked.to_string(), words(None), reason);
        }
    }

    pub(crate) fn note(&mut self, key: &str, asked: String, used: String, reason: &str) {
        self.adjustments.push(Adjustment {
            key: key.into(),
            asked,
            used,
            reason: reason.into(),
        });
    }
}

fn words(tokens: Option<u64>) -> String {
    tokens.map_or_else(|| "none".into(), |tokens| tokens.to_string())
}
