//! From the journal to one model request: the conversation of the thread, the generated system
//! prompt, the tools of the run's surface. Byte-stable inside a run but for what is appended.

use llm::{Block, Message, ModelSettings, Request, RequestContext, ResultPart, Role, StopReason, ToolSpec};
use modes::{Mode, ModelView};
use serde_json::Value;
use store::{Query, Row, Table};
use tools::{Content, Instructions, Toolbox};

use crate::active::Active;
use crate::conversation;
use crate::fact::{Entry, RunStart};
use crate::inner::Inner;
use crate::problem::Problem;
use crate::run_state::{CallState, RunState, Talk};
use crate::turn::compact;

const SYSTEM: &str = include_str!("../prompt/system.md");

/// What the model reads when an answer was cut off.
pub(crate) const GO_ON: &str = "Your answer was cut off here. Go on from where it stopped; do not repeat it.";

/// The next request of a run.
pub(crate) fn request(run: &Active) -> Request {
    let messages = messages(run);
    let mut request = of_run(run, messages);
    request.cursor.clone_from(&run.state.cursor);
    request.entering = run.state.unanswered_entry().map(|entry| entry.id.clone());
    request.context.step = run.state.entry().and_then(|entry| entry.step.clone());
    request
}

/// A request of a run with these messages.
pub(super) fn of_run(run: &Active, messages: Vec<Message>) -> Request {
    let instructions = &run.state.instructions;
    let settings = &run.chosen.settings;
    first(
        &run.toolbox,
        &run.view,
        instructions,
        settings,
        messages,
        run.spec.mode(),
    )
}

/// The conversation as the next request of a run holds it.
pub(super) fn messages(run: &Active) -> Vec<Message> {
    let mut messages = run.before.clone();
    conversation(&run.state.talk, &mut messages);
    messages
}

/// What of a conversation comes after its first pieces, without the model's own words at its beginning.
pub(super) fn since(talk: &[Talk]) -> Vec<Message> {
    let mut messages = Vec::new();
    conversation(talk, &mut messages);
    if messages.first().is_some_and(|message| message.role == Role::Assistant) {
        messages.remove(0);
    }
    messages
}

/// A request that nothing is known of but what the model is to see.
pub(crate) fn first(
    toolbox: &Toolbox,
    view: &ModelView,
    instructions: &Instructions,
    settings: &ModelSettings,
    messages: Vec<Message>,
    mode: Mode,
) -> Request {
    let tools = view.tools().iter().filter_map(|row| toolbox.find(row));
    Request {
        system: format!("{SYSTEM}\n{}{}", view.preamble(), instructions.prompt()),
        tools: tools
            .map(|tool| ToolSpec {
                name: tool.name().to_owned(),
                description: tool.description().to_owned(),
                schema: tool.schema(),
            })
            .collect(),
        messages,
        settings: settings.clone(),
        cursor: None,
        entering: None,
        context: RequestContext {
            mode: mode.settings_key().to_owned(),
            agent: None,
            step: None,
        },
    }
}

/// The conversation of the thread before a run, and the run that spoke last in it.
pub(crate) async fn before(inner: &Inner, start: &RunStart) -> Result<(Vec<Message>, Option<RunStart>), Problem> {
    of_thread(inner, &start.thread, conversation::began(inner, &start.run).await?).await
}

/// The same of a thread just before an event of the journal.
pub(crate) async fn of_thread(
    inner: &Inner,
    thread: &str,
    number: u64,
) -> Result<(Vec<Message>, Option<RunStart>), Problem> {
    let mut runs = conversation::shown(inner, thread, number).await?;
    let mut messages = Vec::new();
    for run in &runs {
        conversation(&run.talk, &mut messages);
    }
    Ok((messages, runs.pop().map(|run| run.start)))
}

/// Pages that an operator named in the thread before a run.
pub(crate) async fn named(inner: &Inner, start: &RunStart) -> Result<Vec<String>, Problem> {
    let runs = inner
        .journal
        .store()
        .find(&Query::all(Table::Run).having("thread", start.thread.as_str()))
        .await?;
    let mut pages = Vec::new();
    for row in runs.iter().take_while(|row| row.id != start.run) {
        pages.extend(pages_named(&inner.run(&row.id).await?));
    }
    Ok(pages)
}

