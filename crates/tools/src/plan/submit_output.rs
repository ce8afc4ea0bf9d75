//! `submit_output`: what a step hands back.

use modes::ProposedCall;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::scope::Scope;
use crate::tool::{BadArguments, Then, ToolResult};
use crate::typed::{Around, TypedTool, settled};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// What the step produced, in the shape the step asks for.
    #[serde(default)]
    output: Option<Value>,
    /// How you know the step is done: commands run, results seen.
    #[serde(default)]
    evidence: Option<String>,
}

pub(crate) struct SubmitOutput;

impl TypedTool for SubmitOutput {
    const NAME: &'static str = "submit_output";
    const DESCRIPTION: &'static str =
        "Ends the step in progress and hands back its output. Use it when the step's acceptance is met.";
    const EXAMPLE: &'static str = r#"{"output": {"files": 3}, "evidence": "cargo test: 41 passed"}"#;
    type Arguments = Arguments;
    type Ready = Arguments;

    fn prepare(arguments: Arguments, call: ProposedCall, _: &Scope) -> Result<(ProposedCall, Arguments), BadArguments> {
        Ok((call, arguments))
    }

    async fn act(Arguments { output, evidence }: Arguments, around: Around<'_>) -> ToolResult {
        let taken = around.desk.submit_output(around.call_id, output, evidence).await;
        settled(taken.map(|()| ToolResult::text("The step is done.").then(Then::StepDone)))
    }
}
