//! The figures of one run: as a table, as JSON, and beside what ours are to stay under. Measures nothing.

use std::fmt::Write as _;

use anyhow::bail;
use serde::Serialize;
use serde_json::Value;

use super::CALLS;
use super::answer::Protocol;
use super::measure::{Cost, median};
use super::model::Asked;

/// One agent's figures.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    pub(super) name: &'static str,
    pub(super) version: Option<&'static str>,
    /// Of the first run ever in a repository, with a new home folder: seconds.
    first_run: f64,
    pub(super) hello: Hello,
    pub(super) calls: Calls,
}

/// One question, one answer.
#[derive(Debug, Default, Serialize)]
pub(super) struct Hello {
    /// Seconds, run by run.
    walls: Vec<f64>,
    processors: Vec<f64>,
    /// Megabytes, run by run.
    pub(super) memory: Vec<f64>,
    pub(super) requests: usize,
    pub(super) asked: First,
}

/// A file read so many times.
#[derive(Debug, Default, Serialize)]
pub(super) struct Calls {
    walls: Vec<f64>,
    processors: Vec<f64>,
    /// What one of its requests costs a client that does nothing else: milliseconds.
    pub(super) bare: f64,
}

/// The bytes of a run's first request.
#[derive(Debug, Default, Serialize)]
pub(super) struct First {
    total: usize,
    system: usize,
    tools: usize,
    messages: usize,
    offered: usize,
}

/// One thing ours is to stay under.
#[derive(Debug, Serialize)]
struct Target {
    what: &'static str,
    value: f64,
    most: f64,
}

/// All of it.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    rounds: usize,
    agents: Vec<Measured>,
    targets: Vec<Target>,
}

impl Measured {
    pub(super) fn new(name: &'static str, version: Option<&'static str>, first_run: f64) -> Measured {
        Measured {
            name,
            version,
            first_run,
            hello: Hello::default(),
            calls: Calls::default(),
        }
    }

    /// What each call added, in milliseconds.
    fn per_call(&self) -> f64 {
        let calls = f64::from(u32::try_from(CALLS).unwrap_or(u32::MAX));
        (median(&self.calls.walls) - median(&self.hello.walls)) / calls * 1000.0
    }
}

impl Hello {
    pub(super) fn add(&mut self, cost: Cost) {
        self.walls.push(cost.wall);
        self.processors.push(cost.processor);
    }
}

impl Calls {
    pub(super) fn add(&mut self, cost: Cost) {
        self.walls.push(cost.wall);
        self.processors.push(cost.processor);
    }
}

impl First {
    /// Of the first request that offers tools: agents ask for titles beside it.
    pub(super) fn of(asked: &[Asked]) -> First {
        let read = |asked: &Asked| -> Option<First> {
            let protocol = Protocol::of(&asked.path)?;
            let request: Value = serde_json::from_slice(&asked.body).ok()?;
            let [system, tools, messages] = protocol.parts(&request).map(|part| match part {
                Value::Null => 0,
                part => part.to_string().len(),
            });
            let offered = protocol.tools(&request).len();
            (offered > 0).then_some(First {
                total: asked.body.len(),
                system,
                tools,
                messages,
                offered,
            })
        };
        asked.iter().find_map(read).unwrap_or_default()
    }
}

impl Report {
    pub(super) fn of(agents: Vec<Measured>, rounds: usize) -> Report {
        let mut report = Report {
            rounds,
            agents,
            targets: Vec::new(),
        };
        report.targets = report.held_against();
        report
    }

    /// Ours beside the best of the others.
    fn held_against(&self) -> Vec<Target> {
        let (ours, others): (Vec<&Measured>, Vec<&Measured>) =
            self.agents.iter().partition(|agent| agent.version.is_none());
        let Some(ours) = ours.first() else {
            return Vec::new();
        };
        let least = |figure: &dyn Fn(&Measured) -> f64| {
            others
                .iter()
                .map(|other| figure(other))
                .min_by(f64::total_cmp)
                .unwrap_or(f64::NAN)
        };
        let wall = |agent: &Measured| median(&agent.hello.walls);
        let memory = |agent: &Measured| median(&agent.hello.memory);
        let processor = |agent: &Measured| mean(&agent.hello.processors);
        let bytes = ours.hello.asked.system + ours.hello.asked.tools;
        let mut targets = vec![
            Target {
                what: "each of 20 calls, over the bare client: ms",
                value: ours.per_call() - ours.calls.bare,
                most: 5.0,
            },
            Target {
                what: "system prompt and tools of the first plan request: KB",
                value: f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 1000.0,
                most: 14.0,
            },
            Target {
                what: "one request of the bare client: ms",
                value: ours.calls.bare,
                most: 1.0,
            },
        ];
        if !others.is_empty() {
            targets.extend([
                Target {
                    what: "hi, of the fastest other's time",
                    value: wall(ours) / least(&wall),
                    most: 0.3,
                },
                Target {
                    what: "hi, of the leanest other's memory",
                    value: memory(ours) / least(&memory),
                    most: 0.3,
                },
                Target {
                    what: "hi, of the thriftiest other's processor time",
                    value: processor(ours) / least(&processor),
                    most: 0.25,
                },
            ]);
        }
        targets
    }

    pub(super) fn print(&self) {
        println!(
            "{:<10} {:>9} {:>8} {:>8} {:>8} {:>5} {:>28} {:>6} {:>9} {:>9} {:>8} {:>8}",
            "",
            "first run",
            "hi s",
            "hi MB",
            "CPU s",
            "asks",
            "bytes = system+tools+rest",
            "tools",
            "20 calls",
            "CPU s",
            "ms/call",
            "bare ms"
        );
        for agent in &self.agents {
            let First {
                total,
                system,
                tools,
                messages,
                offered,
            } = &agent.hello.asked;
            println!(
                "{:<10} {:>9.2} {:>8.3} {:>8.1} {:>8.3} {:>5} {:>28} {:>6} {:>9.3} {:>9.3} {:>8.2} {:>8.2}",
                agent.name,
                agent.first_run,
                median(&agent.hello.walls),
                median(&agent.hello.memory),
                mean(&agent.hello.processors),
                agent.hello.requests,
                format!("{total} = {system}+{tools}+{messages}"),
                offered,
                median(&agent.calls.walls),
                mean(&agent.calls.processors),
                agent.per_call(),
                agent.calls.bare,
            );
        }
        println!(
            "medians of {} runs in turn (CPU: means); memory is the greatest sum over all processes",
            self.rounds
        );
        for Target { what, value, most } in &self.targets {
            println!("{what:<58} {value:>8.2}   at most {most}");
        }
    }

    pub(super) fn json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Fails when a figure of ours is over what it is to stay under, or is none.
    pub(super) fn verdict(&self) -> anyhow::Result<()> {
        let mut missed = String::new();
        for target in self
            .targets
            .iter()
            .filter(|target| target.value.is_nan() || target.value > target.most)
        {
            write!(missed, "\n  {}", target.what)?;
        }
        if missed.is_empty() {
            return Ok(());
        }
        bail!("more than it is to be:{missed}")
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / f64::from(u32::try_from(values.len()).unwrap_or(u32::MAX))
}
