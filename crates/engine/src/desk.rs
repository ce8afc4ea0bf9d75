//! The engine's side of the tools' port. Nothing is written here: what a call amounts to is staged
//! and appended together with the call's result, in one change.

use std::sync::Mutex;

use modes::{Approver, Role};
use serde_json::Value;
use store::{Query, Row, Table};
use tools::{
    Desk, DeskAnswer, DeskRefusal, ExitRequest, PlanReceipt, PlanReply, Proposal, QuestionOption, Said, TodoItem,
    TodoStatus, UserQuestion,
};
use work::approval::{ApprovalKind, ApprovalMove, ApprovalStatus};
use work::plan::{PlanDraft, PlanMove, PlanStatus, ProvenanceKind, RevisionContent, revision_digest, validate};

use crate::active::Active;
use crate::aside;
use crate::clock;
use crate::fact::{ApprovalRow, Fact, Submission};
use crate::intake;
use crate::problem::Problem;
use crate::projection::{column, word};
use crate::proposal;
use crate::worktree;

/// The desk of one call.
pub(crate) struct RunDesk<'run> {
    run: &'run Active,
    staged: Mutex<Vec<Fact>>,
}

impl<'run> RunDesk<'run> {
    pub(crate) fn new(run: &'run Active) -> RunDesk<'run> {
        RunDesk {
            run,
            staged: Mutex::new(Vec::new()),
        }
    }

    /// What the call amounts to.
    pub(crate) fn into_staged(self) -> Vec<Fact> {
        self.staged.into_inner().unwrap_or_default()
    }

    fn stage(&self, fact: Fact) {
        if let Ok(mut staged) = self.staged.lock() {
            staged.push(fact);
        }
    }

    fn nobody(&self) -> bool {
        self.run.spec.recipe().approver == Approver::Nobody
    }

    fn ask(&self, call: &str, reply: bool, asked: UserQuestion, proposal: Option<Proposal>) {
        let question = clock::new_id('q');
        self.stage(Fact::QuestionAsked {
            question,
            call: call.to_owned(),
            reply,
            asked,
            proposal,
        });
    }

    async fn submit(&self, draft: PlanDraft) -> Result<PlanReceipt, DeskRefusal> {
        let content = validate(draft).map_err(|violations| {
            let lines: Vec<String> = violations.iter().map(|violation| format!("- {violation}")).collect();
            DeskRefusal(format!(
                "the plan has {} faults; nothing was submitted:\n{}",
                lines.len(),
                lines.join("\n")
            ))
        })?;
        self.stage_plan(content)
            .await
            .map_err(|problem| DeskRefusal(problem.message))
    }

    async fn stage_plan(&self, content: work::plan::ValidPlan) -> Result<PlanReceipt, Problem> {
        let inner = &self.run.inner;
        let state = &self.run.state;
        let start = &state.start;
        let content = content.with_trust(|_, source| match source.kind {
            ProvenanceKind::File => state.seen.contains_key(&source.reference),
            ProvenanceKind::Answer => state.answers.contains(&source.reference),
            ProvenanceKind::Goal => true,
            ProvenanceKind::Symbol | ProvenanceKind::Message => false,
        });
        let store = inner.journal.store();
        let snapshot = worktree::snapshot(inner).await?;
        let open = |row: &&Row| column::<PlanStatus>(row, "status").is_ok_and(PlanStatus::is_open);
        let plans = store
            .find(&Query::all(Table::Plan).having("space", start.space.as_str()))
            .await?;
        let own = plans
            .iter()
            .filter(open)
            .find(|row| row.text("thread") == Some(start.thread.as_str()));
        let others = plans
            .iter()
            .filter(open)
            .filter(|row| row.text("thread") != Some(start.thread.as_str()));
        for other in others {
            self.stage(Fact::PlanMoved {
                plan: other.id.clone(),
                moved: PlanMove::Supersede,
                who: start.run.clone(),
                why: Some("another thread submitted a plan".to_owned()),
            });
            self.void_approvals(&other.id, "its plan was superseded").await?;
        }
        let (plan, revision) = match own {
            Some(row) => {
                self.void_approvals(&row.id, "its plan was revised").await?;
                let last = row.body.get("revision").and_then(Value::as_u64).unwrap_or_default();
                (
                    row.id.clone(),
                    u32::try_from(last).unwrap_or(u32::MAX).saturating_add(1),
                )
            }
            None => (clock::new_id('p'), 1),
        };
        let base = work::plan::Base {
            commit: snapshot.as_ref().and_then(|snapshot| snapshot.base.clone()),
            snapshot_tree: worktree::dirty_tree(snapshot.as_ref()),
        };
        let content = RevisionContent {
            plan: plan.clone(),
            revision,
            content,
            base,
            agents: std::collections::BTreeMap::new(),
        };
        let digest = revision_digest(&content).hex();
        let approval = clock::new_id('a');
        let title = content.content.goal().to_owned();
        self.stage(Fact::PlanSubmitted(Box::new(Submission {
            plan: plan.clone(),
            space: start.space.clone(),
            thread: start.thread.clone(),
            run: Some(start.run.clone()),
            content,
            digest: digest.clone(),
            base_words: worktree::words(inner, snapshot.as_ref()).await?,
        })));
        self.stage(Fact::ApprovalOpened(ApprovalRow {
            approval: approval.clone(),
            kind: ApprovalKind::Plan,
            subject: plan.clone(),
            digest: digest.clone(),
            run: Some(start.run.clone()),
            thread: start.thread.clone(),
            space: start.space.clone(),
            title,
            epoch: None,
        }));
        Ok(PlanReceipt {
            plan_id: plan,
            revision,
            digest,
            status: "proposed".to_owned(),
            approval_id: approval,
        })
    }

    async fn void_approvals(&self, plan: &str, why: &str) -> Result<(), Problem> {
        let pending = word(&ApprovalStatus::Pending)?;
        let open = Query::all(Table::Approval)
            .having("subject", plan)
            .having("status", pending);
        for row in self.run.inner.journal.store().find(&open).await? {
            let who = &self.run.state.start.run;
            self.stage(intake::approval_moved(
                &row,
                ApprovalMove::Void,
                who,
                "submit_plan",
                Some(why),
            ));
        }
        Ok(())
    }

    async fn exit(&self, summary: Option<String>) -> Result<ExitRequest, Problem> {
        let start = &self.run.state.start;
        if let Some(row) = intake::exit_of_this_stay(&self.run.inner, start).await? {
            match column::<ApprovalStatus>(&row, "status")? {
                ApprovalStatus::Pending => return Ok(ExitRequest::Pending { approval_id: row.id }),
                ApprovalStatus::Approved => {
                    self.stage(intake::approval_moved(
                        &row,
                        ApprovalMove::Consume,
                        &start.run,
                        "exit_plan_mode",
                        None,
                    ));
                    self.stage(Fact::ModeChanged {
                        space: start.space.clone(),
                        from: Some(self.run.spec.mode().stored().to_owned()),
                        to: modes::after_approval().stored().to_owned(),
                        who: format!("approval {}", row.id),
                        why: "a granted plan exit".to_owned(),
                    });
                    return Ok(ExitRequest::Granted);
                }
                _ => {}
            }
        }
        let approval = clock::new_id('a');
        let epoch = intake::epoch(&self.run.inner, &start.space).await?;
        let title = summary.unwrap_or_else(|| "leave plan mode".to_owned());
        let digest = modes::digest(&serde_json::json!([start.space, start.thread, epoch, title, approval]));
        self.stage(Fact::ApprovalOpened(ApprovalRow {
            approval: approval.clone(),
            kind: ApprovalKind::PlanExit,
            subject: start.thread.clone(),
            digest,
            run: Some(start.run.clone()),
            thread: start.thread.clone(),
            space: start.space.clone(),
            title,
            epoch: Some(epoch),
        }));
        Ok(ExitRequest::Pending { approval_id: approval })
    }

    async fn output(&self, output: Option<Value>, evidence: Option<String>) -> Result<(), DeskRefusal> {
        if !matches!(self.run.spec.recipe().role, Role::Step { .. }) {
            let instead = self
                .run
                .spec
                .required()
                .map_or_else(String::new, |verb| format!(" Call `{verb}` instead."));
            return Err(DeskRefusal(format!(
                "this run carries out no step of a plan, so there is nothing to submit.{instead}"
            )));
        }
        let step = self.run.state.entry().and_then(|entry| entry.step.clone());
        if let Some(schema) = self
            .schema(step.as_deref())
            .await
            .map_err(|problem| DeskRefusal(problem.message))?
        {
            let given = output.clone().unwrap_or(Value::Null);
            let faults = schema.faults(&given);
            if !faults.is_empty() {
                return Err(DeskRefusal(format!(
                    "the output does not fit the step's schema: {}",
                    faults.join("; ")
                )));
            }
        }
        self.stage(Fact::OutputSubmitted { step, output, evidence });
        Ok(())
    }

    async fn schema(&self, step: Option<&str>) -> Result<Option<work::plan::OutputSchema>, Problem> {
        let (Some(orchestration), Some(step)) = (&self.run.state.start.orchestration, step) else {
            return Ok(None);
        };
        let started = crate::orchestrate::started(&self.run.inner, orchestration).await?;
        match started
            .definition
            .step(step)
            .and_then(|node| node.output_schema.as_ref())
        {
            Some(schema) => work::plan::OutputSchema::compile(schema)
                .map(Some)
                .map_err(|fault| Problem::refused(fault.to_string())),
            None => Ok(None),
        }
    }
}

impl Desk for RunDesk<'_> {
    fn ask_user<'a>(&'a self, call_id: &'a str, question: UserQuestion) -> DeskAnswer<'a, Said> {
        Box::pin(async move {
            if self.nobody() {
                return Ok(Said::NobodyHere);
            }
            self.ask(call_id, false, question, None);
            Ok(Said::Waits)
        })
    }

