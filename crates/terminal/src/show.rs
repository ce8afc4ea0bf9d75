//! How what happens looks to a person: one event, one row. It reads events as doors see them and
//! must not know how they came to be.

use std::collections::{BTreeMap, BTreeSet};

use engine::{EventView, FeedItem};
use serde_json::Value;

use crate::print::{Mark, Printer};

/// A summary of a call is no longer than this, in characters.
const LONGEST_CALL: usize = 120;
/// Lines of a failed call's result that are shown, from its end.
const LAST_LINES: usize = 8;
/// Arguments that say best what a call is about, best first.
const TELLING: [&str; 9] = [
    "command",
    "path",
    "pattern",
    "operation",
    "message",
    "query",
    "question",
    "goal",
    "response",
];

/// Shows what happens while something is driven.
#[derive(Debug, Default)]
pub(crate) struct Show {
    /// Calls by their id, in words.
    calls: BTreeMap<String, String>,
    /// Runs whose present answer has been streamed.
    streamed: BTreeSet<String>,
}

impl Show {
    /// Shows one thing that happened.
    pub(crate) fn item(&mut self, printer: &mut Printer, item: &FeedItem) {
        match item {
            FeedItem::Text { run, piece } => {
                self.streamed.insert(run.clone());
                printer.stream(piece);
            }
            FeedItem::Notice(text) => printer.line(Mark::Note, text),
            FeedItem::Event(event) => self.event(printer, event),
        }
    }

    /// Shows an event of what was said and done before, with what was asked.
    pub(crate) fn told(&mut self, printer: &mut Printer, event: &EventView) {
        let details = &event.payload;
        match event.kind.as_str() {
            "run_started" => printer.line(
                Mark::Note,
                &format!(
                    "run {} in {} with {}:{}",
                    text(details, "run"),
                    mode_shown(
                        details
                            .pointer("/recipe/mode")
                            .and_then(Value::as_str)
                            .unwrap_or_default()
                    ),
                    details
                        .pointer("/model/provider")
                        .and_then(Value::as_str)
                        .unwrap_or_default(),
                    details
                        .pointer("/model/model")
                        .and_then(Value::as_str)
                        .unwrap_or_default(),
                ),
            ),
            "entered" => {
                self.event(printer, event);
                printer.line(Mark::Asks, "asked:");
                printer.foreign(text(details, "text"));
            }
            "question_answered" => {
                printer.line(Mark::Asks, "answered:");
                printer.foreign(text(details, "answer"));
            }
            "run_ended" => printer.line(Mark::Note, &format!("ended: {}", text(details, "summary"))),
            _ => self.event(printer, event),
        }
    }

    fn event(&mut self, printer: &mut Printer, event: &EventView) {
        let details = &event.payload;
        match event.kind.as_str() {
            "entered" => entered(printer, details),
            "responded" => self.responded(printer, event),
            "decided" => self.decided(printer, details),
            "tool_started" => printer.line(Mark::Tool, &self.call(details)),
            "tool_finished" => self.finished(printer, details),
            "violated" => printer.line(Mark::Refused, &format!("against the walls: {}", text(details, "what"))),
            "noted" => printer.foreign(text(details, "text")),
            "todo_updated" => todo(printer, details),
            "compacted" => compacted(printer, details),
            "switch_priced" => switch_priced(printer, details),
            "nudged" => printer.line(Mark::Note, &format!("reminded: {}", text(details, "text"))),
            "request_failed" => failed(printer, details),
            "mode_changed" => mode_changed(printer, details),
            "step_moved" => step_moved(printer, details),
            "step_landed" => {
                printer.line(
                    Mark::Done,
                    &format!("step {} is commit {}", text(details, "step"), text(details, "commit")),
                );
            }
            "check_ran" | "plan_check_ran" => check(printer, details),
            "run_resumed" if details.get("interrupted") == Some(&Value::Bool(true)) => {
                printer.line(Mark::Note, "goes on after an interruption");
            }
            _ => {}
        }
    }

