//! The main job: a plan that cannot write, approved, then carried out.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Place, calls, one_step_plan, plan_at_digest, says, turns};

#[test]
fn a_plan_changes_nothing_until_it_is_approved_and_then_is_carried_out() {
    let place = Place::new();
    let plan = one_step_plan("Greet", "greet", &["HELLO.md"], &["test -f HELLO.md"]);
    let model = place.script(
        "whole",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [
                calls(&[("read_file", json!({"path": "README.md"})), ("list_files", json!({"path": "."}))]),
                calls(&[("write_to_file", json!({"path": "HELLO.md", "content": "hello\n"}))]),
                calls(&[("submit_plan", plan)]),
            ]},
            {"match": {"mode": "agent", "step": "greet"}, "turns": [
                calls(&[("write_to_file", json!({"path": "HELLO.md", "content": "hello\n"}))]),
                calls(&[("submit_output", json!({"evidence": "the file is there"}))]),
            ]},
        ]}),
    );
    let before = place.world();
    let (code, report) = place.run(&model, &["--mode", "plan", "greet the reader"]);
    assert_eq!((code, report["outcome"].as_str()), (0, Some("delivered")), "{report:#}");
    assert_eq!(report["denials"][0]["tool"], "write_to_file");
    assert_eq!(report["denials"][0]["layer"], "surface");
    assert_eq!(place.world(), before);

    let said = place.stance(&["plan", "approve", &plan_at_digest(&report), "--json", "--model", &model]);
    let done = said.report();
    assert_eq!(
        (said.code, done["outcome"].as_str()),
        (0, Some("delivered")),
        "{done:#}\n{}",
        said.err
    );
    assert_eq!(place.read("HELLO.md"), "hello\n");
    assert_eq!(done["files_changed"], json!(["HELLO.md"]));
    assert_eq!(done["orchestration"]["steps"][0]["status"], "done");
    assert_eq!(done["orchestration"]["steps"][0]["files_changed"], json!(["HELLO.md"]));
    assert_eq!(done["checks"], json!([{"command": "test -f HELLO.md", "exit": 0}]));
    assert_eq!(done["plan"]["status"], "completed");
    assert_eq!(done["mode"], "chat");
    assert_eq!(place.stance(&["audit", "verify"]).code, 0);
}

#[test]
fn a_decision_names_the_digest_it_saw() {
    let place = Place::new();
    let model = place.script(
        "digest",
        &turns(&[
            calls(&[("submit_plan", one_step_plan("First", "a", &["A.md"], &[]))]),
            calls(&[("submit_plan", one_step_plan("Second", "a", &["A.md"], &[]))]),
            says("done"),
        ]),
    );
    let (_, first) = place.run(&model, &["--mode", "plan", "plan it"]);
    let thread = first["thread_id"].as_str().unwrap();
    let (_, second) = place.run(&model, &["--resume", thread, "again"]);
    assert_eq!(second["plan"]["id"], first["plan"]["id"]);
    assert_eq!(second["plan"]["revision"], 2);
    let stale = place.stance(&["plan", "approve", &plan_at_digest(&first), "--model", &model]);
    assert_eq!(stale.code, 1);
    assert!(stale.err.contains("it changed, look again"), "{}", stale.err);
    let bare = place.stance(&[
        "plan",
        "approve",
        first["plan"]["id"].as_str().unwrap(),
        "--model",
        &model,
    ]);
    assert_eq!(bare.code, 2, "{}", bare.err);
    let good = place.stance(&["plan", "approve", &plan_at_digest(&second), "--json", "--model", &model]);
    assert_eq!(good.code, 0, "{}", good.err);
    let again = place.stance(&["plan", "approve", &plan_at_digest(&second), "--model", &model]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("decided already"), "{}", again.err);
}

