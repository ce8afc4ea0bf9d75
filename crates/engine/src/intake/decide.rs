//! Decisions about plans and plan exits. A decision names the digest its surface showed; one that
//! is about anything else than what is stored now is refused.

use modes::Mode;
use store::{Query, Row, Table};
use work::approval::{ApprovalMove, ApprovalStatus};
use work::digest::Digest;
use work::orchestration::OrchestrationDefinition;
use work::plan::{ApprovalOptions, Landing, PlanMove, PlanStatus, Selection, compile, revision_digest, select};

use super::{approval_moved, voided_exits};
use crate::clock;
use crate::command::{Done, PersonDecision};
use crate::fact::{Fact, OrchestrationStart, Submission};
use crate::inner::Inner;
use crate::journal::Change;
use crate::problem::{Problem, ProblemKind};
use crate::projection::{body, column, word};
use crate::worktree::{self, Ground};

/// The newest revision of a plan.
pub(crate) async fn newest_revision(inner: &Inner, plan: &Row) -> Result<Submission, Problem> {
    let revision = plan
        .body
        .get("revision")
        .and_then(serde_json::Value::as_u64)
        .unwrap_or_default();
    let id = format!("{}:{revision}", plan.id);
    let row = inner.journal.store().get(Table::PlanRevision, &id).await?;
    body(&row.ok_or_else(|| Problem::new(ProblemKind::Store, format!("plan revision {id} is missing")))?)
}

/// Decides a plan by its id.
pub(super) async fn plan(inner: &Inner, id: &str, verdict: PersonDecision) -> Result<Done, Problem> {
    let row = super::row(inner, Table::Plan, id, "plan").await?;
    let revision = newest_revision(inner, &row).await?;
    let digest = revision_digest(&revision.content);
    if !digest.matches(&verdict.digest) {
        return Err(changed(id, &digest));
    }
    let rows = Query::all(Table::Approval)
        .having("subject", id)
        .having("digest", digest.hex())
        .newest_first();
    let approval = inner.journal.store().find(&rows).await?.into_iter().next();
    let approval =
        approval.ok_or_else(|| Problem::refused(format!("plan {id} has no approval open for this revision")))?;
    decide_plan(inner, &row, &revision, &approval, verdict).await
}

/// Decides an approval by its id.
pub(super) async fn approval(inner: &Inner, id: &str, verdict: PersonDecision) -> Result<Done, Problem> {
    let row = super::row(inner, Table::Approval, id, "approval").await?;
    match row.text("kind") {
        Some("plan") => {
            let plan = super::row(inner, Table::Plan, row.text("subject").unwrap_or_default(), "plan").await?;
            let revision = newest_revision(inner, &plan).await?;
            decide_plan(inner, &plan, &revision, &row, verdict).await
        }
        Some("plan_exit") => super::exits::decide(inner, &row, verdict).await,
        _ => Err(Problem::refused(format!(
            "approval {id} is of a kind this version does not decide"
        ))),
    }
}

fn changed(id: &str, digest: &Digest) -> Problem {
    Problem::new(ProblemKind::Stale, "it changed, look again").hint(format!(
        "`stance plan show {id}` shows the present revision, {id}@{}.",
        digest.short()
    ))
}

async fn decide_plan(
    inner: &Inner,
    plan: &Row,
    revision: &Submission,
    approval: &Row,
    verdict: PersonDecision,
) -> Result<Done, Problem> {
    let digest = revision_digest(&revision.content);
    if !digest.matches(&verdict.digest) || approval.text("digest") != Some(digest.hex().as_str()) {
        return Err(changed(&plan.id, &digest));
    }
    if let Some(done) = already(plan, approval, &verdict)? {
        return Err(done);
    }
    match verdict.decision {
        ApprovalMove::Approve => approve(inner, plan, revision, approval, verdict).await,
        ApprovalMove::Reject => {
            let mut change = undecided(inner, plan, approval, &verdict).await?;
            decided(inner, &mut change, approval, &verdict, None).await?;
            change
                .record(&plan_moved(inner, &plan.id, PlanMove::Reject, verdict.reason))
                .await?;
            change.commit().await?;
            Ok(Done::Said(vec![format!(
                "Plan {} is rejected. The space stays in its mode.",
                plan.id
            )]))
        }
        ApprovalMove::RequestRevision => super::changes::send_back(inner, plan, revision, approval, verdict).await,
        ApprovalMove::Void | ApprovalMove::Consume => {
            Err(Problem::usage("a person approves, rejects or asks for changes"))
        }
    }
}

