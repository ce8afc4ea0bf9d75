//! `space` and `mode`: the rooms of a workspace and the one word each of them has.

use engine::{Attendance, Command, Problem, RunOptions, SpaceView};
use modes::Mode;

use super::{Opening, at_a_terminal, door};
use crate::arguments::{ModeArguments, ModelArguments, SpaceAct};
use crate::door::Output;
use crate::exit::Exit;
use crate::house::{House, Proved};
use crate::print::{Mark, Printer};

pub(super) async fn space(house: &House, act: SpaceAct) -> Result<Exit, Problem> {
    match act {
        SpaceAct::List { json } => list(house, json).await,
        SpaceAct::New { mode } => {
            let mut door = door(house, Opening::to_look(false)).await?;
            Ok(door.act(Command::OpenSpace { mode }).await?.exit)
        }
        SpaceAct::Mode { space, mode, model } => switch(house, Some(space), mode, &model).await,
    }
}

pub(super) async fn mode(house: &House, arguments: ModeArguments) -> Result<Exit, Problem> {
    if let Some(mode) = arguments.mode {
        return switch(house, None, mode, &arguments.model).await;
    }
    let mut door = door(house, Opening::to_look(arguments.json)).await?;
    let space = door.engine.current_space().await?;
    if arguments.json {
        door.printer.json(&space)?;
    } else {
        row(&mut door.printer, &space);
    }
    Ok(if space.unresolved { Exit::ERROR } else { Exit::FINE })
}

/// A reply that waits for a person is answered by leaving plan mode; what goes on is driven here.
async fn switch(house: &House, space: Option<String>, to: Mode, model: &ModelArguments) -> Result<Exit, Problem> {
    let attendance = if at_a_terminal() {
        Attendance::Person
    } else {
        Attendance::Nobody
    };
    let opening = Opening {
        model,
        output: Output::Words,
        attendance,
        sandbox: None,
        proved: Proved::Now,
    };
    let mut door = door(house, opening).await?;
    let options = RunOptions {
        attendance,
        ..RunOptions::default()
    };
    Ok(door
        .act(Command::SwitchMode {
            space,
            to,
            draft: None,
            options,
        })
        .await?
        .exit)
}

async fn list(house: &House, json: bool) -> Result<Exit, Problem> {
    let mut door = door(house, Opening::to_look(json)).await?;
    let spaces = door.engine.spaces().await?;
    if json {
        door.printer.json(&spaces)?;
        return Ok(Exit::FINE);
    }
    for space in &spaces {
        row(&mut door.printer, space);
    }
    Ok(Exit::FINE)
}

/// One space; one whose mode cannot be read says how to set it.
pub(super) fn row(printer: &mut Printer, space: &SpaceView) {
    let open: Vec<String> = space
        .open_runs
        .iter()
        .map(|(status, count)| format!("{count} {status}"))
        .collect();
    let runs = if open.is_empty() {
        String::new()
    } else {
        format!(" · runs: {}", open.join(", "))
    };
    let current = if space.current { " · current" } else { "" };
    let mark = if space.unresolved { Mark::Refused } else { Mark::Note };
    printer.line(
        mark,
        &format!("{} · {}{current}{runs} · {}", space.id, space.shown, space.checkout),
    );
    if space.unresolved {
        printer.line(Mark::Note, &repair(space));
    }
}

/// The command that sets a mode that cannot be read.
pub(super) fn repair(space: &SpaceView) -> String {
    format!("set it with: stance space mode {} agent", space.id)
}
