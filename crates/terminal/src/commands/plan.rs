//! `plan`: looking at plans, deciding about exactly what was shown, carrying them out.

use engine::{Attendance, Command, PlanView, Problem};
use modes::short_digest;
use work::approval::ApprovalMove;
use work::plan::{ApprovalOptions, Selection};

use super::{Opening, at_a_terminal, attendance, door};
use crate::arguments::{ApproveArguments, CommentArguments, ModelArguments, Named, PlanAct, RejectArguments};
use crate::decide::{self, Terms};
use crate::door::{Door, Output};
use crate::exit::Exit;
use crate::house::{House, Proved};
use crate::print::Mark;

pub(super) async fn plan(house: &House, act: PlanAct) -> Result<Exit, Problem> {
    match act {
        PlanAct::List { json } => list(house, json).await,
        PlanAct::Show { id, json } => show(house, &id, json).await,
        PlanAct::Comment(arguments) => comment(house, arguments).await,
        PlanAct::Approve(arguments) => approve(house, *arguments).await,
        PlanAct::Reject(arguments) => reject(house, arguments).await,
        PlanAct::Run {
            id,
            approvals,
            json,
            model,
        } => {
            let attendance = attendance(at_a_terminal() && !json, approvals);
            let mut door = working_door(house, &model, json, attendance).await?;
            Ok(door.act(Command::RunPlan { plan: id }).await?.exit)
        }
    }
}

async fn working_door(
    house: &House,
    model: &ModelArguments,
    json: bool,
    attendance: Attendance,
) -> Result<Door, Problem> {
    let output = if json { Output::Json } else { Output::Words };
    door(
        house,
        Opening {
            model,
            output,
            attendance,
            proved: Proved::Now,
        },
    )
    .await
}

async fn list(house: &House, json: bool) -> Result<Exit, Problem> {
    let mut door = door(house, Opening::to_look(json)).await?;
    let plans = door.engine.plans().await?;
    if json {
        door.printer.json(&plans)?;
        return Ok(Exit::FINE);
    }
    if plans.is_empty() {
        door.printer
            .line(Mark::Note, "no plan yet: stance run --mode plan \"…\"");
    }
    for plan in &plans {
        door.printer.line(
            Mark::Plan,
            &format!(
                "{} · {} · revision {} · {}",
                plan.id, plan.status, plan.revision, plan.goal
            ),
        );
    }
    Ok(Exit::FINE)
}

async fn show(house: &House, id: &str, json: bool) -> Result<Exit, Problem> {
    let mut door = door(house, Opening::to_look(json)).await?;
    let view = door.engine.plan(id).await?;
    if json {
        door.printer.json(&view)?;
        return Ok(Exit::FINE);
    }
    decide::show(&mut door.printer, &view);
    if view.approval_id.is_some() {
        door.printer.line(
            Mark::Note,
            &format!("approve exactly this: {}", exact(&view, "approve")),
        );
    }
    Ok(Exit::FINE)
}

async fn comment(house: &House, arguments: CommentArguments) -> Result<Exit, Problem> {
    let mut door = door(house, Opening::to_look(false)).await?;
    let command = Command::Comment {
        plan: arguments.id,
        node: arguments.step,
        quote: arguments.quote,
        text: arguments.text,
    };
    Ok(door.act(command).await?.exit)
}

async fn approve(house: &House, arguments: ApproveArguments) -> Result<Exit, Problem> {
    let attended = at_a_terminal() && !arguments.json;
    let attendance = attendance(attended, arguments.approvals);
    let settings = house.settings()?.sound()?;
    if arguments.landing.is_some() {
        settings.locks.refuse("--landing", "landing.default")?;
    }
    let landing = settings.landing;
    let terms = Terms {
        options: ApprovalOptions {
            context: arguments.context.into(),
            autonomy: arguments.autonomy.into(),
            after_plan: arguments.after_plan.into(),
            save_only: arguments.save_only,
            ..ApprovalOptions::with_landing(arguments.landing.map_or(landing, Into::into))
        },
        selection: if arguments.only.is_empty() {
            Selection::All
        } else {
            Selection::Keys(arguments.only.clone())
        },
    };
    let mut door = working_door(house, &arguments.model, arguments.json, attendance).await?;
    decided(
        &mut door,
        &arguments.named,
        attended,
        &terms,
        (ApprovalMove::Approve, None),
    )
    .await
}

async fn reject(house: &House, arguments: RejectArguments) -> Result<Exit, Problem> {
    let attended = at_a_terminal();
    let landing = house.settings()?.sound()?.landing;
    let terms = Terms {
        options: ApprovalOptions::with_landing(landing),
        selection: Selection::All,
    };
    let decision = if arguments.changes {
        ApprovalMove::RequestRevision
    } else {
        ApprovalMove::Reject
    };
    let attendance = attendance(attended, None);
    let mut door = working_door(house, &arguments.model, false, attendance).await?;
    decided(
        &mut door,
        &arguments.named,
        attended,
        &terms,
        (decision, arguments.because),
    )
    .await
}

/// Decides about what the digest names. A bare ID is shown first, to a person; without one the
/// decision would be about something nobody has seen.
async fn decided(
    door: &mut Door,
    named: &Named,
    attended: bool,
    terms: &Terms,
    (decision, reason): (ApprovalMove, Option<String>),
) -> Result<Exit, Problem> {
    let command = match &named.digest {
        Some(digest) => terms.decide(&named.id, digest, decision, reason),
        None if attended => {
            let review = decide::review(&door.engine, &mut door.printer, &mut door.lines, &named.id, terms);
            match review.await? {
                Some(command) => command,
                None => return Ok(Exit::WAITING),
            }
        }
        None => {
            let view = door.engine.plan(&named.id).await?;
            let word = if decision == ApprovalMove::Approve {
                "approve"
            } else {
                "reject"
            };
            return Err(
                Problem::usage("A decision names the digest of what was shown, and nobody is here to look.")
                    .hint(format!("look:   stance plan show {}", view.id))
                    .hint(format!("decide: {}", exact(&view, word))),
            );
        }
    };
    Ok(door.act(command).await?.exit)
}

fn exact(view: &PlanView, word: &str) -> String {
    format!("stance plan {word} {}@{}", view.id, short_digest(&view.digest))
}
