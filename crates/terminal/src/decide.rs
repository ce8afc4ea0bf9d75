//! Looking at a plan and deciding about exactly what was shown, with the letters of the review
//! screen. Words approve nothing. It must not know how the decision is carried out.

use engine::{About, Command, Engine, PersonDecision, PlanView, Problem};
use modes::short_digest;
use work::approval::ApprovalMove;
use work::plan::{ApprovalOptions, Selection};

use crate::lines::{Lines, Typed};
use crate::print::{Mark, Printer};

/// What is said when words come where a decision is due.
pub(crate) const WORDS_APPROVE_NOTHING: &str =
    "That does not approve anything. a approve · Enter again to send it as a comment";

/// How a plan is carried out once approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Terms {
    /// The options printed before the decision.
    pub(crate) options: ApprovalOptions,
    /// The steps.
    pub(crate) selection: Selection,
}

impl Terms {
    /// The decision about a plan as it was shown.
    pub(crate) fn decide(&self, plan: &str, digest: &str, decision: ApprovalMove, reason: Option<String>) -> Command {
        Command::Decide {
            about: About::Plan(plan.to_owned()),
            verdict: PersonDecision {
                digest: digest.to_owned(),
                decision,
                reason,
                options: self.options.clone(),
                selection: self.selection.clone(),
            },
        }
    }
}

/// Shows a plan, whole.
pub(crate) fn show(printer: &mut Printer, view: &PlanView) {
    printer.prepared(&view.text);
    printer.line(Mark::Note, &view.base);
    if view.rebased {
        printer.line(
            Mark::Note,
            "what it starts from has moved: this is a new revision with a new digest",
        );
    }
    if let Some(changes) = &view.changes {
        printer.line(Mark::Note, "changes since the revision before:");
        printer.foreign(changes);
    }
}

/// Shows a plan and takes the decision. None: not now.
pub(crate) async fn review(
    engine: &Engine,
    printer: &mut Printer,
    lines: &mut Lines,
    plan: &str,
    terms: &Terms,
) -> Result<Option<Command>, Problem> {
    let view = engine.plan(plan).await?;
    show(printer, &view);
    printer.line(Mark::Plan, &printed_terms(&view, terms));
    let mut held: Option<String> = None;
    loop {
        let question = "a approve and run · c comment · r request changes · x reject · q later > ";
        let Typed::Line(line) = lines.answer(printer, question).await else {
            return Ok(None);
        };
        let decide = |decision, reason| Ok(Some(terms.decide(&view.id, &view.digest, decision, reason)));
        match (line.trim(), held.take()) {
            ("a", _) => return decide(ApprovalMove::Approve, None),
            ("q", _) => return Ok(None),
            ("r", _) => return decide(ApprovalMove::RequestRevision, None),
            ("x", _) => {
                let Typed::Line(reason) = lines.answer(printer, "why? (Enter for no reason) > ").await else {
                    return Ok(None);
                };
                return decide(
                    ApprovalMove::Reject,
                    Some(reason).filter(|reason| !reason.trim().is_empty()),
                );
            }
            ("c", _) => {
                let Typed::Line(text) = lines.answer(printer, "comment > ").await else {
                    return Ok(None);
                };
                comment(engine, printer, &view.id, text.trim()).await?;
            }
            ("", Some(words)) => comment(engine, printer, &view.id, &words).await?,
            ("", None) => {}
            (words, _) => {
                held = Some(words.to_owned());
                printer.line(Mark::Note, WORDS_APPROVE_NOTHING);
            }
        }
    }
}

/// Sends a comment on a whole plan.
pub(crate) async fn comment(engine: &Engine, printer: &mut Printer, plan: &str, text: &str) -> Result<(), Problem> {
    if text.is_empty() {
        return Ok(());
    }
    let command = Command::Comment {
        plan: plan.to_owned(),
        node: None,
        quote: None,
        text: text.to_owned(),
    };
    Box::pin(engine.carry_out(command)).await?;
    printer.line(
        Mark::Done,
        "comment kept; `r` sends all comments back for the next revision",
    );
    Ok(())
}

fn printed_terms(view: &PlanView, terms: &Terms) -> String {
    let options = &terms.options;
    let what = if options.save_only {
        "saves the decision of"
    } else {
        "runs"
    };
    let steps = match &terms.selection {
        Selection::All => "all steps".to_owned(),
        Selection::Keys(keys) => format!("steps {}", keys.join(", ")),
    };
    let autonomy = match options.autonomy {
        work::plan::Autonomy::ActWithApproval => "asks when it matters",
        work::plan::Autonomy::ActFreely => "never asks",
    };
    let after = match options.after_plan {
        work::plan::AfterPlan::Agent => "Agent",
        work::plan::AfterPlan::Plan => "Plan",
    };
    format!(
        "`a` {what} {steps} of {}@{} · lands as {} · context {} · {autonomy} · afterwards {after}",
        view.id,
        short_digest(&view.digest),
        options.landing,
        options.context
    )
}

/// Words by which people mean yes. They are held back while a plan waits.
pub(crate) fn is_assent(line: &str) -> bool {
    const WORDS: [&str; 34] = [
        "y",
        "yes",
        "yep",
        "yeah",
        "ok",
        "okay",
        "k",
        "sure",
        "go",
        "go ahead",
        "go for it",
        "do it",
        "lgtm",
        "looks good",
        "looks good to me",
        "sounds good",
        "approve",
        "approved",
        "i approve",
        "accept",
        "proceed",
        "continue",
        "ship it",
        "yes do it",
        "fine",
        "its fine",
        "thats fine",
        "the plan is fine",
        "the plan looks good",
        "perfect",
        "great",
        "run it",
        "implement it",
        "start",
    ];
    let folded = line.to_lowercase().replace(" and ", ",").replace(" then ", ",");
    let mut parts = folded
        .split([',', '.', '!', ';', ':', '-'])
        .map(|part| {
            let plain: String = part.chars().filter(|c| c.is_alphanumeric() || *c == ' ').collect();
            plain
                .split_whitespace()
                .filter(|word| *word != "please")
                .collect::<Vec<_>>()
                .join(" ")
        })
        .filter(|part| !part.is_empty())
        .peekable();
    line.trim() == "👍" || (parts.peek().is_some() && parts.all(|part| WORDS.contains(&part.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assent_is_known_by_its_words_alone() {
        for yes in [
            "yes",
            "Yes!",
            " OK ",
            "looks good to me.",
            "LGTM 🚀",
            "go ahead please",
            "👍",
            "Approved.",
            "looks good, approved",
            "Yes, please!",
            "ok and go ahead",
        ] {
            assert!(is_assent(yes), "{yes}");
        }
        for other in [
            "yes, but split step two",
            "looks good, also add a test",
            "what about tests?",
            "a",
            "",
            "no",
            "approve the parser only",
        ] {
            assert!(!is_assent(other), "{other}");
        }
    }
}
