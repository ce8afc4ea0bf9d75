//! What a script expects of a request, and how a difference reads.

use super::format::{Entry, Expect, Match};
use crate::{Block, ErrorKind, ModelError, Request, RequestContext, ResultPart};

/// Every way `request` differs from what is expected, as lines of expected and found.
pub(crate) fn differences(expected: &Expect, request: &Request) -> Vec<String> {
    let offered = request.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>();
    let mut lines = Vec::new();
    if let Some(mode) = &expected.mode
        && *mode != request.context.mode
    {
        lines.push(format!("mode: expected `{mode}`, found `{}`", request.context.mode));
    }
    for name in &expected.tools_include {
        if !offered.contains(&name.as_str()) {
            lines.push(format!("tools_include: expected `{name}`, found {}", listed(&offered)));
        }
    }
    for name in &expected.tools_exclude {
        if offered.contains(&name.as_str()) {
            lines.push(format!(
                "tools_exclude: expected no `{name}`, found {}",
                listed(&offered)
            ));
        }
    }
    if let Some(text) = &expected.contains
        && !texts(request).any(|found| found.contains(text))
    {
        let (count, bytes) = texts(request).fold((0_usize, 0_usize), |(count, bytes), text| {
            (count + 1, bytes + text.len())
        });
        lines.push(format!(
            "contains: expected `{text}`, found it nowhere in the system prompt and messages \
             ({count} texts, {bytes} bytes)"
        ));
    }
    lines
}

/// The failure that shows `differences` in turn `turn` of entry `entry`.
pub(crate) fn mismatch(entry: usize, turn: usize, differences: &[String]) -> ModelError {
    ModelError::new(
        ErrorKind::Expectation,
        format!("entry {entry}, turn {turn}: {}", differences.join("; ")),
    )
}

/// The failure when no entry ever fitted.
pub(crate) fn no_entry(context: &RequestContext, entries: &[Entry]) -> ModelError {
    let found = Match {
        mode: Some(context.mode.clone()),
        agent: context.agent.clone(),
        step: context.step.clone(),
    };
    let wanted = entries.iter().map(|entry| labels(&entry.matches)).collect::<Vec<_>>();
    ModelError::new(
        ErrorKind::Expectation,
        format!(
            "no entry matches: expected one of {}, found {}",
            listed(&wanted),
            labels(&found)
        ),
    )
}

fn labels(labels: &Match) -> String {
    let given = [("mode", &labels.mode), ("agent", &labels.agent), ("step", &labels.step)]
        .into_iter()
        .filter_map(|(key, value)| value.as_ref().map(|value| format!("{key} `{value}`")))
        .collect::<Vec<_>>();
    if given.is_empty() {
        "anything".into()
    } else {
        given.join(" ")
    }
}

fn listed(names: &[impl AsRef<str>]) -> String {
    let names = names.iter().map(AsRef::as_ref).collect::<Vec<_>>();
    format!("[{}]", names.join(", "))
}

/// The readable texts of a request: system prompt, messages and tool results.
fn texts(request: &Request) -> impl Iterator<Item = &str> {
    let blocks = request.messages.iter().flat_map(|message| &message.blocks);
    let written = blocks.flat_map(|block| match block {
        Block::Text(text) => vec![text.as_str()],
        Block::ToolResult { content, .. } => content
            .iter()
            .filter_map(|part| match part {
                ResultPart::Text(text) => Some(text.as_str()),
                ResultPart::Image { .. } => None,
            })
            .collect(),
        Block::Image { .. } | Block::ToolCall(_) | Block::Native { .. } => Vec::new(),
    });
    std::iter::once(request.system.as_str()).chain(written)
}
