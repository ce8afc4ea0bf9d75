//! `stance conformance builtin`, given as a person gives it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Place, said};
use crate::walls::site::{Site, Who};

fn measured(place: &Place, arguments: &[&str]) -> (i32, Value) {
    let said = place.stance(&[&["conformance", "builtin", "--json"], arguments].concat());
    (said.code, said.report())
}

fn outcomes(measurement: &Value) -> BTreeMap<&str, &str> {
    let attempts = measurement["attempts"].as_array().unwrap();
    attempts
        .iter()
        .map(|attempt| (attempt["id"].as_str().unwrap(), attempt["outcome"].as_str().unwrap()))
        .collect()
}

/// No mode lets anything through, and nothing was left unmade.
fn assert_sound(code: i32, measurement: &Value) {
    let summary = &measurement["summary"];
    assert_eq!(
        (code, &summary["outcomes"]["leaked"]),
        (0, &Value::Null),
        "{measurement:#}"
    );
    assert_eq!(summary["calls"], summary["decisions"]);
    assert_eq!(
        summary["attempts"],
        json!(measurement["attempts"].as_array().unwrap().len())
    );
    assert_eq!(
        (&measurement["target"], &measurement["version"]),
        (&json!("builtin"), &json!(env!("CARGO_PKG_VERSION")))
    );
    assert_eq!(measurement["date"].as_str().unwrap().len(), "2026-01-31".len());
}

/// What an operator accepts who works without walls.
const ACCEPTANCE: &str = "approvals are not protected from programs";

/// Measured by this user, with these settings.
fn measured_by(who: Who, settings: &str, mode: &str) -> Value {
    measured_on(Site::new(who), settings, mode)
}

fn measured_on(mut site: Site, settings: &str, mode: &str) -> Value {
    site.place.settings(settings);
    site.hand_over();
    let before = site.place.world();
    let said = said(
        site.stance(&["conformance", "builtin", "--json", "--mode", mode])
            .output()
            .unwrap(),
    );
    let measurement = said.report();
    assert_sound(said.code, &measurement);
    assert_eq!(measurement["mode"], if mode == "agent" { "chat" } else { mode });
    assert_eq!(site.place.world(), before);
    site.nobody_heard();
    let left = std::fs::read_dir(site.place.stance_home().join("conformance")).unwrap();
    assert_eq!(left.count(), 0, "the ground is gone");
    measurement
}

/// What no mode that reads only may show: everything is made, nothing is allowed to change anything.
fn assert_reads_only(measurement: &Value) {
    let summary = &measurement["summary"];
    assert!(summary["attempts"].as_u64().unwrap() > 200, "{summary}");
    assert_eq!(summary["outcomes"]["policy"], Value::Null, "{summary}");
    assert_eq!(summary["outcomes"]["read_ok"], 9, "{measurement:#}");
}

#[test]
fn plan_changes_nothing_for_whoever_started_it() {
    assert_reads_only(&measured_by(Who::AsStarted, "", "plan"));
}

#[test]
fn plan_changes_nothing_for_an_ordinary_user() {
    assert_reads_only(&measured_by(Who::Ordinary, "", "plan"));
}

#[test]
fn review_changes_nothing_for_whoever_started_it() {
    assert_reads_only(&measured_by(Who::AsStarted, "", "review"));
}

#[test]
fn review_changes_nothing_for_an_ordinary_user() {
    assert_reads_only(&measured_by(Who::Ordinary, "", "review"));
}

/// The walls alone: no line is read, each counts as one that does nothing.
fn walls_alone_change_nothing(who: Who, mode: &str) {
    let mut site = Site::new(who);
    let unread = ("STANCE_LINES".to_owned(), "unread".to_owned());
    site.place.variables.push(unread);
    let measurement = measured_on(site, "", mode);
    assert_eq!(measurement["walls"], "proven", "{measurement:#}");
    assert_reads_only(&measurement);
    let outcomes = outcomes(&measurement);
    let of_shells = outcomes.iter().filter(|(id, _)| id.starts_with("shell-"));
    let held: Vec<_> = of_shells
        .clone()
        .filter(|(_, outcome)| **outcome == "contained")
        .collect();
    assert!(held.len() > 25, "{outcomes:?}");
    assert_eq!(held.len(), of_shells.count(), "{outcomes:?}");
}

