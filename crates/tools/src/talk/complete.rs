//! `attempt_completion`: the run's result.

use modes::ProposedCall;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::scope::Scope;
use crate::todo::note_progress;
use crate::tool::{BadArguments, Then, ToolResult};
use crate::typed::{Around, TypedTool, settled};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// What was done and how it was checked; no question.
    result: String,
    /// The todo list as Markdown check boxes.
    #[serde(default)]
    task_progress: Option<String>,
}

pub(crate) struct AttemptCompletion;

impl TypedTool for AttemptCompletion {
    const NAME: &'static str = "attempt_completion";
    const DESCRIPTION: &'static str =
        "Ends the run with its result. Use it once, when everything asked for is done and checked.";
    const EXAMPLE: &'static str = r#"{"result": "Fixed the rounding in src/price.rs; all 41 tests pass."}"#;
    type Arguments = Arguments;
    type Ready = Arguments;

    fn prepare(arguments: Arguments, call: ProposedCall, _: &Scope) -> Result<(ProposedCall, Arguments), BadArguments> {
        if arguments.result.trim().is_empty() {
            return Err(BadArguments(format!("`result` is empty. Example: {}", Self::EXAMPLE)));
        }
        Ok((call, arguments))
    }

    async fn act(Arguments { result, task_progress }: Arguments, around: Around<'_>) -> ToolResult {
        note_progress(task_progress.as_deref(), around).await;
        let completed = around.desk.complete(around.call_id, result).await;
        settled(completed.map(|()| ToolResult::text("The run ends with this result.").then(Then::Delivered)))
    }
}
