//! Fitting settings to a model behind a protocol of `OpenAI`.

use super::dialect::{Dialect, Thinking};
use crate::{Effort, Facts, Fitted, ModelSettings};

/// Words every model that takes any is taken to know, when nothing is known of it.
const USUAL_EFFORTS: [Effort; 3] = [Effort::Low, Effort::Medium, Effort::High];

/// The words `model` takes for how hard to think, weakest first.
fn efforts(model: &str) -> Vec<Effort> {
    Facts::of(model)
        .and_then(|facts| facts.efforts.clone())
        .unwrap_or_else(|| USUAL_EFFORTS.to_vec())
}

/// True for a model that thinks, or that nothing is known of.
pub(super) fn may_think(model: &str) -> bool {
    !efforts(model).is_empty()
}

/// The settings as they will be carried: effort in a word the model knows, a budget only where
/// the dialect has one. The output is limited only when somebody asked for a limit.
pub(super) fn fit(settings: &ModelSettings, dialect: &Dialect) -> Fitted {
    let facts = Facts::of(&settings.model);
    let mut fitted = settings.fit(facts.and_then(|facts| facts.output));
    if fitted.settings.thinking_budget.is_some() && !dialect.thinking.takes_budget() {
        fitted.set_budget(None, "the model takes no thinking budget");
    }
    if let Some(asked) = fitted.settings.effort {
        let (used, reason) = effort(asked, &efforts(&settings.model), dialect.thinking);
        fitted.settings.effort = used;
        if !reason.is_empty() {
            let used = used.map_or("none", Effort::word);
            fitted.note("effort", asked.word().into(), used.into(), reason);
        }
    }
    if facts.and_then(|facts| facts.temperature) == Some(false) {
        fitted.drop_temperature("the model takes no temperature");
    }
    fitted
}

fn effort(asked: Effort, known: &[Effort], thinking: Thinking) -> (Option<Effort>, &'static str) {
    if known.contains(&asked) && thinking != Thinking::Unsaid {
        return (Some(asked), "");
    }
    let strongest = known.iter().rev().find(|effort| **effort <= asked).or(known.first());
    match (thinking, asked) {
        (Thinking::Unsaid, _) => (None, "the provider has no word for it"),
        (_, Effort::None) if thinking.can_disable() => (Some(Effort::None), ""),
        // It does not think, and would refuse to be told so.
        (_, Effort::None) if known.is_empty() => (None, ""),
        (_, Effort::None) => (strongest.copied(), "the model cannot be told not to think"),
        _ if known.is_empty() => (None, "the model does not think"),
        _ => (strongest.copied(), "the model does not know the word"),
    }
}
