//! The read tables of long stories, folded anew.

use std::collections::BTreeSet;
use std::sync::Arc;

use modes::{Mode, WallsStanding};
use serde_json::{Value, json};
use store::{NewEvent, Provenance, Query, RETENTION_KIND, Row, Table};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use work::approval::ApprovalMove;
use work::plan::{AfterPlan, ApprovalOptions, Landing, Selection};

use super::*;
use crate::config::{Attendance, ChosenModel, EngineConfig, Limits, ModelSource, RunOptions};
use crate::inner::Inner;
use crate::{About, Address, Command, Done, PersonAnswer, PersonDecision, drive, intake, orchestrate};

/// A workspace in a folder without git, with a scripted model and nobody at the door.
struct Workspace {
    inner: Arc<Inner>,
    _folder: TempDir,
}

struct Script(Value);

impl ModelSource for Script {
    fn choose(&self, _mode: Mode) -> Result<ChosenModel, Problem> {
        let model = llm::scripted::Scripted::new("script", self.0.to_string().as_bytes()).unwrap();
        let settings = llm::ModelSettings::new("scripted", "script");
        Ok(ChosenModel {
            model: Arc::new(model),
            settings,
            notices: Vec::new(),
        })
    }
}

fn later() -> RunOptions {
    RunOptions {
        attendance: Attendance::Later,
        ..RunOptions::default()
    }
}

fn mode(word: &str) -> Mode {
    Mode::chosen(word).unwrap()
}

impl Workspace {
    async fn with(script: Value) -> Workspace {
        let folder = tempfile::tempdir().unwrap();
        let start = folder.path().join("project");
        std::fs::create_dir(&start).unwrap();
        let config = EngineConfig {
            home: folder.path().join("stance"),
            person_home: folder.path().join("home"),
            start,
            rules: Vec::new(),
            parts: Vec::new(),
            hosts: Vec::new(),
            names: Arc::new(sandbox::SystemNames),
            servers: Vec::new(),
            search: None,
            autonomy: modes::Autonomy::ActWithApproval,
            limits: Limits {
                retries: 0,
                ..Limits::default()
            },
            models: Arc::new(Script(script)),
            walls: None,
            walls_standing: WallsStanding::Absent,
            inspection: modes::Inspection::Off,
            operator: "ada".to_owned(),
            attendance: Attendance::Later,
        };
        Workspace {
            inner: Arc::new(Inner::open(config).await.unwrap()),
            _folder: folder,
        }
    }

    /// Carries out an act and drives what it began until that ends or waits.
    async fn act(&self, command: Command) {
        match intake::carry_out(&self.inner, command).await.unwrap() {
            Done::Run { run, .. } => {
                let mut next = Some(run);
                while let Some(run) = next {
                    drive::run(&self.inner, &run, CancellationToken::new()).await.unwrap();
                    next = self.inner.run(&run).await.unwrap().follow_up;
                }
            }
            Done::Orchestration { orchestration, .. } => {
                orchestrate::drive(&self.inner, &orchestration, CancellationToken::new())
                    .await
                    .unwrap();
            }
            Done::Said(_) | Done::Space(_) => {}
        }
    }

    async fn send(&self, to: Address) {
        self.act(Command::Send {
            to,
            text: "do it".to_owned(),
            options: later(),
        })
        .await;
    }

    async fn newest(&self, table: Table) -> Row {
        self.inner
            .journal
            .store()
            .find(&Query::all(table).newest_first())
            .await
            .unwrap()
            .remove(0)
    }

    /// Decides the newest plan.
    async fn decide(&self, decision: ApprovalMove) {
        let plan = self.newest(Table::Plan).await;
        let options = ApprovalOptions {
            after_plan: AfterPlan::Plan,
            ..ApprovalOptions::with_landing(Landing::Checkout)
        };
        self.act(Command::Decide {
            verdict: PersonDecision {
                digest: plan.text("digest").unwrap().to_owned(),
                decision,
                reason: Some("because".to_owned()),
                options,
                selection: Selection::All,
            },
            about: About::Plan(plan.id),
        })
        .await;
    }

    async fn answer(&self, answer: PersonAnswer) {
        let waiting = self.newest(Table::Waiting).await;
        let digest = waiting.text("digest").map(str::to_owned);
        self.act(Command::Answer {
            id: waiting.id,
            digest,
            answer,
        })
        .await;
    }

    /// Every row of every table, in the order of the tables.
    async fn rows(&self) -> Vec<(&'static str, Vec<Row>)> {
        let mut rows = Vec::new();
        for table in Table::ALL {
            rows.push((
                table.name(),
                self.inner.journal.store().find(&Query::all(table)).await.unwrap(),
            ));
        }
        rows
    }

    async fn kinds(&self) -> BTreeSet<String> {
        let events = self.inner.journal.store().events_after(0, 10_000).await.unwrap();
        events.into_iter().map(|event| event.kind).collect()
    }
}

