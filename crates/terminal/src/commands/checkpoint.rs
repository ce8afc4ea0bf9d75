//! `checkpoint`: what Stance keeps of a checkout around runs, and putting it back.

use std::path::PathBuf;

use engine::{
    Attendance, Change, CheckpointChanges, CheckpointView, Command, Engine, Extent, FileChange, Moment, Problem,
};

use super::{Opening, at_a_terminal, door};
use crate::arguments::{CheckpointAct, RestoreArguments};
use crate::door::Door;
use crate::exit::Exit;
use crate::house::House;
use crate::lines::Typed;
use crate::print::{Mark, Printer};

/// Changes that are shown one by one.
const SHOWN: usize = 200;

pub(super) async fn checkpoint(house: &House, act: CheckpointAct) -> Result<Exit, Problem> {
    match act {
        CheckpointAct::List { json } => list(house, json).await,
        CheckpointAct::Diff { id, now, paths, json } => diff(house, &id, now, &paths, json).await,
        CheckpointAct::Restore(arguments) => restore(house, arguments).await,
    }
}

async fn list(house: &House, json: bool) -> Result<Exit, Problem> {
    let mut door = door(house, Opening::to_look(json)).await?;
    let checkpoints = door.engine.checkpoints().await?;
    if json {
        door.printer.json(&checkpoints)?;
        return Ok(Exit::FINE);
    }
    if checkpoints.is_empty() {
        door.printer.line(
            Mark::Note,
            "no checkpoint yet: one is taken before the first change of a run",
        );
    }
    for checkpoint in &checkpoints {
        door.printer.line(Mark::Note, &row(checkpoint));
    }
    Ok(Exit::FINE)
}

fn row(checkpoint: &CheckpointView) -> String {
    let run = checkpoint.run_id.as_deref().unwrap_or_default();
    let moment = match checkpoint.moment {
        Moment::BeforeRun => format!("before run {run}"),
        Moment::AfterRun => format!("after run {run}"),
        Moment::BeforeDeletion => format!("before run {run} deleted files"),
        Moment::BeforeRestore => "before a checkpoint was restored".to_owned(),
    };
    let title = checkpoint
        .title
        .as_ref()
        .map_or_else(String::new, |title| format!(" · {title:?}"));
    let left = match checkpoint.left_out.len() + checkpoint.left_out_more {
        0 => String::new(),
        left => format!(" · {left} left out"),
    };
    format!("{} · {moment}{title} · {} files{left}", checkpoint.id, checkpoint.files)
}

async fn diff(house: &House, id: &str, now: bool, paths: &[PathBuf], json: bool) -> Result<Exit, Problem> {
    let mut door = door(house, Opening::to_look(json)).await?;
    let changes = door.engine.checkpoint_changes(id, now, paths).await?;
    if json {
        door.printer.json(&changes)?;
    } else {
        show(&mut door.printer, &changes);
    }
    Ok(Exit::FINE)
}

fn show(printer: &mut Printer, changes: &CheckpointChanges) {
    let what = match &changes.until {
        Some(_) => "changed by the run",
        None => "would be restored",
    };
    let count = match changes.changes.len() {
        0 => "nothing".to_owned(),
        1 => "1 path".to_owned(),
        many => format!("{many} paths"),
    };
    printer.line(Mark::Note, &format!("checkpoint {}: {count} {what}", changes.id));
    for FileChange { path, change } in changes.changes.iter().take(SHOWN) {
        printer.line(Mark::Note, &format!("  {} {path:?}", sign(*change)));
    }
    if let Some(more) = changes.changes.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        printer.line(Mark::Note, &format!("  and {more} more"));
    }
    for left in &changes.left_out {
        printer.line(Mark::Note, &format!("  left out: {:?}: {}", left.path, left.why));
    }
    if changes.left_out_more > 0 {
        printer.line(Mark::Note, &format!("  left out: {} more", changes.left_out_more));
    }
}

const fn sign(change: Change) -> &'static str {
    match change {
        Change::Added => "added   ",
        Change::Content => "changed ",
        Change::Mode => "mode    ",
        Change::Deleted => "deleted ",
    }
}

async fn restore(house: &House, arguments: RestoreArguments) -> Result<Exit, Problem> {
    let attended = at_a_terminal() && !arguments.yes;
    if !attended && !arguments.yes {
        return Err(
            Problem::usage("Restoring overwrites files, and nobody is here to be asked.")
                .hint(format!("stance checkpoint diff {} --now", arguments.id))
                .hint(format!("stance checkpoint restore {} --yes", arguments.id)),
        );
    }
    let opening = Opening {
        attendance: if attended {
            Attendance::Person
        } else {
            Attendance::Nobody
        },
        ..Opening::to_look(false)
    };
    let mut door = door(house, opening).await?;
    let extent = match (arguments.thread, arguments.both) {
        (true, _) => Extent::Thread,
        (_, true) => Extent::Both,
        _ => Extent::Files,
    };
    let shown = if attended {
        match agreed(&mut door, &arguments, extent).await? {
            Some(shown) => shown,
            None => return Ok(Exit::FINE),
        }
    } else {
        None
    };
    let command = Command::RestoreCheckpoint {
        checkpoint: arguments.id,
        extent,
        paths: arguments.paths,
        shown,
    };
    Ok(door.act(command).await?.exit)
}

/// Shows what would be restored and asks. None: the person said no. The digest names what was shown.
async fn agreed(
    door: &mut Door,
    arguments: &RestoreArguments,
    extent: Extent,
) -> Result<Option<Option<String>>, Problem> {
    let shown = if extent == Extent::Thread {
        door.printer.line(
            Mark::Note,
            "the thread goes back; what was said since is left out from then on",
        );
        None
    } else {
        let changes = would_change(&door.engine, arguments).await?;
        show(&mut door.printer, &changes);
        Some(changes.digest)
    };
    door.printer.prompt("restore? y or Enter for no > ");
    let yes = matches!(door.lines.next().await, Typed::Line(line) if line.trim() == "y");
    if !yes {
        door.printer.line(Mark::Note, "nothing was restored");
    }
    Ok(yes.then_some(shown))
}

async fn would_change(engine: &Engine, arguments: &RestoreArguments) -> Result<CheckpointChanges, Problem> {
    engine.checkpoint_changes(&arguments.id, true, &arguments.paths).await
}
