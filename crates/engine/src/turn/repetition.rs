//! Whether a run goes round in circles: the same call again and again, or two calls by turns. Pure.

use crate::run_state::{CallState, Talk};

/// What is to be done about calls that repeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Repetition {
    /// Nothing.
    None,
    /// The model is told so, in these words.
    Tell(String),
    /// It was told and went on.
    Loops,
}

/// The same call so often is told.
const ONE_TOLD: usize = 3;
/// Two calls by turns so often are told.
const TWO_TOLD: usize = 4;
/// So often is no coincidence any more.
const LOOPS: usize = 5;

/// How what the model is told begins; in a run it stands for nothing else.
const OPENING: &str = "You repeat yourself: ";

/// What to do about the calls since the last message that entered.
pub(super) fn of(talk: &[Talk]) -> Repetition {
    let mut calls = Vec::new();
    let mut told_after = 0;
    for piece in talk {
        match piece {
            Talk::Entered(_) | Talk::StepEnded => {
                calls.clear();
                told_after = 0;
            }
            Talk::Response(_, _, made) => calls.extend(made.iter().map(words)),
            Talk::Told(text) if text.starts_with(OPENING) => told_after = calls.len(),
            Talk::Told(_) | Talk::Cut(_) | Talk::Compacted(_) => {}
        }
    }
    let one = rounds(&calls, 1);
    let two = rounds(&calls, 2);
    let (times, told, length) = if one > 1 {
        (one, ONE_TOLD, one)
    } else {
        (two, TWO_TOLD, two.saturating_mul(2))
    };
    // Only what was told about this very repetition counts.
    let was_told = told_after > calls.len().saturating_sub(length);
    if times >= LOOPS && was_told {
        return Repetition::Loops;
    }
    if times < told || was_told {
        return Repetition::None;
    }
    Repetition::Tell(match calls.as_slice() {
        [.., (name, _)] if one > 1 => format!(
            "{OPENING}`{name}` was called {times} times in a row with the same arguments. It will not come out \
             otherwise. Read what it said, try another way, or say what stands in the way."
        ),
        [.., (first, _), (second, _)] => format!(
            "{OPENING}`{first}` and `{second}` were called by turns {times} times with the same arguments. Going \
             round once more will not help. Read what they said, try another way, or say what stands in the way."
        ),
        _ => return Repetition::None,
    })
}

/// The name and the arguments of a call, as the model wrote them.
fn words(call: &CallState) -> (&str, &str) {
    (&call.call.name, &call.call.arguments_text)
}

/// How often the last `length` calls stand at the end, one after the other.
fn rounds(calls: &[(&str, &str)], length: usize) -> usize {
    let mut chunks = calls.rchunks_exact(length);
    let Some(last) = chunks.next() else {
        return 0;
    };
    1 + chunks.take_while(|chunk| *chunk == last).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A conversation from one letter a response, `!` for what is told about repetition, `?` for other words, `.` for
    /// the end of a step and `~` for a compaction.
    fn talk(story: &str) -> Vec<Talk> {
        let mut talk = Vec::new();
        for letter in story.chars() {
            talk.push(match letter {
                '!' => Talk::Told(format!("{OPENING}…")),
                '?' => Talk::Told("something else".to_owned()),
                '.' => Talk::StepEnded,
                '~' => Talk::Compacted(Box::new(crate::fact::Compaction {
                    why: crate::fact::WhyCompacted::NearlyFull,
                    upto: 0,
                    summary: String::new(),
                    carried: String::new(),
                    before: 0,
                    after: 0,
                    usage: llm::Usage::default(),
                    model: None,
                    cursor: None,
                })),
                letter => Talk::Response(
                    Vec::new(),
                    llm::StopReason::ToolUse,
                    vec![CallState {
                        call: llm::ToolCall {
                            id: String::new(),
                            name: letter.to_string(),
                            arguments_text: "{}".to_owned(),
                        },
                        decided: None,
                        permission: None,
                        asked: false,
                        started: false,
                        result: None,
                    }],
                ),
            });
        }
        talk
    }

    #[test]
    fn three_equal_calls_are_told_once_and_five_are_a_loop() {
        let check = |story: &str, expected: &str| {
            let found = match of(&talk(story)) {
                Repetition::None => "none",
                Repetition::Tell(_) => "tell",
                Repetition::Loops => "loops",
            };
            assert_eq!(found, expected, "{story}");
        };
        check("", "none");
        check("aa", "none");
        check("baaa", "tell");
        check("aaa!", "none");
        check("aaa!a", "none");
        check("aaa!aa", "loops");
        check("aaaaaaa", "tell");
        check("aaa!b", "none");
        // Compacting makes nobody forget.
        check("aa~a", "tell");
        check("aaa!~aa", "loops");
        // What was told about another repetition does not count for this one.
        check("aaa!baaa", "tell");
        check("aaa!baaaaa", "tell");
        check("aaa?aa", "tell");
        check("aaa.aa", "none");
        check("aaa!.aaaaa", "tell");
        check("ababab", "none");
        check("abababab", "tell");
        check("abababab!ab", "loops");
        check("abababab!a", "none");
        check("cbabababa", "tell");
        check("abcabcabcabcabc", "none");
    }

    #[test]
    fn the_model_is_told_which_calls_they_are() {
        let told = |story: &str| match of(&talk(story)) {
            Repetition::Tell(words) => words,
            other => panic!("{other:?}"),
        };
        assert!(told("aaa").starts_with("You repeat yourself: `a` was called 3 times in a row"));
        assert!(told("abababab").starts_with("You repeat yourself: `a` and `b` were called by turns 4 times"));
    }
}
