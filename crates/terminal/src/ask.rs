//! Asking the person who is here: one thing that waits, one act that answers it. Nothing is answered
//! by words typed before the question was shown. It must not know how the act is carried out.

use engine::{About, Command, Pending, PersonAnswer, PersonDecision};
use modes::{Mode, Reach};
use work::approval::ApprovalMove;
use work::plan::{ApprovalOptions, Landing, Selection};

use crate::lines::{Lines, Typed, is_command};
use crate::print::{Mark, Printer, shortened};

/// The mode a server is started in to see what it offers, where no other is named.
pub(crate) const STARTS_SERVERS: &str = "plan";

/// What a person made of a question.
#[derive(Debug, Clone)]
pub(crate) enum Reaction {
    /// An answer.
    Act(Command),
    /// Not now.
    Later,
    /// Ctrl-C.
    Interrupt,
}

/// Whether the thing can be answered in one line. A plan is looked at first.
pub(crate) fn can_be_asked(pending: &Pending) -> bool {
    matches!(pending.kind.as_str(), "permission" | "question" | "reply" | "plan_exit")
}

/// Shows what waits and takes the answer.
pub(crate) async fn person(printer: &mut Printer, lines: &mut Lines, pending: &Pending) -> Reaction {
    show(printer, pending);
    loop {
        let line = match lines.answer(printer, prompt(pending)).await {
            // The person turns to something else, such as another mode.
            Typed::Line(line) if is_command(&line) => {
                lines.put_back(line);
                return Reaction::Later;
            }
            Typed::Line(line) => line,
            Typed::Interrupt => return Reaction::Interrupt,
            Typed::End => return Reaction::Later,
        };
        match read(pending, line.trim()) {
            Ok(reaction) => return reaction,
            Err(again) => printer.line(Mark::Note, again),
        }
    }
}

/// What waits, from its typed fields in our own frame.
pub(crate) fn show(printer: &mut Printer, pending: &Pending) {
    let numbered = pending.kind == "question" || pending.kind == "reply";
    let kind = pending.kind.replace('_', " ");
    if numbered {
        printer.line(Mark::Asks, &format!("{kind} {}, in the agent's words:", pending.id));
        printer.foreign(&pending.title);
    } else {
        printer.line(
            Mark::Asks,
            &format!("{kind} {}: {}", pending.id, shortened(&pending.title)),
        );
    }
    for (place, line) in pending.lines.iter().enumerate() {
        let shown = if numbered {
            format!("{}  {line}", place + 1)
        } else {
            line.clone()
        };
        printer.foreign(&shown);
    }
    if !pending.rules.is_empty() {
        printer.line(
            Mark::Note,
            &format!(
                "kept with a yes that reaches further: {}",
                pending.rules.join("  and  ")
            ),
        );
    }
}

fn prompt(pending: &Pending) -> &'static str {
    match pending.kind.as_str() {
        "permission" if pending.rules.is_empty() => "allow once? y / n / n, because … > ",
        "permission" => "allow once? y · r for the whole run · a always in this workspace · n · n, because … > ",
        "plan_exit" => "leave plan mode? y / n / n, because … > ",
        "mcp_server" => "start it once and let runs have its tools? y / n > ",
        _ => "answer > ",
    }
}

/// What a line means, or what to type instead.
fn read(pending: &Pending, line: &str) -> Result<Reaction, &'static str> {
    let command = match pending.kind.as_str() {
        "permission" => {
            let answer = match further(pending, line) {
                Some(allowed) => allowed?,
                None => match verdict(line)? {
                    (true, _) => PersonAnswer::Allow {
                        reach: Reach::Once,
                        words: None,
                    },
                    (false, because) => PersonAnswer::Deny { because },
                },
            };
            Command::Answer {
                id: pending.id.clone(),
                digest: Some(pending.digest.clone()),
                answer,
            }
        }
        "plan_exit" => {
            let (yes, reason) = verdict(line)?;
            decided(pending, pending.digest.clone(), yes, reason)
        }
        "mcp_server" => match verdict(line)? {
            (true, _) => Command::AllowServer {
                name: pending.id.clone(),
                digest: pending.digest.clone(),
                mode: Mode::chosen(STARTS_SERVERS).map_err(|_| "type n; `stance mcp allow` allows it")?,
            },
            // It stays as it is: nothing starts it.
            (false, _) => return Ok(Reaction::Later),
        },
        _ if line.is_empty() => return Err("type an answer, or the number of one of those shown"),
        _ => Command::Answer {
            id: pending.id.clone(),
            digest: None,
            answer: PersonAnswer::Text(chosen(pending, line)),
        },
    };
    Ok(Reaction::Act(command))
}

