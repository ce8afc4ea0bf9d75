//! Looking: lists and one thing whole, from the read tables. Only `plan` records anything, and only
//! when the base of an open plan moved.

use std::collections::BTreeMap;

use modes::{Mode, Role, RunRecipe, model_view, profile as profile_of, run_spec};
use serde_json::{Value, json};
use store::{Query, Row, Table};
use tools::Instructions;
use work::approval::{ApprovalKind, ApprovalMove, ApprovalStatus};
use work::plan::{Base, PlanStatus, diff_revisions, revision_digest, show};

use crate::active::words;
use crate::clock;
use crate::config::RunOptions;
use crate::engine::{DryRun, Measure, ToolMeasure, ToolsMeasure};
use crate::explain;
use crate::fact::{ApprovalRow, Fact, Submission};
use crate::inner::Inner;
use crate::intake::comments;
use crate::intake::decide::newest_revision;
use crate::intake::{approval_moved, row as named, would_start};
use crate::mcp;
use crate::problem::Problem;
use crate::projection::{body, column, word};
use crate::turn::assemble;
use crate::view::{PlanView, RunView, SpaceView};
use crate::worktree;

/// What a request that is only measured is to servers, which know runs by their id.
const NO_RUN: &str = "dry-run";

/// Columns of a plan as terminals show it.
const WIDTH: usize = 100;

/// Every space, oldest first.
pub(crate) async fn spaces(inner: &Inner) -> Result<Vec<SpaceView>, Problem> {
    let mut views = Vec::new();
    for row in inner.journal.store().find(&Query::all(Table::Space)).await? {
        views.push(space_view(inner, &row).await?);
    }
    Ok(views)
}

/// One space.
pub(crate) async fn space(inner: &Inner, id: &str) -> Result<SpaceView, Problem> {
    let row = named(inner, Table::Space, id, "space").await?;
    space_view(inner, &row).await
}

/// The checkout's current space, where there is one yet.
pub(crate) async fn known_space(inner: &Inner) -> Result<Option<SpaceView>, Problem> {
    let here = Query::all(Table::Space)
        .having("checkout", inner.worktree.display().to_string())
        .having("current", 1_i64);
    match inner.journal.store().find(&here).await?.first() {
        Some(row) => space_view(inner, row).await.map(Some),
        None => Ok(None),
    }
}

async fn space_view(inner: &Inner, row: &Row) -> Result<SpaceView, Problem> {
    let store = inner.journal.store();
    let mut open_runs = BTreeMap::new();
    let mut title = None;
    for run in store
        .find(&Query::all(Table::Run).having("space", row.id.as_str()))
        .await?
    {
        let about = run.body.get("title").and_then(Value::as_str);
        title = about.map(str::to_owned).or(title);
        let status = run.text("status").unwrap_or_default();
        if matches!(status, "running" | "waiting") {
            *open_runs.entry(status.to_owned()).or_insert(0) += 1;
        }
    }
    let threads = store
        .find(
            &Query::all(Table::Thread)
                .having("space", row.id.as_str())
                .newest_first(),
        )
        .await?;
    let mode = Mode::from_stored(row.text("mode"));
    let created_ms = row.integer("created_ms").unwrap_or_default();
    Ok(SpaceView {
        id: row.id.clone(),
        mode: row.text("mode").unwrap_or_default().to_owned(),
        shown: match &mode {
            Ok(mode) => mode.to_string(),
            Err(unresolved) => unresolved.to_string(),
        },
        unresolved: mode.is_err(),
        checkout: row.text("checkout").unwrap_or_default().to_owned(),
        current: row.flag("current"),
        open_runs,
        thread: threads
            .into_iter()
            .find(|row| row.text("parent").is_none())
            .map(|row| row.id),
        title,
        created_ms,
        age_ms: clock::now_ms().saturating_sub(created_ms),
    })
}

/// Every plan, oldest first.
pub(crate) async fn plans(inner: &Inner) -> Result<Vec<PlanView>, Problem> {
    let mut views = Vec::new();
    for row in inner.journal.store().find(&Query::all(Table::Plan)).await? {
        views.push(plan_view(inner, &row, false).await?);
    }
    Ok(views)
}

