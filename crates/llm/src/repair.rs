//! A conversation as one protocol accepts it, whoever wrote it: a thread may change its provider
//! at any message. The one place for it; a wire states its [`Rules`] and translates what comes out.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Value, json};

use crate::{Block, Message, ResultPart, Role};

/// What a protocol accepts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Characters an id of a call may have.
    pub(crate) id_letter: fn(char) -> bool,
    /// How short an id may be.
    pub(crate) shortest_id: usize,
    /// How long an id may be.
    pub(crate) longest_id: usize,
}

/// Letters, digits, `_` and `-`.
pub(crate) fn word_letter(letter: char) -> bool {
    matches!(letter, 'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-')
}

/// The key under which a call's arguments are sent back when they are no JSON object and the
/// protocol carries nothing else: the model should see what it wrote.
const MALFORMED_ARGUMENTS: &str = "malformed_arguments";
/// What stands where nothing was said and a protocol wants something.
pub(crate) const NO_MESSAGE: &str = "(no message)";
/// What the model reads of a call that nobody answered.
const UNANSWERED: &str = "This call was not carried out.";
/// What stands before a conversation whose beginning is gone.
const BEGINNING_GONE: &str = "(The beginning of this conversation is not shown.)";

/// `messages` in the form every wire can translate:
///
/// * roles alternate, a person speaks first, and no message or text is empty;
/// * native blocks are those of `provider`, in their places: what another wrote is left out;
/// * every call has exactly one result, and the message after the calls begins with their
///   results, in their order; a result without a call has become text;
/// * ids fit `rules` and are unique; one that fitted already is unchanged.
///
/// Messages that are appended change nothing of what came out before, so that caches hit.
pub(crate) fn repaired(messages: &[Message], provider: &str, rules: &Rules) -> Vec<Message> {
    let mut ids = Ids::new(rules);
    let mut turns = turns(messages, provider).into_iter().peekable();
    let mut written = Vec::new();
    if turns.peek().is_some_and(|first| first.role == Role::Assistant) {
        written.push(Message::user(vec![Block::Text(BEGINNING_GONE.into())]));
    }
    let mut calls = Vec::new();
    while let Some(turn) = turns.next() {
        match turn.role {
            Role::User => written.push(Message::user(answered(std::mem::take(&mut calls), turn.blocks))),
            Role::Assistant => {
                let (blocks, asked) = ids.rename(turn.blocks);
                written.push(Message::assistant(blocks));
                calls = asked;
                if turns.peek().is_none() && !calls.is_empty() {
                    written.push(Message::user(answered(std::mem::take(&mut calls), Vec::new())));
                }
            }
        }
    }
    written
}

/// A call's arguments as an object.
pub(crate) fn object_of(arguments_text: &str) -> Value {
    match serde_json::from_str(arguments_text) {
        Ok(Value::Object(object)) => Value::Object(object),
        _ if arguments_text.trim().is_empty() => json!({}),
        _ => json!({MALFORMED_ARGUMENTS: arguments_text}),
    }
}

/// Alternating messages with nothing empty or foreign in them.
fn turns(messages: &[Message], provider: &str) -> Vec<Message> {
    let mut turns: Vec<Message> = Vec::new();
    for message in messages {
        let kept = message
            .blocks
            .iter()
            .filter(|block| accepted(block, message.role, provider))
            .cloned();
        match turns.last_mut() {
            Some(last) if last.role == message.role => last.blocks.extend(kept),
            _ => {
                let blocks = kept.collect::<Vec<_>>();
                if !blocks.is_empty() {
                    turns.push(Message {
                        role: message.role,
                        blocks,
                    });
                }
            }
        }
    }
    turns
}

fn accepted(block: &Block, role: Role, provider: &str) -> bool {
    match block {
        Block::Text(text) => !text.trim().is_empty(),
        Block::Image { .. } => true,
        Block::ToolCall(_) => role == Role::Assistant,
        Block::ToolResult { .. } => role == Role::User,
        Block::Native { provider: author, .. } => role == Role::Assistant && author == provider,
    }
}

