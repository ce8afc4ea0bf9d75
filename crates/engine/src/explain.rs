//! Why a call of a tool would run, ask or be refused: asked of the very function that gates runs.

use modes::{Approver, Decision, Judged, Mode, ProposedCall, Role, RunRecipe, RunSpec, descriptor, judge, run_spec};
use serde_json::json;

use crate::engine::Explanation;
use crate::inner::Inner;
use crate::problem::Problem;

/// The specification a run in this mode would have, with a person at the door.
pub(crate) fn specimen(inner: &Inner, mode: Mode) -> Result<RunSpec, Problem> {
    let recipe = RunRecipe {
        mode,
        chain: Vec::new(),
        role: Role::Main,
        read_only_once: false,
        autonomy: inner.config.autonomy,
        approver: Approver::Person,
        walls: inner.walls_standing(),
        inspection: inner.config.inspection,
        rules: inner.config.rules.clone(),
        hosts: inner.hosts(),
        answers: Vec::new(),
    };
    run_spec(recipe, inner.toolbox.built()).map_err(|refused| Problem::refused(refused.to_string()))
}

/// What would be decided about a call of this tool without effects beyond its declared ones.
pub(crate) fn explain(inner: &Inner, mode: Mode, tool: &str) -> Result<Explanation, Problem> {
    let name = tools::canonical_name(tool);
    let Some(row) = descriptor(name) else {
        let near = modes::descriptors()
            .iter()
            .map(|row| row.name)
            .find(|known| known.starts_with(name.get(..3).unwrap_or(name)) && !name.is_empty());
        let problem = Problem::usage(format!("no tool is called {tool:?}"));
        return Err(match near {
            Some(near) => problem.hint(format!("near: {near}")),
            None => problem.hint("`stance profile` lists the tools of a mode."),
        });
    };
    let spec = specimen(inner, mode)?;
    let in_surface = spec.surface().find(name).is_ok();
    let judged = judge(&spec, ProposedCall::new(row, "explain", json!({})), None);
    let record = judged.record(name, String::new(), row.effects);
    let reason = match &judged {
        Judged::Permit(_) if record.decision == Decision::Allow => match record.layer {
            modes::Layer::Pinned => "it is part of the run's own contract".to_owned(),
            _ => "nothing speaks against it".to_owned(),
        },
        _ => record.reason,
    };
    Ok(Explanation {
        tool: name.to_owned(),
        mode: mode.to_string(),
        decision: record.decision,
        layer: record.layer,
        reason,
        effects: row.effects,
        in_surface,
    })
}
