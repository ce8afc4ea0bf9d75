//! `condense` and `new_task`: the conversation goes on from a text of the model, if the person agrees.

use modes::ProposedCall;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::{Proposal, Said};
use crate::scope::Scope;
use crate::tool::{BadArguments, Then, ToolResult};
use crate::typed::{Around, TypedTool, settled};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// All that is needed to go on: the goal, decisions, findings with paths, what is done and what comes next.
    context: String,
}

pub(crate) struct Condense;

impl TypedTool for Condense {
    const NAME: &'static str = "condense";
    const DESCRIPTION: &'static str = "Proposes that your text stands for the conversation so far; the person decides. Use it when the conversation is long and most of it is settled.";
    const EXAMPLE: &'static str = r#"{"context": "Goal: …. Decided: …. Done: …. Next: …"}"#;
    type Arguments = Arguments;
    type Ready = String;

    fn prepare(arguments: Arguments, call: ProposedCall, _: &Scope) -> Result<(ProposedCall, String), BadArguments> {
        Ok((call, told(arguments, Self::EXAMPLE)?))
    }

    async fn act(context: String, around: Around<'_>) -> ToolResult {
        proposed(Proposal::Condense, &context, around).await
    }
}

pub(crate) struct NewTask;

impl TypedTool for NewTask {
    const NAME: &'static str = "new_task";
    const DESCRIPTION: &'static str = "Proposes that a fresh thread goes on with nothing but your text; the person decides, and a yes ends this run. Use it when another task follows that needs little of this one.";
    const EXAMPLE: &'static str = r#"{"context": "Task: …. What is known: …"}"#;
    type Arguments = Arguments;
    type Ready = String;

    fn prepare(arguments: Arguments, call: ProposedCall, _: &Scope) -> Result<(ProposedCall, String), BadArguments> {
        Ok((call, told(arguments, Self::EXAMPLE)?))
    }

    async fn act(context: String, around: Around<'_>) -> ToolResult {
        proposed(Proposal::NewTask, &context, around).await
    }
}

fn told(Arguments { context }: Arguments, example: &str) -> Result<String, BadArguments> {
    if context.trim().is_empty() {
        return Err(BadArguments(format!("`context` is empty. Example: {example}")));
    }
    Ok(context)
}

async fn proposed(proposal: Proposal, context: &str, around: Around<'_>) -> ToolResult {
    let said = around.desk.propose(around.call_id, proposal, context).await;
    settled(said.map(|said| match said {
        Said::Waits => ToolResult::text("The proposal is with the person.").then(Then::Waits),
        Said::NobodyHere | Said::Shown | Said::Ended => {
            ToolResult::text("Nobody is here to agree. Go on in this conversation as it is.")
        }
    }))
}
