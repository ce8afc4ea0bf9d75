//! Why a call would run, ask or be refused: asked of the very function that gates runs.

use std::sync::Arc;

use modes::{
    Approver, Decision, Descriptor, Judged, Mode, ProposedCall, Role, RunRecipe, RunSpec, descriptor, foreign_shell,
    judge, run_spec, weights,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::Incoming;

use crate::active;
use crate::engine::{Explanation, ShellAnswer, ShellAnswers};
use crate::inner::Inner;
use crate::mcp;
use crate::problem::Problem;
use crate::rules::Kept;

/// The run that questions are asked for; it never starts.
const NO_RUN: &str = "explain";

/// The specification a run in this mode would have, with a person at the door.
pub(crate) async fn specimen(inner: &Inner, mode: Mode) -> Result<RunSpec, Problem> {
    let kept = Kept::now(inner).await?;
    let recipe = RunRecipe {
        mode,
        chain: Vec::new(),
        role: Role::Main,
        read_only_once: false,
        autonomy: inner.config.autonomy,
        approver: Approver::Person,
        walls: inner.walls_standing(),
        inspection: inner.config.inspection,
        rules: [inner.config.rules.clone(), kept.rules].concat(),
        hosts: inner.hosts(),
        answers: kept.answers,
    };
    run_spec(
        recipe,
        &mcp::built(&inner.toolbox, &inner.mcp.of_run(mode, inner.walls_standing())),
    )
    .map_err(|refused| Problem::refused(refused.to_string()))
}

/// What would be decided about a tool (each of its calls), a tool with its arguments as JSON, or a
/// shell line.
pub(crate) async fn explain(inner: &Inner, mode: Mode, what: &str) -> Result<Explanation, Problem> {
    let spec = specimen(inner, mode).await?;
    let (word, rest) = what.split_once(char::is_whitespace).unwrap_or((what, ""));
    let row = descriptor(tools::canonical_name(word));
    match (row, rest.trim()) {
        (Some(row), "") => Ok(explained(&spec, ProposedCall::new(row, NO_RUN, json!({})), what)),
        (Some(row), rest) if rest.starts_with('{') => {
            let arguments = serde_json::from_str(rest)
                .map_err(|error| Problem::usage(format!("the arguments of {word} are no JSON: {error}")))?;
            let call = proposed(inner, &spec, row, arguments).await?;
            Ok(explained(&spec, call, what))
        }
        (None, "") if word.contains('_') => Err(no_such_tool(word)),
        _ => line(inner, &spec, what).await,
    }
}

fn no_such_tool(name: &str) -> Problem {
    let near = modes::descriptors()
        .iter()
        .map(|row| row.name)
        .find(|known| known.starts_with(name.get(..3).unwrap_or(name)));
    let problem = Problem::usage(format!("no tool is called {name:?}"));
    match near {
        Some(near) => problem.hint(format!("near: {near}")),
        None => problem.hint("`stance profile` lists the tools of a mode."),
    }
}

/// A line as it is, for whatever shell it is typed in; and what becomes of it in the tool the run has.
async fn line(inner: &Inner, spec: &RunSpec, line: &str) -> Result<Explanation, Problem> {
    let executed = of_line(inner, spec, "execute_command", line).await?;
    let (decision, layer, reason) = foreign_shell(spec, &executed);
    let foreign_shell = ShellAnswer {
        decision,
        layer,
        reason: said(decision, layer, reason),
    };
    let effects = executed.effects();
    let things = weights(spec, &executed);
    let inspects =
        ["inspect_command", "execute_command"].map(|name| spec.surface().find(name).is_ok()) == [true, false];
    let built_in = if inspects {
        explained(spec, of_line(inner, spec, "inspect_command", line).await?, line)
    } else {
        explained(spec, executed, line)
    };
    Ok(Explanation {
        decision,
        layer,
        reason: foreign_shell.reason.clone(),
        effects,
        things,
        shell: Some(ShellAnswers {
            built_in: ShellAnswer {
                decision: built_in.decision,
                layer: built_in.layer,
                reason: built_in.reason,
            },
            foreign_shell,
        }),
        ..built_in
    })
}

async fn of_line(inner: &Inner, spec: &RunSpec, tool: &str, line: &str) -> Result<ProposedCall, Problem> {
    let row = descriptor(tool).ok_or_else(|| no_such_tool(tool))?;
    proposed(inner, spec, row, json!({ "command": line })).await
}

/// The call as its tool proposes it. What it opened is dropped with it; nothing is performed.
async fn proposed(
    inner: &Inner,
    spec: &RunSpec,
    row: &'static Descriptor,
    arguments: Value,
) -> Result<ProposedCall, Problem> {
    let tool = inner
        .toolbox
        .find(row)
        .ok_or_else(|| Problem::usage(format!("the tool {} is not built", row.name)))?;
    let scope = active::scope(inner, spec, NO_RUN, Arc::default(), CancellationToken::new()).await?;
    let incoming = Incoming {
        descriptor: row,
        call_id: NO_RUN.to_owned(),
        arguments,
    };
    tool.propose(incoming, &scope)
        .map_err(|bad| Problem::usage(bad.to_string()))
}

fn explained(spec: &RunSpec, call: ProposedCall, what: &str) -> Explanation {
    let row = call.tool();
    let effects = call.effects();
    let things = weights(spec, &call);
    let judged = judge(spec, call, None);
    let record = judged.record(row.name, String::new(), effects);
    let reason = match &judged {
        Judged::Permit(_) => said(record.decision, record.layer, String::new()),
        _ => record.reason,
    };
    Explanation {
        what: what.to_owned(),
        tool: row.name.to_owned(),
        mode: spec.mode().to_string(),
        decision: record.decision,
        layer: record.layer,
        reason,
        effects,
        things,
        in_surface: spec.surface().find(row.name).is_ok(),
        shell: None,
    }
}

fn said(decision: Decision, layer: modes::Layer, reason: String) -> String {
    match (decision, layer) {
        (Decision::Allow, modes::Layer::Pinned) => "it is part of the run's own contract".to_owned(),
        (Decision::Allow, modes::Layer::Rule) => "a rule allows it".to_owned(),
        (Decision::Allow, modes::Layer::ActFreely) => "agents act without asking".to_owned(),
        (Decision::Allow, _) => "nothing speaks against it".to_owned(),
        _ => reason,
    }
}
