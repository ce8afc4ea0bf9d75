//! One row for each event that a person should see.

use engine::EventView;
use serde_json::json;

use super::*;
use crate::print::tests::on_paper;

/// What a person sees of these things.
fn shown(items: &[FeedItem]) -> String {
    let (mut printer, [words, ..]) = on_paper(usize::MAX);
    let mut show = Show::default();
    for item in items {
        show.item(&mut printer, item);
    }
    printer.end_stream();
    words.text()
}

fn event(kind: &str, payload: Value) -> FeedItem {
    FeedItem::Event(EventView {
        number: 1,
        stream: "run/r1".to_owned(),
        kind: kind.to_owned(),
        time_ms: 0,
        provenance: "observed".to_owned(),
        payload,
    })
}

fn called(name: &str, arguments: &Value) -> FeedItem {
    let call = json!({"tool_call": {"id": "c1", "name": name, "arguments_text": arguments.to_string()}});
    event("responded", json!({"response": {"blocks": [call]}}))
}

#[test]
fn a_refusal_names_the_call_the_reason_and_the_layer() {
    let denied = json!({"call": "c1", "record": {"tool": "execute_command", "decision": "deny", "layer": "ceiling", "reason": "not in Plan: it would change the repository"}});
    let items = vec![
        called("execute_command", &json!({"command": "git commit -am wip"})),
        event("decided", denied),
    ];
    assert_eq!(
        shown(&items),
        "✗ git commit -am wip   not in Plan: it would change the repository (ceiling)\n"
    );
}

#[test]
fn a_decision_that_lets_through_is_not_a_row() {
    let allowed =
        json!({"call": "c1", "record": {"tool": "read_file", "decision": "allow", "layer": "built_in", "reason": ""}});
    assert_eq!(shown(&[event("decided", allowed)]), "");
}

#[test]
fn words_are_shown_once_whether_they_were_streamed_or_not() {
    let whole = || event("responded", json!({"response": {"blocks": [{"text": "Looking."}]}}));
    let piece = |piece: &str| FeedItem::Text {
        run: "r1".to_owned(),
        piece: piece.to_owned(),
    };
    assert_eq!(shown(&[piece("Look"), piece("ing."), whole()]), "│ Looking.\n");
    assert_eq!(shown(&[whole()]), "│ Looking.\n");
    assert_eq!(shown(&[piece("a"), whole(), whole()]), "│ a\n│ Looking.\n");
}

#[test]
fn a_call_is_told_by_what_it_is_about() {
    let check = |tool: &str, arguments: Value, expected: &str| {
        let items = vec![
            called(tool, &arguments),
            event("tool_started", json!({"call": "c1", "tool": tool})),
        ];
        assert_eq!(shown(&items), format!("▸ {expected}\n"));
    };
    check("read_file", json!({"path": "src/main.rs"}), "read_file src/main.rs");
    check("execute_command", json!({"command": "cargo test"}), "cargo test");
    check(
        "git_write",
        json!({"operation": "commit", "message": "wip"}),
        "git_write commit wip",
    );
    check("update_todo", json!({"items": []}), "update_todo");
    check(
        "execute_command",
        json!({"command": "true\n✓ done\u{1b}[2J"}),
        "true\\u{a}✓ done\\u{1b}[2J",
    );
    let long = format!("echo {} && rm -rf /", "x".repeat(300));
    let items = vec![
        called("execute_command", &json!({"command": long})),
        event("tool_started", json!({"call": "c1", "tool": "x"})),
    ];
    assert!(shown(&items).ends_with("rm -rf /\n"));
}

#[test]
fn arguments_that_are_no_json_leave_the_name() {
    let call = json!({"tool_call": {"id": "c1", "name": "read_file", "arguments_text": "{\"path\":"}});
    let items = vec![
        event("responded", json!({"response": {"blocks": [call]}})),
        event("tool_started", json!({"call": "c1", "tool": "read_file"})),
    ];
    assert_eq!(shown(&items), "▸ read_file\n");
}

#[test]
fn steps_checks_and_modes_are_rows() {
    let moved = |state: Value, files: Value| event("step_moved", json!({"step": "s1", "state": state, "files": files}));
    for (item, expected) in [
        (
            moved(json!({"state": "done"}), json!(["a.rs"])),
            "✓ step s1 done: a.rs\n",
        ),
        (
            moved(json!({"state": "done"}), json!([])),
            "✓ step s1 done: no file changed\n",
        ),
        (
            moved(json!({"state": "failed", "reason": "no time"}), json!([])),
            "✗ step s1 failed: no time\n",
        ),
        (moved(json!({"state": "running", "run": "r1"}), json!([])), ""),
        (
            event("entered", json!({"id": "m1", "text": "x", "step": "s1"})),
            "· step s1 begins\n",
        ),
        (event("entered", json!({"id": "m1", "text": "x", "step": null})), ""),
        (
            event("check_ran", json!({"command": "true", "exit": 0, "output": ""})),
            "✓ check passed: true\n",
        ),
        (
            event(
                "plan_check_ran",
                json!({"command": "false", "exit": 1, "output": "no\n✓ yes"}),
            ),
            "✗ check failed with exit code 1: false\n│ no\n│ ✓ yes\n",
        ),
        (
            event("check_ran", json!({"command": "x", "exit": null, "output": ""})),
            "✗ check was ended: x\n",
        ),
        (
            event(
                "mode_changed",
                json!({"from": "plan", "to": "chat", "why": "a plan was approved"}),
            ),
            "· mode: Plan → Agent (a plan was approved)\n",
        ),
        (
            event(
                "request_failed",
                json!({"failure": "rate_limited", "message": "slow down", "status": 429}),
            ),
            "✗ the model failed, rate limited (status 429): slow down\n",
        ),
        (event("something_new", json!({})), ""),
    ] {
        assert_eq!(shown(&[item]), expected);
    }
}
