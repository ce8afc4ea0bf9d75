//! `inspect_command`: one line for bash in a throw-away view of the project. Everything but the view
//! is as with `execute_command`.

use modes::{NoInspection, ProposedCall};

use super::execute_command::{Arguments, ExecuteCommand, Ready};
use crate::scope::Scope;
use crate::tool::{BadArguments, ToolResult};
use crate::typed::{Around, TypedTool};

pub(crate) struct InspectCommand;

impl TypedTool for InspectCommand {
    const NAME: &'static str = "inspect_command";
    const DESCRIPTION: &'static str = "Runs a bash line in a throw-away copy of the project, to see what builds, tests and scripts say. What it writes or deletes is gone when it ends, and told as a list. No network, no secrets. To read or search files use their own tools.";
    const EXAMPLE: &'static str = ExecuteCommand::EXAMPLE;
    type Arguments = Arguments;
    type Ready = Ready;

    fn prepare(arguments: Arguments, call: ProposedCall, scope: &Scope) -> Result<(ProposedCall, Ready), BadArguments> {
        ExecuteCommand::prepare(arguments, call, scope)
    }

    async fn act(ready: Ready, around: Around<'_>) -> ToolResult {
        let Some(containment) = around.scope.inspection else {
            return ToolResult::error(format!("{}.", NoInspection::Unproven));
        };
        let scope = Scope {
            containment,
            ..around.scope.clone()
        };
        let around = Around {
            scope: &scope,
            ..around
        };
        ExecuteCommand::act(ready, around).await
    }
}
