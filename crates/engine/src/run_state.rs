//! A run as its facts have made it. Pure: folds facts, decides nothing about permission.

use std::collections::BTreeMap;

use modes::{Answer, Conclusion, DecisionRecord, Effect, Layer, RememberedRule};
use serde_json::Value;
use tools::{Instructions, Then, TodoItem, ToolResult};

use crate::fact::{Compaction, Entry, Fact, How, RunStart};
use crate::turn::assemble::GO_ON;
use crate::view::{CheckRun, HostRefused};

/// Everything known about a run.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each tells whether one thing has happened; no two exclude each other"
)]
pub(crate) struct RunState {
    pub start: RunStart,
    pub started_ms: i64,
    /// What people wrote for agents here, as it began.
    pub instructions: Instructions,
    /// The conversation, in order.
    pub talk: Vec<Talk>,
    pub usage: llm::Usage,
    pub actual_model: Option<String>,
    pub cursor: Option<String>,
    pub requests: u32,
    pub failures_in_row: u32,
    pub nudged: bool,
    /// Responses in a row without one good call.
    pub mistakes: u32,
    pub notes_in_row: u32,
    pub seen: BTreeMap<String, String>,
    /// The todo list as it was left.
    pub todo: Vec<TodoItem>,
    /// What is known of how full the model's window is.
    pub window: Window,
    /// Whether the price of the switch it begins with was said.
    pub priced: bool,
    /// What people answered, word by word.
    pub answers: Vec<String>,
    /// Pages that searches of the run found.
    pub found: Vec<String>,
    /// Rules that answers to its own calls have become.
    pub remembered: Vec<RememberedRule>,
    pub changed: Vec<String>,
    pub checks: Vec<CheckRun>,
    pub output: Option<(Option<Value>, Option<String>)>,
    pub conclusion: Option<Conclusion>,
    pub paused: bool,
    pub ended: bool,
    pub follow_up: Option<String>,
    pub summary: String,
    /// The tree before the first call that could change the worktree.
    pub before_tree: Option<String>,
    /// Whether secrets were read in it.
    pub read_secrets: bool,
    /// Hosts its processes were refused.
    pub refused_hosts: BTreeMap<String, HostRefused>,
    pub last_number: u64,
}

/// How full the model's window is, as its provider told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Window {
    /// Tokens of the conversation with the newest answer, and how many pieces that is.
    pub reported: Option<(u64, usize)>,
    /// What the provider said of the newest request when it does not fit.
    pub overflowed: Option<String>,
    /// A person wants it compacted.
    pub wish: Option<Wish>,
}

/// A person's wish that the conversation is compacted.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    /// What to keep above all.
    pub keep: Option<String>,
}

/// One piece of the conversation.
#[derive(Debug, Clone)]
pub(crate) enum Talk {
    Entered(Entry),
    Response(Vec<llm::Block>, llm::StopReason, Vec<CallState>),
    /// What had arrived of an answer that was cut off.
    Cut(Vec<llm::Block>),
    /// What we tell the model between its answers.
    Told(String),
    /// What stands for all that was said before, in this run and in the thread before it.
    Compacted(Box<Compaction>),
    /// A step's end: what follows belongs to the next one.
    StepEnded,
}

/// One call and what came of it.
#[derive(Debug, Clone)]
pub(crate) struct CallState {
    pub call: llm::ToolCall,
    pub decided: Option<DecisionRecord>,
    /// What it asked for last, by its id, with the answer.
    pub permission: Option<(String, Option<Answer>)>,
    /// Whether it waits for words of a person.
    pub asked: bool,
    pub started: bool,
    pub result: Option<(ToolResult, How)>,
}

impl RunState {
    /// Folds the facts of a run. None when they do not begin with its start.
    pub(crate) fn fold(facts: Vec<(u64, i64, Fact)>) -> Option<RunState> {
        let mut facts = facts.into_iter();
        let (number, time, Fact::RunStarted(start)) = facts.next()? else {
            return None;
        };
        let mut state = RunState {
            start: *start,
            started_ms: time,
            instructions: Instructions::default(),
            talk: Vec::new(),
            usage: llm::Usage::default(),
            actual_model: None,
            cursor: None,
            requests: 0,
            failures_in_row: 0,
            nudged: false,
            mistakes: 0,
            notes_in_row: 0,
            seen: BTreeMap::new(),
            todo: Vec::new(),
            window: Window::default(),
            priced: false,
            answers: Vec::new(),
            found: Vec::new(),
            remembered: Vec::new(),
            changed: Vec::new(),
            checks: Vec::new(),
            output: None,
            conclusion: None,
            paused: false,
            ended: false,
            follow_up: None,
            summary: String::new(),
            before_tree: None,
            read_secrets: false,
            refused_hosts: BTreeMap::new(),
            last_number: number,
        };
        for (number, _, fact) in facts {
            state.apply(number, &fact);
        }
        Some(state)
    }

