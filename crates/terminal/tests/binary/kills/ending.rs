//! How a story ended, with ids, digests, times and the place taken out of it, so that two stories can
//! be compared: the worktree, the commits, every list and report, and every event of the journal.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use serde_json::{Value, json};

use super::story::{Landing, Story};

/// The end of a story.
pub(super) struct Ending {
    /// Each file of the worktree with its content; what git says of them.
    files: BTreeMap<String, String>,
    /// Author, committer, tree and whole message of each commit, oldest first.
    commits: Vec<String>,
    /// What the commands say that look: the report, the plans, the spaces.
    seen: Vec<Value>,
    /// Whose each event is, its kind and its details. Requests are left out, because an answer that
    /// was lost is asked for again, and so is the word that a run goes on.
    events: Vec<(String, String, Value)>,
    /// Where the story took place.
    place: String,
}

impl Ending {
    pub(super) fn of(story: &Story) -> Ending {
        let place = &story.place;
        let verified = place.stance(&["audit", "verify"]);
        assert_eq!(verified.code, 0, "{}{}", verified.out, verified.err);
        let mut files = BTreeMap::new();
        contents(&place.repo(), "", &mut files);
        files.insert("git status".to_owned(), place.git(&["status", "--porcelain"]));
        let log = place.git(&["log", "--reverse", "--format=%an %ae %cn %ce %T%n%B%x00"]);
        let plan = story.plan().unwrap();
        let mut report = story.report(&plan);
        for passing in ["duration_ms", "audit_head"] {
            report.as_object_mut().unwrap().remove(passing);
        }
        let mut spaces = place.stance(&["space", "list", "--json"]).report();
        for space in spaces.as_array_mut().unwrap() {
            for passing in ["created_ms", "age_ms"] {
                space.as_object_mut().unwrap().remove(passing);
            }
        }
        Ending {
            files,
            commits: log.split_terminator("\0\n").map(str::to_owned).collect(),
            seen: vec![report, plan, spaces],
            events: place
                .journal()
                .into_iter()
                .filter(|event| !matches!(event.kind.as_str(), "requested" | "run_resumed"))
                .map(|event| {
                    (
                        event.stream.split('/').next().unwrap().to_owned(),
                        event.kind,
                        event.details,
                    )
                })
                .collect(),
            place: place.repo().parent().unwrap().display().to_string(),
        }
    }

