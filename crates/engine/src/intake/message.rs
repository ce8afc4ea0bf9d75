//! A message at a door starts a run: the space's mode is read in the same transaction, and the
//! run's specification is settled there for good.

use modes::{
    Autonomy, Cause, Effect, Inspection, Mode, NoInspection, Role, RunRecipe, RunSpecRefused, profile, run_spec,
};
use store::{Query, Row, Table};

use super::{resolved, space};
use crate::clock;
use crate::command::{Address, Done};
use crate::config::{RunOptions, UNATTENDED_MINUTES, UNATTENDED_TOKENS};
use crate::fact::{Entry, Fact, RunStart};
use crate::inner::Inner;
use crate::journal::Change;
use crate::mcp;
use crate::problem::Problem;
use crate::rules::{self, Kept};
use crate::turn::assemble;
use crate::worktree;

/// Longest title of a run, in characters.
const TITLE: usize = 80;

/// A run about to be started.
pub(crate) struct NewRun<'a> {
    pub space: &'a Row,
    pub thread: String,
    pub options: &'a RunOptions,
    pub chain: Vec<Cause>,
    pub role: Role,
    pub parent: Option<String>,
    pub orchestration: Option<String>,
    pub autonomy: Option<Autonomy>,
    pub fresh_context: bool,
    /// What it begins with.
    pub first: First,
    /// Its id, where one was promised.
    pub id: Option<String>,
}

/// What a run begins with.
pub(crate) enum First {
    /// A message.
    Message(Entry),
    /// The wish that the conversation before it is compacted.
    Compaction {
        /// What the person wants kept.
        keep: Option<String>,
        /// Where the model's script goes on, if it keeps a place.
        cursor: Option<String>,
    },
}

impl First {
    fn title(&self) -> String {
        match self {
            First::Message(entry) => entry
                .text
                .lines()
                .next()
                .unwrap_or_default()
                .chars()
                .take(TITLE)
                .collect(),
            First::Compaction { .. } => "Compact the conversation".to_owned(),
        }
    }

    fn into_fact(self, who: &str) -> Fact {
        match self {
            First::Message(entry) => Fact::Entered(entry),
            First::Compaction { keep, cursor } => Fact::CompactionAsked {
                keep,
                who: who.to_owned(),
                cursor,
            },
        }
    }
}

impl<'a> NewRun<'a> {
    /// A run that answers a person's message: its own verbs and contract, no cause but the person.
    pub(crate) fn main(space: &'a Row, thread: String, options: &'a RunOptions, entry: Entry) -> NewRun<'a> {
        NewRun::opening(space, thread, options, First::Message(entry))
    }

    /// The same, whatever it begins with.
    pub(super) fn opening(space: &'a Row, thread: String, options: &'a RunOptions, first: First) -> NewRun<'a> {
        NewRun {
            space,
            thread,
            options,
            chain: Vec::new(),
            role: Role::Main,
            parent: None,
            orchestration: None,
            autonomy: None,
            fresh_context: false,
            first,
            id: None,
        }
    }
}

/// Starts a run within a change. Returns its id.
pub(crate) async fn begin(inner: &Inner, change: &mut Change, new: NewRun<'_>) -> Result<String, Problem> {
    let kept = Kept::of(&change.find(&rules::query()).await?)?;
    let (start, first) = started(inner, new, kept)?;
    let run = start.run.clone();
    change.record(&Fact::RunStarted(Box::new(start))).await?;
    change.record(&first).await?;
    Ok(run)
}

/// The start that a run in a fresh space would have.
pub(crate) async fn would_start(
    inner: &Inner,
    mode: Mode,
    text: String,
    options: &RunOptions,
) -> Result<RunStart, Problem> {
    let space = Row::new("").with("mode", mode.stored());
    let first = entry(text, !options.piped, String::new(), None);
    let new = NewRun::main(&space, String::new(), options, first);
    started(inner, new, Kept::now(inner).await?).map(|(start, _)| start)
}

/// The start of a run, and the fact that it begins with.
pub(super) fn started(inner: &Inner, new: NewRun<'_>, kept: Kept) -> Result<(RunStart, Fact), Problem> {
    let mode = resolved(new.space)?;
    let options = new.options;
    let autonomy = match new.autonomy {
        Some(autonomy) => autonomy,
        None if options.yolo => Autonomy::ActFreely,
        None => inner.config.autonomy,
    };
    let mut rules = inner.config.rules.clone();
    rules.extend(kept.rules);
    rules.extend(options.rules.iter().cloned());
    let recipe = RunRecipe {
        mode,
        chain: new.chain,
        role: new.role,
        read_only_once: options.read_only_once,
        autonomy,
        approver: options.attendance.approver(),
        walls: inner.walls_standing(),
        inspection: inner.config.inspection,
        rules,
        hosts: inner.hosts(),
        answers: kept.answers,
    };
    let servers = inner.mcp.of_run(mode, inner.walls_standing());
    let spec =
        run_spec(recipe.clone(), &mcp::built(&inner.toolbox, &servers)).map_err(|refused| not_startable(&refused))?;
    if options.check.is_some() && spec.capability().refused().contains(Effect::ProcessSpawn) {
        return Err(Problem::usage(format!(
            "--check runs a command, which a run in {} does not: it goes with Agent mode",
            spec.label()
        )));
    }
    if options.expect_changes && inner.repository().is_none() {
        return Err(Problem::usage(
            "--expect-changes needs a git repository: changes are observed with git",
        ));
    }
    let chosen = inner.config.models.choose(mode)?;
    let attended = options.attendance == crate::config::Attendance::Person;
    let limits = &inner.config.limits;
    let start = RunStart {
        run: new.id.unwrap_or_else(|| clock::new_id('r')),
        space: new.space.id.clone(),
        thread: new.thread,
        parent: new.parent,
        orchestration: new.orchestration,
        recipe,
        profile_digest: spec.digest().to_owned(),
        model: chosen.settings,
        title: new.first.title(),
        check: options.check.clone(),
        expect_changes: options.expect_changes,
        mistakes: limits.mistakes,
        tokens: options
            .tokens
            .or(limits.tokens)
            .or((!attended).then_some(UNATTENDED_TOKENS)),
        minutes: options
            .minutes
            .or(limits.minutes)
            .or((!attended).then_some(UNATTENDED_MINUTES)),
        labels: options.labels.clone(),
        who: inner.config.operator.clone(),
        fresh_context: new.fresh_context,
        servers,
    };
    Ok((start, new.first.into_fact(&inner.config.operator)))
}

