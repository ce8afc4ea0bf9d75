//! `act_mode_respond`: a note on the way.

use modes::ProposedCall;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::scope::Scope;
use crate::todo::note_progress;
use crate::tool::{BadArguments, ToolResult};
use crate::typed::{Around, TypedTool, settled};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The note.
    response: String,
    /// The todo list as Markdown check boxes.
    #[serde(default)]
    task_progress: Option<String>,
}

pub(crate) struct ActModeRespond;

impl TypedTool for ActModeRespond {
    const NAME: &'static str = "act_mode_respond";
    const DESCRIPTION: &'static str = "Tells the person in a sentence where the work stands, without stopping. Never twice in a row: do something in between.";
    const EXAMPLE: &'static str = r#"{"response": "The parser is fixed; now its tests."}"#;
    type Arguments = Arguments;
    type Ready = Arguments;

    fn prepare(arguments: Arguments, call: ProposedCall, _: &Scope) -> Result<(ProposedCall, Arguments), BadArguments> {
        if arguments.response.trim().is_empty() {
            return Err(BadArguments(format!("`response` is empty. Example: {}", Self::EXAMPLE)));
        }
        Ok((call, arguments))
    }

    async fn act(
        Arguments {
            response,
            task_progress,
        }: Arguments,
        around: Around<'_>,
    ) -> ToolResult {
        let noted = around.desk.progress(around.call_id, response).await;
        if noted.is_ok() {
            note_progress(task_progress.as_deref(), around).await;
        }
        settled(noted.map(|()| ToolResult::text("Shown. Go on with the work.")))
    }
}
