//! What Anthropic's models take, as data by the beginning of their names, and fitting settings to
//! it.

use crate::{Effort, Facts, Fitted, ModelSettings};

/// What a family of models takes.
#[derive(Debug, PartialEq)]
pub(crate) struct Family {
    /// How the names begin. The longest beginning that fits decides.
    prefix: &'static str,
    /// Takes a thinking budget in tokens.
    budget: bool,
    /// Decides itself how much to think; takes these effort words, weakest first.
    pub(crate) efforts: &'static [Effort],
    /// Thinking can be switched off by saying so.
    pub(crate) can_disable: bool,
    /// Takes a temperature.
    sampling: bool,
}

const ADAPTIVE: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High];
const ADAPTIVE_MAX: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High, Effort::Max];
const ADAPTIVE_ALL: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High, Effort::XHigh, Effort::Max];

/// Other servers that speak the protocol: what the protocol has had from its beginning.
const FOREIGN: Family = family("");

/// What was published of Anthropic's models up to April 2026. A `claude-` name not listed is taken for a newer
/// one, and newer ones take effort words only.
const FAMILIES: &[Family] = &[
    FOREIGN,
    Family {
        budget: false,
        efforts: ADAPTIVE_ALL,
        sampling: false,
        ..family("claude-")
    },
    Family {
        budget: false,
        can_disable: false,
        ..family("claude-3-")
    },
    family("claude-3-7-sonnet"),
    family("claude-opus-4-0"),
    family("claude-opus-4-1"),
    family("claude-opus-4-2025"),
    family("claude-opus-4-5"),
    family("claude-sonnet-4-0"),
    family("claude-sonnet-4-2025"),
    family("claude-sonnet-4-5"),
    family("claude-haiku-4-5"),
    Family {
        efforts: ADAPTIVE_MAX,
        ..family("claude-opus-4-6")
    },
    Family {
        efforts: ADAPTIVE,
        ..family("claude-sonnet-4-6")
    },
    Family {
        efforts: ADAPTIVE_ALL,
        can_disable: false,
        sampling: false,
        ..family("claude-mythos")
    },
];

const fn family(prefix: &'static str) -> Family {
    Family {
        prefix,
        budget: true,
        efforts: &[],
        can_disable: true,
        sampling: true,
    }
}

/// Output asked for when nobody says how much; thinking comes on top.
const USUAL_OUTPUT: u64 = 16_000;
/// The protocol refuses smaller budgets.
const SMALLEST_BUDGET: u64 = 1_024;

impl Family {
    /// The family of `model`.
    pub(crate) fn of(model: &str) -> &'static Self {
        FAMILIES
            .iter()
            .filter(|family| model.starts_with(family.prefix))
            .max_by_key(|family| family.prefix.len())
            .unwrap_or(&FOREIGN)
    }

    /// The strongest effort it takes that is no stronger than `asked`, else its weakest. `None`
    /// when it takes no effort words.
    pub(crate) fn effort(&self, asked: Effort) -> Option<Effort> {
        self.efforts
            .iter()
            .rev()
            .find(|effort| **effort <= asked)
            .or(self.efforts.first())
            .copied()
    }
}

/// The settings as this protocol will carry them: `max_output` always set, `thinking_budget` only
/// where the model takes one, `effort` in a word the model knows.
pub(crate) fn fit(settings: &ModelSettings) -> Fitted {
    let family = Family::of(&settings.model);
    let most = Facts::of(&settings.model).and_then(|facts| facts.output);
    let mut settings = settings.clone();
    if family.budget && family.efforts.is_empty() && settings.thinking_budget.is_none() {
        settings.thinking_budget = settings.effort.and_then(Effort::budget);
    }
    if settings.max_output.is_none() {
        let output = settings
            .thinking_budget
            .filter(|_| family.budget && settings.effort != Some(Effort::None))
            .unwrap_or_default()
            .saturating_add(USUAL_OUTPUT);
        settings.max_output = Some(most.map_or(output, |most| output.min(most)));
    }
    let mut fitted = settings.fit(most);
    fit_thinking(&mut fitted, family);
    fit_effort(&mut fitted, family);
    if !family.sampling {
        fitted.drop_temperature("the model takes no temperature");
    } else if thinks(&fitted.settings, family) {
        fitted.drop_temperature("a thinking model takes no temperature");
    }
    fitted
}

fn fit_thinking(fitted: &mut Fitted, family: &Family) {
    match fitted.settings.thinking_budget {
        Some(_) if !family.budget => {
            fitted.set_budget(None, "the model takes no thinking budget");
        }
        Some(budget) if budget < SMALLEST_BUDGET => {
            let reason = "a budget below 1024 tokens is not accepted";
            fitted.set_budget(None, reason);
            if let Some(effort) = fitted.settings.effort.filter(|_| family.efforts.is_empty()) {
                // The budget was stronger than the word, which must not bring back another one.
                fitted.settings.effort = Some(Effort::None);
                fitted.note("effort", effort.word().into(), "none".into(), reason);
            }
        }
        _ => {}
    }
}

fn fit_effort(fitted: &mut Fitted, family: &Family) {
    let Some(asked) = fitted.settings.effort else {
        return;
    };
    let (used, reason) = match (asked, family.effort(asked)) {
        (Effort::None, weakest) if !family.can_disable => (weakest, "the model cannot be told not to think"),
        (Effort::None, _) => (Some(Effort::None), ""),
        (_, Some(used)) => (Some(used), "the model does not know the word"),
        // The word has become a budget.
        (_, None) if family.budget => (Some(asked), ""),
        (_, None) => (None, "the model does not think"),
    };
    if used != Some(asked) {
        fitted.settings.effort = used;
        let words = |effort: Option<Effort>| effort.map_or("none", Effort::word).to_owned();
        fitted.note("effort", words(Some(asked)), words(used), reason);
    }
}

/// True when settings that were fitted make a model of `family` think.
fn thinks(settings: &ModelSettings, family: &Family) -> bool {
    settings.thinking_budget.is_some()
        || (!family.efforts.is_empty() && settings.effort.is_some_and(|effort| effort != Effort::None))
}
