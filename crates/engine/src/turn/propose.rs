//! From what the model wrote to proposed calls: names looked up, arguments parsed once, effects
//! found by the tool itself.

use modes::{Layer, ProposedCall};
use tools::Incoming;

use crate::active::Active;
use crate::recorded;
use crate::run_state::CallState;

/// Read-tier calls that run together at most.
const TOGETHER: usize = 4;

/// A call ready to be judged, or already refused.
pub(super) struct Ready {
    pub state: CallState,
    pub proposed: Result<ProposedCall, NotProposed>,
}

/// Why a call cannot even be proposed.
pub(super) struct NotProposed {
    pub layer: Layer,
    pub reason: String,
}

/// The next calls of the response: one, or several that may run together. None when the next one
/// waits for a person.
pub(super) async fn ready(run: &Active) -> Option<Vec<Ready>> {
    let open: Vec<&CallState> = run.state.calls().iter().filter(|call| call.result.is_none()).collect();
    let first = open.first()?;
    if waits(first) {
        return None;
    }
    let together = open
        .iter()
        .take(TOGETHER)
        .take_while(|call| !waits(call) && parallel(run, call) && run.state.then() == tools::Then::GoOn)
        .count()
        .max(1);
    let mut ready = Vec::new();
    for state in open.into_iter().take(together) {
        let proposed = match proposed(run, state) {
            Ok(call) => Ok(recorded::looked_at(&run.inner, &run.spec, call).await),
            refused => refused,
        };
        ready.push(Ready {
            state: state.clone(),
            proposed,
        });
    }
    Some(ready)
}

fn waits(call: &CallState) -> bool {
    call.asked || call.permission.as_ref().is_some_and(|(_, answer)| answer.is_none())
}

fn parallel(run: &Active, call: &CallState) -> bool {
    let name = tools::canonical_name(&call.call.name);
    run.view.tools().iter().any(|row| row.name == name && row.parallel)
}

fn proposed(run: &Active, state: &CallState) -> Result<ProposedCall, NotProposed> {
    if run.state.then() != tools::Then::GoOn {
        return Err(NotProposed {
            layer: Layer::NotStarted,
            reason: "not started: a call before it ended this response.".to_owned(),
        });
    }
    let name = tools::canonical_name(&state.call.name);
    let descriptor = run.spec.surface().find(name).map_err(|absent| NotProposed {
        layer: Layer::Surface,
        reason: absent.to_string(),
    })?;
    let tool = run.toolbox.find(descriptor).ok_or_else(|| NotProposed {
        layer: Layer::Surface,
        reason: format!(
            "the tool {name} is gone: its MCP server is not allowed any more as it was when this run started"
        ),
    })?;
    let bad = |bad: tools::BadArguments| NotProposed {
        layer: Layer::Arguments,
        reason: bad.to_string(),
    };
    let arguments = tools::parse_arguments(&state.call.arguments_text).map_err(bad)?;
    tool.propose(
        Incoming {
            descriptor,
            call_id: state.call.id.clone(),
            arguments,
        },
        &run.scope,
    )
    .map_err(bad)
}
