//! What Google's models take, as data by the beginning of their names, and fitting settings to it.

use crate::{Effort, Fitted, ModelSettings};

/// What a family of models takes.
#[derive(Debug, PartialEq)]
pub(crate) struct Family {
    /// How the names begin. The longest beginning that fits decides.
    prefix: &'static str,
    /// Output tokens at most, where known.
    max_output: Option<u64>,
    pub(crate) thinking: Thinking,
    /// Refuses a conversation in which a first call has no signature, and takes pictures inside of
    /// a result.
    pub(crate) signs: bool,
}

/// How a model is told how much to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// It does not think.
    Never,
    /// In tokens.
    Budget {
        least: u64,
        most: u64,
        /// Takes 0 for none.
        can_disable: bool,
    },
    /// In words, weakest first. It cannot be told not to think.
    Levels(&'static [Effort]),
}

/// Every place accepts this; one of the two counts to one more.
const LONG: Option<u64> = Some(65_535);
const SHORT: Option<u64> = Some(8_192);

/// Other servers that speak the protocol.
const FOREIGN: Family = family("", None, Thinking::Never);

/// What was published of Google's models up to April 2026. A `gemini-` name not listed is taken for a newer one,
/// and gets the two words that all newer ones know.
const FAMILIES: &[Family] = &[
    FOREIGN,
    signing("gemini-", &[Effort::Low, Effort::High]),
    signing(
        "gemini-3-flash",
        &[Effort::Minimal, Effort::Low, Effort::Medium, Effort::High],
    ),
    signing(
        "gemini-3.1-flash",
        &[Effort::Minimal, Effort::Low, Effort::Medium, Effort::High],
    ),
    signing("gemini-3.1-pro", &[Effort::Low, Effort::Medium, Effort::High]),
    family("gemini-2.5-pro", LONG, budget(128, 32_768, false)),
    family("gemini-2.5-flash", LONG, budget(1, 24_576, true)),
    family("gemini-2.5-flash-lite", LONG, budget(512, 24_576, true)),
    family("gemini-2.0", SHORT, Thinking::Never),
    family("gemini-1.5", SHORT, Thinking::Never),
];

const fn family(prefix: &'static str, max_output: Option<u64>, thinking: Thinking) -> Family {
    Family {
        prefix,
        max_output,
        thinking,
        signs: false,
    }
}

const fn signing(prefix: &'static str, levels: &'static [Effort]) -> Family {
    Family {
        signs: true,
        ..family(prefix, LONG, Thinking::Levels(levels))
    }
}

const fn budget(least: u64, most: u64, can_disable: bool) -> Thinking {
    Thinking::Budget {
        least,
        most,
        can_disable,
    }
}

impl Family {
    /// The family of `model`.
    pub(crate) fn of(model: &str) -> &'static Self {
        let name = super::model_name(model);
        FAMILIES
            .iter()
            .filter(|family| name.starts_with(family.prefix))
            .max_by_key(|family| family.prefix.len())
            .unwrap_or(&FOREIGN)
    }
}

/// The settings as this protocol will carry them: `thinking_budget` only where the model takes one
/// and within its bounds, `effort` in a word the model knows.
pub(crate) fn fit(settings: &ModelSettings) -> Fitted {
    let family = Family::of(&settings.model);
    let mut settings = settings.clone();
    if matches!(family.thinking, Thinking::Budget { .. }) && settings.thinking_budget.is_none() {
        settings.thinking_budget = settings.effort.and_then(Effort::budget);
    }
    let mut fitted = settings.fit(family.max_output);
    match family.thinking {
        Thinking::Never => fitted.drop_thinking("the model does not think"),
        Thinking::Levels(levels) => {
            fitted.drop_budget("the model takes no thinking budget");
            fitted.fit_effort(levels, false);
        }
        Thinking::Budget {
            least,
            most,
            can_disable,
        } => fit_budget(&mut fitted, least, most, can_disable),
    }
    fitted
}

fn fit_budget(fitted: &mut Fitted, least: u64, most: u64, can_disable: bool) {
    let asked_for_none = fitted.settings.effort == Some(Effort::None);
    if asked_for_none && !can_disable {
        fitted.set_effort(Some(Effort::Minimal), "the model cannot be told not to think");
        fitted.settings.thinking_budget = Some(least);
        return;
    }
    let Some(asked) = fitted.settings.thinking_budget else {
        return;
    };
    let used = match asked {
        0 if can_disable => 0,
        _ => asked.clamp(least, most),
    };
    if used != asked {
        fitted.set_budget(Some(used), "the model takes no other budget");
    }
}
