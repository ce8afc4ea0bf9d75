//! A command reads no secret-shaped file that nobody let the run read, under whatever name.

use std::fs;

use serde_json::json;

use crate::attacks::evidence::{Told, told};
use crate::support::{Place, calls, says, turns};

const WORD: &str = "the-hidden-word";

/// Programs that say nothing of what they read.
const LINES: [&str; 4] = [
    "bash read.sh .env",
    "cp .e* copy; bash read.sh copy",
    "ln -s .env link; bash read.sh link",
    "bash read.sh other-name",
];

fn runs(place: &Place, more: &[&str]) -> Vec<Told> {
    place.settings("[limits]\nmistakes = \"off\"\n");
    place.write(".env", &format!("KEY={WORD}\n"));
    place.write("read.sh", "while read -r line; do echo \"$line\"; done < \"$1\"\n");
    fs::hard_link(place.repo().join(".env"), place.repo().join("other-name")).unwrap();
    let made: Vec<_> = LINES
        .iter()
        .map(|line| ("execute_command", json!({"command": line})))
        .collect();
    let model = place.script("secrets", &turns(&[calls(&made), says("done")]));
    let (_, events, _) = place.stream(&model, &[&["--mode", "agent", "look"], more].concat());
    told(&events)
}

#[test]
fn no_command_reads_one_and_the_agent_learns_what_is_hidden() {
    let told = runs(&Place::new(), &["--allow", "effect(process_spawn)"]);
    for (told, line) in told.iter().zip(LINES) {
        assert!(!told.text.contains(WORD), "{line}: {told:?}");
        assert!(
            told.how == "refused" || told.text.contains("read(.env)"),
            "{line}: {told:?}"
        );
    }
    assert!(told.iter().any(|told| told.how == "performed"), "{told:?}");
}

#[test]
fn a_rule_for_the_path_shows_it_to_commands() {
    let told = runs(
        &Place::new(),
        &["--allow", "effect(process_spawn)", "--allow", "read(.env)"],
    );
    assert!(told[0].text.contains(WORD), "{told:?}");
    assert!(!told[3].text.contains(WORD), "the other name was not allowed: {told:?}");
}
