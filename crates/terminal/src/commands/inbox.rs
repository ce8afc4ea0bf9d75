//! `inbox`: what waits for a person, and answering it from anywhere.

use engine::{Attendance, Command, Done, Pending, PersonAnswer, Problem};
use modes::short_digest;
use work::plan::{ApprovalOptions, Selection};

use super::{Opening, at_a_terminal, door};
use crate::arguments::{InboxAct, InboxArguments, Named, ReachArguments, Then};
use crate::ask::{self, Reaction};
use crate::closing::{duration, how_to_answer};
use crate::decide::{self, Terms};
use crate::door::{Door, Output};
use crate::exit::Exit;
use crate::house::{House, Proved};
use crate::lines::Typed;
use crate::near::near;
use crate::print::Mark;

pub(super) async fn inbox(house: &House, arguments: InboxArguments) -> Result<Exit, Problem> {
    match arguments.act {
        None if is_gone_through(&arguments) => go_through(house).await,
        None => list(house, arguments.json).await,
        Some(InboxAct::Approve { named, reach, then }) => decide(house, &named, &then, Some(reach)).await,
        Some(InboxAct::Deny { named, then }) => decide(house, &named, &then, None).await,
        Some(InboxAct::Answer { id, text, then }) => answer(house, &id, text, &then).await,
    }
}

/// Whether everything that waits is shown and answered one after the other.
pub(super) fn is_gone_through(arguments: &InboxArguments) -> bool {
    arguments.act.is_none() && !arguments.list && !arguments.json && at_a_terminal()
}

async fn go_through(house: &House) -> Result<Exit, Problem> {
    let landing = house.settings()?.sound()?.landing;
    let opening = Opening {
        attendance: Attendance::Person,
        proved: Proved::Now,
        ..Opening::to_look(false)
    };
    let mut door = door(house, opening).await?;
    let waiting = door.engine.inbox().await?;
    if waiting.is_empty() {
        door.printer.line(Mark::Note, "nothing waits for you");
    } else {
        door.printer
            .line(Mark::Note, "/later leaves one for later; /quit leaves all");
    }
    for (place, listed) in waiting.iter().enumerate() {
        // Another door may have answered it while the one before was looked at.
        let Some(pending) = door.engine.inbox().await?.into_iter().find(|now| now.id == listed.id) else {
            continue;
        };
        door.printer.line(
            Mark::Note,
            &format!("{} of {}, {}", place + 1, waiting.len(), since(&pending)),
        );
        let reaction = match &pending.plan_id {
            Some(plan) => {
                let terms = Terms {
                    options: ApprovalOptions::with_landing(landing),
                    selection: Selection::All,
                };
                decide::review(&door.engine, &mut door.printer, &mut door.lines, plan, &terms)
                    .await?
                    .map_or(Reaction::Later, Reaction::Act)
            }
            None => ask::person(&mut door.printer, &mut door.lines, &pending).await,
        };
        let answered = match reaction {
            Reaction::Act(command) => carry_out(&mut door, command, false).await,
            Reaction::Interrupt => return Ok(Exit::INTERRUPTED),
            Reaction::Later if !door.lines.has_put_back() => continue,
            Reaction::Later => match door.lines.next().await {
                Typed::Line(line) if line.trim() == "/later" => continue,
                _ => return Ok(Exit::FINE),
            },
        };
        // What is wrong with one answer does not keep the others from being given.
        if let Err(problem) = answered {
            door.printer.problem(&problem);
        }
    }
    Ok(Exit::FINE)
}

/// Where it waits, and for how long; of what belongs to no thread, what goes on without it.
fn since(pending: &Pending) -> String {
    match &pending.asked_in {
        Some(place) => format!(
            "waiting for {} in space {}, thread {}",
            duration(place.waiting_ms),
            place.space_id,
            place.thread_id
        ),
        None => "runs in this workspace go without it until then".to_owned(),
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
        door.printer.line(Mark::Note, &since(pending));
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

/// A yes with its reach, or a no.
async fn decide(house: &House, named: &Named, then: &Then, yes: Option<ReachArguments>) -> Result<Exit, Problem> {
    let mut door = working_door(house, then).await?;
    let pending = find(&door, &named.id).await?;
    let command = match (pending.kind.as_str(), &named.digest) {
        ("question" | "reply", _) => {
            return Err(
                Problem::usage(format!("{} is a question: it takes an answer.", pending.id))
                    .hint(format!("stance {}", how_to_answer(&pending))),
            );
        }
        ("mcp_server", _) => {
            return Err(Problem::usage(format!(
                "{} is an MCP server: it is allowed, or left as it is.",
                pending.id
            ))
            .hint(format!("stance {}", how_to_answer(&pending))));
        }
        (kind, _) if kind != "permission" && yes.as_ref().is_some_and(ReachArguments::is_given) => {
            return Err(Problem::usage(format!(
                "{} is no permission: --run, --always and --as are for those.",
                pending.id
            )));
        }
        (_, Some(digest)) => decision(&pending, digest.clone(), yes, then.because.clone()),
        // A no is about whatever is there: it lets nothing happen.
        ("permission", None) if yes.is_none() => decision(&pending, pending.digest.clone(), yes, then.because.clone()),
        ("permission" | "plan_exit", None) if door.attended => {
            match ask::person(&mut door.printer, &mut door.lines, &pending).await {
                Reaction::Act(command) => command,
                Reaction::Later => return Ok(Exit::WAITING),
                Reaction::Interrupt => return Ok(Exit::INTERRUPTED),
            }
        }
        (_, None) => {
            ask::show(&mut door.printer, &pending);
            let word = if yes.is_some() { "approve" } else { "deny" };
            return Err(
                Problem::usage("A decision names the digest of what was shown.").hint(format!(
                    "stance inbox {word} {}@{}",
                    pending.id,
                    short_digest(&pending.digest)
                )),
            );
        }
    };
    carry_out(&mut door, command, then.resume).await
}

fn decision(pending: &Pending, digest: String, yes: Option<ReachArguments>, because: Option<String>) -> Command {
    if pending.kind != "permission" {
        return ask::decided(pending, digest, yes.is_some(), because);
    }
    let answer = match yes {
        Some(reach) => PersonAnswer::Allow {
            reach: reach.reach(),
            words: reach.words,
        },
        None => PersonAnswer::Deny { because },
    };
    Command::Answer {
        id: pending.id.clone(),
        digest: Some(digest),
        answer,
    }
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
    carry_out(&mut door, command, then.resume).await
}

/// Decides, and goes on with what waited only when that was asked for.
async fn carry_out(door: &mut Door, command: Command, resume: bool) -> Result<Exit, Problem> {
    let done = door.carry_out(command).await?;
    if resume {
        return Ok(door.drive(done).await?.exit);
    }
    let next = door.how_to_go_on(&done).await;
    let words = match done {
        Done::Run { notices, .. } | Done::Orchestration { notices, .. } => notices,
        Done::Said(words) => words,
        Done::Space(space) => vec![format!("space {space}")],
    };
    for line in words.iter().chain(&next) {
        door.printer.line(Mark::Note, line);
    }
    door.printer.line(Mark::Done, "decided");
    Ok(Exit::FINE)
}
