//! The ground attempts are made on: a repository with everything an attempt may reach for, a folder
//! outside, a home, a server that must hear nothing and a process that must live; and the list of
//! attempts itself. It must not know in which way a run is started.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::conformance::attempts::{self, AttemptList};
use crate::conformance::spellings::{self, Call};
use crate::conformance::watch::Watch;
use crate::support::Place;

/// Everything a person can say to let a run through, as settings.
pub(super) const ALLOW_EVERYTHING: &[&str] = &[
    "effect(file_delete)",
    "effect(file_write_outside_worktree)",
    "effect(git_commit)",
    "effect(git_push)",
    "effect(pr_create)",
    "effect(pr_publish)",
    "effect(vendor_sync_write)",
    "effect(network_egress)",
    "effect(secret_access)",
    "effect(package_install)",
    "effect(process_spawn)",
    "effect(workspace_mutation)",
    "effect(enclosure_control)",
    "edit(**)",
    "edit(/**)",
    "read(**)",
    "net(**)",
    "echo *",
    "git *",
    "*",
];

/// No limit ends a run before every attempt was made.
pub(super) const NO_LIMIT: &str = "[limits]\nmistakes = \"off\"\n";

/// One thing a model tries.
pub(super) struct Attempt {
    pub(super) id: String,
    /// The calls of each of its steps; a step is one response.
    pub(super) steps: Vec<Vec<Call>>,
    canaries: Vec<PathBuf>,
}

/// Where attempts are made.
pub(super) struct Ground {
    pub(super) place: Place,
    pub(super) attempts: Vec<Attempt>,
    server: TcpListener,
    victim: Child,
}

/// The state of everything before attempts are made.
pub(super) struct Before {
    world: Vec<String>,
    own_settings: String,
    canaries: BTreeMap<PathBuf, bool>,
    watch: Watch,
}

impl Ground {
    pub(super) fn new() -> Ground {
        let place = Place::new();
        furnish(&place);
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        server.set_nonblocking(true).unwrap();
        // It reads what nobody writes, so it lives until the ground goes.
        let victim = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut ground = Ground {
            place,
            attempts: Vec::new(),
            server,
            victim,
        };
        ground.attempts = ground.listed();
        ground
    }

    fn listed(&self) -> Vec<Attempt> {
        let list = AttemptList::read(None).unwrap().filled(&self.placeholders()).unwrap();
        list.into_iter().map(attempt).collect()
    }

    fn placeholders(&self) -> Vec<(&'static str, String)> {
        let shown = |path: PathBuf| path.display().to_string();
        vec![
            ("{FIX}", shown(self.place.repo())),
            ("{OUT}", shown(self.place.outside())),
            ("{HOME}", shown(self.place.home())),
            ("{TMP}", shown(std::env::temp_dir())),
            ("{PORT}", self.server.local_addr().unwrap().port().to_string()),
            ("{KILLPID}", self.victim.id().to_string()),
            ("{CFG}", shown(self.place.repo().join(".stance/settings.toml"))),
            ("{OWNCFG}", shown(self.own_settings())),
            // The process of the test and the port of its server: no other test has both.
            (
                "{NAME}",
                format!(
                    "canary-{}-{}",
                    std::process::id(),
                    self.server.local_addr().unwrap().port()
                ),
            ),
        ]
    }

    fn own_settings(&self) -> PathBuf {
        self.place.stance_home().join("settings.toml")
    }

    /// The responses that make all attempts.
    pub(super) fn turns(&self) -> Vec<Value> {
        self.attempts.iter().flat_map(Attempt::turns).collect()
    }

    /// The responses of these attempts alone.
    pub(super) fn turns_of(&self, ids: &[&str]) -> Vec<Value> {
        let chosen = |id: &&str| self.attempts.iter().find(|attempt| attempt.id == *id).unwrap().turns();
        ids.iter().flat_map(chosen).collect()
    }

    /// How many calls all attempts make, and how many of them no read-only run is offered.
    pub(super) fn counts(&self) -> (usize, usize) {
        let calls = || self.attempts.iter().flat_map(|attempt| &attempt.steps).flatten();
        (calls().count(), calls().filter(|call| !offered(call)).count())
    }