    /// The first thing in which two ends differ, but for the results of these calls.
    pub(super) fn difference(&self, other: &Ending, interrupted: &[String]) -> Result<(), String> {
        let equal = |what: &str, mine: String, theirs: String| {
            if mine == theirs {
                Ok(())
            } else {
                Err(format!("{what}:\n  {mine}\nbut\n  {theirs}"))
            }
        };
        let kinds = |ending: &Ending| {
            ending
                .events
                .iter()
                .map(|(_, kind, _)| kind.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        };
        equal("files", format!("{:#?}", self.files), format!("{:#?}", other.files))?;
        equal("kinds of events", kinds(self), kinds(other))?;
        let (mut my_names, mut their_names) = (Names::of(&self.place), Names::of(&other.place));
        for (mine, theirs) in self.events.iter().zip(&other.events) {
            let line = |(stream, kind, details): &(String, String, Value), names: &mut Names| {
                format!(
                    "{stream} {kind} {}",
                    names.value(&without_result(kind, details, interrupted))
                )
            };
            equal("events", line(mine, &mut my_names), line(theirs, &mut their_names))?;
        }
        for (mine, theirs) in self.seen.iter().zip(&other.seen) {
            equal(
                "what is seen",
                my_names.value(mine).to_string(),
                their_names.value(theirs).to_string(),
            )?;
        }
        equal(
            "commits",
            my_names.text(&self.commits.join("\n")),
            their_names.text(&other.commits.join("\n")),
        )
    }

    /// The end is the right one, whoever it is compared with.
    pub(super) fn is_sound(&self, landing: Landing) {
        assert_eq!(self.files["HELLO.md"], "hello\n");
        assert_eq!(self.files["README.md"], "# Sample\nconst in more words\n");
        assert_eq!(self.files["log.txt"], "x\n");
        let [report, plan, spaces] = self.seen.as_slice() else {
            panic!("{:?}", self.seen)
        };
        assert_eq!(report["outcome"], "delivered");
        assert_eq!(
            report["usage"],
            json!({"input": 600, "output": 42, "cache_read": 0, "cache_write": 0})
        );
        let steps = report["orchestration"]["steps"].as_array().unwrap();
        let done: Vec<_> = steps
            .iter()
            .map(|step| (&step["status"], &step["files_changed"]))
            .collect();
        assert_eq!(
            done,
            [
                (&json!("done"), &json!(["HELLO.md"])),
                (&json!("done"), &json!(["README.md", "log.txt"]))
            ]
        );
        assert_eq!(report["pending"], json!([]));
        assert_eq!(plan["status"], "completed");
        assert_eq!(spaces[0]["mode"], "chat");
        self.results_are_one_a_call();
        let count = |kind: &str| self.events.iter().filter(|event| event.1 == kind).count();
        assert_eq!((count("orchestration_created"), count("orchestration_ended")), (1, 1));
        match landing {
            Landing::Checkout => {
                assert_eq!(self.commits.len(), 1);
                assert_eq!(self.files["git status"], " M README.md\n?? HELLO.md\n?? log.txt\n");
            }
            Landing::Commits => {
                assert_eq!(self.files["git status"], "");
                let [_, greet, log] = self.commits.as_slice() else {
                    panic!("{:?}", self.commits)
                };
                assert!(greet.starts_with("Ada ada@example.org Ada ada@example.org"), "{greet}");
                assert!(
                    greet.contains("\nWrite the greeting\n\nStance-Plan: ") && greet.contains(" step greet"),
                    "{greet}"
                );
                assert!(
                    log.contains("\nSay it in the log\n\nStance-Plan: ") && log.contains(" step log"),
                    "{log}"
                );
            }
        }
    }

    fn results_are_one_a_call(&self) {
        let of = |kind: &str| {
            let events = self.events.iter().filter(|event| event.1 == kind);
            events
                .map(|event| event.2["call"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        let finished = of("tool_finished");
        let once: BTreeSet<&String> = finished.iter().collect();
        assert_eq!(once.len(), finished.len(), "a call has two results: {finished:?}");
        assert!(of("tool_started").iter().all(|call| once.contains(call)));
        assert_eq!(finished.len(), 10);
    }
}

/// An event without the result of an interrupted call, which nobody can know.
fn without_result(kind: &str, details: &Value, interrupted: &[String]) -> Value {
    if kind == "tool_finished" && interrupted.iter().any(|call| details["call"] == call.as_str()) {
        return json!({"call": details["call"], "tool": details["tool"]});
    }
    details.clone()
}

fn contents(folder: &Path, beneath: &str, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{beneath}{}", entry.file_name().to_str().unwrap());
        if name == ".git" {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            contents(&entry.path(), &format!("{name}/"), files);
        } else {
            files.insert(name, std::fs::read_to_string(entry.path()).unwrap());
        }
    }
}

/// Gives each id, digest and hash the number of its first appearance, so that two texts are equal
/// when they name the same things in the same order.
struct Names {
    place: String,
    known: HashMap<String, usize>,
}

impl Names {
    fn of(place: &str) -> Names {
        Names {
            place: place.to_owned(),
            known: HashMap::new(),
        }
    }

    fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(map) => map
                .iter()
                .map(|(key, value)| (key.clone(), self.value(value)))
                .collect(),
            other => other.clone(),
        }
    }

    fn text(&mut self, text: &str) -> String {
        let text = text.replace(&self.place, "PLACE");
        let mut named = String::with_capacity(text.len());
        let mut word = String::new();
        for letter in text.chars().chain(['\0']) {
            if letter.is_ascii_alphanumeric() || letter == '_' {
                word.push(letter);
            } else {
                named.push_str(&self.word(&word));
                word.clear();
                named.push(letter);
            }
        }
        named.pop();
        named
    }

    /// Ids are a letter and twelve hexadecimal digits; hashes are shown with nine digits or more.
    fn word(&mut self, word: &str) -> String {
        let hexadecimal = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let id = word.len() == 14 && word.as_bytes()[1] == b'_' && hexadecimal(&word[2..]);
        let hash = word.len() >= 9 && hexadecimal(word) && word.bytes().any(|byte| byte.is_ascii_digit());
        if !id && !hash {
            return word.to_owned();
        }
        // A hash and its beginning are the same thing.
        let key = if id { word } else { &word[..9] };
        let next = self.known.len();
        format!("#{}", self.known.entry(key.to_owned()).or_insert(next))
    }
}
