//! The small copy: a crate for each room with one plant a line, and hollow crates in place of the libraries, so that
//! nothing is fetched and everything compiles in seconds. Runs nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Context;

use crate::bans::{BANS, Ban, ROOMS};

/// The lints a plant is caught by.
pub(crate) const LINTS: &[&str] = &[
    "clippy::disallowed_types",
    "clippy::disallowed_methods",
    "clippy::unwrap_used",
    "clippy::expect_used",
    "clippy::indexing_slicing",
    "clippy::panic",
    "clippy::todo",
    "clippy::unimplemented",
    "clippy::dbg_macro",
    "clippy::print_stdout",
    "clippy::print_stderr",
    "unsafe_code",
    "unreachable_pub",
];

/// What no room may do, whatever its table says: one line for each lint after the first two.
const EVERYWHERE: &[&str] = &[
    "pub fn unwrap(of: Option<u8>) -> u8 { of.unwrap() }",
    "pub fn expect(of: Option<u8>) -> u8 { of.expect(\"one\") }",
    "pub fn index(of: &[u8], at: usize) -> u8 { of[at] }",
    "pub fn panic() { panic!(\"now\") }",
    "pub fn later() { todo!() }",
    "pub fn never() { unimplemented!() }",
    "pub fn debug() { dbg!(1); }",
    "pub fn print() { println!(\"out\") }",
    "pub fn complain() { eprintln!(\"err\") }",
    "pub fn danger(of: *const u8) -> u8 { unsafe { *of } }",
    "mod inside { pub fn unreachable() {} } pub use std::fmt as shown; pub fn used() { inside::unreachable() }",
];

/// One violation.
pub(crate) struct Plant {
    /// What is banned.
    pub(crate) what: &'static str,
    /// The line it stands in, from one.
    pub(crate) line: usize,
    code: String,
    ban: Option<&'static Ban>,
}

impl Plant {
    /// Whether clippy has to refuse it in a room.
    pub(crate) fn binds(&self, room: &str) -> bool {
        self.ban.is_none_or(|ban| ban.binds(room))
    }
}

/// Every violation, in the order of their lines, which is the same in every room.
pub(crate) fn plants() -> Vec<Plant> {
    let mut plants: Vec<Plant> = Vec::new();
    let mut plant = |what, code, ban| {
        let line = plants.len() + 1;
        plants.push(Plant { what, line, code, ban });
    };
    for ban in BANS {
        for path in ban.types {
            let generic = if path.ends_with("HashMap") {
                "<u8, u8>"
            } else if path.ends_with("HashSet") {
                "<u8>"
            } else {
                ""
            };
            plant(
                path,
                format!("pub fn {}(_: &{path}{generic}) {{}}", identifier(path)),
                Some(ban),
            );
        }
        for path in ban.functions {
            plant(
                path,
                format!("pub fn {}() {{ let _ = {path}{}; }}", identifier(path), turbofish(path)),
                Some(ban),
            );
        }
    }
    for code in EVERYWHERE {
        plant(code, (*code).to_owned(), None);
    }
    plants
}

/// The generic arguments without which a function of the standard library cannot be named as a value.
fn turbofish(path: &str) -> &'static str {
    match path {
        "std::fs::write"
        | "std::fs::rename"
        | "std::fs::copy"
        | "std::fs::hard_link"
        | "std::os::unix::fs::symlink" => "::<&str, &str>",
        "std::env::vars" | "std::env::vars_os" | "std::env::temp_dir" | "std::env::home_dir" => "",
        path if path.starts_with("std::fs::") || path.starts_with("std::env::") => "::<&str>",
        _ => "",
    }
}

fn identifier(path: &str) -> String {
    path.replace("::", "_").to_lowercase()
}

/// The name of a room's copy for cargo: no room may be named like a library.
pub(crate) fn package(room: &str) -> String {
    format!("planted_{room}")
}

