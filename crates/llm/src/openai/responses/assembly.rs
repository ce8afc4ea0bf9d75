//! Putting the events of a response together into one answer. Pure: text in, parts out.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::frame::{Event, Whole};
use crate::openai::fault;
use crate::wire::{Assembly, CallIds, Growth, cut_off, malformed, shown};
use crate::{Block, ModelError, Part, Partial, Response, StopReason, ToolCall, Usage};

/// Fields of a thought that the protocol takes back.
const OF_A_THOUGHT: [&str; 5] = ["type", "id", "summary", "content", "encrypted_content"];

/// An answer so far.
#[derive(Debug)]
pub(crate) struct Answer {
    provider: String,
    /// The model that answers; the one asked until the server says.
    model: String,
    ids: CallIds,
    /// Items by their place in the answer.
    items: BTreeMap<u64, Item>,
    refused: bool,
    usage: Usage,
    /// The number of the last event, where events have one.
    last: Option<u64>,
    growth: Growth,
}

/// An item so far.
#[derive(Debug)]
struct Item {
    content: Content,
    done: bool,
}

#[derive(Debug)]
enum Content {
    Message(String),
    Call(ToolCall),
    /// A thought that can be sent back, or an item of a kind only the provider understands.
    Native(Value),
    /// A thought that cannot.
    Forgotten,
}

impl Answer {
    /// Nothing of it has come yet.
    pub(super) fn new(provider: &str, asked: &str, ids: CallIds) -> Self {
        Self {
            provider: provider.into(),
            model: asked.into(),
            ids,
            items: BTreeMap::new(),
            refused: false,
            usage: Usage::default(),
            last: None,
            growth: Growth::default(),
        }
    }

    /// Whether an event with this number has come before.
    fn repeated(&mut self, value: &Value) -> bool {
        let Some(number) = value.get("sequence_number").and_then(Value::as_u64) else {
            return false;
        };
        let before = self.last.is_some_and(|last| number <= last);
        self.last = self.last.max(Some(number));
        before
    }

    fn take(&mut self, event: Event) -> Result<Vec<Part>, ModelError> {
        Ok(match event {
            Event::Begun { response } => {
                self.know(response);
                Vec::new()
            }
            Event::ItemAdded { output_index, item } => self.begin(output_index, &item)?,
            Event::ItemDone { output_index, item } => self.finish(output_index, item)?,
            Event::Text { output_index, delta } => self.say(output_index, delta)?,
            Event::Refusal { output_index, delta } => {
                self.refused = true;
                self.say(output_index, delta)?
            }
            Event::Thinking { delta } => {
                self.growth.add(delta.len())?;
                shown(delta, Part::Thinking).into_iter().collect()
            }
            Event::ThinkingPart => vec![Part::Thinking("\n\n".into())],
            Event::Arguments { output_index, delta } => self.argue(output_index, delta)?,
            Event::Ended { response } => vec![Part::Done(self.whole(response)?)],
            Event::Failed { response } => {
                let told = fault::told(&response, None);
                return Err(told.unwrap_or_else(|| malformed("the provider gave up without a reason")));
            }
            Event::Unknown => Vec::new(),
        })
    }

    fn know(&mut self, response: Whole) {
        if let Some(model) = response.model.filter(|model| !model.is_empty()) {
            self.model = model;
        }
        if let Some(count) = response.usage {
            self.usage = count.read();
        }
    }

    fn begin(&mut self, index: u64, item: &Value) -> Result<Vec<Part>, ModelError> {
        if self.items.contains_key(&index) {
            return Err(malformed(format!("item {index} begins twice")));
        }
        let content = match kind(item) {
            "message" => Content::Message(String::new()),
            "function_call" => Content::Call(self.call(item)),
            _ => Content::Forgotten,
        };
        let parts = match &content {
            Content::Call(call) => vec![started(call)],
            _ => Vec::new(),
        };
        self.items.insert(index, Item { content, done: false });
        Ok(parts)
    }

    /// A call whose arguments are still to come.
    fn call(&mut self, item: &Value) -> ToolCall {
        ToolCall {
            id: self.ids.take(text(item, "call_id")),
            name: text(item, "name").into(),
            arguments_text: String::new(),
        }
    }

    fn say(&mut self, index: u64, more: String) -> Result<Vec<Part>, ModelError> {
        self.growth.add(more.len())?;
        let Content::Message(text) = &mut self.open(index)?.content else {
            return Err(malformed(format!("item {index} is no message")));
        };
        text.push_str(&more);
        Ok(shown(more, Part::Text).into_iter().collect())
    }

    fn argue(&mut self, index: u64, more: String) -> Result<Vec<Part>, ModelError> {
        self.growth.add(more.len())?;
        let Content::Call(call) = &mut self.open(index)?.content else {
            return Err(malformed(format!("item {index} is no call")));
        };
        call.arguments_text.push_str(&more);
        let id = call.id.clone();
        Ok(shown(more, |text| Part::CallArguments { id, text })
            .into_iter()
            .collect())
    }

    fn open(&mut self, index: u64) -> Result<&mut Item, ModelError> {
        self.items
            .get_mut(&index)
            .filter(|item| !item.done)
            .ok_or_else(|| malformed(format!("item {index} is not open")))
    }

