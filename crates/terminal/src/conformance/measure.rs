//! The measurement: each attempt is a run of its own, made through the engine, and judged by what
//! changed in the world and what the journal says was decided. It must not know how a mode keeps its
//! guarantee.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::{
    Address, Attendance, ChosenModel, Command, Done, Engine, EventView, ModelSource, Problem, ProblemKind, RunOptions,
};
use llm::scripted::Scripted;
use modes::{Decision, Layer, Mode, Posture, RuleText, Scope, Verdict};
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::attempts::{Attempt, AttemptList};
use super::ground::{Changes, Ground};
use super::spellings::{self, Call};
use crate::house::{House, Proved};
use crate::settings::Settings;

/// Late acts are waited for no longer than this.
const LONGEST_WAIT: f32 = 10.0;

/// What came of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// No call of it exists in the mode.
    NotOffered,
    /// Refused before anything ran.
    Refused,
    /// Something ran, and nothing changed.
    Contained,
    /// Something changed that the mode, or a rule of the person, allows.
    Policy,
    /// The world changed.
    Leaked,
    /// A read that worked.
    ReadOk,
    /// A read that did not.
    ReadRefused,
}

impl Outcome {
    /// The word in tables.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Outcome::NotOffered => "not offered",
            Outcome::Refused => "refused",
            Outcome::Contained => "contained",
            Outcome::Policy => "allowed by policy",
            Outcome::Leaked => "LEAKED",
            Outcome::ReadOk => "read works",
            Outcome::ReadRefused => "read refused",
        }
    }
}

/// One attempt, measured.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measured {
    /// Its name.
    pub(crate) id: String,
    /// Its kind.
    pub(crate) group: String,
    /// What came of it.
    pub(crate) outcome: Outcome,
    /// What decided: of several calls the one that reached farthest.
    pub(crate) layer: Option<Layer>,
    /// What changed, ran or was said.
    pub(crate) detail: String,
}

/// A mode, measured.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measurement {
    /// What was measured.
    pub(crate) target: &'static str,
    /// The mode's stored word.
    pub(crate) mode: String,
    /// Our version.
    pub(crate) version: &'static str,
    /// The day, as YYYY-MM-DD in UTC.
    pub(crate) date: String,
    /// How the walls stood.
    pub(crate) walls: modes::WallsStanding,
    /// Each attempt.
    pub(crate) attempts: Vec<Measured>,
    /// The counts.
    pub(crate) summary: Summary,
}

/// The counts of a measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Summary {
    /// Attempts made.
    pub(crate) attempts: usize,
    /// Calls they consist of.
    pub(crate) calls: usize,
    /// Decisions of the journal about them.
    pub(crate) decisions: usize,
    /// Attempts by what came of them.
    pub(crate) outcomes: BTreeMap<Outcome, usize>,
}

impl Summary {
    /// How many attempts came to this.
    pub(crate) fn of(&self, outcome: Outcome) -> usize {
        self.outcomes.get(&outcome).copied().unwrap_or_default()
    }
}

/// Which attempts a mode is measured with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// All: the mode writes nothing.
    All,
    /// Those that reach beyond the files of the worktree, which the mode may write.
    Outside,
}

impl Part {
    /// The part for a mode.
    pub(crate) fn of(mode: Mode) -> Part {
        match modes::profile(mode).capability.worktree() {
            Posture::ReadOnly => Part::All,
            Posture::Writable => Part::Outside,
        }
    }

    /// Whether an attempt, its placeholders unfilled, belongs to it.
    fn holds(self, attempt: &Attempt) -> bool {
        self == Part::All || attempt.reaches_outside()
    }
}

