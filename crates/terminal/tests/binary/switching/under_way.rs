//! What a switch leaves alone: the run under way, the runs of other threads, the order of switches.

use std::process::Stdio;

use serde_json::json;

use super::{changes, mode, text};
use crate::models::server::{Answer, Server, call, text as said_text};
use crate::support::{Place, calls, one_step_plan, plan_at_digest, said, says, turns};

const ONE_MODEL: &str = "[models.default]\nprovider = \"anthropic\"\nmodel = \"claude-sonnet-4-5\"\n";

fn write(id: &str) -> serde_json::Value {
    call(
        id,
        "write_to_file",
        json!({"path": format!("{id}.md"), "content": "new\n"}),
    )
}

#[test]
fn a_run_under_way_finishes_in_the_mode_it_was_started_in() {
    for (from, stored, to, to_stored, shown) in [
        ("plan", "plan", "agent", "chat", "Agent"),
        ("agent", "chat", "plan", "plan", "Plan"),
    ] {
        let (held, go_on) = Answer::of(&[write("during")]).held();
        let last = if from == "plan" {
            call("c2", "submit_plan", one_step_plan("Plan", "a", &["A.md"], &[]))
        } else {
            call("c2", "attempt_completion", json!({"result": "done"}))
        };
        let server = Server::start([
            held,
            Answer::of(&[last]),
            Answer::of(&[write("after")]),
            Answer::of(&[said_text("end")]),
            Answer::of(&[said_text("end")]),
        ]);
        let mut place = Place::new();
        server.configure(&mut place, ONE_MODEL);
        let child = place
            .command(&["run", "--json", "--mode", from, "go"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        server.wait_for_request();
        let space = place.stance(&["space", "list", "--json"]).report()[0]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let switched = place.stance(&["space", "mode", &space, to]);
        assert_eq!(switched.code, 0, "{}", switched.err);
        assert!(switched.out.contains(&format!("is in {shown} now")), "{}", switched.out);
        assert!(
            switched
                .out
                .contains("finishes in its own mode; your next message runs in the new one"),
            "{}",
            switched.out
        );
        assert_eq!(mode(&place, &space), to_stored);
        go_on.send(()).unwrap();
        let done = said(child.wait_with_output().unwrap());
        let report = done.report();
        assert_eq!(
            (done.code, text(&report, "mode"), text(&report, "outcome")),
            (0, stored, "delivered"),
            "{}",
            done.err
        );
        assert_eq!(place.modes_requested(text(&report, "run_id")), [stored, stored]);
        assert_eq!(place.repo().join("during.md").exists(), from == "agent");
        assert_eq!(mode(&place, &space), to_stored, "the end of a run changes no mode");

        let next = place
            .stance(&["run", "--json", "--resume", text(&report, "thread_id"), "go on"])
            .report();
        assert_eq!(text(&next, "mode"), to_stored, "{next:#}");
        assert_eq!(place.repo().join("after.md").exists(), to == "agent");
    }
}

#[test]
fn switches_from_many_windows_come_one_after_the_other() {
    let place = Place::new();
    let space = place.stance(&["mode", "--json"]).report();
    let space = text(&space, "id");
    let switches: Vec<_> = ["plan", "agent", "plan", "orchestrate", "agent", "plan"]
        .into_iter()
        .map(|to| {
            let mut command = place.command(&["mode", to]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for switch in switches {
        let done = said(switch.wait_with_output().unwrap());
        assert_eq!(done.code, 0, "{}", done.err);
    }
    let changes = changes(&place, space);
    assert!(!changes.is_empty());
    assert_eq!(changes[0].0, "chat");
    for pair in changes.windows(2) {
        assert_eq!(pair[0].1, pair[1].0, "{changes:?}");
    }
    assert!(changes.iter().all(|(from, to)| from != to), "{changes:?}");
    assert_eq!(changes.last().unwrap().1, mode(&place, space));
    assert_eq!(place.stance(&["audit", "verify"]).code, 0);
}

#[test]
fn an_approval_widens_its_own_thread_and_no_run_that_waits_in_another() {
    let place = Place::new();
    let late = || calls(&[("write_to_file", json!({"path": "LATE.md", "content": "late\n"}))]);
    let other = place.script(
        "other",
        &turns(&[
            calls(&[("plan_mode_respond", json!({"response": "Which?"}))]),
            late(),
            calls(&[(
                "plan_mode_respond",
                json!({"response": "No need.", "no_plan_needed": true}),
            )]),
            late(),
            says("written"),
        ]),
    );
    let planned = place.script(
        "planned",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [calls(&[("submit_plan", one_step_plan("A", "a", &["A.md"], &[]))])]},
            {"match": {"step": "a"}, "turns": [calls(&[("write_to_file", json!({"path": "A.md", "content": "a\n"}))]), says("done")]},
        ]}),
    );
    let (_, plan) = place.run(&planned, &["--mode", "plan", "plan it"]);
    let space = text(&plan, "space_id");
    let (code, waits) = place.run(&other, &["--space", space, "--approvals", "wait", "what else?"]);
    assert_eq!(code, 7, "{waits:#}");
    let approved = place.stance(&["plan", "approve", &plan_at_digest(&plan), "--json", "--model", &planned]);
    assert_eq!(
        (approved.code, place.read("A.md").as_str()),
        (0, "a\n"),
        "{}",
        approved.err
    );
    assert_eq!(mode(&place, space), "chat");

    // The other thread's run was started to plan, and goes on so, also answered by a person.
    let question = waits["pending"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["kind"] == "reply")
        .unwrap();
    let done = place.stance(&[
        "inbox",
        "answer",
        text(question, "id"),
        "this",
        "--resume",
        "--json",
        "--model",
        &other,
    ]);
    let report = done.report();
    assert_eq!(
        (done.code, text(&report, "outcome"), text(&report, "mode")),
        (0, "declined", "plan"),
        "{}",
        done.err
    );
    assert_eq!(text(&report, "label"), "Plan (read-only)");
    assert_eq!(
        (
            text(&report["denials"][0], "tool"),
            text(&report["denials"][0], "layer")
        ),
        ("write_to_file", "surface")
    );
    assert!(!place.repo().join("LATE.md").exists());
    // A person's new message there begins a chain of its own.
    let (code, next) = place.run(&other, &["--resume", text(&waits, "thread_id"), "go on"]);
    assert_eq!(
        (code, text(&next, "mode"), &next["files_changed"]),
        (0, "chat", &json!(["LATE.md"])),
        "{next:#}"
    );
}

#[test]
fn a_plan_says_which_mode_its_space_has_when_the_work_ends() {
    for (after, stored) in [("agent", "chat"), ("plan", "plan")] {
        let place = Place::new();
        let model = place.script(
            "work",
            &json!({"runs": [
                {"match": {"mode": "plan"}, "turns": [calls(&[("submit_plan", one_step_plan("A", "a", &["A.md"], &[]))])]},
                {"match": {"step": "a"}, "turns": [says("nothing to do")]},
            ]}),
        );
        let (_, plan) = place.run(&model, &["--mode", "plan", "plan it"]);
        let line = [
            "plan",
            "approve",
            &plan_at_digest(&plan),
            "--after-plan",
            after,
            "--json",
            "--model",
            &model,
        ];
        let done = place.stance(&line);
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(mode(&place, text(&plan, "space_id")), stored);
    }
}
