//! What programs need around them is an operator's word, and never anything less by itself.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::absent::{elsewhere, without_bubblewrap};
use crate::attacks::evidence::{Told, told};
use crate::support::{Place, calls, one_step_plan, plan_at_digest, says, turns, unseen};

const ACCEPT: &str = "accept = \"approvals are not protected from programs\"\n";
const AGENT: [&str; 3] = ["--mode", "agent", "work"];

fn place(sandbox: &str) -> Place {
    let place = Place::new();
    place.settings(&format!("[limits]\nmistakes = \"off\"\n[sandbox]\n{sandbox}"));
    place
}

fn runs(place: &Place, made: &[(&str, Value)], more: &[&str]) -> (Vec<Told>, Value, String) {
    let model = place.script("work", &turns(&[calls(made), says("done")]));
    let words = [&["run", "--stream-json", "--model", &model][..], more, &AGENT].concat();
    let said = place.stance(&words);
    let mut lines: Vec<Value> = said
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let report = lines.pop().unwrap_or_else(|| panic!("{said:?}"));
    (told(&lines), report, said.err)
}

fn line(command: &str) -> (&'static str, Value) {
    ("execute_command", json!({"command": command}))
}

#[test]
fn no_word_alone_lets_a_program_run_without_walls() {
    for mode in ["off", "outer"] {
        let place = place(&format!("mode = \"{mode}\"\n"));
        let (told, report, err) = runs(&place, &[line("touch ran")], &["--yolo"]);
        assert!(
            told[0].error && told[0].text.contains("accepted to do without"),
            "{told:?}"
        );
        assert!(!place.repo().join("ran").exists());
        assert_eq!(report["walls"], "absent");
        assert!(err.contains("approvals are not protected from programs"), "{err}");
        let doctor = place.stance(&["doctor"]);
        assert_eq!(doctor.code, 1, "{doctor:?}");
        assert!(doctor.out.contains(ACCEPT.trim()), "{doctor:?}");
    }
}

#[test]
fn neither_a_yes_to_a_plan_nor_a_check_starts_a_program_without_walls() {
    let place = place("mode = \"off\"\n");
    let plan = one_step_plan("Make it", "make", &["ran"], &["touch checked"]);
    let model = place.script(
        "planned",
        &json!({"runs": [
            {"match": {"mode": "plan"}, "turns": [calls(&[("submit_plan", plan)])]},
            {"match": {"mode": "agent", "step": "make"}, "turns": [
                calls(&[line("touch ran")]),
                calls(&[("submit_output", json!({"evidence": "it was made"}))]),
            ]},
        ]}),
    );
    let (code, report) = place.run(&model, &["--mode", "plan", "make it"]);
    assert_eq!(code, 0, "{report:#}");
    let said = place.stance(&["plan", "approve", &plan_at_digest(&report), "--model", &model]);
    assert_ne!(said.code, 0, "{said:?}");
    let told = said.out.matches("accepted to do without").count();
    assert_eq!(told, 2, "the command and the check: {said:?}");

    let model = place.script("done", &turns(&[says("done")]));
    let said = place.stance(&[
        "run",
        "--model",
        &model,
        "--check",
        "touch checked",
        "--mode",
        "agent",
        "go",
    ]);
    assert_ne!(said.code, 0, "{said:?}");
    assert!(said.out.contains("accepted to do without"), "{said:?}");
    assert!(!place.repo().join("ran").exists() && !place.repo().join("checked").exists());
}

#[test]
fn the_container_is_the_wall_when_an_operator_says_so_and_accepts_it() {
    let place = place(ACCEPT);
    let made = [
        line("touch ran; echo $HOME; echo x > $TMPDIR/x && cat $TMPDIR/x"),
        ("git_write", json!({"op": "commit", "message": "ran", "paths": ["ran"]})),
        ("git_read", json!({"op": "log"})),
    ];
    let (told, report, err) = runs(&place, &made, &["--sandbox", "outer"]);
    assert!(
        told[0].error && told[0].text.contains("your approvals are not protected from it"),
        "{told:?}"
    );
    assert!(!place.repo().join("ran").exists());
    assert_eq!(report["walls"], "outer");
    assert!(
        err.contains("walls outer: the container is the wall; not proven by Stance"),
        "{err}"
    );

    let (told, report, _) = runs(&place, &made, &["--sandbox", "outer", "--yolo"]);
    assert!(told.iter().all(|told| !told.error), "{told:?}");
    assert!(
        told[0].text.contains(&place.stance_home().display().to_string()),
        "a private home: {told:?}"
    );
    assert!(told[2].text.contains("ran"), "{told:?}");
    assert!(place.repo().join("ran").exists());
    assert_eq!(report["walls"], "outer");
    assert_eq!(place.git(&["log", "--format=%s", "-1"]), "ran\n");
    assert_eq!(place.git(&["status", "--porcelain"]), "");

    // The setting is as it was.
    let (_, report, _) = runs(&place, &[], &[]);
    assert_eq!(report["walls"], "proven");
}

