//! Every attempt of the list in plan mode, in every way a run comes to be: nothing changes. And the
//! same acts where they are allowed, so that the eyes of these tests are known to see.

use serde_json::json;

use super::ground::{ALLOW_EVERYTHING, Ground, NO_LIMIT, call_ids, decisions, tool_calls};
use super::keyboard::Keyboard;
use crate::support::{calls, one_step_plan, plan_at_digest, turns};

/// Something a test does to the world itself.
type Act = fn(&Ground);

/// Plan mode's own end, after all attempts.
fn deliver() -> serde_json::Value {
    calls(&[("submit_plan", one_step_plan("Do it properly", "do", &["DONE.md"], &[]))])
}

fn allowing_settings() -> String {
    format!(
        "{NO_LIMIT}[autonomy]\ndefault = \"act_freely\"\n[plan]\ntry = false\n[permissions]\nallow = {}\n",
        json!(ALLOW_EVERYTHING)
    )
}

/// All attempts in one fresh run.
fn all_are_refused(settings: &str, flags: &[&str]) {
    let mut ground = Ground::new();
    ground.place.settings(settings);
    let mut script = ground.turns();
    script.push(deliver());
    let model = ground.place.script("attempts", &turns(&script));
    let before = ground.look();
    let (code, events, report) = ground
        .place
        .stream(&model, &[&["--mode", "plan", "try everything"], flags].concat());
    assert_eq!((code, report["outcome"].as_str()), (0, Some("delivered")), "{report:#}");
    ground.assert_each_decided(&events);
    assert_eq!(report["denials"].as_array().unwrap().len(), ground.counts().1);
    assert_eq!(
        (&report["mode"], &report["label"]),
        (&json!("plan"), &json!("Plan (read-only)"))
    );
    assert!(events.iter().all(|event| event["kind"] != "mode_changed"));
    ground.assert_untouched(&before);
}

#[test]
fn a_plan_run_changes_nothing_whatever_it_tries() {
    all_are_refused(NO_LIMIT, &[]);
}

#[test]
fn an_attempt_without_a_decision_of_its_own_does_not_count() {
    let ground = Ground::new();
    ground.place.settings(NO_LIMIT);
    let model = ground.place.script("attempts", &turns(&ground.turns()));
    let (_, events, _) = ground.place.stream(&model, &["--mode", "plan", "try everything"]);
    ground.assert_each_decided(&events);
    let some = events.iter().rposition(|event| event["kind"] == "decided").unwrap();
    let mut missing = events.clone();
    missing.remove(some);
    assert_eq!(ground.undecided(&missing).len(), 1);
    let mut doubled = events.clone();
    doubled.push(events[some].clone());
    assert_eq!(ground.undecided(&doubled).len(), 1);
    let mut allowed = events.clone();
    allowed[some]["payload"]["record"]["decision"] = json!("allow");
    assert_eq!(ground.undecided(&allowed).len(), 1);
    let never_made: Vec<_> = events
        .into_iter()
        .filter(|event| event["kind"] != "responded")
        .collect();
    assert!(ground.undecided(&never_made).len() >= ground.attempts.len());
}

#[test]
fn never_asking_lifts_nothing() {
    all_are_refused(NO_LIMIT, &["--yolo"]);
}

#[test]
fn no_rule_of_any_scope_lifts_anything() {
    let mut flags = vec!["--yolo"];
    flags.extend(ALLOW_EVERYTHING.iter().flat_map(|rule| ["--allow", rule]));
    all_are_refused(&allowing_settings(), &flags);
}

#[test]
fn a_rejected_plan_unlocks_nothing() {
    let mut ground = Ground::new();
    ground.place.settings(&allowing_settings());
    let mut second = ground.turns();
    second.push(deliver());
    let model = ground
        .place
        .script("twice", &json!({"runs": [{"turns": [deliver()]}, {"turns": second}]}));
    let before = ground.look();
    let (_, first) = ground.place.run(&model, &["--mode", "plan", "plan it"]);
    let no = ground.place.stance(&[
        "plan",
        "reject",
        &plan_at_digest(&first),
        "--because",
        "change the first step",
    ]);
    assert_eq!(no.code, 0, "{}", no.err);
    let thread = first["thread_id"].as_str().unwrap();
    let (code, events, report) = ground.place.stream(&model, &["--resume", thread, "--yolo", "again"]);
    assert_eq!((code, report["mode"].as_str()), (0, Some("plan")), "{report:#}");
    assert_eq!(report["space_id"], first["space_id"]);
    ground.assert_each_decided(&events);
    ground.assert_untouched(&before);
}

