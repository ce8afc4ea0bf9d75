//! Who changes a space's mode, when, and what the change leaves alone: runs under way, replies that
//! wait, other threads, the words of models and files.

mod names;
mod replies;
mod under_way;
mod words;

use serde_json::Value;

use crate::support::Place;

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} of {value:#}"))
}

/// The stored mode of a space.
fn mode(place: &Place, space: &str) -> String {
    let spaces = place.stance(&["space", "list", "--json"]).report();
    let found = spaces
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["id"] == space)
        .unwrap();
    text(found, "mode").to_owned()
}

/// The changes of a space's mode, as from and to.
fn changes(place: &Place, space: &str) -> Vec<(String, String)> {
    let changes = place.happened(&format!("space/{space}"), "mode_changed");
    changes
        .iter()
        .map(|change| (text(change, "from").to_owned(), text(change, "to").to_owned()))
        .collect()
}

fn head(place: &Place) -> String {
    let said = place.stance(&["audit", "head"]);
    assert_eq!(said.code, 0, "{}", said.err);
    said.out
}