fn calls(name: &str, arguments: &Value) -> Value {
    json!({"tool_calls": [{"name": name, "arguments": arguments}]})
}

fn plan(goal: &str) -> Value {
    calls(
        "submit_plan",
        &json!({"goal": goal, "nodes": [
            {"key": "look", "title": "Look", "kind": "research", "description": "Read."},
            {"key": "write", "title": "Write", "kind": "work", "description": "One file.", "depends_on": ["look"], "files": ["A.md"]},
        ]}),
    )
}

fn script() -> Value {
    let question = json!({"question": "Which?", "options": [{"label": "this"}, {"label": "that"}]});
    let outside = json!({"path": "B.md", "content": "beside the plan\n"});
    json!({"runs": [
        {"match": {"mode": "agent", "step": "look"}, "turns": [{"text": "nothing is there"}]},
        {"match": {"mode": "agent", "step": "write"}, "turns": [calls("write_to_file", &outside), {"text": "written"}]},
        {"match": {"mode": "plan"}, "turns": [calls("ask_user", &question), plan("first")]},
        {"match": {"mode": "plan"}, "turns": [plan("second")]},
    ]})
}

/// A long story with everything in it that a read table is about.
async fn rich() -> Workspace {
    let workspace = Workspace::with(script()).await;
    workspace.send(Address::FreshSpace(mode("plan"))).await;
    workspace.answer(PersonAnswer::Text("this".to_owned())).await;
    let plan = workspace.newest(Table::Plan).await.id;
    let comment = |node: Option<&str>, text: &str| Command::Comment {
        plan: plan.clone(),
        node: node.map(str::to_owned),
        quote: None,
        text: text.to_owned(),
    };
    workspace.act(comment(Some("write"), "shorter")).await;
    workspace.act(comment(None, "and sooner")).await;
    workspace.decide(ApprovalMove::RequestRevision).await;
    workspace.decide(ApprovalMove::Approve).await;
    workspace
        .answer(PersonAnswer::Allow {
            reach: modes::Reach::Workspace,
            words: None,
        })
        .await;
    workspace.act(Command::RunPlan { plan }).await;
    assert_eq!(
        workspace.newest(Table::Orchestration).await.text("status"),
        Some("completed")
    );
    workspace
}

async fn folds_to_the_same(workspace: &Workspace) {
    let before = workspace.rows().await;
    refold(workspace.inner.journal.store()).await.unwrap();
    for (old, new) in before.iter().zip(workspace.rows().await) {
        assert_eq!(*old, new);
    }
}

#[tokio::test]
async fn a_plan_asked_about_revised_and_carried_out_folds_to_the_same_rows() {
    let workspace = rich().await;
    for (table, rows) in workspace.rows().await {
        assert!(!rows.is_empty(), "{table} has no row to compare");
    }
    folds_to_the_same(&workspace).await;
    let kinds = workspace.kinds().await;
    for kind in [
        "question_answered",
        "permission_answered",
        "plan_commented",
        "step_moved",
        "run_paused",
        "run_resumed",
    ] {
        assert!(kinds.contains(kind), "{kind} did not happen: {kinds:?}");
    }
}

#[tokio::test]
async fn a_refused_plan_an_exit_a_switch_and_a_failure_fold_to_the_same_rows() {
    let reply = json!({"response": "Two ways are open."});
    let workspace = Workspace::with(json!({"runs": [
        {"match": {"mode": "plan"}, "turns": [plan("refused")]},
        {"match": {"mode": "plan"}, "turns": [calls("exit_plan_mode", &json!({})), {"text": "I wait."}, calls("exit_plan_mode", &json!({}))]},
        {"match": {"mode": "agent"}, "turns": [{"text": "done"}]},
        {"match": {"mode": "plan"}, "turns": [calls("plan_mode_respond", &reply)]},
        {"match": {"mode": "agent"}, "turns": [{"error": {"status": 401}}]},
    ]}))
    .await;
    workspace.send(Address::FreshSpace(mode("plan"))).await;
    workspace.decide(ApprovalMove::Reject).await;
    let thread = workspace.newest(Table::Thread).await.id;
    let space = workspace.newest(Table::Space).await.id;

    workspace.send(Address::Thread(thread.clone())).await;
    let exit = workspace.newest(Table::Approval).await;
    workspace
        .act(Command::Decide {
            verdict: PersonDecision {
                digest: exit.text("digest").unwrap().to_owned(),
                decision: ApprovalMove::Approve,
                reason: None,
                options: ApprovalOptions::with_landing(Landing::Checkout),
                selection: Selection::All,
            },
            about: About::Approval(exit.id),
        })
        .await;
    assert_eq!(
        workspace.newest(Table::Space).await.text("mode"),
        Some(modes::after_approval().stored())
    );
    let followed = workspace
        .inner
        .run(&workspace.newest(Table::Run).await.id)
        .await
        .unwrap();
    assert!(
        followed
            .entry()
            .is_some_and(|entry| entry.text.contains("Go on in this mode")),
        "{:?}",
        followed.talk
    );

    let switch = |to: &str, draft: Option<&str>| Command::SwitchMode {
        space: Some(space.clone()),
        to: mode(to),
        draft: draft.map(str::to_owned),
        options: later(),
    };
    workspace.act(switch("plan", None)).await;
    workspace.send(Address::Thread(thread)).await;
    workspace.act(switch("agent", Some("rather do it"))).await;
    assert_eq!(workspace.newest(Table::Run).await.text("status"), Some("error"));

    folds_to_the_same(&workspace).await;
    let kinds = workspace.kinds().await;
    for kind in [
        "mode_changed",
        "approval_moved",
        "plan_moved",
        "question_answered",
        "told",
        "request_failed",
    ] {
        assert!(kinds.contains(kind), "{kind} did not happen: {kinds:?}");
    }
}

