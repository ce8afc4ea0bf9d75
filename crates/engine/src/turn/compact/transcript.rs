//! A conversation as one text, for whoever summarises it: who said what, which tool was called and what
//! came back. What would not fit is shortened, results first, then the oldest words. Pure.

use std::collections::BTreeMap;

use llm::{Block, Message, ResultPart, Role};

/// How long calls and results may be, in characters, when the whole is too long: tried in this order.
const SHORTER: [usize; 4] = [16_000, 4_000, 1_000, 200];
/// Bytes that are sure to be less than a token each time: less than the usual four, since nothing is
/// measured here.
const BYTES_OF_TOKEN: u64 = 3;

/// One thing that was said or done.
struct Piece {
    head: String,
    text: String,
    /// Whether it was said by a person or the model, and not written by a program.
    said: bool,
}

impl Piece {
    fn shown(&self, longest: usize) -> String {
        let text = if self.said {
            self.text.clone()
        } else {
            shortened(&self.text, longest)
        };
        format!("[{}]\n{text}\n\n", self.head)
    }
}

/// The text, of at most so many tokens as far as that can be told without counting.
pub(super) fn of(messages: &[Message], most: Option<u64>) -> String {
    let pieces = pieces(messages);
    let whole = |longest: usize| pieces.iter().map(|piece| piece.shown(longest)).collect::<Vec<_>>();
    let Some(most) = most else {
        return whole(usize::MAX).concat();
    };
    let most = usize::try_from(most.saturating_mul(BYTES_OF_TOKEN)).unwrap_or(usize::MAX);
    let mut shown = Vec::new();
    for longest in [usize::MAX].into_iter().chain(SHORTER) {
        shown = whole(longest);
        if shown.iter().map(String::len).sum::<usize>() <= most {
            return shown.concat();
        }
    }
    newest(shown, most)
}

/// The newest of these that fit, and how many do not.
fn newest(shown: Vec<String>, most: usize) -> String {
    let mut kept = Vec::new();
    let mut room = most;
    let all = shown.len();
    for piece in shown.into_iter().rev() {
        if piece.len() > room {
            if kept.is_empty() {
                kept.push(shortened(&piece, room / 4));
            }
            break;
        }
        room -= piece.len();
        kept.push(piece);
    }
    let left = all - kept.len();
    let head = if left == 0 {
        String::new()
    } else {
        format!("[{left} older pieces are left out]\n\n")
    };
    kept.push(head);
    kept.reverse();
    kept.concat()
}

/// At most so many characters, from both ends.
fn shortened(text: &str, longest: usize) -> String {
    let length = text.chars().count();
    if length <= longest {
        return text.to_owned();
    }
    let half = longest / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(length - half).collect();
    format!("{start}\n(… {} characters …)\n{end}", length - 2 * half)
}

fn pieces(messages: &[Message]) -> Vec<Piece> {
    let mut tools = BTreeMap::new();
    let mut pieces = Vec::new();
    for message in messages {
        let who = match message.role {
            Role::User => "person",
            Role::Assistant => "agent",
        };
        for block in &message.blocks {
            pieces.extend(match block {
                Block::Text(text) => Some(piece(who, text.clone(), true)),
                Block::Image { .. } => Some(piece(who, "(a picture)".to_owned(), true)),
                Block::ToolCall(call) => {
                    tools.insert(call.id.as_str(), call.name.as_str());
                    let head = format!("agent calls {}", call.name);
                    Some(piece(&head, call.arguments_text.clone(), false))
                }
                Block::ToolResult {
                    call_id,
                    content,
                    is_error,
                } => {
                    let tool = tools.get(call_id.as_str()).copied().unwrap_or("a tool");
                    let head = if *is_error { "failed" } else { "result" };
                    Some(piece(&format!("{head}: {tool}"), words(content), false))
                }
                // Thinking that only its provider can read.
                Block::Native { .. } => None,
            });
        }
    }
    pieces
}

fn piece(head: &str, text: String, said: bool) -> Piece {
    Piece {
        head: head.to_owned(),
        text,
        said,
    }
}

fn words(content: &[ResultPart]) -> String {
    let parts: Vec<&str> = content
        .iter()
        .map(|part| match part {
            ResultPart::Text(text) => text.as_str(),
            ResultPart::Image { .. } => "(a picture)",
        })
        .collect();
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use llm::ToolCall;
    use proptest::prelude::*;

    use super::*;

    fn conversation(result: &str) -> Vec<Message> {
        vec![
            Message::user(vec![Block::Text("fix it".to_owned())]),
            Message::assistant(vec![
                Block::Native {
                    provider: "p".to_owned(),
                    value: serde_json::json!({"thinking": "secret"}),
                },
                Block::Text("Looking.".to_owned()),
                Block::ToolCall(ToolCall {
                    id: "c1".to_owned(),
                    name: "read_file".to_owned(),
                    arguments_text: r#"{"path":"a.rs"}"#.to_owned(),
                }),
            ]),
            Message::user(vec![Block::ToolResult {
                call_id: "c1".to_owned(),
                content: vec![ResultPart::Text(result.to_owned())],
                is_error: false,
            }]),
        ]
    }

    #[test]
    fn who_said_what_is_told_in_order() {
        insta::assert_snapshot!(of(&conversation("fn a() {}"), None), @r#"
        [person]
        fix it

        [agent]
        Looking.

        [agent calls read_file]
        {"path":"a.rs"}

        [result: read_file]
        fn a() {}
        "#);
    }

    #[test]
    fn results_are_shortened_before_anything_that_was_said() {
        let shown = of(&conversation(&format!("begin{}end", "x".repeat(90_000))), Some(700));
        assert!(shown.contains("[person]\nfix it\n"), "{shown}");
        assert!(
            shown.contains("begin") && shown.contains("end") && shown.contains("(… 89"),
            "{shown}"
        );
        assert!(shown.len() < 2_100);
    }

    #[test]
    fn the_newest_is_kept_and_what_is_left_out_is_counted() {
        let messages: Vec<Message> = (0..50)
            .map(|number| Message::user(vec![Block::Text(format!("message {number} {}", "y".repeat(300)))]))
            .collect();
        let shown = of(&messages, Some(400));
        assert!(shown.contains("message 49") && shown.contains("message 48"), "{shown}");
        assert!(shown.starts_with("[47 older pieces are left out]"), "{shown}");
    }

    proptest! {
        /// Whatever was said, the text has the size that was asked for, but for what it says of itself.
        #[test]
        fn it_fits(texts in prop::collection::vec(("[a-zä\n]{0,400}", any::<bool>()), 0..30), most in 20_u64..2_000) {
            let messages: Vec<Message> = texts
                .iter()
                .map(|(text, said)| {
                    Message::user(vec![if *said {
                        Block::Text(text.clone())
                    } else {
                        Block::ToolResult {
                            call_id: "c".to_owned(),
                            content: vec![ResultPart::Text(text.clone())],
                            is_error: true,
                        }
                    }])
                })
                .collect();
            prop_assert!(of(&messages, Some(most)).len() as u64 <= most * BYTES_OF_TOKEN + 80);
        }
    }
}