    /// The item as it ended counts; what had come of it before was for showing. What was not shown
    /// yet is returned.
    fn finish(&mut self, index: u64, item: Value) -> Result<Vec<Part>, ModelError> {
        let mut parts = if self.items.contains_key(&index) {
            Vec::new()
        } else {
            self.begin(index, &item)?
        };
        let mut added = 0;
        let open = self
            .items
            .get_mut(&index)
            .filter(|item| !item.done)
            .ok_or_else(|| malformed(format!("item {index} is not open")))?;
        open.done = true;
        match (&mut open.content, kind(&item)) {
            (Content::Message(said), "message") => {
                let whole = message_text(&item);
                self.refused |= refuses(&item);
                if said.is_empty() {
                    added = whole.len();
                    parts.extend(shown(whole.clone(), Part::Text));
                }
                *said = whole;
            }
            (Content::Call(call), "function_call") => {
                let whole = text(&item, "arguments");
                if call.arguments_text.is_empty() {
                    added = whole.len();
                    let id = call.id.clone();
                    parts.extend(shown(whole.to_owned(), |text| Part::CallArguments { id, text }));
                }
                whole.clone_into(&mut call.arguments_text);
            }
            (Content::Forgotten, _) => {
                added = item.to_string().len();
                open.content = kept(item);
            }
            (_, kind) => {
                return Err(malformed(format!(
                    "item {index} ends as `{kind}`, which it did not begin as"
                )));
            }
        }
        self.growth.add(added)?;
        Ok(parts)
    }

    fn whole(&mut self, mut response: Whole) -> Result<Response, ModelError> {
        if self.items.is_empty() {
            // Some servers tell everything at the end.
            for (index, item) in (0..).zip(response.output.take().unwrap_or_default()) {
                self.finish(index, item)?;
            }
        }
        let incomplete = response.incomplete_details.take();
        let cut = incomplete.and_then(|details| details.reason);
        self.know(response);
        if cut.is_none() && self.items.values().any(|item| !item.done) {
            return Err(malformed("the answer ends inside an item"));
        }
        let stop = self.stop(cut);
        Ok(Response {
            blocks: self.blocks(|_| true),
            stop,
            usage: self.usage,
            actual_model: self.model.clone(),
            cursor: None,
        })
    }

    fn stop(&self, cut: Option<String>) -> StopReason {
        let calls = self.items.values().any(|item| matches!(item.content, Content::Call(_)));
        match cut.as_deref() {
            Some("max_output_tokens" | "max_tokens") => StopReason::MaxTokens,
            Some("content_filter") => StopReason::Refusal,
            Some(_) => StopReason::Other(cut.unwrap_or_default()),
            None if self.refused => StopReason::Refusal,
            None if calls => StopReason::ToolUse,
            None => StopReason::EndTurn,
        }
    }

    fn blocks(&self, keep: impl Fn(&Item) -> bool) -> Vec<Block> {
        let items = self.items.values().filter(|item| keep(item));
        items
            .filter_map(|item| match &item.content {
                Content::Message(text) => (!text.is_empty()).then(|| Block::Text(text.clone())),
                Content::Call(call) => Some(Block::ToolCall(call.clone())),
                Content::Native(value) => Some(Block::Native {
                    provider: self.provider.clone(),
                    value: value.clone(),
                }),
                Content::Forgotten => None,
            })
            .collect()
    }
}

impl Assembly for Answer {
    fn accept(&mut self, data: &str) -> Result<Vec<Part>, ModelError> {
        let unreadable = |error| malformed(format!("an event that cannot be read: {error}"));
        let value = serde_json::from_str::<Value>(data).map_err(unreadable)?;
        if self.repeated(&value) {
            return Ok(Vec::new());
        }
        if value.get("type").is_none_or(|kind| kind == "error")
            && let Some(error) = fault::told(&value, None)
        {
            return Err(error);
        }
        self.take(serde_json::from_value(value).map_err(unreadable)?)
    }

    /// Only the event that says so ends a response.
    fn end(&mut self) -> Result<Response, ModelError> {
        Err(cut_off())
    }

    fn partial(&self) -> Partial {
        Partial {
            blocks: self.blocks(|item| item.done || matches!(item.content, Content::Message(_))),
            usage: self.usage,
        }
    }
}

fn kind(item: &Value) -> &str {
    text(item, "type")
}

fn text<'a>(item: &'a Value, key: &str) -> &'a str {
    item.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn started(call: &ToolCall) -> Part {
    Part::CallStarted {
        id: call.id.clone(),
        name: call.name.clone(),
    }
}

/// The words of a message, and of a refusal in it.
fn message_text(item: &Value) -> String {
    let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
    parts
        .map(|part| [text(part, "text"), text(part, "refusal")].concat())
        .collect()
}

fn refuses(item: &Value) -> bool {
    let mut parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
    parts.any(|part| kind(part) == "refusal")
}

/// What is kept of an item only the provider understands. A thought without its content or the
/// encrypted form of it would be looked up at the provider, which has kept nothing.
fn kept(item: Value) -> Content {
    if kind(&item) != "reasoning" {
        return Content::Native(item);
    }
    let has = |key: &str| match item.get(key) {
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(parts)) => !parts.is_empty(),
        _ => false,
    };
    if !has("encrypted_content") && !has("content") {
        return Content::Forgotten;
    }
    let fields = OF_A_THOUGHT.iter().filter_map(|key| {
        let value = item.get(*key).filter(|value| !value.is_null())?;
        Some(((*key).to_owned(), value.clone()))
    });
    Content::Native(Value::Object(fields.collect::<Map<_, _>>()))
}
