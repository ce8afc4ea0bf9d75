//! The story that is killed: planned, approved, carried out in two steps, each act a turn of its own;
//! and how a person goes on with it, whatever is left of it.

use serde_json::{Value, json};

use crate::support::{Place, Said, calls, said};

/// How the result lands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Landing {
    Checkout,
    Commits,
}

/// Which command is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Planning,
    CarryingOut,
}

/// One story in a place of its own.
pub(super) struct Story {
    pub(super) place: Place,
    landing: &'static str,
    model: String,
}

/// So many commands bring any story to its end.
const PATIENCE: usize = 8;

impl Story {
    pub(super) fn new(landing: Landing) -> Story {
        let place = Place::new();
        let model = place.script("story", &script());
        let landing = match landing {
            Landing::Checkout => "checkout",
            Landing::Commits => "commits",
        };
        Story { place, landing, model }
    }

    /// The first command, killed where `fault` says.
    pub(super) fn start(&self, fault: Option<String>) -> Said {
        self.stance(&["run", "--json", "--mode", "plan", "greet the reader"], fault)
    }

    /// The approval of the plan there is, killed where `fault` says.
    pub(super) fn approve(&self, fault: Option<String>) -> Said {
        let plan = self.plan().unwrap();
        let named = format!("{}@{}", plan["id"].as_str().unwrap(), plan["digest"].as_str().unwrap());
        self.stance(&["plan", "approve", &named, "--json", "--landing", self.landing], fault)
    }

    /// The one plan there is.
    pub(super) fn plan(&self) -> Option<Value> {
        let plans = self.place.stance(&["plan", "list", "--json"]).report();
        assert!(plans.as_array().unwrap().len() <= 1, "{plans:#}");
        plans.get(0).cloned()
    }

    /// The report of carrying the plan out, as it stands.
    pub(super) fn report(&self, plan: &Value) -> Value {
        let said = self.stance(&["plan", "run", plan["id"].as_str().unwrap(), "--json"], None);
        assert_eq!(said.code, 0, "{}", said.err);
        said.report()
    }

    /// Goes on as a person would who finds the story in some state: what was cut off is resumed, a
    /// plan that waits is approved, one that is under way is gone on with.
    pub(super) fn go_on(&self) -> Result<(), String> {
        for _ in 0..PATIENCE {
            let plan = self.plan();
            let said = match plan.as_ref().and_then(|plan| plan["status"].as_str()) {
                Some("completed") => return Ok(()),
                Some("approved" | "executing") => {
                    self.stance(&["plan", "run", plan.unwrap()["id"].as_str().unwrap(), "--json"], None)
                }
                status => {
                    let resumed = self.stance(&["run", "--resume", "last", "--json"], None);
                    match (resumed.code, status) {
                        (0, _) => resumed,
                        (_, None) if resumed.err.contains("nothing has run") => self.start(None),
                        (_, Some("proposed")) if resumed.err.contains("has ended") => self.approve(None),
                        _ => resumed,
                    }
                }
            };
            if said.code != 0 {
                return Err(format!("going on failed: {said:?}"));
            }
        }
        Err(format!("it never ended: {:#?}", self.plan()))
    }

    /// Calls whose result says that they were interrupted, and says so to the model.
    pub(super) fn interrupted(&self) -> Vec<String> {
        let results = self
            .place
            .journal()
            .into_iter()
            .filter(|event| event.kind == "tool_finished");
        results
            .map(|event| event.details)
            .filter(|details| details["how"] == "interrupted")
            .inspect(|details| {
                assert_eq!(details["result"]["is_error"], true);
                assert!(
                    details["result"]["content"][0]["text"]
                        .as_str()
                        .unwrap()
                        .starts_with("Interrupted")
                );
            })
            .map(|details| details["call"].as_str().unwrap().to_owned())
            .collect()
    }

    fn stance(&self, arguments: &[&str], fault: Option<String>) -> Said {
        let mut command = self.place.command(arguments);
        command.args(["--model", &self.model]);
        if let Some(fault) = fault {
            command.env("STANCE_FAULT", fault);
        }
        said(command.output().unwrap())
    }
}

fn script() -> Value {
    let plan = json!({
        "goal": "Greet the reader",
        "nodes": [
            {"key": "greet", "title": "Write the greeting", "kind": "work", "description": "One file.", "files": ["HELLO.md"]},
            {"key": "log", "title": "Say it in the log", "kind": "work", "description": "Two files.",
             "depends_on": ["greet"], "files": ["README.md", "log.txt"]},
        ],
        "checks": ["test -f HELLO.md", "test -s log.txt"],
    });
    let edit = "------- SEARCH\nconst in words\n=======\nconst in more words\n+++++++ REPLACE\n";
    json!({"runs": [
        {"match": {"mode": "plan"}, "turns": [
            with_usage(&calls(&[("read_file", json!({"path": "README.md"})), ("list_files", json!({"path": "."}))])),
            with_usage(&calls(&[("write_to_file", json!({"path": "HELLO.md", "content": "too early\n"}))])),
            with_usage(&calls(&[("submit_plan", plan)])),
        ]},
        {"match": {"mode": "agent", "step": "greet"}, "turns": [
            with_usage(&calls(&[("write_to_file", json!({"path": "HELLO.md", "content": "hello\n"}))])),
            with_usage(&calls(&[("submit_output", json!({"evidence": "the greeting is there"}))])),
        ]},
        {"match": {"mode": "agent", "step": "log"}, "turns": [
            with_usage(&calls(&[("read_file", json!({"path": "README.md"}))])),
            with_usage(&calls(&[("replace_in_file", json!({"path": "README.md", "diff": edit}))])),
            with_usage(&calls(&[("execute_command", json!({"command": "echo x >> log.txt"}))])),
            with_usage(&calls(&[("submit_output", json!({"evidence": "the log has its line"}))])),
        ]},
    ]})
}

/// Tokens, so that a lost or doubled answer shows in the sum.
fn with_usage(turn: &Value) -> Value {
    let mut turn = turn.clone();
    turn["usage"] = json!({"input": 100, "output": 7});
    turn
}
