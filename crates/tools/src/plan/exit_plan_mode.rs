//! `exit_plan_mode`: asking to leave plan mode. No delivery.

use modes::ProposedCall;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::desk::ExitRequest;
use crate::scope::Scope;
use crate::tool::{BadArguments, Then, ToolResult};
use crate::typed::{Around, TypedTool, settled};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Why, in a sentence.
    #[serde(default)]
    summary: Option<String>,
}

pub(crate) struct ExitPlanMode;

impl TypedTool for ExitPlanMode {
    const NAME: &'static str = "exit_plan_mode";
    const DESCRIPTION: &'static str = "Asks the person to leave plan mode without a plan. Nothing becomes writable until they agree; a plan is delivered with submit_plan instead.";
    const EXAMPLE: &'static str = r#"{"summary": "The fix is one line; a plan adds nothing."}"#;
    type Arguments = Arguments;
    type Ready = Option<String>;

    fn prepare(
        arguments: Arguments,
        call: ProposedCall,
        _: &Scope,
    ) -> Result<(ProposedCall, Option<String>), BadArguments> {
        Ok((call, arguments.summary))
    }

    async fn act(summary: Option<String>, around: Around<'_>) -> ToolResult {
        settled(
            around
                .desk
                .exit_plan_mode(around.call_id, summary)
                .await
                .map(|request| match request {
                    ExitRequest::Pending { approval_id } => {
                        ToolResult::text(json!({"status": "pending", "approval_id": approval_id}).to_string())
                            .then(Then::NextResponse)
                    }
                    ExitRequest::Granted => {
                        ToolResult::text(json!({"status": "granted"}).to_string()).then(Then::Exited)
                    }
                }),
        )
    }
}
