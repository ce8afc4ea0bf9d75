//! Death by SIGKILL at every event of a plan, its approval and its carrying out: before the event is
//! committed, after it, and between the commit and what it announces. Whoever goes on afterwards, as
//! a person would, arrives where nobody was killed, and nothing is done twice.
//!
//! The kinds of events are read from an undisturbed run, so that a new kind is tried unasked.

mod ending;
mod story;

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::journal::Happened;
use crate::races::appears;
use crate::support::{Place, calls, turns};

use ending::Ending;
use story::{Landing, Phase, Story};

/// What a process ended by SIGKILL is seen as.
const KILLED: i32 = 128 + 9;

/// Stories tried at the same time: each waits for git and walls most of the time.
const TOGETHER: usize = 2;

/// Where a process is to die.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Point {
    phase: Phase,
    kind: String,
    moment: &'static str,
    occurrence: usize,
}

impl Point {
    fn armed(&self) -> String {
        format!("{}:{}:{}", self.kind, self.moment, self.occurrence)
    }
}

#[test]
fn killed_before_an_event_of_planning() {
    try_all(Landing::Checkout, Phase::Planning, Which::First, "before");
    try_all(Landing::Checkout, Phase::Planning, Which::Last, "before");
}

#[test]
fn killed_after_an_event_of_planning() {
    try_all(Landing::Checkout, Phase::Planning, Which::First, "after");
}

#[test]
fn killed_between_an_event_of_planning_and_what_it_announces() {
    try_all(Landing::Checkout, Phase::Planning, Which::First, "effect");
    try_all(Landing::Checkout, Phase::Planning, Which::Last, "effect");
}

#[test]
fn killed_before_the_first_event_of_a_kind_of_carrying_out() {
    try_all(Landing::Checkout, Phase::CarryingOut, Which::First, "before");
}

#[test]
fn killed_after_the_first_event_of_a_kind_of_carrying_out() {
    try_all(Landing::Checkout, Phase::CarryingOut, Which::First, "after");
}

#[test]
fn killed_between_the_first_event_of_a_kind_of_carrying_out_and_what_it_announces() {
    try_all(Landing::Checkout, Phase::CarryingOut, Which::First, "effect");
}

#[test]
fn killed_before_the_last_event_of_a_kind_of_carrying_out_with_commits() {
    try_all(Landing::Commits, Phase::CarryingOut, Which::Last, "before");
}

#[test]
fn killed_after_the_last_event_of_a_kind_of_carrying_out_with_commits() {
    try_all(Landing::Commits, Phase::CarryingOut, Which::Last, "after");
}

#[test]
fn killed_between_the_last_event_of_a_kind_of_carrying_out_and_what_it_announces_with_commits() {
    try_all(Landing::Commits, Phase::CarryingOut, Which::Last, "effect");
}

/// A step's commit is made before the event that names it: that one must be found again.
#[test]
fn killed_around_the_first_commit() {
    let undisturbed = Undisturbed::of(Landing::Commits);
    for moment in ["before", "after", "effect"] {
        let point = Point {
            phase: Phase::CarryingOut,
            kind: "step_landed".to_owned(),
            moment,
            occurrence: 1,
        };
        assert_eq!(undisturbed.compare(Landing::Commits, &point), Ok(()), "{moment}");
    }
}

/// Which events of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// The first of each kind.
    First,
    /// The last of each kind that there is more than one of.
    Last,
}