#[test]
fn a_reading_mode_without_walls_changes_nothing() {
    let place = place(&format!("mode = \"off\"\n{ACCEPT}"));
    let before = place.world();
    let model = place.script(
        "read",
        &turns(&[
            calls(&[
                ("git_read", json!({"op": "status"})),
                ("git_read", json!({"op": "diff"})),
                line("touch ran"),
                ("inspect_command", json!({"command": "touch ran"})),
            ]),
            calls(&[(
                "plan_mode_respond",
                json!({"response": "Nothing.", "no_plan_needed": true, "reason": "Looked."}),
            )]),
        ]),
    );
    let (_, events, _) = place.stream(&model, &["--mode", "plan", "look"]);
    let told = told(&events);
    assert!(
        !told[0].error && !told[1].error && told[2].error && told[3].error,
        "{told:?}"
    );
    assert_eq!(place.world(), before);
}

#[test]
fn a_program_without_walls_decides_nothing() {
    let place = place(&format!("mode = \"off\"\n{ACCEPT}"));
    let binary = env!("CARGO_BIN_EXE_stance");
    let home = place.stance_home().display().to_string();
    fs::write(
        place.repo().join("x.sh"),
        format!("env -u STANCE_RUN STANCE_HOME={home} HOME=/ {binary} mode plan 2>&1\n"),
    )
    .unwrap();
    let hidden = |words: &str| line(&unseen(words));
    let made = [
        hidden(&format!("STANCE_HOME={home} {binary} mode plan 2>&1")),
        line("sh x.sh"),
        hidden(&format!(
            "cp {binary} $TMPDIR/other; env -i STANCE_HOME={home} HOME=/ $TMPDIR/other mode plan 2>&1"
        )),
        hidden(&format!(
            "(setsid env -i STANCE_HOME={home} HOME=/ {binary} mode plan > said 2>&1 &); until grep -q . said 2>/dev/null; do :; done; cat said; false"
        )),
    ];
    let (told, ..) = runs(&place, &made, &["--yolo"]);
    for told in &told {
        assert!(
            told.error && told.text.contains("A run is never an operator"),
            "{told:?}"
        );
    }
    let spaces = place.stance(&["space", "list", "--json"]).report();
    assert!(
        spaces.as_array().unwrap().iter().all(|space| space["mode"] == "chat"),
        "{spaces:#}"
    );
}

#[test]
fn where_no_namespace_can_be_made_the_kernel_alone_holds_if_an_operator_prefers_that() {
    let place = place(&format!("mode = \"preferred\"\n{ACCEPT}"));
    let machine = without_bubblewrap();
    let doctor = elsewhere(&place, &machine, &["doctor", "--json"]);
    assert_eq!(doctor.code, 0, "{doctor:?}");
    let walls = doctor.report()["walls"].clone();
    assert_eq!(
        (&walls["standing"], &walls["proven"]),
        (&json!("partial"), &json!(false)),
        "{walls:#}"
    );
    assert!(walls["why"].as_str().unwrap().contains("walls partly"), "{walls:#}");
    assert!(
        walls["probes"]
            .as_array()
            .unwrap()
            .iter()
            .all(|probe| probe["held"] == true),
        "{walls:#}"
    );

    let model = place.script(
        "partly",
        &turns(&[
            calls(&[
                line("echo made > src/made"),
                line("echo x > .git/config; echo x > .git/hooks/pre-commit"),
                line(&format!("cat {}/settings.toml", place.stance_home().display())),
                line("chmod 777 src/app.js"),
                (
                    "git_write",
                    json!({"op": "commit", "message": "made", "paths": ["src/made"]}),
                ),
            ]),
            says("done"),
        ]),
    );
    let words = [
        "run",
        "--stream-json",
        "--mode",
        "agent",
        "--yolo",
        "--model",
        &model,
        "work",
    ];
    let said = elsewhere(&place, &machine, &words);
    let mut events: Vec<Value> = said
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events.pop().unwrap_or_else(|| panic!("{said:?}"))["walls"], "partial");
    let told = told(&events);
    let errors: Vec<bool> = told.iter().map(|told| told.error).collect();
    assert_eq!(errors, [false, true, true, true, false], "{told:?}");
    assert_eq!(place.read("src/made"), "made\n");
    assert_eq!(place.git(&["log", "--format=%s", "-1"]), "made\n");
    assert!(!Path::new(&place.repo().join(".git/hooks/pre-commit")).exists());
}

