//! Where nobody is: nothing waits for an answer, and what it comes to is one table. Its other half is
//! what becomes of the same where somebody answers later.

use std::process::Stdio;

use serde_json::{Value, json};

use super::run_of;
use crate::support::{Place, Said, calls, one_step_plan, said, says, turns};

/// What a model asks for, and what it comes to: the exit code and the kinds of what waits.
struct Row {
    mode: &'static str,
    asks: (&'static str, Value),
    then: Value,
    denied: (i32, &'static [&'static str]),
    waited: (i32, &'static [&'static str]),
    /// What the call is told where nobody answers.
    told: &'static str,
}

fn plan() -> (&'static str, Value) {
    ("submit_plan", one_step_plan("Greet", "greet", &["HELLO.md"], &[]))
}

fn row(
    mode: &'static str,
    asks: (&'static str, Value),
    then: Value,
    denied: (i32, &'static [&'static str]),
    waited: (i32, &'static [&'static str]),
    told: &'static str,
) -> Row {
    Row {
        mode,
        asks,
        then,
        denied,
        waited,
        told,
    }
}

fn rows() -> Vec<Row> {
    let secret = || ("read_file", json!({"path": ".env"}));
    let question = || ("ask_user", json!({"question": "Tabs?"}));
    let no_plan = || {
        (
            "plan_mode_respond",
            json!({"response": "None.", "no_plan_needed": true}),
        )
    };
    let permission = "nobody can be asked";
    let assume = "State the assumption";
    vec![
        row(
            "agent",
            secret(),
            says("No."),
            (4, &[]),
            (7, &["permission"]),
            permission,
        ),
        row(
            "plan",
            secret(),
            says("No."),
            (3, &[]),
            (7, &["permission"]),
            permission,
        ),
        row(
            "plan",
            secret(),
            calls(&[plan()]),
            (0, &["plan"]),
            (7, &["permission"]),
            permission,
        ),
        row(
            "plan",
            secret(),
            calls(&[no_plan()]),
            (0, &[]),
            (7, &["permission"]),
            permission,
        ),
        row("agent", question(), says("Tabs."), (0, &[]), (7, &["question"]), assume),
        row(
            "plan",
            question(),
            calls(&[plan()]),
            (0, &["plan"]),
            (7, &["question"]),
            assume,
        ),
        row(
            "plan",
            ("plan_mode_respond", json!({"response": "Patch or rewrite?"})),
            calls(&[plan()]),
            (0, &["plan"]),
            (7, &["reply"]),
            "Nobody will answer",
        ),
        row(
            "plan",
            ("exit_plan_mode", json!({"summary": "One line."})),
            says("I wait."),
            (7, &["plan_exit"]),
            (7, &["plan_exit"]),
            "pending",
        ),
        row(
            "review",
            secret(),
            says("No."),
            (4, &[]),
            (7, &["permission"]),
            permission,
        ),
        row(
            "review",
            question(),
            says("Fine."),
            (0, &[]),
            (7, &["question"]),
            assume,
        ),
        row(
            "plan",
            plan(),
            says("never said"),
            (0, &["plan"]),
            (0, &["plan"]),
            "approval",
        ),
    ]
}

/// Runs it with an end of standard input open that nobody writes to: reading it would never end.
fn with_an_open_end(place: &Place, words: &[&str]) -> Said {
    let mut command = place.command(words);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let open = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(open);
    said(output)
}

/// A space of reviews. No door opens one yet, so the stored word is set where it stands.
fn review(place: &Place) -> String {
    let opened = place.stance(&["space", "new"]).out;
    let space = opened.split_whitespace().last().unwrap().to_owned();
    place.corrupt_mode(&space, "review");
    space
}

fn kinds(pending: &Value) -> Vec<&str> {
    let pending = pending.as_array().unwrap().iter();
    pending.map(|one| one["kind"].as_str().unwrap()).collect()
}

#[test]
fn each_thing_that_asks_comes_to_its_row() {
    for row in rows() {
        for (approvals, (code, waits)) in [(None, row.denied), (Some("wait"), row.waited)] {
            let place = Place::new();
            place.write(".env", "TOKEN=1\n");
            let model = place.script(
                "row",
                &turns(&[
                    calls(std::slice::from_ref(&row.asks)),
                    row.then.clone(),
                    row.then.clone(),
                ]),
            );
            let reviewed = (row.mode == "review").then(|| review(&place));
            let at = reviewed
                .as_ref()
                .map_or(["--mode", row.mode], |space| ["--space", space]);
            let mut words = vec!["run", "--json", "--model", &model, at[0], at[1], "go"];
            words.extend(approvals.iter().flat_map(|word| ["--approvals", word]));
            let said = with_an_open_end(&place, &words);
            let report = said.report();
            let at = format!("{} {} {approvals:?}: {report:#}", row.mode, row.asks.0);
            assert_eq!((said.code, kinds(&report["pending"])), (code, waits.to_vec()), "{at}");
            // What waits is there for every other door, and nothing else is.
            let listed = place.stance(&["inbox", "--json"]).report();
            assert_eq!(kinds(&listed), waits, "{at}");
            let results = place.results(run_of(&report), row.asks.0);
            if waits == row.denied.1 {
                assert!(
                    matches!(results.as_slice(), [(_, words)] if words.contains(row.told)),
                    "{at}\n{results:?}"
                );
            }
            assert_eq!(
                results.is_empty(),
                code == 7 && approvals.is_some() && waits != ["plan_exit"],
                "{at}"
            );
        }
    }
}

