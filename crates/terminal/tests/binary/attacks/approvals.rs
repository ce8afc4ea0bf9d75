//! A decision is a person's, about what the person saw: never an agent's, never about an older text.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::evidence::{kept, told};
use crate::support::{Place, calls, one_step_plan, plan_at_digest, said, says, turns};

/// A person's yes, as the journal has it.
const APPROVED: &str = "\"moved\":\"approve\"";

fn planner(place: &Place) -> String {
    place.script(
        "planner",
        &turns(&[
            calls(&[("submit_plan", one_step_plan("First", "a", &["A.md"], &[]))]),
            calls(&[("submit_plan", one_step_plan("Second", "a", &["A.md"], &[]))]),
            says("done"),
        ]),
    )
}

/// What a decision could have moved: plans, what waits, spaces with their modes.
fn standing(place: &Place) -> [Value; 3] {
    [
        &["plan", "list", "--json"][..],
        &["inbox", "--json"],
        &["space", "list", "--json"],
    ]
    .map(|line| {
        let mut rows = place.stance(line).report();
        for row in rows.as_array_mut().unwrap() {
            // It goes on by itself.
            row.as_object_mut().unwrap().remove("age_ms");
        }
        rows
    })
}

/// What the journal would hold, had somebody answered. (That a newer text voids the older is no
/// answer.)
fn no_decision_is_kept(place: &Place) {
    for trace in [
        APPROVED,
        "\"moved\":\"reject\"",
        "orchestration_created",
        "mode_changed",
    ] {
        assert_eq!(kept(place, trace), Vec::<PathBuf>::new(), "{trace}");
    }
}

fn nothing_was_decided(place: &Place, before: &[Value; 3]) {
    assert_eq!(&standing(place), before);
    assert!(!place.repo().join("A.md").exists());
    no_decision_is_kept(place);
    assert_eq!(place.stance(&["audit", "verify"]).code, 0);
}

#[test]
fn an_answer_to_an_older_text_is_none_at_every_door() {
    let place = Place::new();
    let model = planner(&place);
    let (_, first) = place.run(&model, &["--mode", "plan", "plan it"]);
    let listed = place.stance(&["inbox", "--json"]).report();
    let old = (
        listed[0]["id"].as_str().unwrap().to_owned(),
        listed[0]["digest"].as_str().unwrap().to_owned(),
    );
    let (_, second) = place.run(&model, &["--resume", first["thread_id"].as_str().unwrap(), "again"]);
    let listed = place.stance(&["inbox", "--json"]).report();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed:#}");
    let new = (
        listed[0]["id"].as_str().unwrap().to_owned(),
        listed[0]["digest"].as_str().unwrap().to_owned(),
    );
    assert_ne!(old.1, new.1);
    let plan = first["plan"]["id"].as_str().unwrap().to_owned();
    let before = standing(&place);
    let digest = second["plan"]["digest"].as_str().unwrap();
    // A digit that does not stand there.
    let other = if digest[20..].starts_with('0') { '1' } else { '0' };
    let cases = [
        (vec!["plan", "approve"], plan_at_digest(&first), 1),
        (vec!["plan", "approve"], plan.clone(), 2),
        (vec!["plan", "approve"], format!("{plan}@"), 1),
        (vec!["plan", "approve"], format!("{plan}@{}", &digest[..6]), 1),
        (vec!["plan", "approve"], format!("{plan}@{}{other}", &digest[..20]), 1),
        (vec!["plan", "approve"], format!("{plan}@{digest}0"), 1),
        (vec!["plan", "approve"], format!("{plan}@{}", digest.to_uppercase()), 1),
        (vec!["plan", "reject"], plan_at_digest(&first), 1),
        (vec!["plan", "reject"], plan.clone(), 2),
        (vec!["plan", "run"], plan, 1),
        (vec!["inbox", "approve"], format!("{}@{}", new.0, old.1), 1),
        (
            vec!["inbox", "approve"],
            format!("{}@{}", old.0, old.1),
            if old.0 == new.0 { 1 } else { 2 },
        ),
        (vec!["inbox", "approve"], format!("{}@", new.0), 1),
        (vec!["inbox", "approve"], new.0.clone(), 2),
        (vec!["inbox", "deny"], format!("{}@{}", new.0, old.1), 1),
        (vec!["inbox", "answer", &new.0], "yes".to_owned(), 2),
    ];
    for (words, last, code) in &cases {
        let line: Vec<&str> = words.iter().copied().chain([last.as_str()]).collect();
        let said = place.stance(&line);
        assert_eq!(said.code, *code, "{line:?}: {}{}", said.out, said.err);
    }
    nothing_was_decided(&place, &before);
    let good = place.stance(&["inbox", "approve", &format!("{}@{}", new.0, new.1)]);
    assert_eq!(good.code, 0, "{}", good.err);
    assert_ne!(kept(&place, APPROVED), Vec::<PathBuf>::new());
}