/// Pages that an operator named in a run: in a message typed to it, or in an answer. What enters a step is
/// the plan's text, which a model wrote, and what comes through a pipe is anybody's.
pub(crate) fn pages_named(state: &RunState) -> Vec<String> {
    let entered = state.talk.iter().filter_map(|talk| match talk {
        Talk::Entered(entry) if entry.typed => Some(&entry.text),
        _ => None,
    });
    entered
        .chain(&state.answers)
        .flat_map(|text| modes::urls_in(text))
        .collect()
}

/// Where a message that enters a thread, or an orchestration, goes on in its model's script, if the
/// model keeps a place.
pub(crate) async fn cursor(
    inner: &Inner,
    thread: &str,
    orchestration: Option<&str>,
) -> Result<Option<String>, Problem> {
    let runs = inner.journal.store().find(&Query::all(Table::Run)).await?;
    let concerns = |row: &&Row| {
        row.text("thread") == Some(thread)
            || (orchestration.is_some() && row.body.get("orchestration").and_then(Value::as_str) == orchestration)
    };
    let newest = runs
        .iter()
        .filter(concerns)
        .filter_map(|row| row.body.get("cursor"))
        .max_by_key(|cursor| cursor.get("at").and_then(Value::as_u64));
    Ok(newest
        .and_then(|cursor| cursor.get("text"))
        .and_then(Value::as_str)
        .map(str::to_owned))
}

fn conversation(talk: &[Talk], messages: &mut Vec<Message>) {
    let mut newest = None;
    for piece in talk {
        match piece {
            Talk::Entered(entry) => {
                newest = Some(entry);
                let mut blocks = vec![Block::Text(entry.text.clone())];
                blocks.extend(place(entry));
                say(messages, Role::User, blocks);
            }
            Talk::Compacted(compaction) => {
                messages.clear();
                messages.push(compact::stands_for(compaction, newest));
            }
            Talk::Told(text) => say(messages, Role::User, vec![Block::Text(text.clone())]),
            Talk::Cut(blocks) => {
                say(messages, Role::Assistant, blocks.clone());
                say(messages, Role::User, vec![Block::Text(GO_ON.to_owned())]);
            }
            Talk::Response(blocks, _, calls) => {
                say(messages, Role::Assistant, blocks.clone());
                say(messages, Role::User, calls.iter().map(result).collect());
            }
            Talk::StepEnded => {}
        }
    }
}

/// What is said beside an entering message of the place it is about.
pub(super) fn place(entry: &Entry) -> Option<Block> {
    (!entry.context.is_empty()).then(|| Block::Text(entry.context.clone()))
}

/// How many answers at the end of a conversation were cut off by their limit, one after the other.
pub(super) fn cut_in_row(talk: &[Talk]) -> usize {
    let cut = talk.iter().rev().take_while(|piece| match piece {
        Talk::Response(_, stop, calls) => *stop == StopReason::MaxTokens && calls.is_empty(),
        Talk::Told(text) => text == GO_ON,
        _ => false,
    });
    cut.filter(|piece| matches!(piece, Talk::Response(..))).count()
}

fn say(messages: &mut Vec<Message>, role: Role, blocks: Vec<Block>) {
    if blocks.is_empty() {
        return;
    }
    match messages.last_mut() {
        Some(last) if last.role == role => last.blocks.extend(blocks),
        _ => messages.push(Message { role, blocks }),
    }
}

fn result(call: &CallState) -> Block {
    let (content, is_error) = match &call.result {
        Some((result, _)) => (
            result
                .content
                .iter()
                .map(|part| match part {
                    Content::Text { text } => ResultPart::Text(text.clone()),
                    Content::Image { media_type, data } => ResultPart::Image {
                        media_type: media_type.clone(),
                        data_base64: data.clone(),
                    },
                })
                .collect(),
            result.is_error,
        ),
        None => (
            vec![ResultPart::Text(
                "The run ended before this call had a result.".to_owned(),
            )],
            true,
        ),
    };
    Block::ToolResult {
        call_id: call.call.id.clone(),
        content,
        is_error,
    }
}
