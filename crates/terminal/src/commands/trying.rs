//! `try`: a line in a throw-away copy of this checkout, its output as it comes, and what it wrote. And
//! the one question whether Plan may do the same.

use std::time::Duration;

use engine::{Problem, ProblemKind};
use modes::WallsStanding;
use sandbox::{Chunk, Excess, Finished, ThrownAway, WallsState};
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::Receiver;

use super::{Opening, door};
use crate::arguments::TryArguments;
use crate::exit::Exit;
use crate::held::Held;
use crate::house::House;
use crate::lines::{Lines, Typed};
use crate::print::{Mark, Printer};
use crate::settings::keep_plan_try;

/// Changes that are named.
const NAMED: usize = 10;

/// What a line came to, for programs.
#[derive(Debug, Serialize)]
struct Tried<'a> {
    line: &'a str,
    /// None when it was ended by us.
    exit: Option<i32>,
    /// What it took too much of, if that ended it.
    excess: Option<&'static str>,
    /// The end of what it printed.
    output: String,
    thrown_away: ThrownAway,
}

pub(super) async fn try_line(house: &House, arguments: TryArguments) -> Result<Exit, Problem> {
    if arguments.line.trim().is_empty() {
        return Err(Problem::usage("The line is empty.").hint("stance try 'cargo test'"));
    }
    let mut door = door(house, Opening::to_look(arguments.json)).await?;
    let folder = house
        .start
        .canonicalize()
        .map_err(|error| Problem::usage(format!("{}: {error}", house.start.display())))?;
    let time = Duration::from_secs(arguments.timeout);
    let mut running = door.engine.try_line(&arguments.line, &folder, time)?;
    let output = running.take_output().filter(|_| !arguments.json);
    let mut interrupts = signal(SignalKind::interrupt())
        .map_err(|error| Problem::new(ProblemKind::Machine, format!("Ctrl-C cannot be heard: {error}")))?;
    let stopped = async move {
        interrupts.recv().await;
    };
    let (shown, finished) = tokio::join!(show(&mut door.printer, output), running.wait_unless(stopped));
    let finished = finished.map_err(|error| {
        Problem::new(ProblemKind::Machine, format!("The line was not tried: {error}."))
            .hint("`stance doctor` tries a throw-away copy and shows what is missing.")
    })?;
    let exit = match finished.exit {
        Some(code) => Exit::of_line(code),
        None if finished.excess.is_some() => Exit::ERROR,
        None => Exit::INTERRUPTED,
    };
    if arguments.json {
        door.printer.json(&tried(&arguments.line, finished))?;
    } else {
        report(&mut door.printer, &finished, shown, arguments.timeout);
    }
    Ok(exit)
}

/// Shows what the line prints as it comes. Returns how many bytes came.
async fn show(printer: &mut Printer, output: Option<Receiver<Chunk>>) -> u64 {
    let Some(mut output) = output else { return 0 };
    let (mut shown, mut rest) = (0, Vec::new());
    while let Some(chunk) = output.recv().await {
        shown += chunk.bytes.len() as u64;
        rest.extend(chunk.bytes);
        let cut = whole_characters(&rest);
        let later = rest.split_off(cut);
        printer.stream(&String::from_utf8_lossy(&rest));
        rest = later;
    }
    printer.stream(&String::from_utf8_lossy(&rest));
    printer.end_stream();
    shown
}

/// Where a character begins that has not come whole yet.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

fn report(printer: &mut Printer, finished: &Finished, shown: u64, seconds: u64) {
    let printed = finished.stdout.bytes.len() as u64 + finished.stdout.dropped;
    if printed > shown {
        printer.line(
            Mark::Note,
            &format!("{} bytes came faster than they could be shown", printed - shown),
        );
    }
    // Only what bash says about a line it cannot read comes this way.
    if !finished.stderr.bytes.is_empty() {
        printer.foreign(&finished.stderr.text());
    }
    let (mark, end) = match (finished.exit, finished.excess) {
        (_, Some(Excess::Time)) => (
            Mark::Refused,
            format!("ended after {seconds} s, its time limit; --timeout gives it longer"),
        ),
        (_, Some(Excess::Processes)) => (Mark::Refused, "ended: it started too many processes".to_owned()),
        (_, Some(Excess::Memory)) => (Mark::Refused, "ended: it took too much memory".to_owned()),
        (Some(0), None) => (Mark::Done, "exit code 0".to_owned()),
        (Some(code), None) => (Mark::Refused, format!("exit code {code}")),
        (None, None) => (Mark::Refused, "ended by you".to_owned()),
    };
    printer.line(mark, &end);
    if let Some(thrown) = &finished.thrown_away {
        printer.line(Mark::Note, &thrown.words(NAMED));
    }
}

fn tried(line: &str, finished: Finished) -> Tried<'_> {
    Tried {
        line,
        exit: finished.exit,
        excess: finished.excess.map(|excess| match excess {
            Excess::Time => "time",
            Excess::Processes => "processes",
            Excess::Memory => "memory",
        }),
        output: finished.stdout.text() + &finished.stderr.text(),
        thrown_away: finished.thrown_away.unwrap_or_default(),
    }
}

/// Asks once whether Plan may try commands, where a throw-away copy is proved here; keeps the answer in
/// the person's settings. Returns whether there was an answer.
pub(super) async fn ask_once(
    house: &House,
    held: &Held,
    printer: &mut Printer,
    lines: &mut Lines,
) -> Result<bool, Problem> {
    match &held.walls {
        Some(walls)
            if held.standing == WallsStanding::Proven
                && walls.throw_away_stands(&house.proofs()).await == WallsState::Proven => {}
        _ => return Ok(false),
    }
    printer.line(
        Mark::Asks,
        "May Plan try commands in a throw-away copy? Builds and tests then run there; what they write is gone \
         afterwards, and they have no network.",
    );
    loop {
        let Typed::Line(line) = lines.answer(printer, "yes / no, and Enter means yes > ").await else {
            return Ok(false);
        };
        let Some(may) = yes_or_no(line.trim()) else { continue };
        keep_plan_try(&house.places.person, may)?;
        let kept = house.places.person.display();
        printer.line(Mark::Done, &format!("kept in {kept}: `try = {may}` under `[plan]`"));
        return Ok(true);
    }
}

fn yes_or_no(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "" | "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_shown_whole() {
        let text = "grün".as_bytes();
        assert_eq!(whole_characters(&text[..3]), 2);
        assert_eq!(whole_characters(text), 5);
        assert_eq!(whole_characters(b"a\xffb"), 3);
    }

    #[test]
    fn enter_means_yes_and_anything_else_is_no_answer() {
        assert_eq!(yes_or_no(""), Some(true));
        assert_eq!(yes_or_no("Yes"), Some(true));
        assert_eq!(yes_or_no("n"), Some(false));
        assert_eq!(yes_or_no("fix the test"), None);
    }
}
