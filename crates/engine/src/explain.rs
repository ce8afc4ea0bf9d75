//! Why a call would run, ask or be refused: asked of the very function that gates runs.

use std::sync::Arc;

use modes::{
    Approver, Decision, Descriptor, EffectSet, ForeignTool, Judged, Layer, Mode, ProposedCall, Role, RunRecipe,
    RunSpec, Target, descriptor, foreign_shell, judge, run_spec, weights,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{BadArguments, Incoming, Scope, Toolbox};

use crate::active;
use crate::engine::{Explanation, ShellAnswer, ShellAnswers};
use crate::inner::Inner;
use crate::mcp;
use crate::problem::Problem;
use crate::recorded;
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
    let servers = inner.mcp.of_run(mode, inner.walls_standing());
    let foreign = servers
        .iter()
        .flat_map(|server| &server.tools)
        .find(|tool| tool.name() == word);
    let row = foreign.map_or_else(|| descriptor(tools::canonical_name(word)), |tool| Some(tool.row()));
    match (row, rest.trim()) {
        (Some(row), "") => Ok(explained(&spec, alone(row, foreign), what)),
        (Some(row), rest) if rest.starts_with('{') => {
            let arguments = serde_json::from_str(rest).map_err(|error| {
                Problem::usage(format!("the arguments of {word} are no JSON: {error}"))
                    .hint("the whole is one word of the shell: 'read_file {\"path\": \"a.txt\"}'")
            })?;
            let built = mcp::built(&inner.toolbox, &servers);
            let servers = mcp::servers(inner, NO_RUN, &servers)?;
            let toolbox = inner.toolbox.with(built, servers.tools());
            let call = proposed(inner, &spec, &toolbox, row, arguments).await;
            inner.mcp.end(NO_RUN).await;
            Ok(answered(&spec, row, call?, what))
        }
        _ => line(inner, &spec, what).await,
    }
}

/// A tool without arguments; one of an MCP server is called as what it is.
fn alone(row: &'static Descriptor, foreign: Option<&ForeignTool>) -> ProposedCall {
    let call = ProposedCall::new(row, NO_RUN, json!({}));
    match foreign {
        Some(foreign) => call.with_target(Target::Mcp {
            tool: format!("{}/{}", foreign.server, foreign.tool),
        }),
        None => call,
    }
}

/// What becomes of a line in the tool that the run has for it, and in the shell of an outside agent.
async fn line(inner: &Inner, spec: &RunSpec, line: &str) -> Result<Explanation, Problem> {
    let (effects, foreign_shell) = match of_line(inner, spec, "execute_command", line).await? {
        (_, Ok(executed)) => {
            let executed = executed.without_checkpoint();
            let (decision, layer, reason) = foreign_shell(spec, &executed);
            let reason = said(decision, layer, reason);
            let answer = ShellAnswer {
                decision,
                layer,
                reason,
            };
            (executed.effects(), answer)
        }
        (_, Err(bad)) => {
            let answer = ShellAnswer {
                decision: Decision::Deny,
                layer: Layer::Arguments,
                reason: bad.to_string(),
            };
            (EffectSet::EMPTY, answer)
        }
    };
    let executes = spec.surface().find("execute_command").is_ok();
    let tool = if executes { "execute_command" } else { "inspect_command" };
    let (row, call) = of_line(inner, spec, tool, line).await?;
    let built_in = answered(spec, row, call, line);
    let shell = Some(ShellAnswers {
        built_in: ShellAnswer {
            decision: built_in.decision,
            layer: built_in.layer,
            reason: built_in.reason.clone(),
        },
        foreign_shell,
    });
    Ok(Explanation {
        effects,
        shell,
        ..built_in
    })
}

async fn of_line(
    inner: &Inner,
    spec: &RunSpec,
    tool: &str,
    line: &str,
) -> Result<(&'static Descriptor, Result<ProposedCall, BadArguments>), Problem> {
    let row = descriptor(tool).ok_or_else(|| not_built(tool))?;
    let call = proposed(inner, spec, &inner.toolbox, row, json!({ "command": line })).await?;
    Ok((row, call))
}

/// Where a run that never starts would act.
pub(crate) async fn nobodys(inner: &Inner, spec: &RunSpec) -> Result<Scope, Problem> {
    active::scope(inner, spec, NO_RUN, Arc::default(), CancellationToken::new()).await
}

/// The call as its tool proposes it. What it opened is dropped with it; nothing is performed.
async fn proposed(
    inner: &Inner,
    spec: &RunSpec,
    toolbox: &Toolbox,
    row: &'static Descriptor,
    arguments: Value,
) -> Result<Result<ProposedCall, BadArguments>, Problem> {
    let tool = toolbox.find(row).ok_or_else(|| not_built(row.name))?;
    let scope = nobodys(inner, spec).await?;
    let incoming = Incoming {
        descriptor: row,
        call_id: NO_RUN.to_owned(),
        arguments,
    };
    Ok(match tool.propose(incoming, &scope) {
        Ok(call) => Ok(recorded::looked_at(inner, spec, call).await),
        bad => bad,
    })
}

fn not_built(name: &str) -> Problem {
    Problem::usage(format!("the tool {name} is not built"))
}

/// What a run would answer to a call of this tool. One whose arguments cannot be read is never judged.
fn answered(
    spec: &RunSpec,
    row: &'static Descriptor,
    call: Result<ProposedCall, BadArguments>,
    what: &str,
) -> Explanation {
    match call {
        Ok(call) => explained(spec, call, what),
        Err(bad) => {
            let bare = explained(spec, alone(row, None), what);
            if !bare.in_surface {
                return bare;
            }
            Explanation {
                decision: Decision::Deny,
                layer: Layer::Arguments,
                reason: bad.to_string(),
                effects: EffectSet::EMPTY,
                things: Vec::new(),
                ..bare
            }
        }
    }
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

fn said(decision: Decision, layer: Layer, reason: String) -> String {
    match (decision, layer) {
        (Decision::Allow, Layer::Pinned) => "it is part of the run's own contract".to_owned(),
        (Decision::Allow, Layer::Rule) => "a rule allows it".to_owned(),
        (Decision::Allow, Layer::ActFreely) => "agents act without asking".to_owned(),
        (Decision::Allow, _) => "nothing speaks against it".to_owned(),
        _ => reason,
    }
}