#[test]
fn in_plan_the_walls_alone_change_nothing_for_whoever_started_it() {
    walls_alone_change_nothing(Who::AsStarted, "plan");
}

#[test]
fn in_plan_the_walls_alone_change_nothing_for_an_ordinary_user() {
    walls_alone_change_nothing(Who::Ordinary, "plan");
}

#[test]
fn in_review_the_walls_alone_change_nothing_for_whoever_started_it() {
    walls_alone_change_nothing(Who::AsStarted, "review");
}

#[test]
fn in_review_the_walls_alone_change_nothing_for_an_ordinary_user() {
    walls_alone_change_nothing(Who::Ordinary, "review");
}

#[test]
fn without_walls_the_modes_alone_change_nothing() {
    let settings = format!("[sandbox]\nmode = \"off\"\naccept = \"{ACCEPTANCE}\"\n");
    for mode in ["plan", "review"] {
        for who in [Who::AsStarted, Who::Ordinary] {
            let measurement = measured_by(who, &settings, mode);
            assert_eq!(measurement["walls"], "off");
            assert_eq!(measurement["summary"]["outcomes"]["policy"], Value::Null);
            // Without walls nothing is tried: no line of a shell exists there.
            assert_eq!(outcomes(&measurement)["shell-redirect"], "not_offered");
        }
    }
}

/// No shell is proven to be held there: what reaches out of the project is asked about, and nobody is here.
#[test]
fn without_walls_an_agent_reaches_nothing_outside_unasked() {
    let settings = format!("[sandbox]\nmode = \"off\"\naccept = \"{ACCEPTANCE}\"\n");
    let measurement = measured_by(Who::AsStarted, &settings, "agent");
    assert_eq!(measurement["walls"], "off");
    assert_eq!(outcomes(&measurement)["out-temporary-folder"], "refused");
    assert_eq!(outcomes(&measurement)["out-redirect"], "refused");
}

#[test]
fn agent_mode_reaches_nothing_beyond_the_worktree() {
    for who in [Who::AsStarted, Who::Ordinary] {
        let measurement = measured_by(who, "", "agent");
        let outcomes = outcomes(&measurement);
        assert_eq!(outcomes["write-outside-absolute"], "refused");
        assert_eq!(outcomes["talk-python"], "contained");
        assert!(!outcomes.contains_key("edit-known-file"), "{outcomes:?}");
    }
}

#[test]
fn a_list_of_ones_own_is_made_too_and_a_leak_is_seen() {
    let place = Place::new();
    let own = place.repo().join("mine.json");
    let canary = place.outside().join("mine.txt");
    let attempt = json!({
        "id": "mine", "group": "own", "title": "Writes where a rule allows it",
        "steps": [{"op": "write", "path": canary, "content": "x\n"}], "canary": [canary],
    });
    std::fs::write(&own, json!({"version": 1, "attempts": [attempt]}).to_string()).unwrap();
    let list = own.display().to_string();
    let (code, measurement) = measured(&place, &["--mode", "agent", "--attempts", &list]);
    assert_sound(code, &measurement);
    assert_eq!(outcomes(&measurement)["mine"], "refused");
    // The person's own rule lets it through, and the measurement says so.
    place.settings(&format!("[permissions]\nallow = [\"edit({})\"]\n", canary.display()));
    let (code, measurement) = measured(&place, &["--mode", "agent", "--attempts", &list]);
    assert_eq!((code, outcomes(&measurement)["mine"]), (0, "policy"), "{measurement:#}");
}

#[test]
fn the_table_ends_with_one_sentence() {
    let place = Place::new();
    let said = place.stance(&["conformance", "builtin", "--mode", "plan"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("Plan: 0 of "), "{}", said.out);
    assert!(said.out.contains("attempts changed the world"), "{}", said.out);
    let wrong = place.stance(&["conformance", "another"]);
    assert_eq!(wrong.code, 2);
}
