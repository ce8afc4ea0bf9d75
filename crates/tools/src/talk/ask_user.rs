//! `ask_user`: a question to the person, answered now, later or by nobody.

use modes::ProposedCall;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::{QuestionOption, Said, UserQuestion};
use crate::scope::Scope;
use crate::tool::{BadArguments, Then, ToolResult};
use crate::typed::{Around, TypedTool, settled};

const MOST_OPTIONS: usize = 12;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// One clear question.
    question: String,
    /// Answers to choose from.
    #[serde(default)]
    options: Vec<OptionArgument>,
    /// Whether several may be chosen.
    #[serde(default)]
    multi_select: bool,
    /// Whether an answer in own words is taken; true unless set.
    #[serde(default)]
    allow_freeform: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OptionArgument {
    label: String,
    #[serde(default)]
    description: String,
}

pub(crate) struct AskUser;

impl TypedTool for AskUser {
    const NAME: &'static str = "ask_user";
    const DESCRIPTION: &'static str = "Asks the person one question and waits for the answer. Use it when a choice is theirs to make and reading the code cannot settle it.";
    const EXAMPLE: &'static str = r#"{"question": "Keep the old endpoint?", "options": [{"label": "Keep", "description": "Both work"}, {"label": "Remove"}]}"#;
    type Arguments = Arguments;
    type Ready = UserQuestion;

    fn prepare(
        arguments: Arguments,
        call: ProposedCall,
        _: &Scope,
    ) -> Result<(ProposedCall, UserQuestion), BadArguments> {
        let Arguments {
            question,
            options,
            multi_select,
            allow_freeform,
        } = arguments;
        let allow_freeform = allow_freeform.unwrap_or(true);
        let refused = if question.trim().is_empty() {
            "`question` is empty"
        } else if options.len() > MOST_OPTIONS {
            "`options` holds more than 12 answers"
        } else if options.iter().any(|option| option.label.trim().is_empty()) {
            "an option's `label` is empty"
        } else if options.is_empty() && !allow_freeform {
            "with `allow_freeform: false` there must be `options`"
        } else {
            let options = options
                .into_iter()
                .map(|OptionArgument { label, description }| QuestionOption { label, description })
                .collect();
            return Ok((
                call,
                UserQuestion {
                    question,
                    options,
                    multi_select,
                    allow_freeform,
                },
            ));
        };
        Err(BadArguments(format!("{refused}. Example: {}", Self::EXAMPLE)))
    }

    async fn act(question: UserQuestion, around: Around<'_>) -> ToolResult {
        settled(
            around
                .desk
                .ask_user(around.call_id, question)
                .await
                .map(|said| match said {
                    Said::Waits => ToolResult::text("The question is with the person.").then(Then::Waits),
                    Said::Shown => ToolResult::text("The question is shown; nobody waits for an answer."),
                    Said::NobodyHere => {
                        ToolResult::text("Nobody is here to answer. State the assumption you make and go on.")
                    }
                    Said::Ended => ToolResult::text("The run ends here.").then(Then::Declined),
                }),
        )
    }
}
