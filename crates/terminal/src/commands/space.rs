//! `space` and `mode`: the rooms of a workspace and the one word each of them has.

use engine::{Attendance, Command, Problem, RunOptions, SpaceView};
use modes::Mode;

use super::{Opening, at_a_terminal, door};
use crate::arguments::{ModeArguments, ModelArguments, SpaceAct};
use crate::door::Output;
use crate::exit::Exit;
use crate::house::{House, Proved};
use crate::print::{Mark, Printer};

/// Characters of a title that a list shows.
const LONGEST_TITLE: usize = 60;

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
    let title = space.title.as_ref().map_or_else(String::new, |title| {
        let start: String = title.chars().take(LONGEST_TITLE).collect();
        let rest = if start.len() < title.len() { "…" } else { "" };
        format!(" · {start:?}{rest}")
    });
    printer.line(
        mark,
        &format!(
            "{} · {}{current}{runs}{title} · opened {} · {}",
            space.id,
            space.shown,
            age(space.age_ms),
            space.checkout
        ),
    );
    if space.unresolved {
        printer.line(Mark::Note, &repair(space));
    }
}

/// How long ago something was, in its largest whole unit.
fn age(ms: i64) -> String {
    let minutes = ms.max(0) / 60_000;
    match (minutes, minutes / 60, minutes / 1440) {
        (0, ..) => "just now".to_owned(),
        (minutes, 0, _) => format!("{minutes} min ago"),
        (_, hours, 0) => format!("{hours} h ago"),
        (_, _, 1) => "1 day ago".to_owned(),
        (_, _, days) => format!("{days} days ago"),
    }
}

/// The command that sets a mode that cannot be read.
pub(super) fn repair(space: &SpaceView) -> String {
    format!("set it with: stance space mode {} agent", space.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::tests::on_paper;

    #[test]
    fn a_space_is_listed_with_what_it_is_about_and_its_age() {
        let shown = |title: Option<&str>, age_ms| {
            let (mut printer, [words, ..]) = on_paper(usize::MAX);
            let space = SpaceView {
                id: "s1".to_owned(),
                mode: "plan".to_owned(),
                shown: "Plan".to_owned(),
                unresolved: false,
                checkout: "/repo".to_owned(),
                current: true,
                open_runs: [("waiting".to_owned(), 2)].into(),
                thread: None,
                title: title.map(str::to_owned),
                created_ms: 0,
                age_ms,
            };
            row(&mut printer, &space);
            words.text()
        };
        for (title, age_ms, expected) in [
            (
                None,
                -5,
                "· s1 · Plan · current · runs: 2 waiting · opened just now · /repo\n",
            ),
            (
                Some("make login faster"),
                59 * 60_000,
                "· s1 · Plan · current · runs: 2 waiting · \"make login faster\" · opened 59 min ago · /repo\n",
            ),
        ] {
            assert_eq!(shown(title, age_ms), expected);
        }
        assert!(shown(Some(&"x".repeat(61)), 0).contains(&format!("\"{}\"… · opened", "x".repeat(60))));
        for (ms, expected) in [
            (60 * 60_000, "1 h ago"),
            (24 * 60 * 60_000 - 1, "23 h ago"),
            (24 * 60 * 60_000, "1 day ago"),
            (48 * 60 * 60_000, "2 days ago"),
        ] {
            assert_eq!(age(ms), expected);
        }
    }
}
