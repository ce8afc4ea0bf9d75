//! Packages, services and processes: what manages them is not even opened by a run of plan mode.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::json;

use crate::attacks::evidence::{Canaries, told};
use crate::support::{Place, calls, one_step_plan, turns};

const PROGRAMS: [&str; 8] = [
    "pip",
    "npm",
    "docker",
    "systemctl",
    "brew",
    "apt-get",
    "kubectl",
    "kill",
];

const LINES: [&str; 8] = [
    "pip install x",
    "npm i",
    "docker restart c",
    "systemctl restart s",
    "brew install x",
    "apt-get install -y x",
    "kubectl delete pod x",
    "env kill 1234",
];

#[test]
fn what_manages_packages_and_services_is_not_started_in_plan_mode() {
    let place = Place::new();
    place.settings("[limits]\nmistakes = \"off\"\n");
    let mut canaries = Canaries::new(&place);
    let paths: Vec<String> = PROGRAMS.iter().map(|name| canaries.program(name)).collect();
    let whole = paths.iter().map(|path| format!("{path} restart x"));
    let lines: Vec<String> = LINES.iter().map(|line| (*line).to_owned()).chain(whole).collect();
    let tools = |tool: &'static str| lines.iter().map(move |line| (tool, json!({"command": line})));
    let plan = ("submit_plan", one_step_plan("Greet", "greet", &["HELLO.md"], &[]));
    let made: Vec<_> = tools("execute_command").chain(tools("inspect_command")).collect();
    let model = place.script("services", &turns(&[calls(&made), calls(&[plan])]));
    let before = place.world();
    canaries.opened();
    let (code, events, report) = place.stream(&model, &["--mode", "plan", "--yolo", "set it up"]);
    assert_eq!((code, canaries.opened()), (0, BTreeSet::new()), "{report:#}");
    let told = told(&events);
    assert!(
        told[..made.len()]
            .iter()
            .all(|told| told.error && told.how == "refused"),
        "{told:#?}"
    );
    assert_eq!(place.world(), before);

    // A start of one is seen. (Looking at the world opens them all.)
    canaries.opened();
    Command::new(&paths[2]).status().unwrap();
    assert_eq!(canaries.opened(), BTreeSet::from(["docker".to_owned()]));
}
