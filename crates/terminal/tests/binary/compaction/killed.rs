//! Death by SIGKILL around every event of a run that compacts: whoever resumes arrives where nobody was
//! killed, with one summary and every call once.

use serde_json::{Value, json};

use crate::support::{Place, Said, calls, one_step_plan, said, says, turns};

const KILLED: i32 = 128 + 9;

struct Story {
    place: Place,
    model: String,
}

impl Story {
    fn new() -> Story {
        let place = Place::new();
        let too_large = json!({"error": {"status": 413}});
        let plan = one_step_plan("Say hello", "hello", &["HELLO.md"], &[]);
        let model = place.script(
            "story",
            &turns(&[
                calls(&[
                    ("read_file", json!({"path": "README.md"})),
                    ("list_files", json!({"path": "."})),
                ]),
                too_large,
                says("The README is a sample."),
                calls(&[("submit_plan", plan)]),
            ]),
        );
        Story { place, model }
    }

    fn stance(&self, arguments: &[&str], fault: Option<&str>) -> Said {
        let mut command = self.place.command(arguments);
        command.args(["--json", "--model", &self.model]);
        if let Some(fault) = fault {
            command.env("STANCE_FAULT", fault);
        }
        said(command.output().unwrap())
    }

    fn start(&self, fault: Option<&str>) -> Said {
        self.stance(&["run", "--mode", "plan", "plan it"], fault)
    }

    /// What is left of it: the kinds of events but for requests, which are made again, and the summary.
    fn ending(&self) -> (Vec<String>, Vec<Value>) {
        let journal = self.place.journal();
        let kinds = journal
            .iter()
            .map(|event| event.kind.clone())
            .filter(|kind| !matches!(kind.as_str(), "requested" | "run_resumed"))
            .collect();
        let compacted = journal.into_iter().filter(|event| event.kind == "compacted");
        let parts = compacted.map(|event| {
            let details = event.details;
            json!([
                details["why"],
                details["summary"],
                details["usage"],
                details["model"],
                details["before"]
            ])
        });
        (kinds, parts.collect())
    }
}

#[test]
fn a_run_that_compacts_is_gone_on_with_wherever_it_died() {
    let undisturbed = Story::new();
    let said = undisturbed.start(None);
    assert_eq!(
        (said.code, said.report()["outcome"].as_str()),
        (0, Some("delivered")),
        "{}",
        said.err
    );
    let (kinds, compacted) = undisturbed.ending();
    assert_eq!(compacted.len(), 1, "{kinds:?}");
    for kind in ["requested", "request_failed", "compacted", "responded", "tool_finished"] {
        let times = undisturbed
            .place
            .journal()
            .iter()
            .filter(|event| event.kind == kind)
            .count();
        for occurrence in 1..=times {
            for moment in ["before", "after", "effect"] {
                let fault = format!("{kind}:{moment}:{occurrence}");
                let story = Story::new();
                assert_eq!(story.start(Some(&fault)).code, KILLED, "{fault}");
                let resumed = story.stance(&["run", "--resume", "last"], None);
                assert_eq!(resumed.code, 0, "{fault}: {}", resumed.err);
                assert_eq!(story.ending(), (kinds.clone(), compacted.clone()), "{fault}");
                assert_eq!(story.place.stance(&["audit", "verify"]).code, 0, "{fault}");
            }
        }
    }
}
