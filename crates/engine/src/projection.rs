//! What each fact means for the read tables. The only writer of them: dropped and folded again from
//! the journal they come out the same.

use modes::Status;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use store::{Event, Query, Row, Table, Writer};
use work::approval::{ApprovalMove, ApprovalStatus};
use work::pipeline::StepState;
use work::plan::{PlanMove, PlanStatus};

use crate::fact::{Fact, KeptRule};
use crate::problem::{Problem, ProblemKind};

/// In the body of a thread's row: secrets were read in it.
pub(crate) const HOLDS_SECRETS: &str = "holds_secrets";

/// Changes the read tables by one event.
pub(crate) async fn apply(writer: &mut Writer, event: &Event, fact: &Fact) -> Result<(), Problem> {
    match fact {
        Fact::SpaceOpened { .. } | Fact::ModeChanged { .. } | Fact::ThreadOpened { .. } | Fact::SecretsRead { .. } => {
            spaces(writer, event, fact).await
        }
        Fact::RunStarted(_)
        | Fact::RunPaused { .. }
        | Fact::RunResumed { .. }
        | Fact::RunEnded { .. }
        | Fact::RequestFailed { .. }
        | Fact::Responded { .. }
        | Fact::Compacted(_)
        | Fact::AskedAside(_) => runs(writer, event, fact).await,
        Fact::PermissionAsked(_)
        | Fact::PermissionAnswered { .. }
        | Fact::QuestionAsked { .. }
        | Fact::QuestionAnswered { .. } => waiting(writer, event, fact).await,
        Fact::PlanSubmitted(_) | Fact::PlanMoved { .. } | Fact::PlanCommented { .. } => {
            plans(writer, event, fact).await
        }
        Fact::ApprovalOpened(_) | Fact::ApprovalMoved { .. } => approvals(writer, event, fact).await,
        Fact::RuleKept(_) | Fact::RuleForgotten { .. } => rules(writer, event, fact).await,
        Fact::OrchestrationCreated(_)
        | Fact::StepMoved { .. }
        | Fact::StepLanded { .. }
        | Fact::OrchestrationEnded { .. } => orchestrations(writer, event, fact).await,
        Fact::Entered(_)
        | Fact::Instructed(_)
        | Fact::Requested { .. }
        | Fact::Decided { .. }
        | Fact::ToolStarted { .. }
        | Fact::ToolFinished { .. }
        | Fact::Nudged { .. }
        | Fact::Told { .. }
        | Fact::CompactionAsked { .. }
        | Fact::SwitchPriced(_)
        | Fact::Violated { .. }
        | Fact::Noted { .. }
        | Fact::TodoUpdated { .. }
        | Fact::OutputSubmitted { .. }
        | Fact::ChangesObserved { .. }
        | Fact::CheckRan { .. }
        | Fact::CheckpointTaken(_)
        | Fact::CheckpointsForgotten { .. }
        | Fact::FilesRestored { .. }
        | Fact::ThreadRewound { .. }
        | Fact::StepEnded { .. }
        | Fact::PlanCheckRan { .. }
        | Fact::TrustGiven { .. }
        | Fact::TrustForgotten { .. } => Ok(()),
    }
}

