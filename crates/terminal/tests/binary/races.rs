//! Two processes, or more, on one workspace: one decision counts, one process carries a plan out,
//! writers of a checkout take turns and say for whom they wait, and nobody ever spoils the journal.

mod together;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Place, Said, calls, one_step_plan, plan_at_digest, says, turns};

pub(crate) use together::appears;
use together::{Started, at_once};

/// A plan of one step that appends a line to a file, and goes on when `go` is there where `waits`.
fn logging(place: &Place, waits: bool) -> String {
    let line = if waits {
        "echo x >> log.txt; until test -e go; do sleep 0.05; done"
    } else {
        "echo x >> log.txt"
    };
    let plan = one_step_plan("Log it", "log", &["log.txt"], &[]);
    place.script(
        "logging",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [calls(&[("submit_plan", plan)])]},
            {"match": {"mode": "agent", "step": "log"}, "turns": [
                calls(&[("execute_command", json!({"command": line, "timeout_s": 500}))]),
                calls(&[("submit_output", json!({"evidence": "one line"}))]),
            ]},
        ]}),
    )
}

/// The journal is whole: verified, without gaps, and with so many events of a kind.
fn whole(place: &Place, counts: &[(&str, usize)]) {
    let verified = place.stance(&["audit", "verify"]);
    assert_eq!(verified.code, 0, "{}{}", verified.out, verified.err);
    let journal = place.journal();
    let head = place.stance(&["audit", "head"]).out;
    assert_eq!(
        head.split(':').next(),
        Some(journal.len().to_string().as_str()),
        "a number is missing: {head}"
    );
    for (kind, count) in counts {
        let found = journal.iter().filter(|event| event.kind == *kind).count();
        assert_eq!(found, *count, "{kind}");
    }
}

fn refused(said: &Said, words: &[&str]) {
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.err.contains("error: ") && words.iter().any(|words| said.err.contains(words)),
        "{said:?}"
    );
}

#[test]
fn of_two_processes_that_approve_the_same_plan_one_carries_it_out() {
    for _ in 0..4 {
        let place = Place::new();
        let model = logging(&place, false);
        let (_, report) = place.run(&model, &["--mode", "plan", "log it"]);
        let named = plan_at_digest(&report);
        let approve = ["plan", "approve", &named, "--json", "--model", &model];
        let mut said = at_once(&place, &[&approve, &approve]);
        said.sort_by_key(|said| said.code);
        let [one, other] = said.as_slice() else {
            panic!("{said:?}")
        };
        assert_eq!(one.code, 0, "{one:?}");
        refused(other, &["decided already"]);
        assert!(other.err.contains("stance plan run p_"), "{other:?}");
        assert_eq!(place.read("log.txt"), "x\n");
        whole(
            &place,
            &[
                ("orchestration_created", 1),
                ("orchestration_ended", 1),
                ("run_started", 2),
            ],
        );
    }
}

#[test]
fn a_plan_is_decided_once_by_either_name() {
    let place = Place::new();
    let model = logging(&place, false);
    let (_, report) = place.run(&model, &["--mode", "plan", "log it"]);
    let named = plan_at_digest(&report);
    let pending = &report["pending"][0];
    let approval = format!(
        "{}@{}",
        pending["id"].as_str().unwrap(),
        pending["digest"].as_str().unwrap()
    );
    let other_digest = format!("{}@{}", report["plan"]["id"].as_str().unwrap(), "0".repeat(64));
    refused(
        &place.stance(&["plan", "approve", &other_digest, "--model", &model]),
        &["it changed, look again"],
    );
    assert_eq!(
        place.stance(&["inbox", "approve", &approval, "--model", &model]).code,
        0
    );
    refused(
        &place.stance(&["plan", "approve", &named, "--model", &model]),
        &["decided already"],
    );
    let again = place.stance(&["inbox", "approve", &approval, "--model", &model]);
    assert_eq!(again.code, 2, "{again:?}");
    assert!(again.err.contains("waits for you"), "{again:?}");
    refused(&place.stance(&["plan", "reject", &named]), &["decided already"]);
    whole(&place, &[("orchestration_created", 1)]);
}

#[test]
fn an_approval_cut_off_by_a_crash_counts_wholly_or_not_at_all() {
    for (moment, counted) in [("before", false), ("after", true), ("effect", true)] {
        let place = Place::new();
        let model = logging(&place, false);
        let (_, report) = place.run(&model, &["--mode", "plan", "log it"]);
        let named = plan_at_digest(&report);
        let approve = ["plan", "approve", &named, "--json", "--model", &model];
        let mut command = place.command(&approve);
        command.env("STANCE_FAULT", format!("orchestration_created:{moment}:1"));
        assert_eq!(crate::support::said(command.output().unwrap()).code, 137);
        let again = place.stance(&approve);
        if counted {
            refused(&again, &["decided already"]);
            let id = report["plan"]["id"].as_str().unwrap();
            assert!(again.err.contains(&format!("stance plan run {id}")), "{}", again.err);
            assert_eq!(place.stance(&["plan", "run", id, "--json", "--model", &model]).code, 0);
        } else {
            assert_eq!(again.code, 0, "{again:?}");
        }
        assert_eq!(place.read("log.txt"), "x\n");
        whole(&place, &[("orchestration_created", 1), ("orchestration_ended", 1)]);
    }
}