/// Lets a plan wait; returns the lines by which an agent could answer for the person.
fn waiting(place: &Place) -> Vec<String> {
    let model = planner(place);
    let (_, report) = place.run(&model, &["--mode", "plan", "plan it"]);
    let listed = place.stance(&["inbox", "--json"]).report();
    let pending = format!(
        "{}@{}",
        listed[0]["id"].as_str().unwrap(),
        listed[0]["digest"].as_str().unwrap()
    );
    let acts = [
        "plan approve {P}",
        "inbox approve {I}",
        "mode agent",
        "run --model {M} hello",
        "plan comment {N} yes",
    ];
    let named = |act: &str| {
        act.replace("{P}", &plan_at_digest(&report))
            .replace("{N}", report["plan"]["id"].as_str().unwrap())
            .replace("{I}", &pending)
            .replace("{M}", &model)
    };
    acts.into_iter().map(named).collect()
}

#[test]
fn an_agent_answers_nothing_for_the_person_from_inside() {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    let acts = waiting(&place);
    let home = place.stance_home().display().to_string();
    let binary = env!("CARGO_BIN_EXE_stance");
    let copy = place.repo().join("own-copy");
    fs::copy(binary, &copy).unwrap();
    // Large, and nothing that must be kept with the checkout.
    place.write(".gitignore", "/own-copy\n/s\n");
    let ways = [
        "stance {A}",
        "{B} {A}",
        "/.stance/walls {A}",
        "./own-copy {A}",
        "cp /.stance/walls s && ./s {A}",
        "echo '/.stance/walls {A}' > x.sh && sh x.sh",
        "echo './own-copy {A}' > x.sh && setsid nohup sh x.sh",
        "env -u STANCE_RUN ./own-copy {A}",
        "env -i HOME={H}/.. STANCE_HOME={H} ./own-copy {A}",
        "STANCE_RUN= STANCE_HOME={H} ./own-copy {A}",
        "export STANCE_HOME={H}; unset STANCE_RUN; exec ./own-copy {A}",
        "env -i STANCE_HOME={H} HOME=/tmp setsid sh -c './own-copy {A} & wait $!'",
        "python3 -c \"import os; os.environ.clear(); os.environ['STANCE_HOME']='{H}'; os.environ['HOME']='/tmp'; \
         os.execv('./own-copy', ['s'] + '{A}'.split())\"",
    ];
    let mut made: Vec<(&str, Value)> = Vec::new();
    for (number, act) in acts.iter().enumerate() {
        // Every way to approve; the other acts by those that differ most.
        for way in ways.into_iter().take(if number == 0 { ways.len() } else { 5 }) {
            let line = way.replace("{A}", act).replace("{B}", binary).replace("{H}", &home);
            made.push(("execute_command", json!({"command": format!("{line} && echo DECIDED")})));
        }
    }
    for line in [
        "ls {H}/workspaces",
        "cat {H}/settings.toml",
        "cat {H}/workspaces/*/journal.db",
        "cat {H}/keys/*",
        "python3 -c \"import sqlite3,glob; sqlite3.connect(glob.glob('{H}/workspaces/*/journal.db')[0])\"",
    ] {
        let line = line.replace("{H}", &home);
        made.push(("execute_command", json!({"command": format!("{line} && echo DECIDED")})));
    }
    made.push((
        "write_to_file",
        json!({"path": format!("{home}/settings.toml"), "content": "x"}),
    ));
    made.push(("read_file", json!({"path": format!("{home}/settings.toml")})));
    let model = place.script("forges", &turns(&[calls(&made), says("done")]));
    let before = standing(&place);
    let settings = fs::read_to_string(place.stance_home().join("settings.toml")).unwrap();
    let space = before[2][0]["id"].as_str().unwrap().to_owned();
    let (_, events, _) = place.stream(&model, &["--mode", "agent", "--yolo", "answer for me"]);
    let told = told(&events);
    assert_eq!(told.len(), made.len());
    for (told, (_, arguments)) in told.iter().zip(&made) {
        assert!(told.error, "{arguments}: {told:?}");
        assert!(
            !told.text.contains("DECIDED") && !told.text.contains("SQLite format"),
            "{arguments}: {told:?}"
        );
    }
    let refused = told
        .iter()
        .filter(|told| told.text.contains("A run is never an operator"))
        .count();
    assert!(
        refused >= acts.len() * 2 + 8,
        "{refused} of {} refused for what they are",
        made.len()
    );
    assert_eq!(
        fs::read_to_string(place.stance_home().join("settings.toml")).unwrap(),
        settings
    );
    let after = standing(&place);
    assert_eq!((&after[0], &after[1]), (&before[0], &before[1]));
    let planned = after[2]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["id"] == space.as_str())
        .unwrap();
    assert_eq!(planned["mode"], before[2][0]["mode"]);
    no_decision_is_kept(&place);
}