async fn spaces(writer: &mut Writer, event: &Event, fact: &Fact) -> Result<(), Problem> {
    match fact {
        Fact::SpaceOpened {
            space,
            mode,
            checkout,
            current,
        } => {
            let row = Row::new(space)
                .with("mode", mode.as_str())
                .with("checkout", checkout.as_str())
                .with("current", i64::from(*current))
                .with("created_ms", event.time_ms)
                .with_body(json!({"epoch": event.number}));
            Ok(writer.put(Table::Space, &row).await?)
        }
        Fact::ModeChanged { space, to, .. } => {
            let mut row = needed(writer, Table::Space, space).await?;
            row.set("mode", to.as_str());
            row.body = json!({"epoch": event.number});
            Ok(writer.put(Table::Space, &row).await?)
        }
        Fact::ThreadOpened { thread, space, parent } => {
            let mut row = Row::new(thread)
                .with("space", space.as_str())
                .with("created_ms", event.time_ms);
            if let Some(parent) = parent {
                row.set("parent", parent.as_str());
            }
            Ok(writer.put(Table::Thread, &row).await?)
        }
        Fact::SecretsRead { thread, parent, .. } => {
            for id in [Some(thread), parent.as_ref()].into_iter().flatten() {
                let mut row = needed(writer, Table::Thread, id).await?;
                row.body = json!({ HOLDS_SECRETS: true });
                writer.put(Table::Thread, &row).await?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

async fn runs(writer: &mut Writer, event: &Event, fact: &Fact) -> Result<(), Problem> {
    match fact {
        Fact::RunStarted(start) => {
            let mut row = Row::new(&start.run)
                .with("space", start.space.as_str())
                .with("thread", start.thread.as_str())
                .with("status", Status::Running.word())
                .with("created_ms", event.time_ms)
                .with_body(json!({
                    "mode": start.recipe.mode,
                    "title": start.title,
                    "orchestration": start.orchestration,
                    "profile_digest": start.profile_digest,
                    "started": event.number,
                    "outcome": null,
                    "cursor": null,
                }));
            if let Some(parent) = &start.parent {
                row.set("parent", parent.as_str());
            }
            Ok(writer.put(Table::Run, &row).await?)
        }
        Fact::Responded {
            response: llm::Response { cursor, .. },
        }
        | Fact::RequestFailed { cursor, .. } => place_in_script(writer, event, cursor.as_ref()).await,
        Fact::Compacted(compaction) => place_in_script(writer, event, compaction.cursor.as_ref()).await,
        Fact::AskedAside(aside) => place_in_script(writer, event, aside.cursor.as_ref()).await,
        Fact::RunPaused { conclusion, .. } | Fact::RunEnded { conclusion, .. } => {
            let run = run_of(event).to_owned();
            let mut row = needed(writer, Table::Run, &run).await?;
            row.set("status", conclusion.status.word());
            set(&mut row.body, "outcome", json!(conclusion.outcome));
            set(&mut row.body, "halted_ms", json!(event.time_ms));
            writer.put(Table::Run, &row).await?;
            if matches!(fact, Fact::RunEnded { .. }) {
                close_waiting(writer, &run).await?;
            }
            Ok(())
        }
        Fact::RunResumed { .. } => {
            let mut row = needed(writer, Table::Run, run_of(event)).await?;
            row.set("status", Status::Running.word());
            set(&mut row.body, "outcome", Value::Null);
            Ok(writer.put(Table::Run, &row).await?)
        }
        _ => Ok(()),
    }
}

/// Where the model's script goes on, if it keeps a place.
async fn place_in_script(writer: &mut Writer, event: &Event, cursor: Option<&String>) -> Result<(), Problem> {
    let Some(cursor) = cursor else { return Ok(()) };
    let mut row = needed(writer, Table::Run, run_of(event)).await?;
    set(&mut row.body, "cursor", json!({"at": event.number, "text": cursor}));
    Ok(writer.put(Table::Run, &row).await?)
}

async fn close_waiting(writer: &mut Writer, run: &str) -> Result<(), Problem> {
    let open = Query::all(Table::Waiting).having("run", run).having("status", "open");
    for mut row in writer.find(&open).await? {
        row.set("status", "closed");
        writer.put(Table::Waiting, &row).await?;
    }
    Ok(())
}

async fn waiting(writer: &mut Writer, event: &Event, fact: &Fact) -> Result<(), Problem> {
    let run = run_of(event).to_owned();
    match fact {
        Fact::PermissionAsked(permission) => {
            let row = waiting_row(writer, &permission.id, "permission", &run, event).await?;
            let row = row
                .with("digest", permission.digest.as_str())
                .with_body(plain(permission)?);
            Ok(writer.put(Table::Waiting, &row).await?)
        }
        Fact::QuestionAsked {
            question,
            reply,
            asked,
            call,
            proposal,
        } => {
            let kind = if *reply { "reply" } else { "question" };
            let row = waiting_row(writer, question, kind, &run, event).await?;
            let row = row.with_body(json!({"call": call, "asked": asked, "proposal": proposal}));
            Ok(writer.put(Table::Waiting, &row).await?)
        }
        Fact::PermissionAnswered { permission: id, .. } | Fact::QuestionAnswered { question: id, .. } => {
            let mut row = needed(writer, Table::Waiting, id).await?;
            row.set("status", "answered");
            Ok(writer.put(Table::Waiting, &row).await?)
        }
        _ => Ok(()),
    }
}

async fn waiting_row(writer: &mut Writer, id: &str, kind: &str, run: &str, event: &Event) -> Result<Row, Problem> {
    let started = needed(writer, Table::Run, run).await?;
    Ok(Row::new(id)
        .with("kind", kind)
        .with("run", run)
        .with("thread", started.text("thread").unwrap_or_default())
        .with("space", started.text("space").unwrap_or_default())
        .with("status", "open")
        .with("created_ms", event.time_ms))
}

async fn plans(writer: &mut Writer, event: &Event, fact: &Fact) -> Result<(), Problem> {
    match fact {
        Fact::PlanSubmitted(submission) => {
            let revision = submission.content.revision;
            let known = writer.get(Table::Plan, &submission.plan).await?;
            let last = known
                .as_ref()
                .and_then(|row| row.body.get("revision"))
                .and_then(Value::as_u64)
                .unwrap_or_default();
            if u64::from(revision) != last + 1 {
                return Err(moved_on(&submission.plan, last));
            }
            if let Some(row) = &known {
                advance_plan(column(row, "status")?, PlanMove::Revise)?;
            }
            let mut row = known.unwrap_or_else(|| {
                Row::new(&submission.plan)
                    .with("space", submission.space.as_str())
                    .with("thread", submission.thread.as_str())
                    .with("created_ms", event.time_ms)
                    .with_body(json!({"orchestration": null}))
            });
            row.set("status", word(&PlanStatus::Proposed)?);
            row.set("digest", submission.digest.as_str());
            set(&mut row.body, "revision", json!(revision));
            set(&mut row.body, "goal", json!(submission.content.content.goal()));
            writer.put(Table::Plan, &row).await?;
            let row = Row::new(format!("{}:{revision}", submission.plan))
                .with("plan", submission.plan.as_str())
                .with("revision", i64::from(revision))
                .with("digest", submission.digest.as_str())
                .with_body(plain(submission)?);
            Ok(writer.put(Table::PlanRevision, &row).await?)
        }
        Fact::PlanMoved { plan, moved, .. } => {
            let mut row = needed(writer, Table::Plan, plan).await?;
            let status: PlanStatus = column(&row, "status")?;
            let next = advance_plan(status, *moved)?;
            row.set("status", word(&next)?);
            Ok(writer.put(Table::Plan, &row).await?)
        }
        Fact::PlanCommented {
            plan,
            revision,
            comment,
        } => {
            let row = Row::new(&comment.id)
                .with("plan", plan.as_str())
                .with("revision", i64::from(*revision))
                .with_body(plain(comment)?);
            Ok(writer.put(Table::Comment, &row).await?)
        }
        _ => Ok(()),
    }
}

fn moved_on(plan: &str, last: u64) -> Problem {
    Problem::new(
        ProblemKind::Stale,
        format!("the plan moved on: it is at revision {last} now"),
    )
    .hint(format!("`stance plan show {plan}` shows it."))
}

/// The status after a move; a refusal says both.
pub(crate) fn advance_plan(status: PlanStatus, moved: PlanMove) -> Result<PlanStatus, Problem> {
    status
        .advance(moved)
        .map_err(|refused| Problem::refused(refused.to_string()))
}

async fn approvals(writer: &mut Writer, event: &Event, fact: &Fact) -> Result<(), Problem> {
    match fact {
        Fact::ApprovalOpened(opened) => {
            let mut row = Row::new(&opened.approval)
                .with("kind", word(&opened.kind)?)
                .with("subject", opened.subject.as_str())
                .with("status", word(&ApprovalStatus::Pending)?)
                .with("digest", opened.digest.as_str())
                .with("thread", opened.thread.as_str())
                .with("space", opened.space.as_str())
                .with("created_ms", event.time_ms)
                .with_body(json!({"title": opened.title, "epoch": opened.epoch}));
            if let Some(run) = &opened.run {
                row.set("run", run.as_str());
            }
            Ok(writer.put(Table::Approval, &row).await?)
        }
        Fact::ApprovalMoved {
            approval,
            moved,
            options,
            ..
        } => {
            let mut row = needed(writer, Table::Approval, approval).await?;
            let status: ApprovalStatus = column(&row, "status")?;
            let next = advance_approval(status, *moved)?;
            row.set("status", word(&next)?);
            if let Some(options) = options {
                set(&mut row.body, "options", plain(options)?);
            }
            Ok(writer.put(Table::Approval, &row).await?)
        }
        _ => Ok(()),
    }
}

async fn rules(writer: &mut Writer, event: &Event, fact: &Fact) -> Result<(), Problem> {
    match fact {
        Fact::RuleKept(kept) => {
            // Of the same words the later rule holds. An answer holds only while what it was about is the
            // same, so the rule that wanted it asked stays behind it.
            let same = Query::all(Table::Rule).having("rule", kept.rule.text.as_str());
            for row in writer.find(&same).await? {
                let earlier: KeptRule = body(&row)?;
                if kept.evidence.is_none() || earlier.evidence.is_some() {
                    writer.delete(Table::Rule, &row.id).await?;
                }
            }
            let row = Row::new(&kept.id)
                .with("rule", kept.rule.text.as_str())
                .with("created_ms", event.time_ms)
                .with_body(plain(kept)?);
            Ok(writer.put(Table::Rule, &row).await?)
        }
        Fact::RuleForgotten { id, .. } => {
            writer.delete(Table::Rule, id).await?;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The status after a move; a refusal says both.
pub(crate) fn advance_approval(status: ApprovalStatus, moved: ApprovalMove) -> Result<ApprovalStatus, Problem> {
    status.advance(moved).map_err(|refused| {
        Problem::new(ProblemKind::Stale, refused.to_string()).hint("`stance inbox` shows what waits now.")
    })
}

async fn orchestrations(writer: &mut Writer, event: &Event, fact: &Fact) -> Result<(), Problem> {
    match fact {
        Fact::OrchestrationCreated(start) => {
            let row = Row::new(&start.orchestration)
                .with("plan", start.plan.as_str())
                .with("space", start.space.as_str())
                .with("status", "executing")
                .with("created_ms", event.time_ms)
                .with_body(plain(start)?);
            writer.put(Table::Orchestration, &row).await?;
            for step in &start.definition.steps {
                let row = step_row(&start.orchestration, step.key.as_str(), &StepState::Pending)?;
                writer.put(Table::Step, &row).await?;
            }
            for key in &start.definition.deferred {
                let row = step_row(&start.orchestration, key.as_str(), &StepState::Deferred)?;
                writer.put(Table::Step, &row).await?;
            }
            let mut plan = needed(writer, Table::Plan, &start.plan).await?;
            set(&mut plan.body, "orchestration", json!(start.orchestration));
            Ok(writer.put(Table::Plan, &plan).await?)
        }
        Fact::StepMoved {
            orchestration,
            step,
            state,
            run,
            before,
            after,
            files,
            evidence,
            output,
        } => {
            let mut row = needed(writer, Table::Step, &format!("{orchestration}:{step}")).await?;
            row.set("status", state_word(state)?);
            if let Some(run) = run {
                row.set("run", run.as_str());
            }
            set(&mut row.body, "state", plain(state)?);
            let filled = [
                ("before", before.as_ref().map(|tree| json!(tree))),
                ("after", after.as_ref().map(|tree| json!(tree))),
                ("files", (!files.is_empty()).then(|| json!(files))),
                ("evidence", evidence.as_ref().map(|text| json!(text))),
                ("output", output.clone()),
            ];
            for (name, value) in filled {
                if let Some(value) = value {
                    set(&mut row.body, name, value);
                }
            }
            Ok(writer.put(Table::Step, &row).await?)
        }
        Fact::StepLanded {
            orchestration,
            step,
            commit,
            left,
        } => {
            let mut row = needed(writer, Table::Step, &format!("{orchestration}:{step}")).await?;
            set(&mut row.body, "commit", json!(commit));
            set(&mut row.body, "left", json!(left));
            set(&mut row.body, "landed", json!(true));
            Ok(writer.put(Table::Step, &row).await?)
        }
        Fact::OrchestrationEnded {
            orchestration,
            completed,
            after,
            ..
        } => {
            let mut row = needed(writer, Table::Orchestration, orchestration).await?;
            set(&mut row.body, "after", json!(after));
            set(&mut row.body, "halted_ms", json!(event.time_ms));
            row.set("status", if *completed { "completed" } else { "failed" });
            Ok(writer.put(Table::Orchestration, &row).await?)
        }
        _ => Ok(()),
    }
}

fn step_row(orchestration: &str, key: &str, state: &StepState) -> Result<Row, Problem> {
    Ok(Row::new(format!("{orchestration}:{key}"))
        .with("orchestration", orchestration)
        .with("key", key)
        .with("status", state_word(state)?)
        .with_body(json!({"state": state})))
}

/// A step's state in one word.
pub(crate) fn state_word(state: &StepState) -> Result<String, Problem> {
    let value = plain(state)?;
    value
        .get("state")
        .and_then(Value::as_str)
        .map(str::to_owned)
        .ok_or_else(|| unreadable("a step's state"))
}

fn run_of(event: &Event) -> &str {
    event.stream.strip_prefix("run/").unwrap_or_default()
}

async fn needed(writer: &mut Writer, table: Table, id: &str) -> Result<Row, Problem> {
    writer
        .get(table, id)
        .await?
        .ok_or_else(|| unreadable(&format!("{} {id}", table.name())))
}

fn set(body: &mut Value, name: &str, value: Value) {
    if let Value::Object(map) = body {
        map.insert(name.to_owned(), value);
    }
}

/// A column that holds one of an enum's words.
pub(crate) fn column<T: DeserializeOwned>(row: &Row, name: &str) -> Result<T, Problem> {
    serde_json::from_value(json!(row.text(name))).map_err(|_| {
        unreadable(&format!(
            "{name} {:?} of {}",
            row.text(name).unwrap_or_default(),
            row.id
        ))
    })
}

/// The body of a row as its type.
pub(crate) fn body<T: DeserializeOwned>(row: &Row) -> Result<T, Problem> {
    serde_json::from_value(row.body.clone()).map_err(|error| unreadable(&format!("{}: {error}", row.id)))
}

/// An enum's word.
pub(crate) fn word(value: &impl Serialize) -> Result<String, Problem> {
    plain(value)?
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| unreadable("a word"))
}

fn plain(value: &impl Serialize) -> Result<Value, Problem> {
    serde_json::to_value(value).map_err(|error| unreadable(&error.to_string()))
}

fn unreadable(what: &str) -> Problem {
    Problem::new(ProblemKind::Store, format!("the store cannot be read: {what}"))
        .hint("`stance audit verify` tells whether it was changed.")
}