/// The decision about an approval that is no plan's.
pub(crate) fn decided(pending: &Pending, digest: String, yes: bool, reason: Option<String>) -> Command {
    Command::Decide {
        about: About::Approval(pending.id.clone()),
        verdict: PersonDecision {
            digest,
            decision: if yes {
                ApprovalMove::Approve
            } else {
                ApprovalMove::Reject
            },
            reason,
            options: ApprovalOptions::with_landing(Landing::Checkout),
            selection: Selection::All,
        },
    }
}

/// The line of that number, or the words themselves.
pub(crate) fn chosen(pending: &Pending, line: &str) -> String {
    let numbered = line
        .parse::<usize>()
        .ok()
        .and_then(|number| pending.lines.get(number.checked_sub(1)?));
    numbered.cloned().unwrap_or_else(|| line.to_owned())
}

/// A yes that reaches further than this once: `r` or `a`, also with the words to keep.
fn further(pending: &Pending, line: &str) -> Option<Result<PersonAnswer, &'static str>> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let reach = match word {
        "r" | "run" => Reach::Run,
        "a" | "always" => Reach::Workspace,
        _ => return None,
    };
    if pending.rules.is_empty() {
        return Some(Err("a yes to that is for this once: type y, n, or n and why"));
    }
    let words = Some(rest.trim().to_owned()).filter(|words| !words.is_empty());
    Some(Ok(PersonAnswer::Allow { reach, words }))
}