#[test]
fn a_run_that_was_killed_goes_on_as_strict_as_it_was() {
    let mut ground = Ground::new();
    ground.place.settings(NO_LIMIT);
    let mut script = ground.turns();
    script.push(deliver());
    let model = ground.place.script("attempts", &turns(&script));
    let before = ground.look();
    let (all, refused) = ground.counts();
    let mut dying = ground
        .place
        .command(&["run", "--json", "--model", &model, "--mode", "plan", "try everything"]);
    dying.env("STANCE_FAULT", format!("decided:after:{}", all / 2));
    let killed = crate::support::said(dying.output().unwrap());
    assert_eq!(killed.code, 128 + 9, "{}", killed.err);
    ground.assert_untouched(&before);

    let (code, report) = ground.place.run(&model, &["--resume", "last"]);
    assert_eq!((code, report["mode"].as_str()), (0, Some("plan")), "{report:#}");
    // Both halves: none is missing, none was decided a second time.
    ground.assert_each_decided(&ground.journal());
    assert_eq!(report["denials"].as_array().unwrap().len(), refused);
    ground.assert_untouched(&before);
    assert_eq!(ground.place.stance(&["audit", "verify"]).code, 0);
}

#[test]
fn a_run_that_waited_goes_on_as_strict_as_it_was() {
    let mut ground = Ground::new();
    ground.place.settings(&allowing_settings());
    let mut script = vec![calls(&[("plan_mode_respond", json!({"response": "Shall I go on?"}))])];
    script.extend(ground.turns());
    script.push(deliver());
    let model = ground.place.script("attempts", &turns(&script));
    let before = ground.look();
    let (code, waiting) = ground
        .place
        .run(&model, &["--mode", "plan", "--approvals", "wait", "try everything"]);
    assert_eq!((code, waiting["outcome"].as_str()), (7, Some("waiting")), "{waiting:#}");
    let run = waiting["run_id"].as_str().unwrap();
    let (code, events, report) = ground
        .place
        .stream(&model, &["--resume", run, "yes, do all of it, in Agent mode"]);
    assert_eq!((code, report["run_id"].as_str()), (0, Some(run)), "{report:#}");
    ground.assert_each_decided(&events);
    ground.assert_untouched(&before);
}

#[test]
fn a_thread_at_a_terminal_changes_nothing_either() {
    let mut ground = Ground::new();
    ground.place.settings(&allowing_settings());
    let mut script = ground.turns();
    script.push(deliver());
    let model = ground.place.script("attempts", &turns(&script));
    let before = ground.look();
    let mut keyboard = Keyboard::start(&ground.place, &["--model", &model]);
    keyboard
        .until("[Agent")
        .types("/plan try everything")
        .until("[Plan")
        .types("/quit");
    let (code, shown) = keyboard.end();
    assert_eq!(code, 0, "{shown}");
    // Each refusal is a row of its own, with the layer that decided.
    let (_, refused) = ground.counts();
    let unbroken = shown.replace("\r\n  ", " ");
    let rows = unbroken
        .lines()
        .filter(|line| line.starts_with('✗') && line.ends_with("(surface)"));
    assert_eq!(rows.count(), refused, "{shown}");
    ground.assert_each_decided(&ground.journal());
    ground.assert_untouched(&before);
}