#[test]
fn a_plan_under_way_in_one_process_is_refused_to_another_which_names_it() {
    let place = Place::new();
    let model = logging(&place, true);
    let (_, report) = place.run(&model, &["--mode", "plan", "log it"]);
    let id = report["plan"]["id"].as_str().unwrap();
    let first = Started::start(
        &place,
        &["plan", "approve", &plan_at_digest(&report), "--json", "--model", &model],
    );
    appears(&place.repo().join("log.txt"));
    let second = place.stance(&["plan", "run", id, "--json", "--model", &model]);
    refused(
        &second,
        &[&format!("plan {id} is carried out by process {}", first.id())],
    );
    place.write("go", "");
    assert_eq!(first.end().code, 0);
    assert_eq!(place.read("log.txt"), "x\n");
    whole(
        &place,
        &[
            ("orchestration_created", 1),
            ("orchestration_ended", 1),
            ("run_ended", 2),
        ],
    );
}

#[test]
fn a_saved_plan_started_by_two_processes_is_started_once() {
    for _ in 0..3 {
        let place = Place::new();
        let model = logging(&place, false);
        let (_, report) = place.run(&model, &["--mode", "plan", "log it"]);
        let saved = place.stance(&[
            "plan",
            "approve",
            &plan_at_digest(&report),
            "--save-only",
            "--model",
            &model,
        ]);
        assert_eq!(saved.code, 0, "{saved:?}");
        let go = [
            "plan",
            "run",
            report["plan"]["id"].as_str().unwrap(),
            "--json",
            "--model",
            &model,
        ];
        let said = at_once(&place, &[&go, &go]);
        assert!(said.iter().any(|said| said.code == 0), "{said:?}");
        for late in said.iter().filter(|said| said.code != 0) {
            refused(late, &["is carried out by process"]);
        }
        assert_eq!(place.read("log.txt"), "x\n");
        whole(&place, &[("orchestration_created", 1), ("orchestration_ended", 1)]);
    }
}

#[test]
fn the_second_writer_of_a_checkout_waits_and_says_for_whom() {
    for output in ["--json", "--stream-json"] {
        let place = Place::new();
        let waits =
            json!({"command": "echo first >> order.txt; until test -e go; do sleep 0.05; done", "timeout_s": 500});
        let first = place.script("first", &turns(&[calls(&[("execute_command", waits)]), says("done")]));
        let appends = json!({"command": "echo second >> order.txt"});
        let second = place.script(
            "second",
            &turns(&[calls(&[("execute_command", appends)]), says("done")]),
        );
        let run = |model| ["run", output, "--mode", "agent", "--yolo", "--model", model, "append"];
        let holder = Started::start(&place, &run(&first));
        appears(&place.repo().join("order.txt"));
        let mut waiting = Started::start(&place, &run(&second));
        let told = waiting.reads_until("Waiting for run r_");
        assert!(told.contains(&format!("(process {})", holder.id())), "{told}");
        assert_eq!(place.read("order.txt"), "first\n");
        place.write("go", "");
        assert_eq!((holder.end().code, waiting.end().code), (0, 0));
        assert_eq!(place.read("order.txt"), "first\nsecond\n");
        whole(&place, &[("run_started", 2), ("run_ended", 2), ("tool_finished", 2)]);
    }
}

#[test]
fn what_another_run_writes_while_a_plan_waits_is_not_booked_to_its_step() {
    let place = Place::new();
    let model = logging(&place, false);
    let (_, report) = place.run(&model, &["--mode", "plan", "log it"]);
    let line = "echo begun > other.txt; until test -e go; do sleep 0.05; done; echo ended >> other.txt";
    let writes = calls(&[("execute_command", json!({"command": line, "timeout_s": 500}))]);
    let other = place.script("other", &turns(&[writes, says("done")]));
    let holder = Started::start(
        &place,
        &["run", "--json", "--mode", "agent", "--yolo", "--model", &other, "write"],
    );
    appears(&place.repo().join("other.txt"));
    let mut plan = Started::start(
        &place,
        &["plan", "approve", &plan_at_digest(&report), "--json", "--model", &model],
    );
    plan.reads_until("Waiting for run r_");
    place.write("go", "");
    assert_eq!(holder.end().code, 0);
    let done = plan.end();
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(done.report()["files_changed"], json!(["log.txt"]));
    assert_eq!(
        done.report()["orchestration"]["steps"][0]["files_changed"],
        json!(["log.txt"])
    );
    whole(&place, &[("orchestration_ended", 1)]);
}