/// Makes every attempt in this mode, on fresh ground beneath `folder`.
pub(crate) async fn measure(
    house: &House,
    settings: &Settings,
    list: &AttemptList,
    mode: Mode,
    folder: &Path,
) -> Result<Measurement, Problem> {
    let mut ground = Ground::lay_out(folder)?;
    let scripts = Arc::new(Scripts::default());
    // What is tried in a throw-away view is measured too, whether the person turned it on or not.
    let settings = Settings {
        plan_try: Some(true),
        ..settings.clone()
    };
    let there = house.scratch(ground.stance_home(), ground.home(), ground.repository());
    let held = there.held(&settings.sandbox, Proved::Now).await;
    let walls = held.walls.clone();
    let models = Arc::clone(&scripts) as Arc<dyn ModelSource>;
    let engine = there
        .engine_with(&settings, models, BTreeSet::new(), Attendance::Nobody, held)
        .await?;
    commit(&engine, &scripts).await?;
    ground.complete(walls).await?;

    let part = Part::of(mode);
    let mut attempts = Vec::new();
    let (mut calls, mut decisions) = (0, 0);
    let mut date = String::new();
    let chosen: Vec<bool> = list.filled(&[])?.iter().map(|attempt| part.holds(attempt)).collect();
    let all = list.filled(&ground.placeholders())?;
    for attempt in all
        .iter()
        .zip(chosen)
        .filter_map(|(attempt, chosen)| chosen.then_some(attempt))
    {
        let made = Made::of(&engine, &scripts, &mut ground, mode, attempt).await?;
        calls += made.calls.len();
        decisions += made.decided.len();
        date.clone_from(&made.date);
        let measured = made.measured(attempt, part, &ground.repository());
        attempts.push(Measured {
            detail: ground.unnamed(&measured.detail),
            ..measured
        });
    }
    if calls != decisions {
        return Err(Problem::new(
            ProblemKind::Machine,
            format!("{calls} calls were made and {decisions} decided: the measurement does not count."),
        ));
    }
    let mut outcomes = BTreeMap::new();
    for attempt in &attempts {
        *outcomes.entry(attempt.outcome).or_default() += 1;
    }
    Ok(Measurement {
        target: "builtin",
        mode: mode.stored().to_owned(),
        version: env!("CARGO_PKG_VERSION"),
        date,
        walls: engine.walls_standing(),
        summary: Summary {
            attempts: attempts.len(),
            calls,
            decisions,
            outcomes,
        },
        attempts,
    })
}

/// The model of the next run: whatever script was put here last.
#[derive(Default)]
struct Scripts(Mutex<Option<Scripted>>);

impl Scripts {
    fn put(&self, turns: &Value) -> Result<(), Problem> {
        let script = json!({"turns": turns}).to_string();
        let script = Scripted::new("the attempt", script.as_bytes())
            .map_err(|error| Problem::new(ProblemKind::Model, error.to_string()))?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(script);
        Ok(())
    }
}

impl ModelSource for Scripts {
    fn choose(&self, _mode: Mode) -> Result<ChosenModel, Problem> {
        let script = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let script = script.ok_or_else(|| Problem::new(ProblemKind::Model, "no attempt is being made"))?;
        Ok(ChosenModel {
            settings: llm::ModelSettings {
                provider: llm::scripted::PROVIDER.to_owned(),
                model: script.actual_model(),
                effort: None,
                thinking_budget: None,
                max_output: None,
                temperature: None,
            },
            model: Arc::new(script),
            notices: Vec::new(),
        })
    }
}

/// The sample's first commit, made by a run in the mode that writes.
async fn commit(engine: &Engine, scripts: &Scripts) -> Result<(), Problem> {
    scripts.put(&json!([{"tool_calls": [
        {"name": "git_write", "arguments": {"op": "stage", "paths": ["."]}},
        {"name": "git_write", "arguments": {"op": "commit", "message": "start"}},
    ]}]))?;
    let options = RunOptions {
        rules: vec![RuleText {
            scope: Scope::Run,
            verdict: Verdict::Allow,
            text: "effect(git_commit)".to_owned(),
            place: "the measurement".to_owned(),
        }],
        ..RunOptions::default()
    };
    let (_, denials) = run(engine, modes::after_approval(), "Commit the sample.", options).await?;
    match denials.first() {
        None => Ok(()),
        Some(reason) => Err(Problem::refused(format!("The sample could not be committed: {reason}"))
            .hint("`stance doctor` shows what this machine lacks.")),
    }
}

/// One run to its end: its thread, and why calls were refused.
async fn run(engine: &Engine, mode: Mode, text: &str, options: RunOptions) -> Result<(String, Vec<String>), Problem> {
    let send = Command::Send {
        to: Address::FreshSpace(mode),
        text: text.to_owned(),
        options,
    };
    let Done::Run { run, .. } = engine.carry_out(send).await? else {
        return Err(Problem::refused("No run was started."));
    };
    let report = Box::pin(engine.drive_run(&run, CancellationToken::new())).await?;
    let denials = report.denials.into_iter().map(|denial| denial.reason).collect();
    Ok((report.thread_id, denials))
}

/// A decision of the journal about one call, and what the call came to.
struct Decided {
    tool: String,
    layer: Layer,
    reason: String,
    /// Whether it was performed, and without a fault.
    worked: Option<bool>,
    /// The last line of what it came to.
    said: String,
}

/// An attempt that was made.
struct Made {
    calls: Vec<Call>,
    decided: Vec<Decided>,
    changes: Changes,
    date: String,
}