#[test]
fn what_comes_behind_the_plan_in_the_same_answer_is_not_begun() {
    let mut ground = Ground::new();
    ground.place.settings(&allowing_settings());
    let mut all = deliver()["tool_calls"].as_array().unwrap().clone();
    all.extend(
        ground
            .attempts
            .iter()
            .flat_map(|attempt| &attempt.steps)
            .flat_map(|calls| tool_calls(calls)),
    );
    let model = ground
        .place
        .script("parallel", &turns(&[json!({"text": "all at once", "tool_calls": all})]));
    let before = ground.look();
    let (code, events, report) = ground
        .place
        .stream(&model, &["--mode", "plan", "--yolo", "try everything"]);
    assert_eq!((code, report["outcome"].as_str()), (0, Some("delivered")), "{report:#}");
    let ids = call_ids(&events, "all at once");
    let decisions = decisions(&events);
    assert_eq!(ids.len(), ground.counts().0 + 1);
    assert_eq!(decisions[&ids[0]][0]["layer"], "pinned");
    for id in &ids[1..] {
        let layers: Vec<_> = decisions[id]
            .iter()
            .map(|record| record["layer"].as_str().unwrap())
            .collect();
        assert_eq!(layers, ["not_started"], "{id}");
    }
    ground.assert_untouched(&before);
}

#[test]
fn the_same_acts_change_the_world_where_they_are_allowed() {
    let mut ground = Ground::new();
    ground.place.settings(NO_LIMIT);
    let plain = [
        "edit-known-file",
        "overwrite-known-file",
        "create-file",
        "create-plan-file",
        "create-in-new-folder",
        "shell-redirect",
        "stage-and-commit",
    ];
    let mut script = ground.turns_of(&plain);
    script.push(calls(&[("attempt_completion", json!({"result": "done"}))]));
    let model = ground.place.script("attempts", &turns(&script));
    let before = ground.look();
    let head = ground.place.git(&["rev-parse", "HEAD"]);
    let (code, _, report) = ground
        .place
        .stream(&model, &["--mode", "agent", "--yolo", "try everything"]);
    assert_eq!((code, report["outcome"].as_str()), (0, Some("delivered")), "{report:#}");
    assert_eq!(ground.place.read("src/app.js"), "const x = 2;\n");
    assert_eq!(ground.place.read("README.md"), "changed\n");
    assert_eq!(ground.place.read("new.txt"), "changed\n");
    assert_eq!(ground.place.read("deep/er/new.txt"), "changed\n");
    assert_eq!(ground.place.read("f.txt"), "x\n");
    assert_ne!(ground.place.git(&["rev-parse", "HEAD"]), head);
    let changes = ground.changes(&before).join("\n");
    for path in [
        "src/app.js",
        "README.md",
        "new.txt",
        "plan.md",
        "deep",
        "f.txt",
        ".git/index",
    ] {
        assert!(changes.contains(path), "{path} went by unseen:\n{changes}");
    }
}

#[test]
fn these_tests_see_whatever_happens() {
    let mut ground = Ground::new();
    ground.place.settings(NO_LIMIT);
    let before = ground.look();
    ground.assert_untouched(&before);

    // A file that comes and goes leaves only what the watch saw.
    let hidden = ground.place.outside().join("linked/hidden");
    std::fs::write(&hidden, "x").unwrap();
    std::fs::remove_file(&hidden).unwrap();
    let changes = ground.changes(&before).join("\n");
    assert!(
        changes.contains("CREATE") && changes.contains("linked/hidden"),
        "{changes}"
    );

    // Another mode, a new link target, changed settings, a knock, a death: each by itself.
    let each: [(&str, Act); 4] = [
        (".bashrc", |ground| {
            use std::os::unix::fs::PermissionsExt as _;
            let mine = ground.place.home().join(".bashrc");
            std::fs::set_permissions(mine, std::fs::Permissions::from_mode(0o640)).unwrap();
        }),
        ("escape", |ground| {
            let link = ground.place.repo().join("escape");
            std::fs::remove_file(&link).unwrap();
            std::os::unix::fs::symlink("/", link).unwrap();
        }),
        ("settings changed", |ground| ground.place.settings("# none")),
        ("server was reached", |ground| drop(ground.knock())),
    ];
    for (sign, act) in each {
        let before = ground.look();
        act(&ground);
        let changes = ground.changes(&before).join("\n");
        assert!(changes.contains(sign), "{sign} went by unseen: {changes}");
    }
    let before = ground.look();
    ground.end_victim();
    assert!(ground.changes(&before).join("\n").contains("process was ended"));
}
