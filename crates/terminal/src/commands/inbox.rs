//! `inbox`: what waits for a person, and answering it from anywhere.

use engine::{Attendance, Command, Done, Pending, PersonAnswer, Problem};
use modes::{Reach, short_digest};

use super::{Opening, at_a_terminal, door};
use crate::arguments::{InboxAct, InboxArguments, Named, Then};
use crate::ask::{self, Reaction};
use crate::closing::how_to_answer;
use crate::door::{Door, Output};
use crate::exit::Exit;
use crate::house::{House, Proved};
use crate::near::near;
use crate::print::Mark;

pub(super) async fn inbox(house: &House, arguments: InboxArguments) -> Result<Exit, Problem> {
    match arguments.act {
        None => list(house, arguments.json).await,
        Some(InboxAct::Approve { named, then }) => decide(house, &named, &then, true).await,
        Some(InboxAct::Deny { named, then }) => decide(house, &named, &then, false).await,
        Some(InboxAct::Answer { id, text, then }) => answer(house, &id, text, &then).await,
    }
}

async fn list(house: &House, json: bool) -> Result<Exit, Problem> {
    let mut door = door(house, Opening::to_look(json)).await?;
    let waiting = door.engine.inbox().await?;
    if json {
        door.printer.json(&waiting)?;
        return Ok(Exit::FINE);
    }
    if waiting.is_empty() {
        door.printer.line(Mark::Note, "nothing waits for you");
    }
    for pending in &waiting {
        ask::show(&mut door.printer, pending);
        door.printer
            .line(Mark::Note, &format!("stance {}", how_to_answer(pending)));
    }
    Ok(Exit::FINE)
}

async fn working_door(house: &House, then: &Then) -> Result<Door, Problem> {
    let attended = at_a_terminal() && !then.json;
    let attendance = if attended {
        Attendance::Person
    } else {
        Attendance::Later
    };
    let output = if then.json { Output::Json } else { Output::Words };
    door(
        house,
        Opening {
            model: &then.model,
            output,
            attendance,
            sandbox: None,
            proved: Proved::Now,
        },
    )
    .await
}

async fn find(door: &Door, id: &str) -> Result<Pending, Problem> {
    let waiting = door.engine.inbox().await?;
    if let Some(pending) = waiting.iter().find(|pending| pending.id == id) {
        return Ok(pending.clone());
    }
    let problem = Problem::usage(format!("Nothing with the id {id} waits for you."));
    let alike = near(id, waiting.iter().map(|pending| pending.id.as_str()));
    Err(if alike.is_empty() {
        problem.hint("`stance inbox` lists what does.")
    } else {
        problem.hint(format!("near: {}", alike.join(", ")))
    })
}

async fn decide(house: &House, named: &Named, then: &Then, yes: bool) -> Result<Exit, Problem> {
    let mut door = working_door(house, then).await?;
    let pending = find(&door, &named.id).await?;
    let command = match (pending.kind.as_str(), &named.digest) {
        ("question" | "reply", _) => {
            return Err(
                Problem::usage(format!("{} is a question: it takes an answer.", pending.id))
                    .hint(format!("stance {}", how_to_answer(&pending))),
            );
        }
        (_, Some(digest)) => decision(&pending, Some(digest.clone()), yes, then.because.clone()),
        // A no is about whatever is there: it lets nothing happen.
        ("permission", None) if !yes => decision(&pending, Some(pending.digest.clone()), yes, then.because.clone()),
        ("permission" | "plan_exit", None) if door.attended => {
            match ask::person(&mut door.printer, &mut door.lines, &pending).await {
                Reaction::Act(command) => command,
                Reaction::Later => return Ok(Exit::WAITING),
                Reaction::Interrupt => return Ok(Exit::INTERRUPTED),
            }
        }
        (_, None) => {
            ask::show(&mut door.printer, &pending);
            let word = if yes { "approve" } else { "deny" };
            return Err(
                Problem::usage("A decision names the digest of what was shown.").hint(format!(
                    "stance inbox {word} {}@{}",
                    pending.id,
                    short_digest(&pending.digest)
                )),
            );
        }
    };
    carry_out(&mut door, command, &pending, then).await
}

fn decision(pending: &Pending, digest: Option<String>, yes: bool, because: Option<String>) -> Command {
    if pending.kind == "permission" {
        let answer = if yes {
            PersonAnswer::Allow {
                reach: Reach::Once,
                words: None,
            }
        } else {
            PersonAnswer::Deny { because }
        };
        return Command::Answer {
            id: pending.id.clone(),
            digest,
            answer,
        };
    }
    ask::decided(pending, digest.unwrap_or_default(), yes, because)
}

async fn answer(house: &House, id: &str, text: String, then: &Then) -> Result<Exit, Problem> {
    let mut door = working_door(house, then).await?;
    let pending = find(&door, id).await?;
    if !["question", "reply"].contains(&pending.kind.as_str()) {
        return Err(Problem::usage(format!("{id} is no question: it takes a yes or a no."))
            .hint(format!("stance {}", how_to_answer(&pending))));
    }
    let text = ask::chosen(&pending, text.trim());
    let command = Command::Answer {
        id: pending.id.clone(),
        digest: None,
        answer: PersonAnswer::Text(text),
    };
    carry_out(&mut door, command, &pending, then).await
}

/// Decides, and goes on with what waited only when that was asked for.
async fn carry_out(door: &mut Door, command: Command, pending: &Pending, then: &Then) -> Result<Exit, Problem> {
    let done = door.carry_out(command).await?;
    if then.resume {
        return Ok(door.drive(done).await?.exit);
    }
    let (words, next) = match done {
        Done::Run { run, notices } => (notices, Some(format!("go on with: stance run --resume {run}"))),
        Done::Orchestration { notices, .. } => (
            notices,
            pending
                .plan_id
                .as_ref()
                .map(|plan| format!("go on with: stance plan run {plan}")),
        ),
        Done::Said(words) => (words, None),
        Done::Space(space) => (vec![format!("space {space}")], None),
    };
    for line in words.iter().chain(&next) {
        door.printer.line(Mark::Note, line);
    }
    door.printer.line(Mark::Done, "decided");
    Ok(Exit::FINE)
}
