//! The door: an engine, a printer and whoever types, and driving what was begun until it ends or
//! waits for somebody who is not there. It must not know how settings are read or commands spelled.

use engine::{Command, Done, Engine, FeedItem, Pending, PlanView, Problem, ProblemKind, RunReport};
use modes::{Outcome, WallsStanding};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::ask::{self, Reaction};
use crate::closing;
use crate::exit::Exit;
use crate::lines::Lines;
use crate::print::{Mark, Printer};
use crate::show::Show;

/// How a report is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// Words for a person.
    Words,
    /// One JSON object at the end.
    Json,
    /// Events as JSON lines, then that object.
    StreamJson,
}

/// Where a person or a program meets the engine.
pub(crate) struct Door {
    /// The engine.
    pub(crate) engine: Engine,
    /// What holds processes here.
    pub(crate) walls: WallsStanding,
    /// Where everything is said.
    pub(crate) printer: Printer,
    /// What is typed.
    pub(crate) lines: Lines,
    /// How a report is given.
    pub(crate) output: Output,
    /// Whether somebody answers here.
    pub(crate) attended: bool,
}

/// How driving came to its halt.
pub(crate) struct Driven {
    /// The last report; none when nothing was there to drive.
    pub(crate) report: Option<RunReport>,
    /// How the program would end.
    pub(crate) exit: Exit,
}

impl Door {
    /// Carries out one act, says what it came to, and drives what it began.
    pub(crate) async fn act(&mut self, command: Command) -> Result<Driven, Problem> {
        let done = self.carry_out(command).await?;
        self.drive(done).await
    }

    /// Drives until it ends, or waits and nobody here answers.
    pub(crate) async fn drive(&mut self, done: Done) -> Result<Driven, Problem> {
        let mut done = done;
        let mut interrupted = false;
        loop {
            let again = done.clone();
            let report = match self.follow(done).await {
                Ok(Some(report)) => report,
                Ok(None) => {
                    return Ok(Driven {
                        report: None,
                        exit: Exit::FINE,
                    });
                }
                // What was said before is in the journal, whatever keeps the work from going on.
                Err(problem) => {
                    return Err(match self.how_to_go_on(&again).await {
                        Some(how) => problem.hint(format!("What you said stands; {how}")),
                        None => problem,
                    });
                }
            };
            let next = match self.question(&report) {
                Some(pending) => match ask::person(&mut self.printer, &mut self.lines, &pending).await {
                    Reaction::Act(command) => Some(command),
                    Reaction::Later => None,
                    Reaction::Interrupt => {
                        interrupted = true;
                        None
                    }
                },
                None => None,
            };
            let Some(command) = next else {
                return self.close(report, interrupted).await;
            };
            done = match self.carry_out(command).await {
                // Answered elsewhere in the meantime, or changed: what waits now is looked at anew.
                Err(problem) if problem.kind == ProblemKind::Stale => {
                    self.printer.problem(&problem);
                    without_notices(again)
                }
                done => done?,
            };
        }
    }

    /// Carries out one act and says nothing yet.
    pub(crate) async fn carry_out(&self, command: Command) -> Result<Done, Problem> {
        // The engine's work is large; a door is not.
        Box::pin(self.engine.carry_out(command)).await
    }

    /// The command that goes on with what is ready to be driven.
    pub(crate) async fn how_to_go_on(&self, done: &Done) -> Option<String> {
        match done {
            Done::Run { run, .. } => Some(format!("go on with: stance run --resume {run}")),
            Done::Orchestration { orchestration, .. } => {
                let plans = self.engine.plans().await.ok()?;
                let carried_out = |plan: &&PlanView| plan.orchestration_id.as_ref() == Some(orchestration);
                let plan = plans.iter().find(carried_out)?;
                Some(format!("go on with: stance plan run {}", plan.id))
            }
            Done::Said(_) | Done::Space(_) => None,
        }
    }

    /// What a person who is here is asked next.
    fn question(&self, report: &RunReport) -> Option<Pending> {
        let report = last(report);
        let waits = self.attended && report.outcome == Outcome::Waiting;
        report
            .pending
            .iter()
            .find(|pending| waits && ask::can_be_asked(pending))
            .cloned()
    }

