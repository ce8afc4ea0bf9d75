//! `plan_mode_respond`: speaking before a plan exists, and the honest end without one.

use modes::ProposedCall;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::{PlanReply, Said};
use crate::scope::Scope;
use crate::todo::note_progress;
use crate::tool::{BadArguments, Then, ToolResult};
use crate::typed::{Around, TypedTool, settled};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// What to say.
    response: String,
    /// Replies to choose from.
    #[serde(default)]
    options: Vec<String>,
    /// True: say it and go on exploring without waiting.
    #[serde(default)]
    needs_more_exploration: bool,
    /// True: no plan is needed; `response` says why in one sentence. Ends the run.
    #[serde(default)]
    no_plan_needed: bool,
    /// The todo list as Markdown check boxes.
    #[serde(default)]
    task_progress: Option<String>,
}

pub(crate) struct PlanModeRespond;

impl TypedTool for PlanModeRespond {
    const NAME: &'static str = "plan_mode_respond";
    const DESCRIPTION: &'static str = "Speaks to the person before a plan exists: findings, a sketch, a question. It is no plan: deliver that with submit_plan.";
    const EXAMPLE: &'static str = r#"{"response": "Two ways are open: …", "options": ["Patch", "Rewrite"]}"#;
    type Arguments = Arguments;
    type Ready = (PlanReply, Option<String>);

    fn prepare(
        arguments: Arguments,
        call: ProposedCall,
        _: &Scope,
    ) -> Result<(ProposedCall, Self::Ready), BadArguments> {
        let Arguments {
            response,
            options,
            needs_more_exploration,
            no_plan_needed,
            task_progress,
        } = arguments;
        if response.trim().is_empty() {
            return Err(BadArguments(format!("`response` is empty. Example: {}", Self::EXAMPLE)));
        }
        if needs_more_exploration && no_plan_needed {
            return Err(BadArguments(
                "`needs_more_exploration` goes on and `no_plan_needed` ends the run: set one of them.".to_owned(),
            ));
        }
        let reply = PlanReply {
            response,
            options,
            needs_more_exploration,
            no_plan_needed,
        };
        Ok((call, (reply, task_progress)))
    }

    async fn act((reply, task_progress): Self::Ready, around: Around<'_>) -> ToolResult {
        note_progress(task_progress.as_deref(), around).await;
        settled(around.desk.plan_reply(around.call_id, reply).await.map(|said| match said {
            Said::Shown => ToolResult::text("Shown. Go on exploring."),
            Said::Waits => ToolResult::text("Shown; the person's reply is awaited.").then(Then::Waits),
            Said::NobodyHere => ToolResult::text(
                "Nobody will answer. Submit a plan with submit_plan, or call plan_mode_respond with no_plan_needed: true and one sentence why.",
            ),
            Said::Ended => ToolResult::text("The run ends without a plan.").then(Then::Declined),
        }))
    }
}