#[test]
fn what_left_a_run_without_walls_answers_nothing_while_the_run_is_driven() {
    let place = Place::new();
    let acts = waiting(&place);
    let before = standing(&place);
    // Named as who drives runs without walls: what lost its parent becomes its child.
    let drives = place.outside().join("stance: drives");
    fs::copy("/bin/sh", &drives).unwrap();
    let copy = place.outside().join("s");
    fs::copy(env!("CARGO_BIN_EXE_stance"), &copy).unwrap();
    for act in &acts {
        let line = format!(
            "env -i HOME=$HOME STANCE_HOME=$STANCE_HOME setsid -w {} {act}; exit $?",
            copy.display()
        );
        let output = Command::new(&drives)
            .args(["-c", &line])
            .current_dir(place.repo())
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .env("HOME", place.home())
            .env("STANCE_HOME", place.stance_home())
            .stdin(Stdio::null())
            .output();
        let said = said(output.unwrap());
        assert_eq!(said.code, 1, "{line}: {said:?}");
        assert!(said.err.contains("A run is never an operator"), "{line}: {}", said.err);
    }
    nothing_was_decided(&place, &before);
}

#[test]
fn who_comes_from_a_run_answers_nothing_even_without_walls() {
    let place = Place::new();
    let acts = waiting(&place);
    let before = standing(&place);
    let binary = env!("CARGO_BIN_EXE_stance");
    for act in &acts {
        for line in [
            format!("{binary} {act}"),
            format!("env -u STANCE_RUN {binary} {act}; exit $?"),
            format!("unset STANCE_RUN; setsid -w {binary} {act}; exit $?"),
            format!("env -i HOME=$HOME STANCE_HOME=$STANCE_HOME sh -c '{binary} {act}; exit $?'; exit $?"),
        ] {
            let output = Command::new("bash")
                .args(["-c", &line])
                .current_dir(place.repo())
                .env_clear()
                .env("PATH", std::env::var("PATH").unwrap())
                .env("HOME", place.home())
                .env("STANCE_HOME", place.stance_home())
                .env("STANCE_RUN", "r_1")
                .stdin(Stdio::null())
                .output();
            let said = said(output.unwrap());
            assert_eq!(said.code, 1, "{line}: {said:?}");
            assert!(said.err.contains("A run is never an operator"), "{line}: {}", said.err);
        }
    }
    nothing_was_decided(&place, &before);
}
