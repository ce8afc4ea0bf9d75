//! `thread show`: a thread as the journal has it, and what it took.

use engine::{Problem, ThreadTook};

use super::{Opening, door};
use crate::arguments::ThreadAct;
use crate::closing::model_used;
use crate::exit::Exit;
use crate::house::House;
use crate::print::Mark;
use crate::show::{Show, mode_shown};

pub(super) async fn thread(house: &House, act: ThreadAct) -> Result<Exit, Problem> {
    let ThreadAct::Show { thread, json } = act;
    let mut door = door(house, Opening::to_look(json)).await?;
    let here = door.engine.known_space().await?.and_then(|space| space.thread);
    let id = thread.or(here).ok_or_else(|| {
        Problem::usage("this checkout's current space has no thread yet")
            .hint("`stance space list` shows threads of others; `stance thread show ID` shows one.")
    })?;
    let thread = door.engine.thread(&id).await?;
    if json {
        door.printer.json(&thread)?;
        return Ok(Exit::FINE);
    }
    door.printer.line(
        Mark::Note,
        &format!("thread {} of space {}", thread.id, thread.space_id),
    );
    let mut show = Show::default();
    for event in &thread.events {
        show.told(&mut door.printer, event);
    }
    if thread.holds_secrets {
        door.printer.line(Mark::Note, "secrets were read in this thread");
    }
    for took in &thread.took {
        door.printer.line(Mark::Note, &in_words(took));
    }
    Ok(Exit::FINE)
}

fn in_words(took: &ThreadTook) -> String {
    let cost = took.cost.amount.map_or_else(
        || "cost unknown".to_owned(),
        |amount| format!("{amount:.4} {}", took.cost.currency),
    );
    let requests = match took.requests {
        1 => "1 request".to_owned(),
        many => format!("{many} requests"),
    };
    format!(
        "{} · {} · {requests} · {} tokens · {cost}",
        mode_shown(&took.mode),
        model_used(&took.model),
        took.usage.total()
    )
}
