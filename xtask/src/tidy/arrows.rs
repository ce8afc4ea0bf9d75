//! Which room may use which: the arrows of the house.

use crate::workspace::{Package, Workspace, room};

/// Each room, and the rooms it may name. A room that is not in the table may not exist.
const ARROWS: &[(&str, &[&str])] = &[
    ("modes", &[]),
    ("work", &["modes"]),
    ("llm", &[]),
    ("store", &[]),
    ("sandbox", &["modes"]),
    ("repo", &["sandbox", "modes"]),
    ("tools", &["repo", "sandbox", "work", "modes"]),
    ("engine", &["tools", "repo", "sandbox", "work", "llm", "store", "modes"]),
    ("server", &["engine", "work", "modes"]),
    // The composition root: it makes the wires and enters the walls, so it names their rooms too.
    ("terminal", &["server", "engine", "work", "llm", "sandbox", "modes"]),
    ("xtask", &["modes"]),
];

/// A sentence for each arrow that is not in the table, tests included.
pub(crate) fn check(workspace: &Workspace) -> Vec<String> {
    workspace.packages.iter().flat_map(of_room).collect()
}

fn of_room(package: &Package) -> Vec<String> {
    let from = package.room();
    let Some((_, allowed)) = ARROWS.iter().find(|(room, _)| *room == from) else {
        return vec![format!(
            "{from} is no room of this house: add it to the arrows and to docs/ARCHITECTURE.md"
        )];
    };
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.path.is_some())
        .map(|dependency| room(&dependency.name))
        .filter(|to| *to != from && !allowed.contains(to))
        .map(|to| format!("{from} uses {to}: there is no such arrow"))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bans::ROOMS;
    use crate::checkout::Checkout;

    fn house(from: &str, to: &str) -> Workspace {
        serde_json::from_value(json!({"packages": [{
            "name": from,
            "features": {},
            "dependencies": [
                {"name": to, "kind": "dev", "features": [], "path": "/somewhere"},
                {"name": "serde", "kind": null, "features": [], "path": null},
            ],
        }]}))
        .unwrap()
    }

    #[test]
    fn an_arrow_that_is_not_drawn_is_told() {
        for (from, to, expected) in [
            ("stance-engine", "stance-tools", None),
            ("stance-store", "stance-store", None),
            (
                "stance-tools",
                "stance-engine",
                Some("tools uses engine: there is no such arrow"),
            ),
            (
                "stance-modes",
                "stance-work",
                Some("modes uses work: there is no such arrow"),
            ),
            (
                "stance-llm",
                "stance-modes",
                Some("llm uses modes: there is no such arrow"),
            ),
            (
                "stance-terminal",
                "stance-store",
                Some("terminal uses store: there is no such arrow"),
            ),
            (
                "stance-helpers",
                "stance-modes",
                Some("helpers is no room of this house: add it to the arrows and to docs/ARCHITECTURE.md"),
            ),
        ] {
            let expected: Vec<&str> = expected.into_iter().collect();
            assert_eq!(check(&house(from, to)), expected, "{from} → {to}");
        }
    }

    #[test]
    fn the_arrows_of_this_house_are_the_table() {
        let workspace = Workspace::read(&Checkout::find().unwrap()).unwrap();
        assert_eq!(check(&workspace), Vec::<String>::new());
        assert_eq!(workspace.packages.len(), ARROWS.len());
    }

    #[test]
    fn no_arrows_lead_in_a_circle() {
        let mut standing: Vec<&str> = Vec::new();
        while standing.len() < ARROWS.len() {
            let next = ARROWS
                .iter()
                .find(|(room, uses)| !standing.contains(room) && uses.iter().all(|used| standing.contains(used)))
                .unwrap_or_else(|| panic!("a circle above {standing:?}"));
            standing.push(next.0);
        }
    }

    #[test]
    fn arrows_and_bans_know_the_same_rooms() {
        let mut rooms: Vec<&str> = ARROWS.iter().map(|(room, _)| *room).collect();
        let mut banned = ROOMS.to_vec();
        rooms.sort_unstable();
        banned.sort_unstable();
        assert_eq!(rooms, banned);
    }
}