/// A call: the id it had, and the id it has now.
type Asked = (String, String);

/// What a person's message holds after these calls: their results in their order, then the rest.
fn answered(calls: Vec<Asked>, blocks: Vec<Block>) -> Vec<Block> {
    let mut results: BTreeMap<String, VecDeque<(Vec<ResultPart>, bool)>> = BTreeMap::new();
    let mut rest = Vec::new();
    let wanted = calls.iter().map(|(id, _)| id.clone()).collect::<BTreeSet<_>>();
    for block in blocks {
        match block {
            Block::ToolResult {
                call_id,
                content,
                is_error,
            } if wanted.contains(&call_id) => results.entry(call_id).or_default().push_back((content, is_error)),
            Block::ToolResult { content, .. } => rest.extend(orphaned(content)),
            other => rest.push(other),
        }
    }
    let mut written = Vec::new();
    for (had, call_id) in calls {
        let found = results.get_mut(&had).and_then(VecDeque::pop_front);
        let (content, is_error) = found.unwrap_or_else(|| (vec![ResultPart::Text(UNANSWERED.into())], true));
        written.push(Block::ToolResult {
            call_id,
            content,
            is_error,
        });
    }
    written.extend(rest);
    written
}

/// A result whose call is gone, as what a person can say.
fn orphaned(content: Vec<ResultPart>) -> Vec<Block> {
    let mut said = content
        .into_iter()
        .filter_map(|part| match part {
            ResultPart::Text(text) => (!text.trim().is_empty()).then_some(Block::Text(text)),
            ResultPart::Image {
                media_type,
                data_base64,
            } => Some(Block::Image {
                media_type,
                data_base64,
            }),
        })
        .collect::<Vec<_>>();
    if said.is_empty() {
        said.push(Block::Text(NO_MESSAGE.into()));
    }
    said
}

/// Ids given so far.
struct Ids<'a> {
    rules: &'a Rules,
    given: BTreeSet<String>,
}

impl<'a> Ids<'a> {
    fn new(rules: &'a Rules) -> Self {
        Self {
            rules,
            given: BTreeSet::new(),
        }
    }

    /// The blocks of a model's message with ids that fit, and the calls among them.
    fn rename(&mut self, blocks: Vec<Block>) -> (Vec<Block>, Vec<Asked>) {
        let mut asked = Vec::new();
        let renamed = blocks
            .into_iter()
            .map(|block| match block {
                Block::ToolCall(mut call) => {
                    let id = self.fitting(&call.id);
                    asked.push((std::mem::replace(&mut call.id, id.clone()), id));
                    Block::ToolCall(call)
                }
                other => other,
            })
            .collect();
        (renamed, asked)
    }

    /// The id itself; or the same with `_` for what does not fit; or a digest of it.
    fn fitting(&mut self, id: &str) -> String {
        let letter = self.rules.id_letter;
        let simplified = id.chars().map(|one| if letter(one) { one } else { '_' }).collect();
        let digests = (0_u32..).map(|number| {
            let digest = blake3::hash(format!("{number} {id}").as_bytes()).to_hex();
            digest.chars().take(self.rules.longest_id).collect::<String>()
        });
        let fitting = [id.to_owned(), simplified]
            .into_iter()
            .chain(digests)
            .find(|candidate| self.fits(candidate) && !self.given.contains(candidate))
            .unwrap_or_default();
        self.given.insert(fitting.clone());
        fitting
    }