/// Writes the copy: the workspace with the lint levels given, the rooms, the hollow libraries.
pub(crate) fn lay_out(copy: &Path, lint_levels: &str, plants: &[Plant]) -> anyhow::Result<()> {
    let libraries = libraries();
    let members: Vec<&str> = ROOMS.iter().copied().chain(libraries.keys().copied()).collect();
    write(
        copy,
        "Cargo.toml",
        &format!("{lint_levels}\n[workspace]\nresolver = \"3\"\nmembers = {members:?}\n"),
    )?;
    let named: String = libraries.keys().fold(String::new(), |mut text, library| {
        let _ = writeln!(text, "{library} = {{ path = \"../{library}\" }}");
        text
    });
    let code = plants
        .iter()
        .fold(String::new(), |text, plant| text + &plant.code + "\n");
    for room in ROOMS {
        let name = package(room);
        write(
            copy,
            &format!("{room}/Cargo.toml"),
            &manifest(&name, &format!("[lints]\nworkspace = true\n[dependencies]\n{named}")),
        )?;
        write(copy, &format!("{room}/src/lib.rs"), &code)?;
    }
    for (library, paths) in &libraries {
        write(copy, &format!("{library}/Cargo.toml"), &manifest(library, ""))?;
        write(copy, &format!("{library}/src/lib.rs"), &hollow(paths))?;
    }
    Ok(())
}

fn manifest(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n{rest}")
}

fn write(copy: &Path, path: &str, text: &str) -> anyhow::Result<()> {
    let path = copy.join(path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The libraries the table names, each with the parts of the paths it must have.
fn libraries() -> BTreeMap<&'static str, BTreeSet<Vec<&'static str>>> {
    let mut libraries: BTreeMap<&str, BTreeSet<Vec<&str>>> = BTreeMap::new();
    for path in BANS.iter().flat_map(|ban| ban.types.iter().chain(ban.functions)) {
        let mut parts = path.split("::");
        if let Some(library) = parts.next().filter(|first| *first != "std") {
            libraries.entry(library).or_default().insert(parts.collect());
        }
    }
    libraries
}

/// The source of a crate that has these paths and does nothing.
fn hollow(paths: &BTreeSet<Vec<&'static str>>) -> String {
    let mut inner: BTreeMap<&str, BTreeSet<Vec<&str>>> = BTreeMap::new();
    for path in paths {
        if let [first, rest @ ..] = path.as_slice() {
            let entry = inner.entry(first).or_default();
            if !rest.is_empty() {
                entry.insert(rest.to_vec());
            }
        }
    }
    inner.iter().fold(String::new(), |mut text, (name, rest)| {
        let is_type = name.starts_with(char::is_uppercase);
        let _ = match (is_type, rest.is_empty()) {
            (true, true) => writeln!(text, "pub struct {name};"),
            (true, false) => writeln!(text, "pub struct {name}; impl {name} {{ {} }}", hollow(rest)),
            (false, true) => writeln!(text, "pub fn {name}() {{}}"),
            (false, false) => writeln!(text, "pub mod {name} {{ {} }}", hollow(rest)),
        };
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hollow_library_has_the_paths_and_nothing_else() {
        let paths = BTreeSet::from([
            vec!["fs", "File"],
            vec!["fs", "write"],
            vec!["Uuid", "now_v7"],
            vec!["get"],
        ]);
        assert_eq!(
            hollow(&paths),
            "pub struct Uuid; impl Uuid { pub fn now_v7() {}\n }\npub mod fs { pub struct File;\npub fn write() {}\n }\n\
             pub fn get() {}\n"
        );
    }

    #[test]
    fn each_lint_has_a_plant_and_each_plant_its_line() {
        assert_eq!(EVERYWHERE.len() + 2, LINTS.len());
        let plants = plants();
        for (index, plant) in plants.iter().enumerate() {
            assert_eq!(plant.line, index + 1);
            assert!(!plant.code.contains('\n'), "{}", plant.code);
        }
        let names: BTreeSet<&str> = plants.iter().map(|plant| plant.what).collect();
        assert_eq!(names.len(), plants.len());
    }
}