#[test]
fn plans_written_at_the_same_time_start_from_the_same_state() {
    let place = Place::new();
    for number in 0..60 {
        place.write(&format!("notes/{number}.txt"), &format!("note {number}\n"));
    }
    let plan = one_step_plan("Greet", "greet", &["HELLO.md"], &[]);
    let model = place.script("plan", &turns(&[calls(&[("submit_plan", plan)])]));
    let run: &[&str] = &["run", "--json", "--mode", "plan", "--model", &model, "greet"];
    let said = at_once(&place, &[run; 5]);
    assert!(said.iter().all(|said| said.code == 0), "{said:?}");
    let bases: Vec<Value> = place
        .journal()
        .into_iter()
        .filter(|event| event.kind == "plan_submitted")
        .map(|event| json!([event.details["content"]["base"], event.details["base_words"]]))
        .collect();
    assert_eq!(bases.len(), 5);
    assert!(bases.iter().all(|base| base == &bases[0]), "{bases:?}");
    assert!(
        bases[0][1].as_str().unwrap().ends_with("+ 60 changed files"),
        "{bases:?}"
    );
    let plans = place.stance(&["plan", "list", "--json"]).report();
    assert!(
        plans
            .as_array()
            .unwrap()
            .iter()
            .all(|plan| plan["status"] == "proposed"),
        "{plans:#}"
    );
    whole(&place, &[("run_started", 5), ("run_ended", 5), ("approval_opened", 5)]);
}

#[test]
fn a_moved_plan_that_two_processes_look_at_is_re_based_once() {
    for _ in 0..4 {
        let place = Place::new();
        let model = logging(&place, false);
        let (_, report) = place.run(&model, &["--mode", "plan", "log it"]);
        place.git(&["commit", "-q", "--allow-empty", "-m", "moved"]);
        let id = report["plan"]["id"].as_str().unwrap();
        let show = ["plan", "show", id, "--json"];
        let said = at_once(&place, &[&show, &show, &show]);
        for one in &said {
            assert_eq!((one.code, &one.report()["revision"]), (0, &json!(2)), "{one:?}");
            assert_eq!(one.report()["digest"], said[0].report()["digest"]);
        }
        let inbox = place.stance(&["inbox", "--json"]).report();
        assert_eq!(inbox.as_array().unwrap().len(), 1, "{inbox:#}");
        whole(
            &place,
            &[("plan_submitted", 2), ("approval_opened", 2), ("approval_moved", 1)],
        );
    }
}

#[test]
fn a_run_cut_off_is_gone_on_with_by_one_of_two() {
    for _ in 0..4 {
        let place = Place::new();
        let appends = json!({"command": "echo x >> log.txt"});
        let model = place.script(
            "append",
            &turns(&[calls(&[("execute_command", appends)]), says("done")]),
        );
        let mut command = place.command(&["run", "--json", "--yolo", "--model", &model, "append"]);
        command.env("STANCE_FAULT", "tool_started:effect:1");
        assert_eq!(crate::support::said(command.output().unwrap()).code, 137);
        let resume = ["run", "--resume", "last", "--json", "--model", &model];
        let said = at_once(&place, &[&resume, &resume]);
        assert!(said.iter().any(|said| said.code == 0), "{said:?}");
        for late in said.iter().filter(|said| said.code == 1) {
            refused(late, &["is carried out by process"]);
        }
        assert_eq!(place.read("log.txt"), "x\n");
        let spaces = place.stance(&["space", "list", "--json"]).report();
        assert_eq!(spaces[0]["open_runs"], json!({}));
        whole(&place, &[("run_ended", 1), ("tool_finished", 1)]);
    }
}

#[test]
fn whoever_looks_beside_a_writer_is_never_kept_waiting_or_shown_a_half() {
    let place = Place::new();
    let writes = |number: usize| {
        calls(&[(
            "write_to_file",
            json!({"path": format!("{number}.txt"), "content": "x\n"}),
        )])
    };
    let mut turns_of_writer: Vec<Value> = (0..12).map(writes).collect();
    turns_of_writer.push(says("done"));
    let model = place.script("writer", &turns(&turns_of_writer));
    let mut writer = Started::start(
        &place,
        &["run", "--json", "--mode", "agent", "--yolo", "--model", &model, "write"],
    );
    let mut looks = 0;
    while writer.runs() || looks == 0 {
        for look in [
            &["plan", "list", "--json"][..],
            &["inbox", "--json"],
            &["space", "list", "--json"],
            &["audit", "verify"],
        ] {
            let said = place.stance(look);
            assert_eq!(said.code, 0, "{look:?} {said:?}");
        }
        looks += 1;
    }
    assert_eq!(writer.end().code, 0);
    let files: Vec<PathBuf> = (0..12)
        .map(|number| place.repo().join(format!("{number}.txt")))
        .collect();
    assert!(files.iter().all(|file| file.is_file()));
    whole(&place, &[("tool_finished", 12), ("run_ended", 1)]);
}