fn not_startable(refused: &RunSpecRefused) -> Problem {
    let problem = Problem::refused(refused.to_string());
    match refused {
        RunSpecRefused::RequiredVerbMissing { .. } => {
            problem.hint("This version cannot run that mode yet: choose plan or agent, as with `stance mode plan`.")
        }
        RunSpecRefused::Rule(_) => problem,
    }
}

/// An entering message that belongs to no step.
pub(super) fn entry(text: String, typed: bool, context: String, cursor: Option<String>) -> Entry {
    Entry {
        id: clock::new_id('m'),
        text,
        typed,
        context,
        step: None,
        files: None,
        cursor,
    }
}

/// Sends a message: starts a run where it is addressed.
pub(super) async fn send(inner: &Inner, to: Address, text: String, options: RunOptions) -> Result<Done, Problem> {
    if text.trim().is_empty() {
        return Err(Problem::usage("the message is empty"));
    }
    match &to {
        Address::Space(space) => drop(super::row(inner, Table::Space, space, "space").await?),
        Address::Thread(thread) => drop(super::row(inner, Table::Thread, thread, "thread").await?),
        _ => {}
    }
    let context = worktree::context(inner).await?;
    let known_thread = match &to {
        Address::Thread(thread) => Some(thread.clone()),
        _ => None,
    };
    let mut change = inner.journal.change("").await?;
    let (space, thread, mut notices) = place(inner, &mut change, to).await?;
    let cursor = match known_thread.as_ref().or(thread.as_ref()) {
        Some(thread) => assemble::cursor(inner, thread, None).await?,
        None => None,
    };
    let thread = match thread {
        Some(thread) => thread,
        None => opened(&mut change, &space.id, None).await?,
    };
    let new = NewRun::main(&space, thread, &options, entry(text, !options.piped, context, cursor));
    let run = begin(inner, &mut change, new).await?;
    change.commit().await?;
    notices.extend(told_of_trying(inner, resolved(&space)?)?);
    Ok(Done::Run { run, notices })
}

/// Where a mode could try commands and nobody has said whether it may: how to turn that on, once in a
/// workspace.
fn told_of_trying(inner: &Inner, mode: Mode) -> Result<Option<String>, Problem> {
    let unasked = inner.config.inspection == Inspection::Unasked && profile(mode).capability.inspection();
    let told = unasked && inner.home.first_time("try-is-off")?;
    Ok(told.then(|| NoInspection::Off.to_string()))
}

/// Opens a thread within a change.
pub(crate) async fn opened(change: &mut Change, space: &str, parent: Option<String>) -> Result<String, Problem> {
    let thread = clock::new_id('t');
    change
        .record(&Fact::ThreadOpened {
            thread: thread.clone(),
            space: space.to_owned(),
            parent,
        })
        .await?;
    Ok(thread)
}

async fn place(inner: &Inner, change: &mut Change, to: Address) -> Result<(Row, Option<String>, Vec<String>), Problem> {
    match to {
        Address::FreshSpace(mode) => fresh(inner, change, mode).await,
        Address::Wherever => {
            let here = space::current(inner, change).await?;
            let mode = resolved(&here)?;
            if mode == modes::without_space() {
                return fresh(inner, change, mode).await;
            }
            let notice = format!(
                "In space {}, which is in {mode}: it is the current one of this checkout.",
                here.id
            );
            Ok((here, None, vec![notice]))
        }
        Address::Current => {
            let here = space::current(inner, change).await?;
            let thread = newest_thread(change, &here.id).await?;
            Ok((here, thread, Vec::new()))
        }
        Address::Space(id) => {
            let row = stored(change, Table::Space, &id).await?;
            Ok((row, None, Vec::new()))
        }
        Address::Thread(id) => {
            let thread = stored(change, Table::Thread, &id).await?;
            let space = stored(change, Table::Space, thread.text("space").unwrap_or_default()).await?;
            Ok((space, Some(id), Vec::new()))
        }
    }
}

async fn fresh(inner: &Inner, change: &mut Change, mode: Mode) -> Result<(Row, Option<String>, Vec<String>), Problem> {
    let space = space::opened(inner, change, mode, false).await?;
    let row = stored(change, Table::Space, &space).await?;
    Ok((row, None, vec![format!("In the fresh space {space}, in {mode}.")]))
}

async fn stored(change: &mut Change, table: Table, id: &str) -> Result<Row, Problem> {
    change
        .get(table, id)
        .await?
        .ok_or_else(|| Problem::usage(format!("there is no {} {id}", table.name())))
}

/// The newest thread of a space that is no step's own.
pub(super) async fn newest_thread(change: &mut Change, space: &str) -> Result<Option<String>, Problem> {
    let threads = change
        .find(&Query::all(Table::Thread).having("space", space).newest_first())
        .await?;
    Ok(threads
        .into_iter()
        .find(|row| row.text("parent").is_none())
        .map(|row| row.id))
}