    fn fits(&self, id: &str) -> bool {
        (self.rules.shortest_id..=self.rules.longest_id).contains(&id.len()) && id.chars().all(self.rules.id_letter)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::{ModelSettings, Request, RequestContext, ToolCall, ToolSpec};

    /// The providers whose native blocks [`any_conversation`] holds.
    pub(crate) const AUTHORS: [&str; 3] = ["anthropic", "openai", "deepseek"];

    fn text() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z]{1,3}", Just(String::new()), Just(" \n".into())]
    }

    fn id() -> impl Strategy<Value = String> {
        prop_oneof![
            prop::sample::select(vec!["c.1", "call_1", "toolu_01", "", "fc-é"]).prop_map(str::to_owned),
            "[a-z]{70}",
        ]
    }

    fn said() -> impl Strategy<Value = Block> {
        prop_oneof![
            3 => text().prop_map(Block::Text),
            1 => Just(Block::Image { media_type: "image/png".into(), data_base64: "AAAA".into() }),
            4 => (id(), prop::collection::vec(text(), 0..3), any::<bool>()).prop_map(|(call_id, texts, is_error)| {
                Block::ToolResult { call_id, content: texts.into_iter().map(ResultPart::Text).collect(), is_error }
            }),
        ]
    }

    fn answered() -> impl Strategy<Value = Block> {
        prop_oneof![
            text().prop_map(Block::Text),
            (id(), prop_oneof![text(), Just("{\"a\": 1}".into())]).prop_map(|(id, arguments_text)| {
                Block::ToolCall(ToolCall {
                    id,
                    name: "tool".into(),
                    arguments_text,
                })
            }),
            prop::sample::select(AUTHORS.to_vec()).prop_map(native),
        ]
    }

    /// A thought as `provider` writes it.
    fn native(provider: &str) -> Block {
        let value = match provider {
            "anthropic" => json!({"type": "thinking", "thinking": "", "signature": "s"}),
            "openai" => json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"}),
            _ => json!({"reasoning_content": "hm"}),
        };
        Block::Native {
            provider: provider.into(),
            value,
        }
    }

    /// A conversation no protocol would accept as it is.
    pub(crate) fn any_conversation() -> impl Strategy<Value = Vec<Message>> {
        let message = prop_oneof![
            prop::collection::vec(said(), 0..4).prop_map(Message::user),
            prop::collection::vec(answered(), 0..4).prop_map(Message::assistant),
        ];
        prop::collection::vec(message, 0..8)
    }

    /// `messages` as a request.
    pub(crate) fn asked(model: &str, messages: Vec<Message>) -> Request {
        Request {
            system: "s".into(),
            tools: vec![ToolSpec {
                name: "t".into(),
                description: "d".into(),
                schema: json!({"type": "object"}),
            }],
            messages,
            settings: ModelSettings::new("p", model),
            cursor: None,
            entering: None,
            context: RequestContext::default(),
        }
    }

    fn rules() -> Rules {
        Rules {
            id_letter: word_letter,
            shortest_id: 1,
            longest_id: 40,
        }
    }

    fn call(id: &str) -> Block {
        Block::ToolCall(ToolCall {
            id: id.into(),
            name: "t".into(),
            arguments_text: "{}".into(),
        })
    }

    fn result(call_id: &str, text: &str) -> Block {
        Block::ToolResult {
            call_id: call_id.into(),
            content: vec![ResultPart::Text(text.into())],
            is_error: false,
        }
    }

    fn note(text: &str) -> Block {
        Block::Text(text.into())
    }

    #[test]
    fn results_follow_their_calls_in_order_and_what_was_said_comes_after() {
        let messages = [
            Message::user(vec![note("go")]),
            Message::assistant(vec![call("a"), call("b")]),
            Message::user(vec![note("faster"), result("b", "two")]),
            Message::user(vec![result("a", "one")]),
        ];
        let sent = repaired(&messages, "p", &rules());
        assert_eq!(sent.len(), 3);
        assert_eq!(sent[2].blocks, [result("a", "one"), result("b", "two"), note("faster")]);
    }

    #[test]
    fn a_call_without_a_result_gets_one_and_a_result_without_a_call_is_told() {
        let messages = [
            Message::user(vec![note("go"), result("gone", "lost words")]),
            Message::assistant(vec![call("a"), call("b")]),
            Message::user(vec![result("a", "one")]),
            Message::assistant(vec![call("c")]),
        ];
        let unanswered = |id: &str| Block::ToolResult {
            call_id: id.into(),
            content: vec![ResultPart::Text(UNANSWERED.into())],
            is_error: true,
        };
        let sent = repaired(&messages, "p", &rules());
        assert_eq!(sent[0].blocks, [note("go"), note("lost words")]);
        assert_eq!(sent[2].blocks, [result("a", "one"), unanswered("b")]);
        assert_eq!(sent[4].blocks, [unanswered("c")]);
    }

    #[test]
    fn thoughts_go_to_their_author_alone() {
        let messages = [
            Message::user(vec![note("go")]),
            Message::assistant(vec![native("anthropic")]),
            Message::user(vec![note("on")]),
            Message::assistant(vec![native("openai"), note("said")]),
        ];
        let sent = repaired(&messages, "openai", &rules());
        assert_eq!(
            sent,
            [
                Message::user(vec![note("go"), note("on")]),
                Message::assistant(vec![native("openai"), note("said")]),
            ]
        );
        let sent = repaired(&messages, "anthropic", &rules());
        assert_eq!(sent[1].blocks, [native("anthropic")]);
        assert_eq!(sent[3].blocks, [note("said")]);
    }

    #[test]
    fn an_id_is_kept_while_it_fits() {
        let check = |id: &str, rules: &Rules, expected: &str| {
            let messages = [Message::assistant(vec![call(id)]), Message::user(vec![result(id, "x")])];
            let sent = repaired(&messages, "p", rules);
            assert_eq!(sent[1].blocks, [call(expected)]);
            assert_eq!(sent[2].blocks, [result(expected, "x")]);
        };
        check("call_1", &rules(), "call_1");
        check("call:1/ü", &rules(), "call_1__");
        let nine = Rules {
            id_letter: |letter| letter.is_ascii_alphanumeric(),
            shortest_id: 9,
            longest_id: 9,
        };
        check("abcdefghi", &nine, "abcdefghi");
        check("call_1", &nine, "6fd224dc1");
    }

    #[test]
    fn ids_given_twice_are_told_apart() {
        let messages = [
            Message::assistant(vec![call("a"), call("a")]),
            Message::user(vec![result("a", "one"), result("a", "two")]),
            Message::assistant(vec![call("a")]),
            Message::user(vec![result("a", "three")]),
        ];
        let sent = repaired(&messages, "p", &rules());
        let ids = sent
            .iter()
            .flat_map(|message| &message.blocks)
            .filter_map(|block| match block {
                Block::ToolCall(call) => Some(call.id.as_str()),
                _ => None,
            });
        let ids = ids.collect::<Vec<_>>();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 3);
        assert_eq!(sent[2].blocks, [result(ids[0], "one"), result(ids[1], "two")]);
        assert_eq!(sent[4].blocks, [result(ids[2], "three")]);
    }

    proptest! {
        #[test]
        fn whatever_was_said_comes_out_in_order(messages in any_conversation()) {
            let sent = repaired(&messages, "openai", &rules());
            prop_assert!(sent.first().is_none_or(|message| message.role == Role::User));
            for pair in sent.windows(2) {
                prop_assert_ne!(pair[0].role, pair[1].role);
            }
            for message in &sent {
                prop_assert!(!message.blocks.is_empty());
            }
            // What was repaired needs no repair.
            prop_assert_eq!(&repaired(&sent, "openai", &rules()), &sent);
        }

        /// What a provider has read already does not change when a whole exchange is appended.
        #[test]
        fn the_past_is_stable(messages in any_conversation(), more in any_conversation()) {
            let mut before = messages;
            before.push(Message::user(vec![note("next")]));
            let sent = repaired(&before, "openai", &rules());
            let mut after = before.clone();
            after.push(Message::assistant(vec![note("said")]));
            after.extend(more);
            let longer = repaired(&after, "openai", &rules());
            prop_assert_eq!(&longer[..sent.len()], &sent[..]);
        }
    }
}