#[test]
fn a_step_that_commits_its_own_work_lands_as_that_commit() {
    let place = Place::new();
    let model = place.script(
        "own",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [calls(&[("submit_plan", one_step_plan("Greet", "greet", &["HELLO.md"], &[]))])]},
            {"match": {"mode": "agent", "step": "greet"}, "turns": [
                calls(&[("write_to_file", json!({"path": "HELLO.md", "content": "hello\n"}))]),
                calls(&[("git_write", json!({"op": "commit", "message": "Own words", "paths": ["HELLO.md"]}))]),
                calls(&[("submit_output", json!({"evidence": "committed"}))]),
            ]},
        ]}),
    );
    let (_, report) = place.run(&model, &["--mode", "plan", "greet"]);
    let decision = plan_at_digest(&report);
    let said = place.stance(&[
        "plan",
        "approve",
        &decision,
        "--json",
        "--landing",
        "commits",
        "--autonomy",
        "act_freely",
        "--model",
        &model,
    ]);
    let done = said.report();
    assert_eq!(
        (said.code, done["outcome"].as_str()),
        (0, Some("delivered")),
        "{done:#}\n{}",
        said.err
    );
    assert_eq!(place.git(&["log", "-1", "--format=%s"]).trim(), "Own words");
    assert_eq!(
        done["orchestration"]["steps"][0]["commit"],
        place.git(&["rev-parse", "HEAD"]).trim()
    );
    assert_eq!(place.git(&["status", "--porcelain"]), "");
}

#[test]
fn ctrl_c_pauses_a_plan_and_it_goes_on_where_it_was() {
    let place = Place::new();
    let model = place.script(
        "pause",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [calls(&[("submit_plan", one_step_plan("Greet", "greet", &["HELLO.md"], &["test -f HELLO.md"]))])]},
            {"match": {"mode": "agent", "step": "greet"}, "turns": [
                calls(&[("execute_command", json!({"command": "tail -f /dev/null", "timeout_s": 600}))]),
                calls(&[("write_to_file", json!({"path": "HELLO.md", "content": "hello\n"}))]),
                calls(&[("submit_output", json!({"evidence": "there"}))]),
            ]},
        ]}),
    );
    let (_, report) = place.run(&model, &["--mode", "plan", "greet"]);
    let decision = plan_at_digest(&report);
    let mut child = place
        .command(&["plan", "approve", &decision, "--json", "--model", &model])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut words = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(words.by_ref().any(|line| line.unwrap().starts_with("▸ tail -f")));
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    drop(words);
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{out}");
    let paused: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(paused["orchestration"]["status"], "executing", "{paused:#}");
    assert_eq!(paused["orchestration"]["steps"][0]["status"], "running", "{paused:#}");

    let plan = report["plan"]["id"].as_str().unwrap();
    let said = place.stance(&["plan", "run", plan, "--json", "--model", &model]);
    let done = said.report();
    assert_eq!(
        (said.code, done["outcome"].as_str()),
        (0, Some("delivered")),
        "{done:#}\n{}",
        said.err
    );
    assert_eq!(place.read("HELLO.md"), "hello\n");
    let again = place.stance(&["plan", "approve", &decision, "--model", &model]);
    assert!(again.err.contains("plan show"), "{}", again.err);
}

#[test]
fn a_step_commits_its_own_work_and_nothing_of_the_persons() {
    let place = Place::new();
    place.write("README.md", "# Sample\nconst in words\na line the person is writing\n");
    let mut plan = one_step_plan("Greet", "greet", &["HELLO.md", "README.md"], &[]);
    plan["nodes"][0]["description"] = json!("Greet, and say so in the README.");
    let model = place.script(
        "own",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [calls(&[("submit_plan", plan)])]},
            {"match": {"mode": "agent", "step": "greet"}, "turns": [
                calls(&[("execute_command", json!({"command": crate::support::unseen("echo hello > HELLO.md; echo more >> README.md; echo x > beside.txt")}))]),
                calls(&[("submit_output", json!({"evidence": "there"}))]),
            ]},
        ]}),
    );
    let (_, report) = place.run(&model, &["--mode", "plan", "greet"]);
    let said = place.stance(&[
        "plan",
        "approve",
        &plan_at_digest(&report),
        "--json",
        "--landing",
        "commits",
        "--model",
        &model,
    ]);
    let done = said.report();
    assert_eq!(
        (said.code, done["outcome"].as_str()),
        (0, Some("delivered")),
        "{done:#}\n{}",
        said.err
    );
    assert_eq!(
        place.git(&["show", "--format=", "--name-only", "HEAD"]).trim(),
        "HELLO.md"
    );
    assert_eq!(place.git(&["status", "--porcelain"]), " M README.md\n?? beside.txt\n");
    let summary = done["summary"].as_str().unwrap();
    assert!(
        summary.contains("left uncommitted by greet") && summary.contains("README.md, beside.txt"),
        "{summary}"
    );
}

