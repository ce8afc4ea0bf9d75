//! What the models behind Bedrock take, as data by a part of their ids, and fitting settings to it.

use serde_json::{Map, Value, json};

use crate::{Effort, Fitted, ModelSettings, anthropic};

/// What a family of models takes.
#[derive(Debug)]
pub(crate) struct Family {
    /// What the ids hold, whatever region or account stands before it. The longest that fits
    /// decides.
    part: &'static str,
    thinking: Thinking,
    /// Where it takes cache points.
    pub(crate) caches: Caches,
    /// Takes a mark on a result that is an error.
    pub(crate) marks_errors: bool,
}

/// How a model is told how much to think.
#[derive(Debug, Clone, Copy)]
enum Thinking {
    /// Nothing is known of it.
    Untold,
    /// In the fields of Anthropic's own protocol, as its models take them there.
    Claude,
    /// In words, weakest first, which `field` puts in place.
    Words {
        words: &'static [Effort],
        field: fn(&str) -> Value,
        can_disable: bool,
        /// The strongest refuses a limit and a temperature beside it.
        strongest_alone: bool,
    },
}

/// Where cache points may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Caches {
    Nowhere,
    /// Behind the system prompt and messages.
    Conversation,
    /// Behind the tools too.
    Tools,
}

const WORDS: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High];

const FOREIGN: Family = Family {
    part: "",
    thinking: Thinking::Untold,
    caches: Caches::Nowhere,
    marks_errors: false,
};

/// What was published up to April 2026.
const FAMILIES: &[Family] = &[
    FOREIGN,
    claude("anthropic.claude-", Caches::Tools),
    claude("anthropic.claude-3-", Caches::Nowhere),
    claude("anthropic.claude-3-5-haiku", Caches::Tools),
    claude("anthropic.claude-3-5-sonnet-20241022", Caches::Tools),
    claude("anthropic.claude-3-7-sonnet", Caches::Tools),
    Family {
        part: "amazon.nova-",
        caches: Caches::Conversation,
        marks_errors: true,
        ..FOREIGN
    },
    Family {
        part: "amazon.nova-2",
        thinking: Thinking::Words {
            words: WORDS,
            field: |word| json!({"reasoningConfig": {"type": "enabled", "maxReasoningEffort": word}}),
            can_disable: true,
            strongest_alone: true,
        },
        caches: Caches::Conversation,
        marks_errors: true,
    },
    Family {
        part: "openai.gpt-oss",
        thinking: Thinking::Words {
            words: WORDS,
            field: |word| json!({"reasoning_effort": word}),
            can_disable: false,
            strongest_alone: false,
        },
        ..FOREIGN
    },
];

const fn claude(part: &'static str, caches: Caches) -> Family {
    Family {
        part,
        thinking: Thinking::Claude,
        caches,
        marks_errors: true,
    }
}

impl Family {
    /// The family of the model with this id.
    pub(crate) fn of(model: &str) -> &'static Self {
        FAMILIES
            .iter()
            .filter(|family| model.contains(family.part))
            .max_by_key(|family| family.part.len())
            .unwrap_or(&FOREIGN)
    }

    /// Whether it takes back what it thought.
    pub(crate) fn remembers_thinking(&self) -> bool {
        matches!(self.thinking, Thinking::Claude)
    }
}

/// The name a model of Anthropic's has at Anthropic.
fn name_at_anthropic(model: &str) -> &str {
    model.split_once("anthropic.").map_or(model, |(_, name)| name)
}

/// Settings under the name the model has at Anthropic.
fn at_anthropic(settings: &ModelSettings) -> ModelSettings {
    ModelSettings {
        model: name_at_anthropic(&settings.model).into(),
        ..settings.clone()
    }
}

/// The settings as this protocol will carry them.
pub(crate) fn fit(settings: &ModelSettings) -> Fitted {
    match Family::of(&settings.model).thinking {
        Thinking::Untold => {
            let mut fitted = settings.fit(None);
            fitted.drop_thinking("the model cannot be told how much to think");
            fitted
        }
        Thinking::Claude => {
            let mut fitted = anthropic::fit(&at_anthropic(settings));
            fitted.settings.model.clone_from(&settings.model);
            fitted
        }
        Thinking::Words {
            words,
            can_disable,
            strongest_alone,
            ..
        } => {
            let mut fitted = settings.fit(None);
            fitted.drop_budget("the model takes no thinking budget");
            fitted.fit_effort(words, can_disable);
            if strongest_alone && fitted.settings.effort.is_some_and(|used| Some(&used) == words.last()) {
                fitted.drop_output("the model takes none when it thinks hardest");
                fitted.drop_temperature("the model takes none when it thinks hardest");
            }
            fitted
        }
    }
}

/// What a request carries for its model alone. `settings` have been fitted.
pub(crate) fn own_fields(settings: &ModelSettings) -> Map<String, Value> {
    let written = match (Family::of(&settings.model).thinking, settings.effort) {
        (Thinking::Claude, _) => return claude_fields(settings),
        (Thinking::Words { field, .. }, Some(effort)) if effort != Effort::None => field(effort.word()),
        _ => Value::Null,
    };
    match written {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn claude_fields(settings: &ModelSettings) -> Map<String, Value> {
    let mut fields = anthropic::thinking_fields(&at_anthropic(settings));
    if settings.thinking_budget.is_some() {
        fields.insert("anthropic_beta".into(), json!([anthropic::INTERLEAVED]));
    }
    fields
}