    /// Looks at everything, and watches it from here on.
    pub(super) fn look(&self) -> Before {
        let paths = self.attempts.iter().flat_map(|attempt| &attempt.canaries);
        let canaries = paths
            .map(|path| (path.clone(), path.symlink_metadata().is_ok()))
            .collect();
        Before {
            world: self.place.world(),
            own_settings: facts(&self.own_settings()),
            canaries,
            watch: Watch::over(&[&self.place.repo(), &self.place.outside(), &self.place.home()]).unwrap(),
        }
    }

    /// Everything that is not as it was, in words.
    pub(super) fn changes(&mut self, before: &Before) -> Vec<String> {
        let seen = before.watch.seen().unwrap().into_iter();
        let mut changes: Vec<String> = seen.map(|(what, path)| format!("{what} {}", path.display())).collect();
        let now = self.place.world();
        let missing = before
            .world
            .iter()
            .filter(|line| !now.contains(line))
            .map(|line| format!("was: {line}"));
        changes.extend(missing);
        changes.extend(
            now.iter()
                .filter(|line| !before.world.contains(line))
                .map(|line| format!("is: {line}")),
        );
        if facts(&self.own_settings()) != before.own_settings {
            changes.push("the person's settings changed".to_owned());
        }
        let paths = before
            .canaries
            .iter()
            .filter(|(path, there)| path.symlink_metadata().is_ok() != **there);
        changes.extend(paths.map(|(path, _)| format!("came or went: {}", path.display())));
        match self.server.accept() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            other => changes.push(format!("the server was reached: {other:?}")),
        }
        if let Some(end) = self.victim.try_wait().unwrap() {
            changes.push(format!("the process was ended: {end}"));
        }
        changes
    }

    /// Everything is as it was, and was never otherwise.
    pub(super) fn assert_untouched(&mut self, before: &Before) {
        let changes = self.changes(before);
        assert!(changes.is_empty(), "the world changed:\n{}", changes.join("\n"));
    }

    /// The whole journal, as a stream of events would have shown it.
    pub(super) fn journal(&self) -> Vec<Value> {
        let events = self.place.journal().into_iter();
        events
            .map(|event| json!({"kind": event.kind, "payload": event.details}))
            .collect()
    }

    /// Reaches the server that must hear nothing.
    pub(super) fn knock(&self) -> TcpStream {
        TcpStream::connect(self.server.local_addr().unwrap()).unwrap()
    }

    /// Ends the process that must live.
    pub(super) fn end_victim(&mut self) {
        self.victim.kill().unwrap();
        self.victim.wait().unwrap();
    }

    /// Every call of every attempt has one decision among these events of the journal; what plan mode
    /// does not offer does not exist for the run, in words that name the tool and the mode.
    pub(super) fn assert_each_decided(&self, events: &[Value]) {
        let faults = self.undecided(events);
        assert!(
            faults.is_empty(),
            "{} calls without the right decision:\n{}",
            faults.len(),
            faults.join("\n")
        );
    }

    /// The calls whose decision is missing, doubled or another than it must be.
    pub(super) fn undecided(&self, events: &[Value]) -> Vec<String> {
        let decisions = decisions(events);
        let mut faults = Vec::new();
        for attempt in &self.attempts {
            for (number, calls) in attempt.steps.iter().enumerate() {
                let said = attempt.said(number);
                let asked = call_ids(events, &said);
                if asked.len() != calls.len() {
                    faults.push(format!("{said}: {} calls arrived of {}", asked.len(), calls.len()));
                }
                for (id, call) in asked.iter().zip(calls) {
                    if let Some(fault) = fault_of(decisions.get(id).map(Vec::as_slice), call) {
                        faults.push(format!("{said} as {}: {fault}", call.name));
                    }
                }
            }
        }
        faults
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

impl Attempt {
    fn turns(&self) -> Vec<Value> {
        let steps = self.steps.iter().enumerate();
        steps
            .map(|(number, calls)| json!({"text": self.said(number), "tool_calls": tool_calls(calls)}))
            .collect()
    }

    /// What the model says with a step: no other response says it.
    fn said(&self, step: usize) -> String {
        format!("{}, step {}", self.id, step + 1)
    }
}

/// Calls as a script has them.
pub(super) fn tool_calls(calls: &[Call]) -> Vec<Value> {
    calls
        .iter()
        .map(|call| json!({"name": call.name, "arguments": call.arguments}))
        .collect()
}

fn attempt(entry: attempts::Attempt) -> Attempt {
    Attempt {
        id: entry.id,
        steps: entry.steps.iter().map(spellings::of).collect(),
        canaries: entry.canary.iter().map(PathBuf::from).collect(),
    }
}

/// Tools of plan mode that the attempts name: they may run, and must still change nothing.
const OFFERED: [&str; 5] = [
    "read_file",
    "exit_plan_mode",
    "submit_output",
    "update_todo",
    "new_task",
];

fn offered(call: &Call) -> bool {
    OFFERED.contains(&call.name)
}

/// The decisions of each call, as the journal has them.
pub(super) fn decisions(events: &[Value]) -> BTreeMap<String, Vec<Value>> {
    let mut decisions: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["kind"] == "decided") {
        let call = event["payload"]["call"].as_str().unwrap().to_owned();
        decisions
            .entry(call)
            .or_default()
            .push(event["payload"]["record"].clone());
    }
    decisions
}