/// A yes, a no, or a no and why; else what to type instead.
pub(crate) fn verdict(line: &str) -> Result<(bool, Option<String>), &'static str> {
    if ["y", "yes"].contains(&line) {
        return Ok((true, None));
    }
    let rest = line
        .strip_prefix("no")
        .or_else(|| line.strip_prefix('n'))
        .ok_or("type y, n, or n and why")?;
    if !rest.is_empty() && !rest.starts_with([' ', ',', ':']) {
        return Err("type y, n, or n and why");
    }
    let reason = rest.trim_start_matches([' ', ',', ':']).trim();
    let reason = reason.strip_prefix("because").map_or(reason, str::trim);
    Ok((false, (!reason.is_empty()).then(|| reason.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::tests::on_paper;

    fn pending(kind: &str, lines: &[&str]) -> Pending {
        Pending {
            kind: kind.to_owned(),
            id: "w1".to_owned(),
            digest: "d".repeat(64),
            title: "push to origin".to_owned(),
            run_id: Some("r1".to_owned()),
            plan_id: None,
            asked_in: None,
            rules: Vec::new(),
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        }
    }

    async fn answered(kind: &str, typed: &[&'static str]) -> (Reaction, String) {
        let (mut printer, [words, ..]) = on_paper(usize::MAX);
        let reaction = person(
            &mut printer,
            &mut Lines::prepared(typed),
            &pending(kind, &["first", "second"]),
        )
        .await;
        (reaction, words.text())
    }

    #[tokio::test]
    async fn a_permission_is_answered_with_the_digest_it_was_shown_with() {
        for (typed, expected) in [
            (
                "y",
                PersonAnswer::Allow {
                    reach: Reach::Once,
                    words: None,
                },
            ),
            ("n", PersonAnswer::Deny { because: None }),
            ("no", PersonAnswer::Deny { because: None }),
            (
                "n, because it is Friday",
                PersonAnswer::Deny {
                    because: Some("it is Friday".to_owned()),
                },
            ),
            (
                "n use the branch",
                PersonAnswer::Deny {
                    because: Some("use the branch".to_owned()),
                },
            ),
        ] {
            match answered("permission", &[typed]).await.0 {
                Reaction::Act(Command::Answer { id, digest, answer }) => {
                    assert_eq!(
                        (id.as_str(), digest, answer),
                        ("w1", Some("d".repeat(64)), expected),
                        "{typed}"
                    );
                }
                other => panic!("{typed}: {other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn a_yes_reaches_further_only_where_it_may() {
        for (typed, reach, words) in [
            ("r", Reach::Run, None),
            ("run", Reach::Run, None),
            ("a", Reach::Workspace, None),
            ("a git log *", Reach::Workspace, Some("git log *")),
        ] {
            let mut asked = pending("permission", &[]);
            asked.rules = vec!["git log -5".to_owned()];
            let (mut printer, _) = on_paper(usize::MAX);
            match person(&mut printer, &mut Lines::prepared(&[typed]), &asked).await {
                Reaction::Act(Command::Answer { answer, .. }) => {
                    let words = words.map(str::to_owned);
                    assert_eq!(answer, PersonAnswer::Allow { reach, words }, "{typed}");
                }
                other => panic!("{typed}: {other:?}"),
            }
        }
        let (reaction, shown) = answered("permission", &["a", "r git *"]).await;
        assert!(matches!(reaction, Reaction::Later), "{reaction:?}");
        assert_eq!(shown.matches("for this once").count(), 2, "{shown}");
    }

    #[tokio::test]
    async fn a_command_is_no_answer_and_comes_next() {
        for kind in ["permission", "reply"] {
            let mut lines = Lines::prepared(&["/agent patch it", "later"]);
            let (mut printer, _) = on_paper(usize::MAX);
            let reaction = person(&mut printer, &mut lines, &pending(kind, &[])).await;
            assert!(matches!(reaction, Reaction::Later), "{kind}: {reaction:?}");
            assert_eq!(lines.next().await, Typed::Line("/agent patch it".to_owned()));
            assert_eq!(lines.next().await, Typed::Line("later".to_owned()));
        }
        // A path is an answer.
        let (reaction, _) = answered("reply", &["/agents/one.md"]).await;
        assert!(matches!(reaction, Reaction::Act(_)), "{reaction:?}");
    }

    #[tokio::test]
    async fn other_words_allow_nothing() {
        let (reaction, shown) = answered("permission", &["", "ok", "never mind", "nope"]).await;
        assert!(matches!(reaction, Reaction::Later), "{reaction:?}");
        assert_eq!(shown.matches("type y, n, or n and why").count(), 4, "{shown}");
    }

    #[tokio::test]
    async fn a_question_takes_a_number_or_words() {
        for (typed, expected) in [("2", "second"), ("3", "3"), ("0", "0"), ("neither", "neither")] {
            match answered("question", &["", typed]).await.0 {
                Reaction::Act(Command::Answer { answer, digest, .. }) => {
                    assert_eq!((answer, digest), (PersonAnswer::Text(expected.to_owned()), None));
                }
                other => panic!("{typed}: {other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn a_plan_exit_is_decided_by_its_approval() {
        match answered("plan_exit", &["n, because the tests are missing"]).await.0 {
            Reaction::Act(Command::Decide { about, verdict }) => {
                assert_eq!(about, About::Approval("w1".to_owned()));
                assert_eq!(verdict.decision, ApprovalMove::Reject);
                assert_eq!(verdict.reason.as_deref(), Some("the tests are missing"));
            }
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_server_is_allowed_as_it_was_shown_or_left_as_it_is() {
        match answered("mcp_server", &["maybe", "y"]).await.0 {
            Reaction::Act(Command::AllowServer { name, digest, mode }) => {
                assert_eq!((name.as_str(), digest), ("w1", "d".repeat(64)));
                assert_eq!(mode.to_string(), "Plan");
            }
            other => panic!("{other:?}"),
        }
        let (reaction, _) = answered("mcp_server", &["n"]).await;
        assert!(matches!(reaction, Reaction::Later), "{reaction:?}");
    }

    #[tokio::test]
    async fn what_waits_is_shown_in_our_frame() {
        let (_, shown) = answered("question", &[]).await;
        assert_eq!(
            shown,
            "? question w1, in the agent's words:\n│ push to origin\n│ 1  first\n│ 2  second\nanswer > "
        );
    }
}