    fn responded(&mut self, printer: &mut Printer, event: &EventView) {
        printer.end_stream();
        let run = event.stream.strip_prefix("run/").unwrap_or(&event.stream);
        let streamed = self.streamed.remove(run);
        for block in list(event.payload.pointer("/response/blocks")) {
            if let Some(words) = block.get("text").and_then(Value::as_str)
                && !streamed
                && !words.is_empty()
            {
                printer.foreign(words);
            }
            if let Some(call) = block.get("tool_call") {
                let words = call_in_words(text(call, "name"), text(call, "arguments_text"));
                self.calls.insert(text(call, "id").to_owned(), words);
            }
        }
    }

    fn call(&self, details: &Value) -> String {
        let known = self.calls.get(text(details, "call")).cloned();
        known.unwrap_or_else(|| text(details, "tool").to_owned())
    }

    fn decided(&self, printer: &mut Printer, details: &Value) {
        let Some(record) = details
            .get("record")
            .filter(|record| text(record, "decision") == "deny")
        else {
            return;
        };
        let call = self
            .calls
            .get(text(details, "call"))
            .map_or(text(record, "tool"), String::as_str);
        printer.line(
            Mark::Refused,
            &format!("{call}   {} ({})", text(record, "reason"), text(record, "layer")),
        );
    }

    fn finished(&self, printer: &mut Printer, details: &Value) {
        let failed = details.pointer("/result/is_error") == Some(&Value::Bool(true));
        match text(details, "how") {
            "interrupted" => printer.line(
                Mark::Refused,
                &format!("{}   interrupted, its effect is unknown", self.call(details)),
            ),
            "performed" if failed => {
                let words = list(details.pointer("/result/content"))
                    .map(|part| text(part, "text"))
                    .collect::<Vec<_>>()
                    .join("\n");
                let lines: Vec<&str> = words.lines().filter(|line| !line.trim().is_empty()).collect();
                match lines.as_slice() {
                    [] | [_] => printer.line(
                        Mark::Refused,
                        &format!("{}   {}", self.call(details), clipped(&lines.concat())),
                    ),
                    many => {
                        printer.line(Mark::Refused, &format!("{}   failed", self.call(details)));
                        let from = many.len().saturating_sub(LAST_LINES);
                        printer.foreign(&many.get(from..).unwrap_or_default().join("\n"));
                    }
                }
            }
            _ => {}
        }
    }
}

fn entered(printer: &mut Printer, details: &Value) {
    if let Some(step) = details.get("step").and_then(Value::as_str) {
        printer.line(Mark::Note, &format!("step {step} begins"));
    }
}

fn todo(printer: &mut Printer, details: &Value) {
    for item in list(details.get("items")) {
        let sign = match text(item, "status") {
            "done" => "[x]",
            "in_progress" => "[>]",
            _ => "[ ]",
        };
        printer.line(Mark::Note, &format!("{sign} {}", text(item, "text")));
    }
}

fn failed(printer: &mut Printer, details: &Value) {
    let status = details
        .get("status")
        .and_then(Value::as_u64)
        .map(|status| format!(" (status {status})"))
        .unwrap_or_default();
    printer.line(
        Mark::Refused,
        &format!(
            "the model failed, {}{status}: {}",
            text(details, "failure").replace('_', " "),
            clipped(text(details, "message"))
        ),
    );
}

fn compacted(printer: &mut Printer, details: &Value) {
    let tokens = |key: &str| details.get(key).and_then(Value::as_u64).unwrap_or_default();
    let why = match text(details, "why") {
        "nearly_full" => "it came near the model's window",
        "overflow" => "it did not fit the model's window",
        "agreed" => "you agreed",
        _ => "you asked for it",
    };
    printer.line(
        Mark::Note,
        &format!(
            "the conversation is compacted, because {why}: about {} tokens became about {}; its summary:",
            tokens("before"),
            tokens("after")
        ),
    );
    printer.foreign(text(details, "summary"));
}