/// One plan. When the checked-out commit is not the one an open plan starts from, a revision of the
/// same content on the present base is recorded first: it has its own digest and approval.
pub(crate) async fn plan(inner: &Inner, id: &str) -> Result<PlanView, Problem> {
    let row = named(inner, Table::Plan, id, "plan").await?;
    let rebased = column::<PlanStatus>(&row, "status")? == PlanStatus::Proposed && rebase(inner, &row).await?;
    let row = named(inner, Table::Plan, id, "plan").await?;
    plan_view(inner, &row, rebased).await
}

async fn rebase(inner: &Inner, row: &Row) -> Result<bool, Problem> {
    let Some((git, checkout)) = inner.repository() else {
        return Ok(false);
    };
    let last = newest_revision(inner, row).await?;
    if repo::head(git, checkout).await?.id == last.content.base.commit {
        return Ok(false);
    }
    let snapshot = worktree::snapshot(inner).await?;
    let mut content = last.content.clone();
    content.revision += 1;
    content.base = Base {
        commit: snapshot.as_ref().and_then(|snapshot| snapshot.base.clone()),
        snapshot_tree: worktree::dirty_tree(snapshot.as_ref()),
    };
    let digest = revision_digest(&content).hex();
    let base_words = worktree::words(inner, snapshot.as_ref()).await?;
    let mut change = inner.journal.lasting_change("").await?;
    if change.get(Table::Plan, &row.id).await?.as_ref() != Some(row) {
        // Somebody else moved it in the meantime, most likely by looking at it too.
        return Ok(false);
    }
    let open = Query::all(Table::Approval)
        .having("subject", row.id.as_str())
        .having("status", word(&ApprovalStatus::Pending)?);
    for approval in change.find(&open).await? {
        let who = &inner.config.operator;
        let why = Some("the checked-out commit moved");
        change
            .record(&approval_moved(&approval, ApprovalMove::Void, who, "re-based", why))
            .await?;
    }
    let title = content.content.goal().to_owned();
    change
        .record(&Fact::PlanSubmitted(Box::new(Submission {
            content,
            digest: digest.clone(),
            base_words,
            run: last.run.clone(),
            ..last.clone()
        })))
        .await?;
    change
        .record(&Fact::ApprovalOpened(ApprovalRow {
            approval: clock::new_id('a'),
            kind: ApprovalKind::Plan,
            subject: row.id.clone(),
            digest,
            run: last.run,
            thread: last.thread,
            space: last.space,
            title,
            epoch: None,
        }))
        .await?;
    change.commit().await?;
    Ok(true)
}

async fn plan_view(inner: &Inner, row: &Row, rebased: bool) -> Result<PlanView, Problem> {
    let store = inner.journal.store();
    let revision = newest_revision(inner, row).await?;
    let number = revision.content.revision;
    let status: PlanStatus = column(row, "status")?;
    let open = Query::all(Table::Approval)
        .having("subject", row.id.as_str())
        .having("status", word(&ApprovalStatus::Pending)?);
    let approval = store.find(&open).await?.into_iter().next();
    let comments = comments(inner, &row.id, number).await?;
    let earlier = match number.checked_sub(1) {
        Some(before) if before > 0 => store.get(Table::PlanRevision, &format!("{}:{before}", row.id)).await?,
        _ => None,
    };
    let changes = match earlier {
        Some(earlier) => {
            let earlier: Submission = body(&earlier)?;
            Some(diff_revisions(&earlier.content, &revision.content).to_string())
        }
        None => None,
    };
    Ok(PlanView {
        id: row.id.clone(),
        space_id: revision.space.clone(),
        thread_id: revision.thread.clone(),
        status: row.text("status").unwrap_or_default().to_owned(),
        revision: number,
        digest: revision.digest.clone(),
        approval_id: approval.map(|row| row.id),
        base: revision.base_words.clone(),
        goal: revision.content.content.goal().to_owned(),
        text: show(&revision.content, status, &comments, WIDTH),
        content: serde_json::to_value(revision.content.content.content()).unwrap_or_default(),
        comments,
        changes,
        rebased,
        orchestration_id: row.body.get("orchestration").and_then(Value::as_str).map(str::to_owned),
    })
}

