//! Answers of a person: how far they reach, what they are bound to, and the rules they become.

mod asked;
mod policy;
mod reach;
mod together;

use serde_json::Value;

use crate::support::Place;

/// Every program asks, and the run waits for the answer.
const ASKS: &str = "[permissions]\nask = [\"effect(process_spawn)\"]\n";

/// `ID@DIGEST` of everything that waits, oldest first.
fn pending(place: &Place) -> Vec<String> {
    listed(place)
        .iter()
        .map(|one| format!("{}@{}", one["id"].as_str().unwrap(), one["digest"].as_str().unwrap()))
        .collect()
}

fn listed(place: &Place) -> Vec<Value> {
    place.stance(&["inbox", "--json"]).report().as_array().unwrap().clone()
}

/// A program of the repository that writes down what it was called with.
fn program(place: &Place) {
    use std::os::unix::fs::PermissionsExt as _;
    place.write("note.sh", "#!/bin/sh\necho \"$@\" >> noted.txt\n");
    let file = place.repo().join("note.sh");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn noted(place: &Place) -> String {
    std::fs::read_to_string(place.repo().join("noted.txt")).unwrap_or_default()
}