#[test]
fn a_project_file_does_not_say_what_programs_need() {
    let place = Place::new();
    for text in ["mode = \"off\"\n", ACCEPT] {
        place.write(".stance/settings.toml", &format!("[sandbox]\n{text}"));
        let model = place.script("none", &turns(&[says("done")]));
        let said = place.stance(&["run", "--model", &model, "x"]);
        assert_ne!(said.code, 0);
        assert!(
            said.err.contains("does not say what programs need around them"),
            "{said:?}"
        );
    }
}

#[test]
fn no_argument_of_a_call_and_no_line_takes_the_walls_away() {
    let place = place("");
    let out = place.outside().join("out");
    let command = unseen(&format!("echo x > {}", out.display()));
    let mut made = vec![line(&command)];
    for (name, value) in [
        ("sandbox", json!("off")),
        ("sandbox", json!(false)),
        ("unsandboxed", json!(true)),
        ("dangerously_disable_sandbox", json!(true)),
        ("with_escalated_permissions", json!(true)),
        ("justification", json!("The sandbox is in the way.")),
        ("walls", json!("outer")),
    ] {
        let mut arguments = json!({ "command": command });
        arguments[name] = value;
        made.push(("execute_command", arguments));
    }
    let binary = env!("CARGO_BIN_EXE_stance");
    let again = made.len();
    made.extend(
        [
            format!("{binary} run --sandbox outer --yolo -p x"),
            format!("STANCE_SANDBOX=off {binary} run -p x"),
            "unshare -r true".to_owned(),
            "bwrap --dev-bind / / true".to_owned(),
            "nsenter -t 1 -m true".to_owned(),
        ]
        .iter()
        .map(|words| line(words)),
    );
    for flags in [
        &["--yolo"][..],
        &[
            "--yolo",
            "--allow",
            "effect(enclosure_control)",
            "--allow",
            "effect(process_spawn)",
        ],
    ] {
        let (told, report, _) = runs(&place, &made, flags);
        assert!(
            told[0].error && told[0].how == "performed",
            "the walls held it: {:?}",
            told[0]
        );
        for told in &told[1..again] {
            assert!(told.error && told.how != "performed", "{told:?}");
        }
        for told in &told[again..] {
            assert!(told.error, "{told:?}");
        }
        assert_eq!(report["walls"], "proven");
        assert!(!out.exists());
    }
}

#[test]
fn going_on_takes_nothing_along_that_was_said_for_one_run() {
    let place = place(&format!("{ACCEPT}[permissions]\nask = [\"effect(process_spawn)\"]\n"));
    let touch = || calls(&[line("touch ran")]);
    let model = place.script(
        "twice",
        &json!({"runs": [{"turns": [touch(), says("done")]}, {"turns": [touch(), says("done")]}]}),
    );
    let words = [
        "run",
        "--model",
        &model,
        "--sandbox",
        "outer",
        "--yolo",
        "--allow",
        "effect(process_spawn)",
        "--mode",
        "agent",
        "go",
    ];
    let first = place.stance(&words);
    assert_eq!(first.code, 0, "{first:?}");
    assert!(place.repo().join("ran").exists());
    fs::remove_file(place.repo().join("ran")).unwrap();
    // No command it offers says more than a person has to say.
    let offered = format!("{}{}", first.out, first.err);
    assert!(
        !offered.contains("--yolo") && !offered.contains("--sandbox"),
        "{offered}"
    );
    let (code, events, second) = place.stream(&model, &["--resume", "last", "again"]);
    assert_eq!((code, second["walls"].as_str()), (4, Some("proven")), "{second:#}");
    assert!(told(&events)[0].error && !place.repo().join("ran").exists());
}