#[tokio::test]
async fn a_compacted_thread_and_a_fresh_one_fold_to_the_same_rows() {
    let text = json!({"context": "Goal: do it."});
    let workspace = Workspace::with(json!({"runs": [
        {"match": {"mode": "agent"}, "turns": [
            calls("condense", &text), calls("read_file", &json!({"path": "A.md"})), {"error": {"status": 413}},
            {"text": "It was tried."}, calls("new_task", &text),
        ]},
        {"match": {"mode": "agent"}, "turns": [{"text": "done"}]},
        {"match": {"mode": "agent"}, "turns": [{"text": "It is done."}]},
    ]}))
    .await;
    workspace.send(Address::FreshSpace(mode("agent"))).await;
    let first = workspace.newest(Table::Thread).await.id;
    workspace.answer(PersonAnswer::Text("yes".to_owned())).await;
    workspace.answer(PersonAnswer::Text("yes".to_owned())).await;
    let thread = workspace.newest(Table::Thread).await;
    assert_ne!(thread.id, first);
    workspace
        .act(Command::Compact {
            thread: thread.id.clone(),
            keep: Some("the goal".to_owned()),
            options: later(),
        })
        .await;
    let row = workspace.newest(Table::Run).await;
    assert_eq!(
        (row.text("thread"), row.text("status")),
        (Some(thread.id.as_str()), Some("completed"))
    );
    folds_to_the_same(&workspace).await;
    let events = workspace.inner.journal.store().events_after(0, 10_000).await.unwrap();
    let summaries: Vec<Value> = events
        .into_iter()
        .filter(|event| event.kind == "compacted")
        .filter_map(|event| Some(event.payload?["summary"].clone()))
        .collect();
    assert_eq!(summaries, ["Goal: do it.", "It was tried.", "It is done."]);
}

#[tokio::test]
async fn what_the_store_says_of_itself_is_no_fact() {
    let workspace = rich().await;
    let store = workspace.inner.journal.store();
    let mut writer = store.begin(Durability::Normal).await.unwrap();
    let own = NewEvent {
        stream: RETENTION_STREAM.to_owned(),
        kind: RETENTION_KIND.to_owned(),
        provenance: Provenance::Observed,
        time_ms: 1,
        payload: json!({"before_ms": 0, "payloads": 0}),
    };
    writer.append(own).await.unwrap();
    writer.commit().await.unwrap();
    folds_to_the_same(&workspace).await;
}

#[tokio::test]
async fn a_landed_step_folds_to_the_same_row() {
    let workspace = rich().await;
    let step = workspace.newest(Table::Step).await;
    let landed = Fact::StepLanded {
        orchestration: step.text("orchestration").unwrap().to_owned(),
        step: step.text("key").unwrap().to_owned(),
        commit: Some("f".repeat(40)),
        left: vec!["README.md".to_owned()],
    };
    let mut change = workspace.inner.journal.change("").await.unwrap();
    change.record(&landed).await.unwrap();
    change.commit().await.unwrap();
    assert_eq!(
        workspace.newest(Table::Step).await.body["commit"],
        json!("f".repeat(40))
    );
    folds_to_the_same(&workspace).await;
}

#[tokio::test]
async fn a_journal_without_its_payloads_is_not_folded_and_the_rows_stay() {
    let workspace = rich().await;
    let before = workspace.rows().await;
    let store = workspace.inner.journal.store();
    let mut writer = store.begin(Durability::Normal).await.unwrap();
    assert!(writer.prune_payloads(i64::MAX, 1).await.unwrap().is_some());
    writer.commit().await.unwrap();
    let problem = refold(store).await.unwrap_err();
    assert!(problem.message.contains("event 1 was removed"), "{problem:?}");
    assert_eq!(workspace.rows().await, before);
}