    fn plan_reply<'a>(&'a self, call_id: &'a str, reply: PlanReply) -> DeskAnswer<'a, Said> {
        Box::pin(async move {
            let note = Fact::Noted {
                call: call_id.to_owned(),
                text: reply.response.clone(),
            };
            if reply.no_plan_needed {
                self.stage(note);
                return Ok(Said::Ended);
            }
            if reply.needs_more_exploration {
                self.stage(note);
                return Ok(Said::Shown);
            }
            if self.nobody() {
                self.stage(note);
                return Ok(Said::NobodyHere);
            }
            let options = reply
                .options
                .into_iter()
                .map(|label| QuestionOption {
                    label,
                    description: String::new(),
                })
                .collect();
            let asked = UserQuestion {
                question: reply.response,
                options,
                multi_select: false,
                allow_freeform: true,
            };
            self.ask(call_id, true, asked, None);
            Ok(Said::Waits)
        })
    }

    fn propose<'a>(&'a self, call_id: &'a str, proposal: Proposal, context: &'a str) -> DeskAnswer<'a, Said> {
        Box::pin(async move {
            if proposal == Proposal::NewTask && matches!(self.run.spec.recipe().role, Role::Step { .. }) {
                return Err(DeskRefusal(
                    "a step of an approved plan is carried out here: bring it to its end.".to_owned(),
                ));
            }
            if self.nobody() {
                return Ok(Said::NobodyHere);
            }
            self.ask(call_id, false, proposal::question(proposal, context), Some(proposal));
            Ok(Said::Waits)
        })
    }

    fn progress<'a>(&'a self, call_id: &'a str, note: String) -> DeskAnswer<'a, ()> {
        Box::pin(async move {
            if self.run.state.notes_in_row > 0 {
                return Err(DeskRefusal(
                    "two progress notes in a row: do something first, or end with `attempt_completion`.".to_owned(),
                ));
            }
            self.stage(Fact::Noted {
                call: call_id.to_owned(),
                text: note,
            });
            Ok(())
        })
    }

    fn complete<'a>(&'a self, call_id: &'a str, result: String) -> DeskAnswer<'a, ()> {
        Box::pin(async move {
            self.stage(Fact::Noted {
                call: call_id.to_owned(),
                text: result,
            });
            Ok(())
        })
    }

    fn submit_plan<'a>(&'a self, _call_id: &'a str, draft: PlanDraft) -> DeskAnswer<'a, PlanReceipt> {
        Box::pin(self.submit(draft))
    }

    fn exit_plan_mode<'a>(&'a self, _call_id: &'a str, summary: Option<String>) -> DeskAnswer<'a, ExitRequest> {
        Box::pin(async move { self.exit(summary).await.map_err(|problem| DeskRefusal(problem.message)) })
    }

    fn submit_output<'a>(
        &'a self,
        _call_id: &'a str,
        output: Option<Value>,
        evidence: Option<String>,
    ) -> DeskAnswer<'a, ()> {
        Box::pin(self.output(output, evidence))
    }

    fn update_todo<'a>(&'a self, _call_id: &'a str, items: Vec<TodoItem>) -> DeskAnswer<'a, ()> {
        Box::pin(async move {
            if items
                .iter()
                .filter(|item| item.status == TodoStatus::InProgress)
                .count()
                > 1
            {
                return Err(DeskRefusal("only one item can be in progress.".to_owned()));
            }
            self.stage(Fact::TodoUpdated { items });
            Ok(())
        })
    }

    fn ask_aside<'a>(&'a self, call_id: &'a str, about: &'a str, question: &'a str) -> DeskAnswer<'a, String> {
        Box::pin(async move {
            let (asked, answer) = aside::ask(self.run, call_id, about, question).await;
            self.stage(Fact::AskedAside(Box::new(asked)));
            answer.map_err(DeskRefusal)
        })
    }

    fn last_seen(&self, path: &str) -> Option<String> {
        self.run.state.seen.get(path).cloned()
    }
}