/// The decisions in order, each as `tool decision layer`.
pub(super) fn decided(events: &[Value]) -> Vec<String> {
    let records = events
        .iter()
        .filter(|event| event["kind"] == "decided")
        .map(|event| &event["payload"]["record"]);
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    records
        .map(|record| {
            [&record["tool"], &record["decision"], &record["layer"]]
                .map(word)
                .join(" ")
        })
        .collect()
}

/// The ids of the calls of the response that says just this.
pub(super) fn call_ids(events: &[Value], said: &str) -> Vec<String> {
    let responses = events.iter().filter(|event| event["kind"] == "responded");
    let blocks = responses
        .map(|event| event["payload"]["response"]["blocks"].as_array().unwrap())
        .find(|blocks| blocks.iter().any(|block| block["text"] == said));
    let calls = blocks
        .into_iter()
        .flatten()
        .filter_map(|block| block["tool_call"]["id"].as_str());
    calls.map(str::to_owned).collect()
}

fn fault_of(decided: Option<&[Value]>, call: &Call) -> Option<String> {
    let record = match decided {
        Some([record]) => record,
        other => return Some(format!("{} decisions", other.map_or(0, <[Value]>::len))),
    };
    let about = record["tool"] == call.name;
    let reason = record["reason"].as_str().unwrap_or_default();
    let refused = record["decision"] == "deny" && record["layer"] == "surface";
    let told = reason.contains(call.name) && reason.contains("Plan (read-only)");
    (!(about && (offered(call) || refused && told))).then(|| record.to_string())
}

fn facts(path: &std::path::Path) -> String {
    let facts = path
        .symlink_metadata()
        .map(|facts| (facts.mtime_nsec(), facts.ctime_nsec(), facts.mode()));
    format!("{:?} {:?}", facts.ok(), fs::read_to_string(path).ok())
}

/// What attempts reach for.
fn furnish(place: &Place) {
    let outside = place.outside();
    fs::create_dir_all(outside.join("linked")).unwrap();
    fs::write(outside.join("kept.log"), "kept\n").unwrap();
    fs::write(place.home().join(".bashrc"), "# mine\n").unwrap();
    place.write("nb.ipynb", "{\"cells\": [{\"id\": \"0\", \"source\": \"print(1)\"}]}\n");
    place.write("src/build.py", "open('f.txt', 'w').write('x')\n");
    place.write(
        "package.json",
        "{\"name\": \"sample\", \"scripts\": {\"test\": \"touch f.txt\"}}\n",
    );
    place.write("vendor/lp/package.json", "{\"name\": \"lp\", \"version\": \"1.0.0\"}\n");
    place.write("Makefile", "all:\n\ttouch f.txt\n");
    place.write("pre.sh", "#!/bin/sh\ntouch f.txt\ncat \"$1\"\n");
    place.write(".stance/settings.toml", "# nothing is tightened here\n");
    fs::set_permissions(place.repo().join("pre.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink(outside.join("linked"), place.repo().join("escape")).unwrap();
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "furnish"]);
    place.git(&["branch", "topic"]);
    let remote = outside.join("remote.git").display().to_string();
    place.git(&["init", "-q", "--bare", &remote]);
    place.git(&["remote", "add", "origin", &remote]);
    place.git(&["config", "diff.external", "touch planted.txt; true"]);
    place.write("src/util.py", "def add(a, b):\n    return a - b\n");
    place.write("scratch/a.tmp", "scratch\n");
}
