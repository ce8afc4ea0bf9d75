//! The list of attempts: what a model may try, in words no product owns. It must not know how an
//! attempt is made, nor what comes of it.

use std::path::Path;

use engine::Problem;
use serde::Deserialize;
use serde_json::Value;

/// The project's own list.
const OWN: &str = include_str!("../../conformance/attempts.json");
/// No list is larger, in bytes.
const LARGEST: u64 = 4 * 1024 * 1024;
/// The version of the format.
const VERSION: u32 = 1;

/// One act of an attempt.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(crate) enum Step {
    /// Reads a file.
    Read { path: String },
    /// Writes a file.
    Write { path: String, content: String },
    /// Changes a part of a file.
    Edit { path: String, old: String, new: String },
    /// Deletes a file.
    Delete { path: String },
    /// Edits a notebook.
    Notebook { path: String, source: String },
    /// Runs a shell line.
    Shell { cmd: String },
    /// Runs a shell line and asks for more rights on the way.
    Escalate { cmd: String },
    /// Stages these paths, or commits with this message.
    Git {
        action: String,
        #[serde(default)]
        paths: Vec<String>,
        #[serde(default)]
        message: String,
    },
    /// Calls a tool of a server.
    Mcp { tool: String, args: Value },
    /// Asks to leave the mode.
    ExitPlan,
    /// Names another mode.
    Mode { to: String },
    /// Decides what waits for a person.
    Approve,
    /// Starts a child, which does this.
    Subagent { steps: Vec<Step> },
    /// Starts a child of a kind that only reads.
    SubagentRo { steps: Vec<Step> },
    /// Lets a helper of the product do this.
    Aux { steps: Vec<Step> },
}

/// One attempt.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Attempt {
    /// Its name.
    pub(crate) id: String,
    /// Its kind; `read` is one that must go on working.
    pub(crate) group: String,
    /// What it tries, for people.
    pub(crate) title: String,
    /// Its acts; each is one answer of the model.
    pub(crate) steps: Vec<Step>,
    /// Paths that must stay as they are.
    #[serde(default)]
    pub(crate) canary: Vec<String>,
    /// Whether it reaches for a process.
    #[serde(default, rename = "proc")]
    pub(crate) process: bool,
    /// Whether it reaches for a server.
    #[serde(default)]
    pub(crate) net: bool,
    /// Seconds to wait before looking, for what happens late.
    #[serde(default)]
    pub(crate) wait: f32,
    /// A line that prepares the ground.
    #[serde(default)]
    pub(crate) pre: Option<String>,
}

impl Attempt {
    /// Whether it is a read, which must go on working.
    pub(crate) fn reads(&self) -> bool {
        self.group == "read"
    }

    /// Whether all it reaches for lies outside the files of the worktree: other folders, the
    /// repository's own records, processes, the network.
    pub(crate) fn reaches_outside(&self) -> bool {
        let outside = |path: &String| match path.strip_prefix("{FIX}/") {
            Some(beneath) => beneath.starts_with(".git/") || beneath.starts_with("../"),
            None => true,
        };
        !self.reads() && (self.process || self.net || (!self.canary.is_empty() && self.canary.iter().all(outside)))
    }
}

#[derive(Deserialize)]
struct File {
    version: u32,
    attempts: Vec<Value>,
}

/// A list, its placeholders unfilled.
#[derive(Debug, Clone)]
pub(crate) struct AttemptList(Vec<Value>);

impl AttemptList {
    /// The project's own list, and behind it those of a person's file.
    pub(crate) fn read(added: Option<&Path>) -> Result<AttemptList, Problem> {
        let mut all = parse(OWN, "the built-in list")?;
        if let Some(file) = added {
            let named = file.display().to_string();
            let unreadable = |why: String| {
                Problem::usage(format!("The list {named} cannot be read: {why}."))
                    .hint("--attempts names a JSON file of attempts; without it the built-in ones are made.")
            };
            let facts = std::fs::metadata(file).map_err(|error| unreadable(error.to_string()))?;
            if !facts.is_file() || facts.len() > LARGEST {
                return Err(unreadable(format!("it is no plain file of at most {LARGEST} bytes")));
            }
            let text = std::fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))?;
            all.extend(parse(&text, &named)?);
        }
        let list = AttemptList(all);
        // A wrong entry is named before anything is made.
        list.filled(&[])?;
        Ok(list)
    }

    /// The attempts with `placeholder, value` pairs put in.
    pub(crate) fn filled(&self, placeholders: &[(&str, String)]) -> Result<Vec<Attempt>, Problem> {
        let fill = |entry: &Value| {
            let mut entry = entry.clone();
            for text in texts(&mut entry) {
                for (placeholder, value) in placeholders {
                    *text = text.replace(placeholder, value);
                }
            }
            let name = entry.get("id").map_or_else(|| "an entry".to_owned(), Value::to_string);
            serde_path_to_error::deserialize(entry).map_err(|error| {
                Problem::usage(format!("{name} of the attempts: {}: {}", error.path(), error.inner()))
                    .hint("docs/manual/conformance.md describes the format.")
            })
        };
        self.0.iter().map(fill).collect()
    }
}

fn parse(text: &str, named: &str) -> Result<Vec<Value>, Problem> {
    let file: File = serde_json::from_str(text).map_err(|error| {
        Problem::usage(format!("{named}: {error}.")).hint("It is JSON with `version` and `attempts`.")
    })?;
    if file.version != VERSION {
        return Err(Problem::usage(format!(
            "{named} has version {}, and only {VERSION} is known.",
            file.version
        )));
    }
    Ok(file.attempts)
}

/// Every text within a value.
fn texts(value: &mut Value) -> Vec<&mut String> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter_mut().flat_map(texts).collect(),
        Value::Object(map) => map.values_mut().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Vec<Attempt> {
        AttemptList::read(None).unwrap().filled(&[]).unwrap()
    }

    #[test]
    fn the_own_list_is_whole_and_names_nothing_twice() {
        let attempts = own();
        assert!(attempts.len() > 100, "{}", attempts.len());
        let mut ids: Vec<&str> = attempts.iter().map(|attempt| attempt.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), attempts.len());
    }

    #[test]
    fn what_lies_outside_is_told_by_the_canaries() {
        let outside: Vec<String> = own()
            .into_iter()
            .filter(Attempt::reaches_outside)
            .map(|attempt| attempt.id)
            .collect();
        for id in [
            "write-outside-absolute",
            "write-outside-upwards",
            "plant-git-hook",
            "out-kill",
            "out-post",
        ] {
            assert!(outside.iter().any(|other| other == id), "{id} is not in {outside:?}");
        }
        for id in ["edit-known-file", "shell-redirect", "r-list"] {
            assert!(!outside.iter().any(|other| other == id), "{id}");
        }
    }

    #[test]
    fn a_wrong_file_is_named_with_the_wrong_place() {
        let folder = tempfile::tempdir().unwrap();
        let said = |text: &str| {
            let file = folder.path().join("mine.json");
            std::fs::write(&file, text).unwrap();
            AttemptList::read(Some(&file)).unwrap_err().to_string()
        };
        assert!(said("{").contains("mine.json"));
        assert!(said(r#"{"version": 2, "attempts": []}"#).contains("version 2"));
        let wrong =
            said(r#"{"version": 1, "attempts": [{"id": "a", "group": "g", "title": "t", "steps": [{"op": "fly"}]}]}"#);
        assert!(wrong.contains("\"a\"") && wrong.contains("fly"), "{wrong}");
        assert!(AttemptList::read(Some(folder.path())).is_err());
    }
}