    /// Folds one more fact.
    pub(crate) fn apply(&mut self, number: u64, fact: &Fact) {
        self.last_number = number;
        match fact {
            Fact::Entered(entry) => self.enter(entry),
            Fact::Instructed(instructions) => self.instructions.clone_from(instructions),
            Fact::Requested { .. } => self.requests += 1,
            Fact::RequestFailed {
                failure,
                message,
                cursor,
                partial,
                usage,
                ..
            } => {
                self.failures_in_row += 1;
                let overflows = *failure == llm::ErrorKind::ContextOverflow.to_string();
                self.window.overflowed = overflows.then(|| message.clone());
                self.usage += *usage;
                if cursor.is_some() {
                    self.cursor.clone_from(cursor);
                }
                if !partial.is_empty() {
                    self.talk.push(Talk::Cut(partial.clone()));
                }
            }
            Fact::Responded { response } => self.respond(response),
            Fact::ToolFinished {
                call,
                tool,
                result,
                how,
            } => self.finish(call, tool, result, *how),
            Fact::SecretsRead { .. } => self.read_secrets = true,
            Fact::Nudged { text } => {
                self.nudged = true;
                self.talk.push(Talk::Told(text.clone()));
            }
            Fact::OutputSubmitted { output, evidence, .. } => {
                self.output = Some((output.clone(), evidence.clone()));
            }
            Fact::StepEnded { .. } => {
                self.talk.push(Talk::StepEnded);
                self.output = None;
            }
            Fact::Told { text } => self.talk.push(Talk::Told(text.clone())),
            Fact::CompactionAsked { keep, cursor, .. } => {
                self.window.wish = Some(Wish { keep: keep.clone() });
                if cursor.is_some() {
                    self.cursor.clone_from(cursor);
                }
            }
            Fact::Compacted(compaction) => self.compact(compaction),
            Fact::AskedAside(aside) => {
                self.usage += aside.usage;
                if aside.cursor.is_some() {
                    self.cursor.clone_from(&aside.cursor);
                }
            }
            Fact::SwitchPriced(_) => self.priced = true,
            Fact::TodoUpdated { items } => self.todo.clone_from(items),
            Fact::ChangesObserved { before, files, .. } => {
                self.before_tree.get_or_insert_with(|| before.clone());
                if !files.is_empty() {
                    self.changed.clone_from(files);
                }
            }
            Fact::CheckRan { command, exit, .. } => {
                self.checks.push(CheckRun {
                    command: command.clone(),
                    exit: *exit,
                });
            }
            Fact::RunPaused { conclusion, summary } => {
                self.paused = true;
                self.conclusion = Some(*conclusion);
                self.summary.clone_from(summary);
            }
            Fact::RunResumed { .. } => {
                self.paused = false;
                self.conclusion = None;
            }
            Fact::RunEnded {
                conclusion,
                summary,
                follow_up,
            } => {
                self.ended = true;
                self.paused = false;
                self.conclusion = Some(*conclusion);
                self.summary.clone_from(summary);
                self.follow_up.clone_from(follow_up);
            }
            other => self.about_call(other),
        }
    }

    fn enter(&mut self, entry: &Entry) {
        self.nudged = false;
        self.mistakes = 0;
        self.output = None;
        if entry.cursor.is_some() {
            self.cursor.clone_from(&entry.cursor);
        }
        self.talk.push(Talk::Entered(entry.clone()));
    }

    /// What was said before is only looked at from here on: the conversation goes on from its summary.
    fn compact(&mut self, compaction: &Compaction) {
        self.failures_in_row = 0;
        self.usage += compaction.usage;
        self.window = Window::default();
        if compaction.cursor.is_some() {
            self.cursor.clone_from(&compaction.cursor);
        }
        self.talk.push(Talk::Compacted(Box::new(compaction.clone())));
    }

