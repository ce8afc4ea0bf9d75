//! The one place of a run where calls are judged. Decisions are in the journal before anything runs.

use modes::{Answer, Decision, DecisionRecord, EffectSet, Judged, Layer, Permit};
use serde_json::json;

use super::propose::Ready;
use crate::active::Active;
use crate::clock;
use crate::fact::{Fact, How, Permission};
use crate::problem::Problem;
use crate::run_state::CallState;

/// A call that may run now.
pub(super) struct Allowed {
    pub state: CallState,
    pub permit: Permit,
}

/// Judges calls and appends each decision; refused ones get their result in the same change.
pub(super) async fn judge_all(run: &mut Active, calls: Vec<Ready>) -> Result<Vec<Allowed>, Problem> {
    let spec = run.spec_now()?.in_thread(run.reach().await?);
    let mut facts = Vec::new();
    let mut allowed = Vec::new();
    let mut asked: Vec<Permission> = Vec::new();
    for Ready { state, proposed } in calls {
        let call = state.call.id.clone();
        let proposed = match proposed {
            Ok(proposed) => proposed,
            Err(refused) => {
                let record = DecisionRecord {
                    tool: state.call.name.clone(),
                    digest: modes::digest(&json!([state.call.name, state.call.arguments_text])),
                    effects: EffectSet::EMPTY,
                    decision: Decision::Deny,
                    layer: refused.layer,
                    reason: refused.reason,
                };
                let how = if record.layer == Layer::NotStarted {
                    How::NotStarted
                } else {
                    How::Refused
                };
                facts.extend(refusal(&state, record, how));
                continue;
            }
        };
        let (digest, effects, tool) = (proposed.digest(), proposed.effects(), proposed.tool().name);
        let arguments = proposed.arguments().clone();
        let answer: Option<&Answer> = state.permission.as_ref().and_then(|(_, answer)| answer.as_ref());
        let judged = modes::judge(&spec, proposed, answer);
        let record = judged.record(tool, digest.clone(), effects);
        match judged {
            Judged::Permit(permit) => {
                if !state.started {
                    facts.push(Fact::Decided {
                        call: call.clone(),
                        record,
                    });
                    facts.push(Fact::ToolStarted {
                        call,
                        tool: tool.to_owned(),
                    });
                }
                allowed.push(Allowed { state, permit });
            }
            Judged::Question(question) => {
                facts.push(Fact::Decided {
                    call: call.clone(),
                    record,
                });
                // The same thing asked for twice is one question.
                match asked.iter_mut().find(|permission| permission.digest == digest) {
                    Some(permission) => permission.calls.push(call),
                    None => asked.push(Permission {
                        id: clock::new_id('n'),
                        calls: vec![call],
                        tool: tool.to_owned(),
                        arguments,
                        effects,
                        asks: question.asks,
                        digest,
                    }),
                }
            }
            Judged::Refusal(_) => facts.extend(refusal(&state, record, How::Refused)),
        }
    }
    facts.extend(
        asked
            .into_iter()
            .map(|permission| Fact::PermissionAsked(Box::new(permission))),
    );
    if !facts.is_empty() {
        run.record(facts).await?;
    }
    Ok(allowed)
}

fn refusal(state: &CallState, record: DecisionRecord, how: How) -> [Fact; 2] {
    let call = state.call.id.clone();
    let result = tools::ToolResult::error(record.reason.clone());
    let tool = record.tool.clone();
    [
        Fact::Decided {
            call: call.clone(),
            record,
        },
        Fact::ToolFinished {
            call,
            tool,
            result,
            how,
        },
    ]
}
