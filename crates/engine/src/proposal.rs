//! What a model proposes about the conversation itself, and what a person's answer makes of it. Pure.

use tools::{Proposal, QuestionOption, Then, ToolResult, UserQuestion};

/// The question to the person.
pub(crate) fn question(proposal: Proposal, context: &str) -> UserQuestion {
    let (asked, [yes, no]) = words(proposal);
    UserQuestion {
        question: format!("{asked}\n\n{context}"),
        options: [yes, no]
            .map(|label| QuestionOption {
                label: label.to_owned(),
                description: String::new(),
            })
            .into(),
        multi_select: false,
        allow_freeform: true,
    }
}

/// The call's result after the answer. Whatever is no yes is guidance.
pub(crate) fn answered(proposal: Proposal, answer: &str) -> ToolResult {
    let (_, [yes, no]) = words(proposal);
    let answer = answer.trim();
    if [yes, "yes", "y"].iter().any(|word| word.eq_ignore_ascii_case(answer)) {
        return match proposal {
            Proposal::Condense => {
                ToolResult::text("The person agreed: your text stands for the conversation.").then(Then::Condensed)
            }
            Proposal::NewTask => {
                ToolResult::text("The person agreed: a fresh thread goes on with your text.").then(Then::HandedOver)
            }
        };
    }
    let said = if [no, "no", "n"].iter().any(|word| word.eq_ignore_ascii_case(answer)) {
        String::new()
    } else {
        format!(" They said: {answer}")
    };
    ToolResult::text(format!(
        "The person did not agree: the conversation goes on as it is.{said}"
    ))
    .then(Then::NextResponse)
}

/// The tool that proposes it.
pub(crate) const fn tool(proposal: Proposal) -> &'static str {
    match proposal {
        Proposal::Condense => "condense",
        Proposal::NewTask => "new_task",
    }
}

/// What is asked, the yes and the no.
const fn words(proposal: Proposal) -> (&'static str, [&'static str; 2]) {
    match proposal {
        Proposal::Condense => (
            "Shall this text stand for the conversation so far? The journal keeps all of it.",
            ["Shorten it", "Keep it as it is"],
        ),
        Proposal::NewTask => (
            "Shall a fresh thread go on that knows nothing but this text?",
            ["Go on in a fresh thread", "Stay in this one"],
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_agrees() {
        for (proposal, yes, then) in [
            (Proposal::Condense, "Shorten it", Then::Condensed),
            (Proposal::NewTask, "go on in a fresh thread", Then::HandedOver),
        ] {
            for word in [yes, " yes ", "Y"] {
                assert_eq!(answered(proposal, word).then, then, "{word}");
            }
            let label = question(proposal, "…").options[0].label.clone();
            assert_eq!(answered(proposal, &label).then, then);
            for word in ["no", "yes, but keep the paths", "", "ok"] {
                assert_eq!(answered(proposal, word).then, Then::NextResponse, "{word}");
            }
        }
        let guided = answered(Proposal::Condense, "yes, but keep the paths").words();
        assert!(guided.ends_with("They said: yes, but keep the paths"), "{guided}");
        assert!(
            !answered(Proposal::Condense, "Keep it as it is")
                .words()
                .contains("They said")
        );
    }
}