#[test]
fn a_modes_or_a_rules_own_refusal_is_never_want_of_a_person() {
    let write = || calls(&[("write_to_file", json!({"path": "a.md", "content": "x\n"}))]);
    for (mode, flags) in [("agent", &["--deny", "edit(**)"][..]), ("agent", &["--read-only"])] {
        for approvals in ["deny", "wait"] {
            let place = Place::new();
            let model = place.script("refused", &turns(&[write(), says("I could not.")]));
            let words = [&["--mode", mode, "--approvals", approvals, "go"], flags].concat();
            let (code, report) = place.run(&model, &words);
            assert_eq!(
                (code, &report["pending"]),
                (0, &json!([])),
                "{mode} {flags:?}: {report:#}"
            );
            assert_eq!(report["denials"].as_array().unwrap().len(), 1);
        }
    }
}

#[test]
fn what_waits_is_named_with_the_words_that_answer_it() {
    let place = Place::new();
    place.write(".env", "TOKEN=1\n");
    let read = calls(&[("read_file", json!({"path": ".env"}))]);
    let model = place.script(
        "reads",
        &turns(&[read, json!({"text": "Read.", "expect": {"contains": "TOKEN=1"}})]),
    );
    let shown = place.stance(&[
        "run",
        "--model",
        &model,
        "--mode",
        "agent",
        "--approvals",
        "wait",
        "read it",
    ]);
    assert_eq!(shown.code, 7, "{}", shown.err);
    let inbox = place.stance(&["inbox"]);
    let line = |shown: &str| {
        let line = shown.lines().find(|line| line.contains("stance inbox approve "));
        line.unwrap_or_else(|| panic!("{shown}"))
            .trim_start_matches("· ")
            .to_owned()
    };
    assert_eq!(line(&shown.out), line(&inbox.out));
    assert!(shown.out.contains("read secrets (.env)"), "{}", shown.out);
    let line = line(&shown.out);
    let words = line.split("   ").next().unwrap();
    let mut words: Vec<&str> = words.split_whitespace().skip(1).collect();
    words.extend(["--json", "--model", &model]);
    let report = place.stance(&words).report();
    assert_eq!(report["text"], "Read.", "{report:#}");
}

#[test]
fn on_a_fresh_machine_no_mode_waits_for_somebody_unseen() {
    for flags in [&[][..], &["--yolo"]] {
        for (mode, code) in [("agent", 0), ("plan", 3), ("orchestrate", 1)] {
            let place = Place::new();
            assert!(!place.stance_home().exists());
            let model = place.script("talks", &turns(&[says("Nothing to do."), says("Nothing to do.")]));
            let words = [&["run", "--mode", mode, "--model", &model, "look"], flags].concat();
            let ended = with_an_open_end(&place, &words);
            assert_eq!(ended.code, code, "{mode}: {}{}", ended.out, ended.err);
        }
    }
    // Without a model there is nothing to run, and a terminal is what a conversation takes.
    for words in [&["run", "--mode", "agent", "look"][..], &[]] {
        let ended = with_an_open_end(&Place::new(), words);
        assert!(ended.code == 1 || ended.code == 2, "{words:?}: {ended:?}");
        assert!(ended.err.contains("hint: "), "{words:?}: {ended:?}");
    }
}

#[test]
fn a_plan_that_nobody_read_is_approved_by_nobody() {
    let place = Place::new();
    place.settings("[autonomy]\ndefault = \"act_freely\"\n");
    let model = place.script("plans", &turns(&[calls(&[plan()]), says("never said")]));
    let before = place.world();
    let (code, events, report) = place.stream(&model, &["--mode", "plan", "--yolo", "plan it, then stop"]);
    assert_eq!(
        (code, report["plan"]["status"].as_str(), kinds(&report["pending"])),
        (0, Some("proposed"), vec!["plan"]),
        "{report:#}"
    );
    for kind in ["approval_moved", "orchestration_created", "mode_changed"] {
        assert!(events.iter().all(|event| event["kind"] != kind), "{kind}");
    }
    let results = place.results(run_of(&report), "submit_plan");
    assert!(
        matches!(results.as_slice(), [(false, words)] if !words.contains("approved")),
        "{results:?}"
    );
    assert_eq!(place.world(), before);
}