fn switch_priced(printer: &mut Printer, details: &Value) {
    let tokens = details.get("tokens").and_then(Value::as_u64).unwrap_or_default();
    let price = details.get("usd").and_then(Value::as_f64).map_or_else(
        || "its price is not known".to_owned(),
        |usd| format!("about {usd:.2} USD"),
    );
    printer.line(
        Mark::Note,
        &format!(
            "{} with {} → {} with {}: about {tokens} tokens of this thread are read anew, none from a cache: {price}",
            mode_shown(text(details, "from_mode")),
            text(details, "from_model"),
            mode_shown(text(details, "to_mode")),
            text(details, "to_model"),
        ),
    );
}

/// The name of a mode for people.
pub(crate) fn mode_shown(stored: &str) -> String {
    modes::Mode::from_stored(Some(stored)).map_or_else(|_| stored.to_owned(), |mode| mode.to_string())
}

fn mode_changed(printer: &mut Printer, details: &Value) {
    let shown = |key: &str| mode_shown(text(details, key));
    printer.line(
        Mark::Note,
        &format!("mode: {} → {} ({})", shown("from"), shown("to"), text(details, "why")),
    );
}

fn step_moved(printer: &mut Printer, details: &Value) {
    let step = text(details, "step");
    let state = details.get("state");
    let reason = state.map(|state| text(state, "reason")).unwrap_or_default();
    match state.map(|state| text(state, "state")).unwrap_or_default() {
        "done" => {
            let files: Vec<&str> = list(details.get("files")).filter_map(Value::as_str).collect();
            let changed = if files.is_empty() {
                "no file changed".to_owned()
            } else {
                files.join(", ")
            };
            printer.line(Mark::Done, &format!("step {step} done: {changed}"));
        }
        "failed" => printer.line(Mark::Refused, &format!("step {step} failed: {reason}")),
        "cancelled" => printer.line(Mark::Refused, &format!("step {step} was stopped")),
        "skipped" => printer.line(Mark::Note, &format!("step {step} is not begun")),
        "waiting" => printer.line(Mark::Asks, &format!("step {step} waits for you")),
        _ => {}
    }
}

fn check(printer: &mut Printer, details: &Value) {
    let command = text(details, "command");
    match details.get("exit").and_then(Value::as_i64) {
        Some(0) => printer.line(Mark::Done, &format!("check passed: {command}")),
        Some(code) => printer.line(Mark::Refused, &format!("check failed with exit code {code}: {command}")),
        None => printer.line(Mark::Refused, &format!("check was ended: {command}")),
    }
    if details.get("exit").and_then(Value::as_i64) != Some(0) && !text(details, "output").is_empty() {
        printer.foreign(text(details, "output"));
    }
}

/// A call as a person would say it: a command is its line, anything else its tool and what it is about.
fn call_in_words(tool: &str, arguments: &str) -> String {
    let Ok(Value::Object(arguments)) = serde_json::from_str(arguments) else {
        return tool.to_owned();
    };
    let telling: Vec<&str> = TELLING
        .iter()
        .filter_map(|key| arguments.get(*key).and_then(Value::as_str))
        .collect();
    match telling.as_slice() {
        [command, ..] if arguments.contains_key("command") => clipped(command),
        [] => tool.to_owned(),
        words => clipped(&format!("{tool} {}", words.join(" "))),
    }
}

/// At most [`LONGEST_CALL`] characters, the end kept.
fn clipped(words: &str) -> String {
    let length = words.chars().count();
    if length <= LONGEST_CALL {
        return words.to_owned();
    }
    let half = LONGEST_CALL / 2;
    let start: String = words.chars().take(half).collect();
    let end: String = words.chars().skip(length - half).collect();
    format!("{start} … ({length} characters) … {end}")
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests;