    fn respond(&mut self, response: &llm::Response) {
        self.failures_in_row = 0;
        let full = response.stop == llm::StopReason::ContextExceeded;
        self.window.overflowed = full.then(|| "the window is full".to_owned());
        self.window.reported = Some((response.usage.total(), self.talk.len() + 1)).filter(|(tokens, _)| *tokens > 0);
        self.usage += response.usage;
        self.actual_model = Some(response.actual_model.clone());
        if response.cursor.is_some() {
            self.cursor.clone_from(&response.cursor);
        }
        let calls: Vec<CallState> = response
            .blocks
            .iter()
            .filter_map(|block| match block {
                llm::Block::ToolCall(call) => Some(CallState {
                    call: call.clone(),
                    decided: None,
                    permission: None,
                    asked: false,
                    started: false,
                    result: None,
                }),
                _ => None,
            })
            .collect();
        if calls.is_empty() {
            self.notes_in_row = 0;
        }
        self.talk
            .push(Talk::Response(response.blocks.clone(), response.stop.clone(), calls));
    }

    fn about_call(&mut self, fact: &Fact) {
        match fact {
            Fact::Decided { call, record } => {
                if let Some(state) = self.call_mut(call) {
                    state.decided = Some(record.clone());
                }
            }
            Fact::PermissionAsked(permission) => {
                for call in &permission.calls {
                    if let Some(state) = self.call_mut(call) {
                        state.permission = Some((permission.id.clone(), None));
                    }
                }
            }
            Fact::PermissionAnswered {
                permission,
                digest,
                allow,
                because,
                remembered,
                ..
            } => {
                self.remembered.extend(remembered.iter().cloned());
                self.answer(
                    permission,
                    &Answer {
                        digest: digest.clone(),
                        allow: *allow,
                        message: because.clone(),
                    },
                );
            }
            Fact::QuestionAsked { call, .. } => {
                if let Some(state) = self.call_mut(call) {
                    state.asked = true;
                }
            }
            Fact::QuestionAnswered {
                answer, typed: true, ..
            } => self.answers.push(answer.clone()),
            Fact::ToolStarted { call, .. } => {
                if let Some(state) = self.call_mut(call) {
                    state.started = true;
                }
            }
            _ => {}
        }
    }

    fn answer(&mut self, permission: &str, answer: &Answer) {
        let Some(Talk::Response(_, _, calls)) = self.talk.last_mut() else {
            return;
        };
        for (id, given) in calls.iter_mut().filter_map(|call| call.permission.as_mut()) {
            if id == permission {
                *given = Some(answer.clone());
            }
        }
    }

    fn finish(&mut self, call: &str, tool: &str, result: &ToolResult, how: How) {
        self.notes_in_row = match (tool, result.is_error) {
            ("act_mode_respond", false) => self.notes_in_row + 1,
            ("act_mode_respond", true) => self.notes_in_row,
            _ => 0,
        };
        self.seen.extend(result.seen.clone());
        self.found.extend(result.pages.iter().cloned());
        for reached in &result.reached {
            if let Some(why) = &reached.refused {
                let refused = HostRefused {
                    host: reached.host.clone(),
                    why: why.clone(),
                    can_ask: reached.can_ask,
                };
                self.refused_hosts.insert(reached.host.clone(), refused);
            }
        }
        for path in &result.changed {
            if !self.changed.contains(path) {
                self.changed.push(path.clone());
            }
        }
        if let Some(state) = self.call_mut(call) {
            state.result = Some((result.clone(), how));
        }
        self.count_mistakes();
    }

    /// A response counts once, when its last call has its result: as a mistake when no call of it
    /// was good. A person's no with a message is guidance, not a mistake.
    fn count_mistakes(&mut self) {
        let Some(Talk::Response(_, _, calls)) = self.talk.last() else {
            return;
        };
        if calls.iter().any(|call| call.result.is_none()) {
            return;
        }
        let good = calls.iter().any(|call| {
            let guided = call.permission.as_ref().is_some_and(|(_, answer)| {
                answer
                    .as_ref()
                    .is_some_and(|answer| !answer.allow && answer.message.is_some())
            });
            guided
                || call
                    .result
                    .as_ref()
                    .is_some_and(|(result, how)| !result.is_error || (*how == How::Performed && runs_programs(call)))
        });
        self.mistakes = if good { 0 } else { self.mistakes + 1 };
    }

    /// The calls of the last response.
    pub(crate) fn calls(&self) -> &[CallState] {
        match self.talk.last() {
            Some(Talk::Response(_, _, calls)) => calls,
            _ => &[],
        }
    }

    /// The first call of the last response without a result.
    pub(crate) fn open_call(&self) -> Option<&CallState> {
        self.calls().iter().find(|call| call.result.is_none())
    }

    fn call_mut(&mut self, id: &str) -> Option<&mut CallState> {
        self.talk.iter_mut().rev().find_map(|talk| match talk {
            Talk::Response(_, _, calls) => calls.iter_mut().find(|call| call.call.id == id),
            _ => None,
        })
    }