/// What to say when the approval has moved already.
fn already(plan: &Row, approval: &Row, verdict: &PersonDecision) -> Result<Option<Problem>, Problem> {
    let status: ApprovalStatus = column(approval, "status")?;
    if status == ApprovalStatus::Pending {
        return Ok(None);
    }
    let problem = Problem::new(
        ProblemKind::Stale,
        format!("plan {} is decided already: its approval is {status}", plan.id),
    );
    let executing = column::<PlanStatus>(plan, "status")? == PlanStatus::Executing;
    Ok(Some(if verdict.decision == ApprovalMove::Approve && executing {
        problem.hint(format!("`stance plan run {}` goes on with carrying it out.", plan.id))
    } else if status == ApprovalStatus::Approved {
        problem.hint(format!("`stance plan run {}` carries it out.", plan.id))
    } else {
        problem.hint(format!("`stance plan show {}` shows where it stands.", plan.id))
    }))
}

/// Begins the change of a decision, unless another process decided since the rows were read.
pub(super) async fn undecided(
    inner: &Inner,
    plan: &Row,
    approval: &Row,
    verdict: &PersonDecision,
) -> Result<Change, Problem> {
    let mut change = inner.journal.lasting_change("").await?;
    let now = (
        change.get(Table::Plan, &plan.id).await?,
        change.get(Table::Approval, &approval.id).await?,
    );
    if let (Some(plan), Some(approval)) = &now
        && let Some(done) = already(plan, approval, verdict)?
    {
        return Err(done);
    }
    Ok(change)
}

async fn approve(
    inner: &Inner,
    plan: &Row,
    revision: &Submission,
    approval: &Row,
    verdict: PersonDecision,
) -> Result<Done, Problem> {
    refuse_moved_base(inner, plan, revision).await?;
    let definition = compiled(plan, revision, &verdict.options, &verdict.selection)?;
    let save_only = verdict.options.save_only;
    let ground = worktree::ground(inner, definition.options.landing == Landing::Commits).await?;
    let mut change = undecided(inner, plan, approval, &verdict).await?;
    let options = Some((verdict.options.clone(), verdict.selection.clone()));
    decided(inner, &mut change, approval, &verdict, options).await?;
    change
        .record(&plan_moved(inner, &plan.id, PlanMove::Approve, verdict.reason))
        .await?;
    if save_only {
        change.commit().await?;
        return Ok(Done::Said(vec![
            format!("Plan {} is approved and saved. Nothing was started.", plan.id),
            format!("`stance plan run {}` carries it out.", plan.id),
        ]));
    }
    let notices = definition.notices().into_iter().map(str::to_owned).collect();
    let orchestration = create(inner, &mut change, revision, approval, definition, ground).await?;
    change.commit().await?;
    Ok(Done::Orchestration { orchestration, notices })
}

fn compiled(
    plan: &Row,
    revision: &Submission,
    options: &ApprovalOptions,
    selection: &Selection,
) -> Result<OrchestrationDefinition, Problem> {
    let content = &revision.content.content;
    let chosen = select(content, selection).map_err(|refused| Problem::usage(refused.to_string()))?;
    compile(&plan.id, content, &chosen, options).map_err(|refused| Problem::usage(refused.to_string()))
}

/// Consumes the grant, flips the space and creates the orchestration: one change with the decision.
async fn create(
    inner: &Inner,
    change: &mut Change,
    revision: &Submission,
    approval: &Row,
    definition: OrchestrationDefinition,
    ground: Ground,
) -> Result<String, Problem> {
    let who = &inner.config.operator;
    change
        .record(&approval_moved(
            approval,
            ApprovalMove::Consume,
            who,
            "carried out",
            None,
        ))
        .await?;
    let space = change
        .get(Table::Space, &revision.space)
        .await?
        .ok_or_else(|| Problem::new(ProblemKind::Store, format!("space {} is missing", revision.space)))?;
    super::resolved(&space)?;
    let from = space.text("mode").map(str::to_owned);
    if from.as_deref() != Some(modes::after_approval().stored()) {
        let who = format!("approval {}", approval.id);
        for fact in voided_exits(change, &revision.space, &who, "a plan was approved").await? {
            change.record(&fact).await?;
        }
        change
            .record(&mode_after(
                revision,
                from,
                modes::after_approval(),
                who,
                "a plan was approved",
            ))
            .await?;
    }
    let orchestration = clock::new_id('o');
    change
        .record(&Fact::OrchestrationCreated(Box::new(OrchestrationStart {
            orchestration: orchestration.clone(),
            plan: revision.plan.clone(),
            space: revision.space.clone(),
            thread: revision.thread.clone(),
            definition,
            who: inner.config.operator.clone(),
            approval: approval.id.clone(),
            base: revision.content.base.commit.clone(),
            branch: ground.branch,
            dirty: ground.dirty,
        })))
        .await?;
    change
        .record(&plan_moved(inner, &revision.plan, PlanMove::Execute, None))
        .await?;
    Ok(orchestration)
}

