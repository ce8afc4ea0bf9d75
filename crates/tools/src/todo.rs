//! The todo list: replaced whole, at most one line in progress. Other tools may carry it along as
//! Markdown check boxes.

use std::collections::HashSet;

use modes::ProposedCall;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::{TodoItem, TodoStatus};
use crate::scope::Scope;
use crate::tool::{BadArguments, ToolResult};
use crate::typed::{Around, TypedTool, settled};

const MOST_ITEMS: usize = 100;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The whole list, in order.
    items: Vec<Item>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Item {
    /// Kept when the item changes.
    id: String,
    text: String,
    status: TodoStatus,
}

pub(crate) struct UpdateTodo;

impl TypedTool for UpdateTodo {
    const NAME: &'static str = "update_todo";
    const DESCRIPTION: &'static str = "Replaces the todo list the person sees. Use it for work of three or more steps; keep ids stable and at most one item in progress.";
    const EXAMPLE: &'static str = r#"{"items": [{"id": "1", "text": "Reproduce the bug", "status": "done"}, {"id": "2", "text": "Fix it", "status": "in_progress"}]}"#;
    type Arguments = Arguments;
    type Ready = Vec<TodoItem>;

    fn prepare(
        arguments: Arguments,
        call: ProposedCall,
        _: &Scope,
    ) -> Result<(ProposedCall, Vec<TodoItem>), BadArguments> {
        let items: Vec<TodoItem> = arguments
            .items
            .into_iter()
            .map(|Item { id, text, status }| TodoItem { id, text, status })
            .collect();
        match fault(&items) {
            Some(fault) => Err(BadArguments(format!("{fault}. Example: {}", Self::EXAMPLE))),
            None => Ok((call, items)),
        }
    }

    async fn act(items: Vec<TodoItem>, around: Around<'_>) -> ToolResult {
        let (done, all) = (
            items.iter().filter(|item| item.status == TodoStatus::Done).count(),
            items.len(),
        );
        let updated = around.desk.update_todo(around.call_id, items).await;
        settled(updated.map(|()| ToolResult::text(format!("The todo list is updated: {done} of {all} done."))))
    }
}

fn fault(items: &[TodoItem]) -> Option<String> {
    let mut ids = HashSet::new();
    if items.len() > MOST_ITEMS {
        return Some(format!(
            "`items` holds {} lines and at most {MOST_ITEMS} are taken",
            items.len()
        ));
    }
    for item in items {
        if item.id.trim().is_empty() || item.text.trim().is_empty() {
            return Some("an item's `id` or `text` is empty".to_owned());
        }
        if !ids.insert(item.id.as_str()) {
            return Some(format!("the id {:?} stands twice", item.id));
        }
    }
    let working: Vec<&str> = items
        .iter()
        .filter(|item| item.status == TodoStatus::InProgress)
        .map(|item| item.id.as_str())
        .collect();
    (working.len() > 1).then(|| format!("{} are in progress together and only one may be", working.join(" and ")))
}

/// Takes the check boxes another tool carried along. A list that cannot be taken is left out: it
/// never costs the call it came with.
pub(crate) async fn note_progress(check_boxes: Option<&str>, around: Around<'_>) {
    let items = check_boxes.map(from_check_boxes).unwrap_or_default();
    if !items.is_empty() && fault(&items).is_none() {
        // The call this came with says what matters; a refused list changes nothing.
        let _ = around.desk.update_todo(around.call_id, items).await;
    }
}

/// Reads lines such as `- [x] text`. The first that is open counts as in progress; an id follows
/// from the text, so that a line keeps it while its text stands.
fn from_check_boxes(text: &str) -> Vec<TodoItem> {
    let mut items: Vec<TodoItem> = Vec::new();
    let mut working = false;
    for line in text.lines() {
        let Some((done, text)) = check_box(line) else { continue };
        let status = match (done, working) {
            (true, _) => TodoStatus::Done,
            (false, true) => TodoStatus::Pending,
            (false, false) => {
                working = true;
                TodoStatus::InProgress
            }
        };
        let id: String = blake3::hash(text.as_bytes()).to_hex().chars().take(8).collect();
        if items.iter().all(|item| item.id != id) {
            items.push(TodoItem {
                id,
                text: text.to_owned(),
                status,
            });
        }
    }
    items
}

fn check_box(line: &str) -> Option<(bool, &str)> {
    let line = line.trim_start();
    let boxed = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?;
    let (done, text) = if let Some(text) = boxed.strip_prefix("[ ]") {
        (false, text)
    } else {
        (true, boxed.strip_prefix("[x]").or_else(|| boxed.strip_prefix("[X]"))?)
    };
    let text = text.trim();
    (!text.is_empty()).then_some((done, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_boxes_become_items_with_one_in_progress_and_stable_ids() {
        let first = from_check_boxes("# Plan\n- [x] read\n- [ ] write\n* [ ] test\n- no box\n- [ ]  \n");
        let statuses: Vec<(&str, TodoStatus)> = first.iter().map(|item| (item.text.as_str(), item.status)).collect();
        assert_eq!(
            statuses,
            [
                ("read", TodoStatus::Done),
                ("write", TodoStatus::InProgress),
                ("test", TodoStatus::Pending)
            ]
        );
        let later = from_check_boxes("- [x] write\n- [ ] test");
        assert_eq!(later[0].id, first[1].id);
        assert_eq!(later[1].id, first[2].id);
        assert_ne!(later[0].id, later[1].id);
    }

    #[test]
    fn a_list_is_refused_for_each_fault() {
        let item = |id: &str, text: &str, status| TodoItem {
            id: id.into(),
            text: text.into(),
            status,
        };
        let cases: [(Vec<TodoItem>, Option<&str>); 5] = [
            (
                vec![
                    item("1", "a", TodoStatus::InProgress),
                    item("2", "b", TodoStatus::Pending),
                ],
                None,
            ),
            (
                vec![
                    item("1", "a", TodoStatus::InProgress),
                    item("2", "b", TodoStatus::InProgress),
                ],
                Some("1 and 2"),
            ),
            (
                vec![item("1", "a", TodoStatus::Done), item("1", "b", TodoStatus::Done)],
                Some("twice"),
            ),
            (vec![item("", "a", TodoStatus::Done)], Some("empty")),
            (
                (0..101).map(|n| item(&n.to_string(), "a", TodoStatus::Done)).collect(),
                Some("101"),
            ),
        ];
        for (items, expected) in cases {
            match (fault(&items), expected) {
                (None, None) => {}
                (Some(fault), Some(part)) => assert!(fault.contains(part), "{fault}"),
                (fault, expected) => panic!("{fault:?} for {expected:?}"),
            }
        }
    }
}