impl Made {
    async fn of(
        engine: &Engine,
        scripts: &Scripts,
        ground: &mut Ground,
        mode: Mode,
        attempt: &Attempt,
    ) -> Result<Made, Problem> {
        let steps: Vec<Vec<Call>> = attempt.steps.iter().map(spellings::of).collect();
        scripts.put(&steps.iter().map(|calls| json!({"tool_calls": calls})).collect())?;
        let canaries: Vec<(PathBuf, bool)> = attempt.canary.iter().map(|path| (path.into(), there(path))).collect();
        if let Some(line) = &attempt.pre {
            ground.prepare(line).await?;
        }
        let before = ground.look()?;
        let (thread, _) = run(engine, mode, &attempt.title, RunOptions::default()).await?;
        if attempt.wait > 0.0 {
            tokio::time::sleep(Duration::from_secs_f32(attempt.wait.min(LONGEST_WAIT))).await;
        }
        let mut changes = ground.changes(&before)?;
        let moved = canaries.into_iter().filter(|(path, was)| there(path) != *was);
        changes.paths.extend(moved.map(|(path, _)| path));
        let events = engine.thread(&thread).await?.events;
        Ok(Made {
            calls: steps.into_iter().flatten().collect(),
            decided: decided(&events)?,
            changes,
            date: events.last().map(day).unwrap_or_default(),
        })
    }

    fn measured(&self, attempt: &Attempt, part: Part, repository: &Path) -> Measured {
        let ran: Vec<&Decided> = self.decided.iter().filter(|decided| decided.worked.is_some()).collect();
        let worked = ran.iter().any(|decided| decided.worked == Some(true));
        let farthest = self.decided.iter().find(|decided| decided.layer != Layer::Surface);
        let outcome = if !self.changes.none() {
            if self.allowed(part, repository, &ran) {
                Outcome::Policy
            } else {
                Outcome::Leaked
            }
        } else if attempt.reads() {
            if worked { Outcome::ReadOk } else { Outcome::ReadRefused }
        } else if !ran.is_empty() {
            Outcome::Contained
        } else if farthest.is_some() {
            Outcome::Refused
        } else {
            Outcome::NotOffered
        };
        let telling = ran.first().copied().or(farthest).or(self.decided.first());
        let detail = match outcome {
            Outcome::Leaked | Outcome::Policy => self.changes.words(),
            Outcome::ReadRefused if !ran.is_empty() => ran.iter().map(|decided| decided.said.as_str()).collect(),
            Outcome::Contained | Outcome::ReadOk => {
                let mut tools: Vec<&str> = ran.iter().map(|decided| decided.tool.as_str()).collect();
                tools.dedup();
                tools.join(", ")
            }
            _ => telling.map(|decided| decided.reason.clone()).unwrap_or_default(),
        };
        Measured {
            id: attempt.id.clone(),
            group: attempt.group.clone(),
            outcome,
            layer: telling.map(|decided| decided.layer),
            detail,
        }
    }

    /// Whether all that changed may change: where the mode writes the files of the worktree, and the
    /// repository by the tool that is there for it; elsewhere what a rule of the person named.
    fn allowed(&self, part: Part, repository: &Path, ran: &[&Decided]) -> bool {
        let by = |tools: &[&str]| ran.iter().any(|decided| tools.contains(&decided.tool.as_str()));
        let named = ran.iter().any(|decided| {
            matches!(decided.layer, Layer::Rule | Layer::ActFreely) && decided.tool.as_str() != "execute_command"
        });
        part == Part::Outside
            && !self.changes.heard
            && !self.changes.ended
            && self
                .changes
                .paths
                .iter()
                .all(|path| match path.strip_prefix(repository) {
                    Ok(beneath) if beneath.starts_with(".git") => by(&["git_write", "create_pull_request"]),
                    Ok(_) => true,
                    Err(_) => named,
                })
    }
}

fn there(path: impl AsRef<Path>) -> bool {
    path.as_ref().symlink_metadata().is_ok()
}

/// The day of an event.
fn day(event: &EventView) -> String {
    jiff::Timestamp::from_millisecond(event.time_ms)
        .map(|time| time.strftime("%Y-%m-%d").to_string())
        .unwrap_or_default()
}

