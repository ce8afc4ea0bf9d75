//! The chunks of a chat completion, as servers write them: every field may be missing or `null`.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::Usage;

/// The key under which thoughts are kept that came as parts of the content.
pub(super) const PARTS: &str = "content_parts";

/// What ends a stream.
pub(super) const DONE: &str = "[DONE]";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    pub(super) model: Option<String>,
    choices: Option<Vec<Choice>>,
    usage: Option<Count>,
    /// Where Groq counts.
    x_groq: Option<Counted>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counted {
    usage: Option<Count>,
}

impl Chunk {
    /// The tokens counted so far, if it tells, and its one choice, if it has one.
    pub(super) fn read(self) -> (Option<Usage>, Option<Choice>) {
        // Only one answer was asked for.
        let choice = self
            .choices
            .into_iter()
            .flatten()
            .find(|choice| choice.index.unwrap_or(0) == 0);
        let count = self
            .usage
            .or(self.x_groq.and_then(|counted| counted.usage))
            .or(choice.as_ref().and_then(|choice| choice.usage));
        (count.map(Count::read), choice)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    index: Option<u64>,
    pub(super) delta: Option<Delta>,
    pub(super) finish_reason: Option<String>,
    /// Where Moonshot counts.
    usage: Option<Count>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    content: Value,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Value,
    reasoning_details: Option<Vec<Map<String, Value>>>,
    pub(super) tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CallPiece {
    pub(super) index: Option<u64>,
    pub(super) id: Option<String>,
    function: Option<Function>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Function {
    name: Option<String>,
    arguments: Value,
}

impl CallPiece {
    /// The name, empty where it has none.
    pub(super) fn name(&self) -> &str {
        self.function
            .as_ref()
            .and_then(|function| function.name.as_deref())
            .unwrap_or_default()
    }

    /// The arguments' JSON text, or its next piece; some servers write the value itself.
    pub(super) fn arguments(&self) -> String {
        match self.function.as_ref().map(|function| &function.arguments) {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => String::new(),
            Some(value) => value.to_string(),
        }
    }
}

/// What a delta adds, sorted.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) refusal: String,
    /// What of it is readable thinking.
    pub(super) thinking: String,
    /// Thoughts by the field they came in; each is to be appended.
    pub(super) thoughts: Vec<(&'static str, Value)>,
}

impl Delta {
    /// Takes out what was said.
    pub(super) fn said(&mut self) -> Said {
        let mut said = Said {
            refusal: self.refusal.take().unwrap_or_default(),
            ..Said::default()
        };
        match std::mem::take(&mut self.content) {
            Value::String(text) => said.text = text,
            Value::Array(parts) => parts.into_iter().for_each(|part| said.take_part(part)),
            _ => {}
        }
        let details = self.reasoning_details.take().unwrap_or_default();
        let plain = [
            ("reasoning_content", self.reasoning_content.take().unwrap_or_default()),
            (
                "reasoning",
                std::mem::take(&mut self.reasoning)
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
            ),
        ];
        for (field, text) in plain.into_iter().filter(|(_, text)| !text.is_empty()) {
            // Some servers say the same thing in two fields.
            if said.thinking.is_empty() {
                said.thinking.clone_from(&text);
            }
            said.thoughts.push((field, text.into()));
        }
        if said.thinking.is_empty() {
            let readable = details
                .iter()
                .filter_map(|detail| ["text", "summary"].iter().find_map(|key| detail.get(*key)?.as_str()));
            said.thinking = readable.collect();
        }
        said.thoughts.extend(
            details
                .into_iter()
                .map(|detail| ("reasoning_details", Value::Object(detail))),
        );
        said
    }
}

impl Said {
    /// A part of a content that is a list.
    fn take_part(&mut self, part: Value) {
        let text = |value: &Value| value.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
        if part.get("type").and_then(Value::as_str) != Some("thinking") {
            self.text.push_str(&text(&part));
            return;
        }
        match part.get("thinking") {
            Some(Value::Array(pieces)) => self.thinking.extend(pieces.iter().map(text)),
            Some(Value::String(words)) => self.thinking.push_str(words),
            _ => {}
        }
        self.thoughts.push((PARTS, part));
    }

    /// Bytes it adds to the answer.
    pub(super) fn size(&self) -> usize {
        let thoughts = self.thoughts.iter().map(|(_, value)| match value {
            Value::String(text) => text.len(),
            value => value.to_string().len(),
        });
        self.text.len() + self.refusal.len() + thoughts.sum::<usize>()
    }
}

/// Tokens as servers count them.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Count {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
    /// Where `DeepSeek` counts what came from its cache.
    prompt_cache_hit_tokens: Option<u64>,
    /// Where Moonshot does.
    cached_tokens: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

impl Count {
    fn read(self) -> Usage {
        let prompt = self.prompt_tokens.unwrap_or_default();
        let details = self.prompt_tokens_details.unwrap_or_default();
        let cache_read = details
            .cached_tokens
            .or(self.prompt_cache_hit_tokens)
            .or(self.cached_tokens)
            .unwrap_or_default()
            .min(prompt);
        let cache_write = details.cache_write_tokens.unwrap_or_default().min(prompt - cache_read);
        // Some servers leave thinking out of the completion, but not out of the total.
        let without_prompt = self.total_tokens.unwrap_or_default().saturating_sub(prompt);
        Usage {
            input: prompt - cache_read - cache_write,
            output: self.completion_tokens.unwrap_or_default().max(without_prompt),
            cache_read,
            cache_write,
        }
    }
}