    /// Every call of the run, in order.
    pub(crate) fn all_calls(&self) -> impl Iterator<Item = &CallState> {
        self.talk.iter().flat_map(|talk| match talk {
            Talk::Response(_, _, calls) => calls.as_slice(),
            _ => &[],
        })
    }

    /// The message being answered.
    pub(crate) fn entry(&self) -> Option<&Entry> {
        self.talk.iter().rev().find_map(|talk| match talk {
            Talk::Entered(entry) => Some(entry),
            _ => None,
        })
    }

    /// The message being answered, while it has no answer yet.
    pub(crate) fn unanswered_entry(&self) -> Option<&Entry> {
        let mut newest = self.talk.iter().rev();
        match newest.find(|talk| !matches!(talk, Talk::Compacted(_))) {
            Some(Talk::Entered(entry)) => Some(entry),
            _ => None,
        }
    }

    /// Whether the conversation was compacted and no answer has come since.
    pub(crate) fn just_compacted(&self) -> bool {
        let mut newest = self.talk.iter().rev();
        let found = newest.find(|talk| match talk {
            Talk::Compacted(_) => true,
            Talk::Response(_, stop, _) => *stop != llm::StopReason::ContextExceeded,
            _ => false,
        });
        matches!(found, Some(Talk::Compacted(_)))
    }

    /// What follows the calls of the last response: the first that does not simply go on.
    pub(crate) fn then(&self) -> Then {
        self.calls()
            .iter()
            .filter_map(|call| call.result.as_ref())
            .map(|(result, _)| result.then)
            .find(|then| *then != Then::GoOn)
            .unwrap_or(Then::GoOn)
    }

    /// The text of the call of the last response that a person agreed to.
    pub(crate) fn agreed_text(&self) -> String {
        let agreed = |then: Then| matches!(then, Then::Condensed | Then::HandedOver);
        let call = self
            .calls()
            .iter()
            .find(|call| call.result.as_ref().is_some_and(|(result, _)| agreed(result.then)));
        call.and_then(|call| tools::parse_arguments(&call.call.arguments_text).ok())
            .and_then(|arguments| arguments.get("context").and_then(Value::as_str).map(str::to_owned))
            .unwrap_or_default()
    }

    /// Whether a performed call has brought secrets into the thread: it was judged to read some, or
    /// it ran where some could be read.
    pub(crate) fn brings_secrets(&self, call: &str, result: &ToolResult) -> bool {
        result.saw_secrets
            || self.calls().iter().any(|state| {
                let read = |record: &DecisionRecord| record.effects.contains(Effect::SecretAccess);
                state.call.id == call && state.decided.as_ref().is_some_and(read)
            })
    }

    /// Whether a call was denied because nobody could be asked.
    pub(crate) fn had_no_approver(&self) -> bool {
        self.all_calls().any(|call| {
            call.decided
                .as_ref()
                .is_some_and(|record| record.layer == Layer::NoApprover)
        })
    }

    /// What the last response said, in words.
    pub(crate) fn last_said(&self) -> String {
        match self.talk.last() {
            Some(Talk::Response(blocks, ..)) => text_of(blocks),
            _ => String::new(),
        }
    }

    /// What the model said last, in words; an answer that was cut off and gone on with is one.
    pub(crate) fn last_text(&self) -> String {
        let mut pieces = Vec::new();
        for talk in self.talk.iter().rev() {
            match talk {
                Talk::Response(blocks, ..) if pieces.is_empty() => {
                    pieces.extend(Some(text_of(blocks)).filter(|text| !text.is_empty()));
                }
                Talk::Response(blocks, llm::StopReason::MaxTokens, calls) if calls.is_empty() => {
                    pieces.push(text_of(blocks));
                }
                Talk::Cut(blocks) if !pieces.is_empty() => pieces.push(text_of(blocks)),
                Talk::Told(text) if text == GO_ON => {}
                _ if pieces.is_empty() => {}
                _ => break,
            }
        }
        pieces.reverse();
        pieces.concat()
    }
}

/// Whether the call starts a program: one that ran is no mistake, whatever it exited with.
fn runs_programs(call: &CallState) -> bool {
    call.decided
        .as_ref()
        .is_some_and(|record| record.effects.contains(Effect::ProcessSpawn))
}

/// The text blocks, joined.
pub(crate) fn text_of(blocks: &[llm::Block]) -> String {
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| match block {
            llm::Block::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n")
}
