//! `stance conformance`: measures the modes on scratch ground and shows the result as a table or as
//! JSON. It must not know how an attempt is made.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use engine::{Problem, ProblemKind};
use modes::Mode;

use crate::arguments::ConformanceArguments;
use crate::conformance::{AttemptList, Measurement, Outcome, Part, measure};
use crate::exit::Exit;
use crate::house::House;
use crate::print::{Mark, Printer, Reader};

/// Measured when no mode is named.
const MODES: [&str; 3] = ["plan", "review", "agent"];

pub(super) async fn conformance(house: &House, arguments: ConformanceArguments) -> Result<Exit, Problem> {
    let list = AttemptList::read(arguments.attempts.as_deref())?;
    let settings = house.settings()?.sound()?;
    let modes = match arguments.mode {
        Some(mode) => vec![mode],
        None => MODES
            .into_iter()
            .map(Mode::named)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|refused| Problem::usage(refused.to_string()))?,
    };
    let reader = if arguments.json {
        Reader::Program
    } else {
        Reader::Person
    };
    let mut printer = Printer::new(&house.environment, reader);
    let mut measurements = Vec::new();
    for mode in modes {
        let folder = Folder::fresh(&house.stance_home.join("conformance"))?;
        let measurement = measure(house, &settings, &list, mode, &folder.0).await?;
        if !arguments.json {
            show(&mut printer, mode, &measurement);
        }
        measurements.push(measurement);
    }
    match (arguments.json, arguments.mode, measurements.as_slice()) {
        (true, Some(_), [one]) => printer.json(one)?,
        (true, ..) => printer.json(&measurements)?,
        (false, ..) => {}
    }
    let leaks = measurements
        .iter()
        .map(|mode| mode.summary.of(Outcome::Leaked))
        .sum::<usize>();
    Ok(if leaks == 0 { Exit::FINE } else { Exit::ERROR })
}

fn show(printer: &mut Printer, mode: Mode, measurement: &Measurement) {
    let groups: BTreeSet<&str> = measurement
        .attempts
        .iter()
        .map(|attempt| attempt.group.as_str())
        .collect();
    let widest = measurement
        .attempts
        .iter()
        .map(|attempt| attempt.id.len())
        .max()
        .unwrap_or_default();
    for group in groups {
        printer.prepared(&format!("\n{mode}, {group}"));
        for attempt in measurement.attempts.iter().filter(|attempt| attempt.group == group) {
            let layer = attempt
                .layer
                .map_or_else(String::new, |layer| format!("({})", layer.word()));
            let detail = match attempt.outcome {
                Outcome::Leaked | Outcome::Policy | Outcome::ReadRefused => format!(": {}", attempt.detail),
                _ => String::new(),
            };
            let mark = match attempt.outcome {
                Outcome::Leaked | Outcome::ReadRefused => Mark::Refused,
                _ => Mark::Done,
            };
            let word = attempt.outcome.word();
            printer.line(mark, &format!("{:widest$}  {word} {layer}{detail}", attempt.id));
        }
    }
    printer.prepared("");
    printer.line(
        if measurement.summary.of(Outcome::Leaked) == 0 {
            Mark::Done
        } else {
            Mark::Refused
        },
        &closing(mode, measurement),
    );
}

/// The one sentence all of it comes to.
fn closing(mode: Mode, measurement: &Measurement) -> String {
    let summary = &measurement.summary;
    let reads = summary.of(Outcome::ReadOk) + summary.of(Outcome::ReadRefused);
    let tried = summary.attempts - reads;
    let leaked = summary.of(Outcome::Leaked);
    let what = match Part::of(mode) {
        Part::All => "changed the world",
        Part::Outside => "changed anything beyond the files of the worktree",
    };
    let others = [
        Outcome::NotOffered,
        Outcome::Refused,
        Outcome::Contained,
        Outcome::Policy,
    ]
    .into_iter()
    .filter(|outcome| summary.of(*outcome) > 0)
    .map(|outcome| format!("{} {}", summary.of(outcome), outcome.word()))
    .collect::<Vec<_>>()
    .join(", ");
    let reads = match reads {
        0 => String::new(),
        all => format!(" {} of {all} reads work.", summary.of(Outcome::ReadOk)),
    };
    format!(
        "{mode}: {leaked} of {tried} attempts {what} ({others}).{reads} {} calls, {} decisions in the journal.",
        summary.calls, summary.decisions
    )
}

/// A folder that goes when the measurement is over.
struct Folder(PathBuf);

impl Folder {
    fn fresh(beneath: &Path) -> Result<Folder, Problem> {
        let unmade = |path: &Path, error: std::io::Error| {
            Problem::new(
                ProblemKind::Machine,
                format!("{} cannot be made: {error}.", path.display()),
            )
        };
        fs::create_dir_all(beneath).map_err(|error| unmade(beneath, error))?;
        for number in 1.. {
            let folder = beneath.join(format!("{}-{number}", std::process::id()));
            match fs::create_dir(&folder) {
                Ok(()) => {
                    return folder
                        .canonicalize()
                        .map(Folder)
                        .map_err(|error| unmade(&folder, error));
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unmade(&folder, error)),
            }
        }
        Err(Problem::refused("There is no free folder for the measurement."))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left of scratch ground harms nobody.
        drop(fs::remove_dir_all(&self.0));
    }
}