/// Runs, newest first.
pub(crate) async fn runs(inner: &Inner) -> Result<Vec<RunView>, Problem> {
    let rows = inner
        .journal
        .store()
        .find(&Query::all(Table::Run).newest_first())
        .await?;
    let text = |row: &Row, name: &str| row.body.get(name).and_then(Value::as_str).map(str::to_owned);
    Ok(rows
        .iter()
        .map(|row| RunView {
            id: row.id.clone(),
            space_id: row.text("space").unwrap_or_default().to_owned(),
            thread_id: row.text("thread").unwrap_or_default().to_owned(),
            mode: text(row, "mode").unwrap_or_default(),
            status: row.text("status").unwrap_or_default().to_owned(),
            outcome: text(row, "outcome"),
            title: text(row, "title").unwrap_or_default(),
            created_ms: row.integer("created_ms").unwrap_or_default(),
        })
        .collect())
}

/// The first request that a run in this mode would make, measured.
pub(crate) async fn dry_run(inner: &Inner, mode: Mode, text: String, options: &RunOptions) -> Result<DryRun, Problem> {
    let start = would_start(inner, mode, text.clone(), options).await?;
    let built = mcp::built(&inner.toolbox, &start.servers);
    let spec = run_spec(start.recipe, &built).map_err(|refused| Problem::refused(refused.to_string()))?;
    let servers = mcp::servers(inner, NO_RUN, &start.servers)?;
    let toolbox = inner.toolbox.with(built, servers.tools());
    inner.mcp.end(NO_RUN).await;
    let message = llm::Message::user(vec![
        llm::Block::Text(text),
        llm::Block::Text(worktree::context(inner).await?),
    ]);
    let instructions = Instructions::of(&explain::nobodys(inner, &spec).await?);
    let request = assemble::first(
        &toolbox,
        &model_view(&spec),
        &instructions,
        &start.model,
        vec![message],
        mode,
    );
    let size = request.size();
    let measure = |size: llm::Size| Measure {
        bytes: size.bytes,
        tokens: size.tokens,
    };
    let each = request.tools.iter().map(|tool| ToolMeasure {
        name: tool.name.clone(),
        size: measure(llm::Size::of_tool(tool)),
    });
    Ok(DryRun {
        mode: mode.to_string(),
        provider: start.model.provider.clone(),
        model: words(&start.model),
        system: measure(size.system),
        tools: ToolsMeasure {
            all: measure(size.tools),
            each: each.collect(),
        },
        messages: measure(size.messages),
        total: measure(size.total()),
        tokens_are_estimated: true,
        system_text: request.system,
    })
}

/// The projections of a mode with the tools that are built.
pub(crate) fn profile(inner: &Inner, mode: Mode) -> Value {
    let whole = profile_of(mode);
    let recipe = RunRecipe {
        mode,
        chain: Vec::new(),
        role: Role::Main,
        read_only_once: false,
        autonomy: inner.config.autonomy,
        approver: modes::Approver::Person,
        walls: inner.walls_standing(),
        inspection: inner.config.inspection,
        rules: inner.config.rules.clone(),
        hosts: inner.hosts(),
        answers: Vec::new(),
    };
    let spec = run_spec(
        recipe,
        &mcp::built(&inner.toolbox, &inner.mcp.of_run(mode, inner.walls_standing())),
    );
    let (digest, tools, absent, prompt, why_not) = match &spec {
        Ok(spec) => {
            let surface = spec.surface();
            let tools: Vec<&str> = surface.tools().iter().map(|tool| tool.name).collect();
            let absent: BTreeMap<&str, String> = surface
                .absent()
                .iter()
                .map(|(tool, absence)| (tool.name, absence.to_string()))
                .collect();
            (
                Some(spec.digest().to_owned()),
                tools,
                absent,
                model_view(spec).preamble().to_owned(),
                None,
            )
        }
        Err(refused) => (
            None,
            Vec::new(),
            BTreeMap::new(),
            String::new(),
            Some(refused.to_string()),
        ),
    };
    json!({
        "mode": mode.stored(),
        "shown": whole.label,
        "intent": whole.intent,
        "deliverable": whole.deliverable,
        "verbs": whole.verbs,
        "required": whole.required,
        "exit": whole.exit,
        "capability": whole.capability,
        "silence_limit_minutes": whole.silence_limit_minutes,
        "selectable": whole.selectable,
        "digest": digest,
        "tools": tools,
        "absent": absent,
        "prompt": prompt,
        "not_startable": why_not,
    })
}