#[test]
fn nothing_is_committed_on_a_branch_nobody_approved() {
    let place = Place::new();
    let model = place.script(
        "elsewhere",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [calls(&[("submit_plan", one_step_plan("Greet", "greet", &["HELLO.md"], &[]))])]},
            {"match": {"mode": "agent", "step": "greet"}, "turns": [
                calls(&[("write_to_file", json!({"path": "HELLO.md", "content": "hello\n"}))]),
                calls(&[("write_to_file", json!({"path": "asked.md", "content": "asked\n"}))]),
                calls(&[("submit_output", json!({"evidence": "there"}))]),
            ]},
        ]}),
    );
    let (_, report) = place.run(&model, &["--mode", "plan", "greet"]);
    let waits = place.stance(&[
        "plan",
        "approve",
        &plan_at_digest(&report),
        "--json",
        "--landing",
        "commits",
        "--approvals",
        "wait",
        "--model",
        &model,
    ]);
    assert_eq!(waits.code, 7, "{}", waits.err);
    let pending = &waits.report()["pending"][0];
    let permission = format!(
        "{}@{}",
        pending["id"].as_str().unwrap(),
        pending["digest"].as_str().unwrap()
    );
    place.git(&["checkout", "-q", "-b", "side"]);
    let said = place.stance(&["inbox", "approve", &permission, "--resume", "--json", "--model", &model]);
    assert_ne!(said.code, 0, "{}", said.out);
    assert_eq!(place.git(&["log", "--format=%s"]).trim(), "start");
    assert_eq!(place.read("HELLO.md"), "hello\n");
    assert!(
        said.out.contains("left uncommitted by greet") || said.err.contains("left uncommitted by greet"),
        "{}{}",
        said.out,
        said.err
    );
}

#[test]
fn a_journal_that_lost_its_end_is_not_extended() {
    let place = Place::new();
    let model = place.script("short", &turns(&[says("one"), says("two")]));
    assert_eq!(place.run(&model, &["one"]).0, 0);
    let workspaces = place.stance_home().join("workspaces");
    let database = std::fs::read_dir(workspaces)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("journal.db"))
        .find(|file| file.exists())
        .unwrap();
    std::fs::remove_file(&database).unwrap();
    for beside in ["journal.db-wal", "journal.db-shm"] {
        let _ = std::fs::remove_file(database.with_file_name(beside));
    }
    let said = place.stance(&["run", "--model", &model, "two"]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(
        said.err.contains("events were removed") && said.err.contains("hint:"),
        "{}",
        said.err
    );
}

#[test]
fn a_comment_quotes_what_stands_there() {
    let place = Place::new();
    let model = place.script(
        "quote",
        &turns(&[calls(&[(
            "submit_plan",
            one_step_plan("Greet", "greet", &["HELLO.md"], &[]),
        )])]),
    );
    let (_, report) = place.run(&model, &["--mode", "plan", "greet"]);
    let plan = report["plan"]["id"].as_str().unwrap();
    let wrong = place.stance(&[
        "plan",
        "comment",
        plan,
        "why?",
        "--step",
        "greet",
        "--quote",
        "not there",
    ]);
    assert_eq!(wrong.code, 2, "{}", wrong.out);
    assert!(
        wrong.err.contains("do not stand there") && wrong.err.contains("hint:"),
        "{}",
        wrong.err
    );
    let right = place.stance(&[
        "plan",
        "comment",
        plan,
        "why?",
        "--step",
        "greet",
        "--quote",
        "As the goal says.",
    ]);
    assert_eq!(right.code, 0, "{}", right.err);
}
