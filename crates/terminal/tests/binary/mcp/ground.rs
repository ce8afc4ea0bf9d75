//! A repository whose `.mcp.json` names a server of notes, and that server's own record of its calls.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Place, Said, calls, results, says, turns};

pub(crate) const SERVER: &str = include_str!("server.py");

/// A place with the server in its repository.
pub(crate) struct Notes {
    pub(crate) place: Place,
}

impl Notes {
    /// The server is named in `.mcp.json`, with these arguments; nobody has allowed it.
    pub(crate) fn new(ways: &[&str]) -> Notes {
        let mut place = Place::new();
        place.variables.push(("NOTES_TOKEN".to_owned(), "n0-matter".to_owned()));
        place.write("server.py", SERVER);
        let notes = Notes { place };
        notes.configure(ways);
        notes
    }

    /// It is allowed too.
    pub(crate) fn allowed(ways: &[&str]) -> Notes {
        let notes = Notes::new(ways);
        let said = notes.allow();
        assert_eq!(said.code, 0, "{}", said.err);
        notes
    }

    /// It is believed too.
    pub(crate) fn trusted(ways: &[&str]) -> Notes {
        let notes = Notes::allowed(ways);
        let said = notes.place.stance(&["mcp", "trust", "notes"]);
        assert_eq!(said.code, 0, "{}", said.err);
        notes
    }

    pub(crate) fn configure(&self, ways: &[&str]) {
        let mut arguments = vec!["server.py"];
        arguments.extend(ways);
        let server = json!({"command": "python3", "args": arguments, "env": {"NOTES_TOKEN": "${NOTES_TOKEN}"}});
        self.place
            .write(".mcp.json", &json!({"mcpServers": {"notes": server}}).to_string());
    }

    pub(crate) fn listed(&self) -> Value {
        let said = self.place.stance(&["mcp", "list", "--json"]);
        said.report()[0].clone()
    }

    /// Allows it as it is shown now.
    pub(crate) fn allow(&self) -> Said {
        let digest = self.listed()["digest"].as_str().unwrap().to_owned();
        self.place.stance(&["mcp", "allow", &format!("notes@{digest}")])
    }

    /// What the server was asked for, by its own log.
    pub(crate) fn log(&self) -> Vec<String> {
        let workspaces = self.place.stance_home().join("workspaces");
        let folders = fs::read_dir(workspaces).into_iter().flatten().flatten();
        let logs: Vec<PathBuf> = folders
            .map(|folder| folder.path().join("mcp/notes/home/calls"))
            .filter(|log| log.is_file())
            .collect();
        let text = logs.first().map(|log| fs::read_to_string(log).unwrap());
        text.unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// The calls in the log, without the starts.
    pub(crate) fn called(&self) -> Vec<String> {
        self.log().into_iter().filter(|line| line != "started").collect()
    }

    /// A run that makes these calls, one after the other; each result in words.
    pub(crate) fn results(&self, mode: &str, made: &[(&str, Value)], flags: &[&str]) -> Vec<String> {
        let mut script: Vec<Value> = made.iter().map(|call| calls(std::slice::from_ref(call))).collect();
        script.push(match mode {
            "plan" => calls(&[(
                "plan_mode_respond",
                json!({"response": "Nothing.", "no_plan_needed": true}),
            )]),
            _ => says("Done."),
        });
        let model = self.place.script("calls", &turns(&script));
        let mut arguments = vec!["--mode", mode];
        arguments.extend(flags);
        arguments.push("go");
        let (_, events, _) = self.place.stream(&model, &arguments);
        let mut results = results(&events);
        results.truncate(made.len());
        results
    }
}