/// Tries one moment of every kind of event of a phase.
fn try_all(landing: Landing, phase: Phase, which: Which, moment: &'static str) {
    let undisturbed = Undisturbed::of(landing);
    let points = undisturbed.points(phase, which, moment);
    assert!(points.len() > 3, "{points:?}");
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..TOGETHER {
            scope.spawn(|| {
                while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(fault) = undisturbed.compare(landing, point) {
                        faults
                            .lock()
                            .unwrap()
                            .push(format!("{:?} {}: {fault}", point.phase, point.armed()));
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(
        faults.is_empty(),
        "{} of {} points:\n{}",
        faults.len(),
        points.len(),
        faults.join("\n\n")
    );
}

/// The story when nobody is killed.
struct Undisturbed {
    journal: Vec<Happened>,
    /// How many events the planning appended.
    planned: usize,
    ending: Ending,
}

impl Undisturbed {
    fn of(landing: Landing) -> Undisturbed {
        let story = Story::new(landing);
        assert_eq!(story.start(None).code, 0);
        let planned = story.place.journal().len();
        let approved = story.approve(None);
        assert_eq!(approved.code, 0, "{}{}", approved.out, approved.err);
        let journal = story.place.journal();
        let ending = Ending::of(&story);
        ending.is_sound(landing);
        Undisturbed {
            journal,
            planned,
            ending,
        }
    }

    fn events(&self, phase: Phase) -> &[Happened] {
        match phase {
            Phase::Planning => &self.journal[..self.planned],
            Phase::CarryingOut => &self.journal[self.planned..],
        }
    }

    fn points(&self, phase: Phase, which: Which, moment: &'static str) -> Vec<Point> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for event in self.events(phase) {
            *counts.entry(&event.kind).or_default() += 1;
        }
        let point = |(kind, count): (&str, usize)| {
            let occurrence = match which {
                Which::First => 1,
                Which::Last => count,
            };
            (which == Which::First || count > 1).then(|| Point {
                phase,
                kind: kind.to_owned(),
                moment,
                occurrence,
            })
        };
        counts.into_iter().filter_map(point).collect()
    }

    /// Kills one story at a point, goes on, and says how the end differs.
    fn compare(&self, landing: Landing, point: &Point) -> Result<(), String> {
        let story = Story::new(landing);
        let fault = Some(point.armed());
        let died = match point.phase {
            Phase::Planning => story.start(fault),
            Phase::CarryingOut => {
                story.start(None);
                story.approve(fault)
            }
        };
        if died.code != KILLED {
            return Err(format!("nobody died there: {}", died.err));
        }
        story.go_on()?;
        let interrupted = story.interrupted();
        let expected = Vec::from_iter(self.effect_done_without_result(point));
        if interrupted != expected {
            return Err(format!("interrupted calls: {interrupted:?}, expected {expected:?}"));
        }
        self.ending.difference(&Ending::of(&story), &interrupted)
    }

    /// The call whose effect was over and whose result was not kept when the process died.
    fn effect_done_without_result(&self, point: &Point) -> Option<String> {
        if point.kind != "tool_finished" || point.moment != "before" {
            return None;
        }
        let mut results = self
            .events(point.phase)
            .iter()
            .filter(|event| event.kind == "tool_finished");
        let result = &results.nth(point.occurrence - 1)?.details;
        let acts = matches!(
            result["tool"].as_str()?,
            "write_to_file" | "replace_in_file" | "execute_command"
        );
        (acts && result["how"] == "performed").then(|| result["call"].as_str().unwrap().to_owned())
    }
}

/// The acts of a step one by one: each is killed when it is done and its result is not yet kept.
#[test]
fn an_act_that_was_done_is_shown_as_interrupted_and_not_done_again() {
    let undisturbed = Undisturbed::of(Landing::Checkout);
    let results: Vec<&Happened> = undisturbed
        .events(Phase::CarryingOut)
        .iter()
        .filter(|event| event.kind == "tool_finished")
        .collect();
    let mut tried = Vec::new();
    for (place, result) in results.iter().enumerate() {
        let tool = result.details["tool"].as_str().unwrap();
        if matches!(tool, "write_to_file" | "replace_in_file" | "execute_command") {
            let point = Point {
                phase: Phase::CarryingOut,
                kind: "tool_finished".to_owned(),
                moment: "before",
                occurrence: place + 1,
            };
            assert_eq!(undisturbed.compare(Landing::Checkout, &point), Ok(()), "{tool}");
            tried.push(tool);
        }
    }
    assert_eq!(tried, ["write_to_file", "replace_in_file", "execute_command"]);
}

/// The acts of a step one by one: each is killed when its start is in the journal and nothing of it
/// has happened, so it is simply done afterwards.
#[test]
fn an_act_that_had_not_begun_is_done_once() {
    let undisturbed = Undisturbed::of(Landing::Checkout);
    let starts = undisturbed
        .events(Phase::CarryingOut)
        .iter()
        .filter(|event| event.kind == "tool_started");
    for (place, start) in starts.enumerate() {
        let point = Point {
            phase: Phase::CarryingOut,
            kind: "tool_started".to_owned(),
            moment: "effect",
            occurrence: place + 1,
        };
        assert_eq!(
            undisturbed.compare(Landing::Checkout, &point),
            Ok(()),
            "{}",
            start.details
        );
    }
}

/// A command under way dies with the program, and what it had done so far stays done once.
#[test]
fn a_command_killed_half_way_is_not_run_again() {
    let place = Place::new();
    let line = "echo x >> log.txt; echo $$ > pid.txt; while true; do sleep 0.1; done";
    let model = place.script(
        "half",
        &turns(&[
            calls(&[("execute_command", json!({"command": line, "timeout_s": 600}))]),
            calls(&[("attempt_completion", json!({"result": "looked at it"}))]),
        ]),
    );
    let mut running = place
        .command(&["run", "--json", "--yolo", "--model", &model, "log it"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    appears(&place.repo().join("pid.txt"));
    running.kill().unwrap();
    running.wait().unwrap();
    assert_eq!(place.read("log.txt"), "x\n");
    let said = place.stance(&["run", "--resume", "last", "--json", "--model", &model]);
    assert_eq!(
        (said.code, said.report()["outcome"].as_str()),
        (0, Some("delivered")),
        "{}",
        said.err
    );
    assert_eq!(place.read("log.txt"), "x\n");
    let run = said.report()["run_id"].as_str().unwrap().to_owned();
    let results = place.results(&run, "execute_command");
    assert_eq!(results.len(), 1);
    assert!(results[0].0 && results[0].1.starts_with("Interrupted"), "{results:?}");
    assert_eq!(said.report()["files_changed"], json!(["log.txt", "pid.txt"]));
    assert_eq!(place.stance(&["audit", "verify"]).code, 0);
}

/// A plan that was delivered can be approved although the run that delivered it was cut off behind it.
#[test]
fn a_plan_is_approved_although_its_run_was_cut_off_behind_it() {
    let story = Story::new(Landing::Checkout);
    assert_eq!(story.start(Some("run_ended:before:1".to_owned())).code, KILLED);
    let approved = story.approve(None);
    assert_eq!(approved.code, 0, "{}", approved.err);
    Ending::of(&story).is_sound(Landing::Checkout);
}
