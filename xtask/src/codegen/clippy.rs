//! A room's `clippy.toml`, from the table of bans. The nearest such file replaces every other, so each is whole.

use std::fmt::Write as _;

use crate::bans::{BANS, Ban};

const HEAD: &str = "\
# Rendered by `cargo xtask codegen` from xtask/src/bans.rs: change the table, not this file.
allow-unwrap-in-tests = true
allow-expect-in-tests = true
allow-indexing-slicing-in-tests = true
allow-panic-in-tests = true
allow-print-in-tests = true
allow-dbg-in-tests = true
doc-valid-idents = [\"SQLite\", \"PostgreSQL\", \"OpenAI\", \"WebSocket\", \"..\"]
";

/// The text of the file for one room.
pub(crate) fn render(room: &str) -> String {
    let mut text = HEAD.to_owned();
    list(&mut text, room, "disallowed-types", |ban| ban.types);
    list(&mut text, room, "disallowed-methods", |ban| ban.functions);
    text
}

fn list(text: &mut String, room: &str, key: &str, paths: fn(&Ban) -> &'static [&'static str]) {
    let _ = writeln!(text, "\n{key} = [");
    for ban in BANS.iter().filter(|ban| ban.binds(room)) {
        for path in paths(ban) {
            let _ = writeln!(
                text,
                "    {{ path = \"{path}\", {}reason = \"{}\" }},",
                foreign(path),
                ban.reason
            );
        }
    }
    text.push_str("]\n");
}

/// Clippy warns of a path it cannot find; one of a library may be missing where a feature is off.
fn foreign(path: &str) -> &'static str {
    if path.starts_with("std::") {
        ""
    } else {
        "allow-invalid = true, "
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bans::ROOMS;

    fn banned(room: &str) -> Vec<String> {
        let file: toml::Table = toml::from_str(&render(room)).unwrap();
        ["disallowed-types", "disallowed-methods"]
            .iter()
            .flat_map(|key| file[*key].as_array().unwrap())
            .map(|entry| entry["path"].as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn each_room_gets_its_own_bans() {
        for (room, path, expected) in [
            ("sandbox", "std::process::Command", false),
            ("engine", "std::process::Command", true),
            ("engine", "tokio::process::Command", true),
            ("terminal", "std::env::var", false),
            ("sandbox", "std::env::var", true),
            ("tools", "std::fs::write", false),
            ("llm", "std::fs::File", true),
            ("engine", "uuid::Uuid::now_v7", true),
            ("modes", "std::collections::HashMap", true),
            ("llm", "std::collections::HashMap", false),
            ("llm", "reqwest::Client", false),
            ("tools", "reqwest::Client", false),
            ("engine", "reqwest::Client", true),
        ] {
            assert_eq!(
                banned(room).iter().any(|banned| banned == path),
                expected,
                "{room}: {path}"
            );
        }
    }

    #[test]
    fn the_file_of_every_room_is_toml_with_a_reason_in_each_line() {
        for room in ROOMS {
            let file: toml::Table = toml::from_str(&render(room)).unwrap();
            for key in ["disallowed-types", "disallowed-methods"] {
                for entry in file[key].as_array().unwrap() {
                    assert!(entry["reason"].as_str().unwrap().contains(": "), "{room}: {entry}");
                }
            }
        }
    }
}