    /// Drives one run or orchestration to its halt, showing what happens.
    async fn follow(&mut self, done: Done) -> Result<Option<RunReport>, Problem> {
        let engine = self.engine.clone();
        let stop = CancellationToken::new();
        match done {
            Done::Run { run, notices } => {
                self.say(&notices);
                self.watch(Box::pin(engine.drive_run(&run, stop.clone())), &stop)
                    .await
                    .map(Some)
            }
            Done::Orchestration { orchestration, notices } => {
                self.say(&notices);
                self.watch(
                    Box::pin(engine.drive_orchestration(&orchestration, stop.clone())),
                    &stop,
                )
                .await
                .map(Some)
            }
            Done::Said(words) => {
                self.say(&words);
                Ok(None)
            }
            Done::Space(space) => {
                self.say(&[format!("space {space}")]);
                Ok(None)
            }
        }
    }

    fn say(&mut self, words: &[String]) {
        for line in words {
            self.printer.line(Mark::Note, line);
        }
    }

    async fn watch(
        &mut self,
        driving: impl Future<Output = Result<RunReport, Problem>> + Unpin,
        stop: &CancellationToken,
    ) -> Result<RunReport, Problem> {
        let mut feed = self.engine.feed();
        let mut show = Show::default();
        // Listened to from before the work begins: between two waits for the next event a signal
        // would otherwise be lost.
        let mut interrupts = signal(SignalKind::interrupt())
            .map_err(|error| Problem::new(ProblemKind::Machine, format!("Ctrl-C cannot be heard: {error}")))?;
        let mut driving = driving;
        loop {
            tokio::select! {
                report = &mut driving => {
                    while let Ok(item) = feed.try_recv() {
                        self.happened(&mut show, &item);
                    }
                    self.printer.end_stream();
                    return report;
                }
                item = feed.recv() => match item {
                    Ok(item) => self.happened(&mut show, &item),
                    Err(tokio::sync::broadcast::error::RecvError::Lagged(missed)) => {
                        self.printer.line(Mark::Note, &format!("{missed} events went by unseen; the journal has them"));
                    }
                    // Nothing more will be told; the end still comes.
                    Err(tokio::sync::broadcast::error::RecvError::Closed) => {
                        let report = driving.await;
                        self.printer.end_stream();
                        return report;
                    }
                },
                _ = interrupts.recv() => {
                    if stop.is_cancelled() {
                        std::process::exit(i32::from(Exit::INTERRUPTED.code()));
                    }
                    stop.cancel();
                    self.printer.line(Mark::Note, "stopping at the next safe point; Ctrl-C again leaves at once");
                }
                // What runs is ended and looked after before this program leaves.
                () = self.lines.leave.asked(), if !self.lines.leave.is_asked() => stop.cancel(),
            }
        }
    }

    fn happened(&mut self, show: &mut Show, item: &FeedItem) {
        match item {
            // The object at the end says whether any of it arrived.
            FeedItem::Event(event) if self.output == Output::StreamJson => drop(self.printer.json(event)),
            FeedItem::Text { .. } if self.output == Output::StreamJson => {}
            item => show.item(&mut self.printer, item),
        }
    }

    /// Says what it came to.
    async fn close(&mut self, report: RunReport, interrupted: bool) -> Result<Driven, Problem> {
        let exit = if interrupted {
            Exit::INTERRUPTED
        } else {
            Exit::of_report(&report)
        };
        if self.output == Output::Words {
            let mut part = Some(&report);
            while let Some(report) = part {
                closing::say(&mut self.printer, &self.engine, report).await;
                part = report.follow_up.as_deref();
            }
        } else {
            self.printer.json(&report)?;
        }
        Ok(Driven {
            report: Some(report),
            exit,
        })
    }
}

fn without_notices(done: Done) -> Done {
    let notices = Vec::new();
    match done {
        Done::Run { run, .. } => Done::Run { run, notices },
        Done::Orchestration { orchestration, .. } => Done::Orchestration { orchestration, notices },
        other => other,
    }
}

/// The report of the run that came last.
pub(crate) fn last(report: &RunReport) -> &RunReport {
    let mut last = report;
    while let Some(next) = last.follow_up.as_deref() {
        last = next;
    }
    last
}
