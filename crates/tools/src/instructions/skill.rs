//! Skills: folders with a `SKILL.md` whose head says its name and what it is for. Those of the project come before
//! the person's, and the first of a name counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{read_own, read_project};
use crate::place::Roots;
use crate::scope::Scope;
use crate::walk::names_in;

/// Where skills lie, beneath the project and beneath the person's home.
const FOLDERS: [&str; 3] = [".stance/skills", ".agents/skills", ".claude/skills"];

/// Skills that are told, and folders looked at in one place.
const MOST: usize = 64;

/// Characters of a description that are told.
const LONGEST_DESCRIPTION: usize = 400;

/// A skill that can be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    /// What it is called by: lower-case letters, digits and `-`.
    pub name: String,
    /// When to use it, in one line.
    pub description: String,
    /// Its `SKILL.md`: relative to the project; the person's own is absolute.
    pub path: String,
}

/// Every skill there is now, by name.
pub(super) fn skills(scope: &Scope) -> Vec<Skill> {
    let mut skills: BTreeMap<String, Skill> = BTreeMap::new();
    for path in places(scope) {
        if skills.len() == MOST {
            break;
        }
        let Some((text, path)) = read(scope, &path).zip(path.to_str()) else {
            continue;
        };
        if let Some((name, description)) = head(&text) {
            skills.entry(name.clone()).or_insert_with(|| Skill {
                name,
                description,
                path: path.to_owned(),
            });
        }
    }
    skills.into_values().collect()
}

/// The text of a skill's file.
pub(super) fn read(scope: &Scope, path: &Path) -> Option<String> {
    let bytes = if path.is_absolute() {
        read_own(path)?
    } else {
        read_project(&Roots::of(scope).ok()?, scope, path.to_str()?)?
    };
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Where a `SKILL.md` may lie.
fn places(scope: &Scope) -> Vec<PathBuf> {
    let own = [
        scope.own.join("skills"),
        scope.home.join(".agents/skills"),
        scope.home.join(".claude/skills"),
    ];
    let project = FOLDERS.iter().map(PathBuf::from);
    let mut places = Vec::new();
    for folder in project.chain(own) {
        let mut names = if folder.is_absolute() {
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name()).collect()
        } else {
            Roots::of(scope)
                .and_then(|roots| roots.find(folder.to_str().unwrap_or_default()))
                .ok()
                .filter(|place| place.in_worktree() && place.may_be_shown())
                .and_then(|place| names_in(&place))
                .unwrap_or_default()
        };
        names.sort();
        places.extend(
            names
                .into_iter()
                .take(MOST)
                .map(|name| folder.join(name).join("SKILL.md")),
        );
    }
    places
}

/// Name and description from the head of a file: lines `key: value` between two lines `---`, where a value goes on in
/// the indented lines below it.
fn head(text: &str) -> Option<(String, String)> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    lines.next().filter(|line| line.trim_end() == "---")?;
    let mut values: BTreeMap<&str, String> = BTreeMap::new();
    let mut last = "";
    for line in lines.take_while(|line| line.trim_end() != "---") {
        if line.starts_with([' ', '\t']) {
            let value = values.entry(last).or_default();
            value.push(' ');
            value.push_str(line.trim());
        } else if let Some((key, value)) = line.split_once(':') {
            let value = value.trim();
            let folded = matches!(value, ">" | "|" | ">-" | "|-" | ">+" | "|+");
            last = key.trim();
            values.insert(last, if folded { String::new() } else { value.to_owned() });
        }
    }
    let value = |key: &str| {
        let value = values.get(key)?.trim();
        let unquoted = ['"', '\'']
            .into_iter()
            .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
        Some(unquoted.unwrap_or(value).to_owned())
    };
    let name = value("name").filter(|name| is_name(name))?;
    let description = value("description").filter(|description| !description.is_empty())?;
    Some((name, description.chars().take(LONGEST_DESCRIPTION).collect()))
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .chars()
            .all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_tells_name_and_description_or_there_is_no_skill() {
        let told = |text: &str| head(text).map(|(name, description)| format!("{name}: {description}"));
        let release = Some("release: Makes a release.".to_owned());
        for text in [
            "---\nname: release\ndescription: Makes a release.\n---\nDo it.",
            "---\r\ndescription: \"Makes a release.\"\r\nname: 'release'\r\nlicense: MIT\r\n---\r\n",
            "\u{feff}---\nname: release\ndescription: >-\n  Makes\n  a release.\n---\n",
        ] {
            assert_eq!(told(text), release, "{text:?}");
        }
        for text in [
            "",
            "name: release\ndescription: Makes a release.",
            "---\nname: release\n---\n",
            "---\nname: release\ndescription:\n---\n",
            "---\nname: Re lease\ndescription: x\n---\n",
            "---\nname: ../release\ndescription: x\n---\n",
        ] {
            assert_eq!(told(text), None, "{text:?}");
        }
    }
}