fn mode_after(revision: &Submission, from: Option<String>, to: Mode, who: String, why: &str) -> Fact {
    Fact::ModeChanged {
        space: revision.space.clone(),
        from,
        to: to.stored().to_owned(),
        who,
        why: why.to_owned(),
    }
}

pub(super) fn plan_moved(inner: &Inner, plan: &str, moved: PlanMove, why: Option<String>) -> Fact {
    Fact::PlanMoved {
        plan: plan.to_owned(),
        moved,
        who: inner.config.operator.clone(),
        why,
    }
}

pub(super) async fn decided(
    inner: &Inner,
    change: &mut Change,
    approval: &Row,
    verdict: &PersonDecision,
    options: Option<(ApprovalOptions, Selection)>,
) -> Result<(), Problem> {
    change
        .record(&Fact::ApprovalMoved {
            approval: approval.id.clone(),
            moved: verdict.decision,
            who: inner.config.operator.clone(),
            how: "at a door".to_owned(),
            digest: approval.text("digest").unwrap_or_default().to_owned(),
            reason: verdict.reason.clone(),
            options: options.map(Box::new),
        })
        .await?;
    Ok(())
}

/// A plan starts from the commit it was written for; elsewhere it is looked at again first.
async fn refuse_moved_base(inner: &Inner, plan: &Row, revision: &Submission) -> Result<(), Problem> {
    let Some((git, checkout)) = inner.repository() else {
        return Ok(());
    };
    let now = repo::head(git, checkout).await?.id;
    if now == revision.content.base.commit {
        return Ok(());
    }
    let problem = Problem::new(
        ProblemKind::Stale,
        format!("plan {} starts from a commit that is not checked out any more", plan.id),
    );
    Err(if column::<PlanStatus>(plan, "status")?.is_open() {
        problem.hint(format!(
            "`stance plan show {}` re-bases it and shows the new digest.",
            plan.id
        ))
    } else {
        let commit = revision.content.base.commit.as_deref().unwrap_or("no commit");
        problem
            .hint(format!(
                "it was approved for {commit}: check that out, then `stance plan run {}`.",
                plan.id
            ))
            .hint(format!(
                "or have it planned anew: `stance run --resume {} \"plan it again\"`.",
                revision.thread
            ))
    })
}

/// Goes on with the orchestration of a plan, or starts the one that was saved only.
pub(super) async fn run_plan(inner: &Inner, id: &str) -> Result<Done, Problem> {
    let row = super::row(inner, Table::Plan, id, "plan").await?;
    if let Some(orchestration) = orchestration_of(&row) {
        return Ok(Done::Orchestration {
            orchestration,
            notices: Vec::new(),
        });
    }
    let revision = newest_revision(inner, &row).await?;
    let granted = Query::all(Table::Approval)
        .having("subject", id)
        .having("status", word(&ApprovalStatus::Approved)?)
        .having("digest", revision.digest.as_str());
    let Some(approval) = inner.journal.store().find(&granted).await?.into_iter().next() else {
        return Err(Problem::refused(format!("plan {id} is not approved")).hint(format!(
            "`stance plan show {id}` shows it with the command that approves it."
        )));
    };
    refuse_moved_base(inner, &row, &revision).await?;
    let options = approval.body.get("options").cloned().unwrap_or_default();
    let (options, selection): (ApprovalOptions, Selection) = serde_json::from_value(options)
        .map_err(|error| Problem::new(ProblemKind::Store, format!("approval {}: {error}", approval.id)))?;
    let definition = compiled(&row, &revision, &options, &selection)?;
    let notices = definition.notices().into_iter().map(str::to_owned).collect();
    let ground = worktree::ground(inner, definition.options.landing == Landing::Commits).await?;
    let mut change = inner.journal.lasting_change("").await?;
    if let Some(orchestration) = change.get(Table::Plan, id).await?.as_ref().and_then(orchestration_of) {
        return Ok(Done::Orchestration { orchestration, notices });
    }
    let orchestration = create(inner, &mut change, &revision, &approval, definition, ground).await?;
    change.commit().await?;
    Ok(Done::Orchestration { orchestration, notices })
}

fn orchestration_of(plan: &Row) -> Option<String> {
    plan.body
        .get("orchestration")
        .and_then(serde_json::Value::as_str)
        .map(str::to_owned)
}