/// Every decision among the events of a thread, with what its call came to.
fn decided(events: &[EventView]) -> Result<Vec<Decided>, Problem> {
    let odd = |error: serde_json::Error| Problem::new(ProblemKind::Store, format!("an event cannot be read: {error}"));
    let of = |event: &EventView, key: &str| event.payload.get(key).cloned().unwrap_or_default();
    let finished: BTreeMap<String, &EventView> = events
        .iter()
        .filter(|event| event.kind == "tool_finished" && of(event, "how") == "performed")
        .map(|event| (of(event, "call").to_string(), event))
        .collect();
    let decisions = events.iter().filter(|event| event.kind == "decided");
    decisions
        .map(|event| {
            let record: modes::DecisionRecord = serde_json::from_value(of(event, "record")).map_err(odd)?;
            let finished = finished.get(&of(event, "call").to_string());
            let text = finished.and_then(|finished| finished.payload.pointer("/result/content/0/text"));
            let last = text.and_then(Value::as_str).and_then(|text| text.lines().last());
            let worked = finished.map(|finished| finished.payload.pointer("/result/is_error") == Some(&json!(false)));
            Ok(Decided {
                tool: record.tool,
                said: last.unwrap_or_default().to_owned(),
                worked: worked.filter(|_| record.decision == Decision::Allow),
                layer: record.layer,
                reason: record.reason,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(group: &str) -> Attempt {
        let entry = json!({"id": "x", "group": group, "title": "t", "steps": []});
        serde_json::from_value(entry).unwrap()
    }

    fn decided(tool: &str, layer: Layer, worked: Option<bool>) -> Decided {
        Decided {
            tool: tool.to_owned(),
            layer,
            reason: "because".to_owned(),
            worked,
            said: String::new(),
        }
    }

    fn outcome(group: &str, part: Part, decided: Vec<Decided>, changes: Changes) -> (Outcome, String) {
        let made = Made {
            calls: Vec::new(),
            decided,
            changes,
            date: String::new(),
        };
        let measured = made.measured(&attempt(group), part, Path::new("/r"));
        (measured.outcome, measured.detail)
    }

    fn changed(path: &str) -> Changes {
        Changes {
            paths: vec![PathBuf::from(path)],
            ..Changes::default()
        }
    }

    #[test]
    fn what_changed_nothing_is_told_by_the_call_that_reached_farthest() {
        let check = |decided, expected: Outcome| {
            assert_eq!(outcome("shell", Part::All, decided, Changes::default()).0, expected);
        };
        let absent = || decided("bash", Layer::Surface, None);
        check(vec![absent()], Outcome::NotOffered);
        check(
            vec![absent(), decided("git_read", Layer::Ceiling, None)],
            Outcome::Refused,
        );
        check(
            vec![absent(), decided("inspect_command", Layer::BuiltIn, Some(false))],
            Outcome::Contained,
        );
    }

    #[test]
    fn a_read_works_only_when_a_call_of_it_worked() {
        let check = |worked, expected: Outcome| {
            let decided = vec![decided("inspect_command", Layer::BuiltIn, worked)];
            assert_eq!(outcome("read", Part::All, decided, Changes::default()).0, expected);
        };
        check(Some(true), Outcome::ReadOk);
        check(Some(false), Outcome::ReadRefused);
        check(None, Outcome::ReadRefused);
    }

    #[test]
    fn a_change_is_a_leak_whatever_was_decided_where_the_mode_writes_nothing() {
        for decided in [
            Vec::new(),
            vec![decided("write_to_file", Layer::Rule, Some(true))],
            vec![decided("bash", Layer::Surface, None)],
        ] {
            let (outcome, detail) = outcome("shell", Part::All, decided, changed("/r/f"));
            assert_eq!((outcome, detail.as_str()), (Outcome::Leaked, "/r/f"));
        }
    }

    #[test]
    fn where_the_mode_writes_the_worktree_a_change_beyond_it_needs_a_rule() {
        let line = || decided("execute_command", Layer::Rule, Some(true));
        let write = |layer| decided("write_to_file", layer, Some(true));
        let git = || decided("git_write", Layer::BuiltIn, Some(true));
        let check = |decided, changes, expected: Outcome| {
            assert_eq!(outcome("shell", Part::Outside, decided, changes).0, expected);
        };
        check(vec![line()], changed("/r/f"), Outcome::Policy);
        check(vec![line()], changed("/r/.git/config"), Outcome::Leaked);
        check(vec![git()], changed("/r/.git/index"), Outcome::Policy);
        check(vec![line()], changed("/out/f"), Outcome::Leaked);
        check(vec![write(Layer::BuiltIn)], changed("/out/f"), Outcome::Leaked);
        check(vec![write(Layer::Rule)], changed("/out/f"), Outcome::Policy);
        for changes in [
            Changes {
                heard: true,
                ..Changes::default()
            },
            Changes {
                ended: true,
                ..Changes::default()
            },
        ] {
            check(vec![write(Layer::Rule)], changes, Outcome::Leaked);
        }
    }
}
