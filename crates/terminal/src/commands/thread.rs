//! `stance` alone: a thread in this terminal, line by line. Commands that begin with `/` are known
//! only here, in what a person types; text from a pipe or a file is never looked at for them.

use engine::{Address, Attendance, Command, Loaded, Pending, PersonAnswer, Problem, RunOptions, SpaceView};
use modes::Mode;
use work::plan::{ApprovalOptions, Landing, Selection};

use super::{Opening, at_a_terminal, door, named, trying};
use crate::arguments::ModelArguments;
use crate::ask;
use crate::decide::{self, Terms, WORDS_APPROVE_NOTHING, is_assent};
use crate::door::{Door, Output, last};
use crate::exit::Exit;
use crate::house::{House, Proved};
use crate::lines::{COMMANDS, Typed};
use crate::near::suggestion;
use crate::print::Mark;

const HELP: [&str; 14] = [
    "/plan [text]         switch to Plan, and send the text there",
    "/agent [text]        switch to Agent, and send the text there",
    "/orchestrate [text]  switch to Orchestrate, and send the text there",
    "/approve             look at the plan that waits, and decide",
    "/inbox               everything that waits for you",
    "/undo                take back the newest run: its changes in files, and its part here",
    "/redo                bring back what /undo took",
    "/compact [text]      let a summary stand for the conversation; the text says what to keep",
    "/context             everything a run here has before its model, with its size",
    "/init                plan an AGENTS.md for this project",
    "/SKILL [text]        have a skill used; /context lists them",
    "/later               leave what is asked for later",
    "/quit                leave; what waits goes on waiting",
    "anything else is a message; Ctrl-C stops a run",
];

/// What `/init` asks for.
const INIT: &str = "Look at this repository and plan one step that writes AGENTS.md at its root: what an agent that works \
                    here must know and cannot see at once. Name the commands that build, test and check, the parts and \
                    who may use whom, the conventions that reviews insist on, and what went wrong before. Take each line \
                    from a file you read; where there is an AGENTS.md, plan what to change in it.";

/// A line as it was typed.
#[derive(Debug, PartialEq, Eq)]
enum Input {
    Nothing,
    Switch(Mode, Option<String>),
    Approve,
    Inbox,
    Undo,
    Redo,
    Compact(Option<String>),
    Context,
    Help,
    Quit,
    /// A skill, or nothing that is known; with what stood behind it.
    Named(String, Option<String>),
    Message(String),
}

fn read(line: &str) -> Input {
    let line = line.trim();
    // Only what is typed as one line is a command; what was pasted with it is text.
    if line.contains('\n') {
        return Input::Message(line.to_owned());
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let draft = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
    match word {
        "" | "/later" => Input::Nothing,
        "/approve" => Input::Approve,
        "/inbox" => Input::Inbox,
        "/undo" => Input::Undo,
        "/redo" => Input::Redo,
        "/compact" => Input::Compact(draft),
        "/context" => Input::Context,
        "/help" => Input::Help,
        "/quit" => Input::Quit,
        "/init" => switch("/plan", Some(INIT.to_owned())),
        "/plan" | "/agent" | "/orchestrate" => switch(word, draft),
        _ if word.starts_with('/') && !word.get(1..).is_some_and(|rest| rest.contains('/')) => {
            Input::Named(word.to_owned(), draft)
        }
        _ => Input::Message(line.to_owned()),
    }
}

fn switch(word: &str, draft: Option<String>) -> Input {
    match Mode::chosen(word.trim_start_matches('/')) {
        Ok(mode) => Input::Switch(mode, draft),
        Err(_) => Input::Named(word.to_owned(), draft),
    }
}

/// A conversation with the current space.
struct Talk {
    door: Door,
    /// How often agents ask, in a word.
    asks: &'static str,
    landing: Landing,
    /// The model the last run really used.
    model: Option<String>,
    /// A word of assent that was held back.
    held: Option<String>,
    /// Whether nobody has said yet if Plan may try commands.
    unasked: bool,
}

pub(super) async fn talk(house: &House, model: &ModelArguments) -> Result<Exit, Problem> {
    if !at_a_terminal() {
        return Err(Problem::usage("A thread needs a terminal, and this is none.")
            .hint("stance run \"what to do\"")
            .hint("stance run - takes its text from standard input, literally"));
    }
    let settings = house.settings()?.sound()?;
    let opening = Opening {
        model,
        output: Output::Words,
        attendance: Attendance::Person,
        proved: Proved::Now,
    };
    let mut talk = Talk {
        door: door(house, opening).await?,
        asks: settings.autonomy.asks(),
        landing: settings.landing,
        model: None,
        held: None,
        unasked: settings.plan_try.is_none() && settings.locks.refuse("the answer", "plan.try").is_ok(),
    };
    talk.welcome().await?;
    loop {
        let space = talk.door.engine.current_space().await?;
        if talk.unasked && may_try(&space) {
            talk.unasked = false;
            talk.ask_about_trying(house, model).await?;
        }
        talk.bottom_line(&space);
        let input = match talk.door.lines.next().await {
            Typed::Line(line) => read(&line),
            Typed::Interrupt => {
                talk.door.printer.line(Mark::Note, "/quit leaves");
                Input::Nothing
            }
            Typed::End => Input::Quit,
        };
        if input == Input::Quit {
            return Ok(Exit::FINE);
        }
        // A problem ends the act, not the conversation.
        if let Err(problem) = talk.take(&space, input).await {
            talk.door.printer.problem(&problem);
        }
    }
}

impl Talk {
    async fn welcome(&mut self) -> Result<(), Problem> {
        let waiting = self.door.engine.inbox().await?.len();
        self.door
            .printer
            .line(Mark::Note, "a message starts a run; /help lists the commands");
        if waiting > 0 {
            self.door
                .printer
                .line(Mark::Asks, &format!("{waiting} waiting for you: /inbox"));
        }
        Ok(())
    }

    /// The question of the first start in Plan; an answer holds at once.
    async fn ask_about_trying(&mut self, house: &House, model: &ModelArguments) -> Result<(), Problem> {
        let door = &mut self.door;
        let settings = house.settings()?.sound()?;
        let held = house.held(&settings.sandbox, Proved::Now).await;
        if trying::ask_once(house, &held, &mut door.printer, &mut door.lines).await? {
            let settings = house.settings()?.sound()?;
            let named = named(house, model)?;
            door.engine = house
                .engine(&settings, named.as_ref(), Attendance::Person, held)
                .await?;
        }
        Ok(())
    }

    fn bottom_line(&mut self, space: &SpaceView) {
        let model = self.model.as_deref().unwrap_or("model not asked yet");
        self.door.printer.prompt(&format!(
            "[{} · asks: {} · {model} · walls {}] ",
            space.shown,
            self.asks,
            self.door.walls.shown()
        ));
        self.door.printer.prompt("> ");
    }

    async fn take(&mut self, space: &SpaceView, input: Input) -> Result<(), Problem> {
        let held = self.held.take();
        match input {
            Input::Nothing => match (held, self.waiting(space, "plan").await?) {
                (
                    Some(words),
                    Some(Pending {
                        plan_id: Some(plan), ..
                    }),
                ) => decide::comment(&self.door.engine, &mut self.door.printer, &plan, &words).await,
                _ => Ok(()),
            },
            Input::Help => {
                for line in HELP {
                    self.door.printer.line(Mark::Note, line);
                }
                Ok(())
            }
            Input::Inbox => self.inbox().await,
            Input::Approve => self.approve(space).await,
            Input::Undo => match &space.thread {
                Some(thread) => self.act(Command::Undo { thread: thread.clone() }).await,
                None => Err(Problem::usage("there is nothing to undo")),
            },
            Input::Redo => match &space.thread {
                Some(thread) => self.act(Command::Redo { thread: thread.clone() }).await,
                None => Err(Problem::usage("there is nothing to redo")),
            },
            Input::Compact(keep) => match &space.thread {
                Some(thread) => {
                    self.act(Command::Compact {
                        thread: thread.clone(),
                        keep,
                        options: options(),
                    })
                    .await
                }
                None => Err(Problem::usage("there is nothing to compact")),
            },
            Input::Switch(to, draft) => {
                self.act(Command::SwitchMode {
                    space: None,
                    to,
                    draft,
                    options: options(),
                })
                .await
            }
            Input::Context => self.context(space).await,
            Input::Named(word, text) => self.skill(space, &word, text).await,
            Input::Message(text) => self.message(space, text).await,
            Input::Quit => Ok(()),
        }
    }

    /// A message answers the reply that waits, else starts a run. Assent to a plan is held back.
    async fn message(&mut self, space: &SpaceView, text: String) -> Result<(), Problem> {
        if self.waiting(space, "plan").await?.is_some() {
            if text == "a" {
                return self.approve(space).await;
            }
            if is_assent(&text) {
                self.door.printer.line(Mark::Note, WORDS_APPROVE_NOTHING);
                self.held = Some(text);
                return Ok(());
            }
        }
        if let Some(pending) = self.waiting(space, "reply").await? {
            let answer = PersonAnswer::Text(ask::chosen(&pending, &text));
            return self
                .act(Command::Answer {
                    id: pending.id,
                    digest: None,
                    answer,
                })
                .await;
        }
        self.act(Command::Send {
            to: Address::Current,
            text,
            options: options(),
        })
        .await
    }

    async fn approve(&mut self, space: &SpaceView) -> Result<(), Problem> {
        let Some(Pending {
            plan_id: Some(plan), ..
        }) = self.waiting(space, "plan").await?
        else {
            self.door.printer.line(Mark::Note, "no plan of this space waits");
            return Ok(());
        };
        let terms = Terms {
            options: ApprovalOptions::with_landing(self.landing),
            selection: Selection::All,
        };
        let door = &mut self.door;
        match decide::review(&door.engine, &mut door.printer, &mut door.lines, &plan, &terms).await? {
            Some(command) => self.act(command).await,
            None => Ok(()),
        }
    }

    async fn inbox(&mut self) -> Result<(), Problem> {
        let waiting = self.door.engine.inbox().await?;
        if waiting.is_empty() {
            self.door.printer.line(Mark::Note, "nothing waits for you");
        }
        for pending in &waiting {
            ask::show(&mut self.door.printer, pending);
        }
        Ok(())
    }

    async fn context(&mut self, space: &SpaceView) -> Result<(), Problem> {
        for part in self.loaded(space).await?.parts {
            let line = format!("{:>8} tokens  {}", part.tokens, part.what);
            self.door.printer.line(Mark::Note, &line);
        }
        self.door.printer.line(Mark::Note, "tokens are estimated");
        Ok(())
    }

    /// Asks the model to use a skill. What the skill says stays text that the model reads.
    async fn skill(&mut self, space: &SpaceView, word: &str, text: Option<String>) -> Result<(), Problem> {
        let skills = self.loaded(space).await?.skills;
        let names: Vec<String> = skills.iter().map(|skill| format!("/{}", skill.name)).collect();
        if !names.iter().any(|name| name == word) {
            let known = COMMANDS.into_iter().chain(names.iter().map(String::as_str));
            return Err(
                Problem::usage(format!("{word} is no command: {}", suggestion(word, known)))
                    .hint("A message does not begin with `/`."),
            );
        }
        let asked = format!("Use the skill `{}`.", word.trim_start_matches('/'));
        let asked = text.map_or(asked.clone(), |text| format!("{asked}\n\n{text}"));
        self.message(space, asked).await
    }

    async fn loaded(&self, space: &SpaceView) -> Result<Loaded, Problem> {
        let mode = Mode::from_stored(Some(&space.mode)).map_err(|error| Problem::usage(error.to_string()))?;
        self.door.engine.loaded(mode, space.thread.as_deref()).await
    }

    /// The newest thing of a kind that waits in this space.
    async fn waiting(&self, space: &SpaceView, kind: &str) -> Result<Option<Pending>, Problem> {
        let waiting = self.door.engine.inbox().await?;
        Ok(waiting
            .into_iter()
            .rev()
            .find(|pending| pending.kind == kind && pending.is_in(&space.id)))
    }

    async fn act(&mut self, command: Command) -> Result<(), Problem> {
        let driven = self.door.act(command).await?;
        if let Some(report) = &driven.report {
            let model = &last(report).model;
            self.model = model.actual.clone().or_else(|| Some(model.configured.clone()));
        }
        Ok(())
    }
}

/// Whether the space's mode has a throw-away copy at all.
fn may_try(space: &SpaceView) -> bool {
    Mode::from_stored(Some(&space.mode)).is_ok_and(|mode| modes::profile(mode).capability.inspection())
}

fn options() -> RunOptions {
    RunOptions {
        attendance: Attendance::Person,
        ..RunOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_command_or_a_message() {
        let plan = Mode::chosen("plan").unwrap();
        let agent = Mode::chosen("agent").unwrap();
        assert_eq!(read("/plan"), Input::Switch(plan, None));
        assert_eq!(
            read("  /agent  fix the test "),
            Input::Switch(agent, Some("fix the test".to_owned()))
        );
        assert_eq!(read("/quit"), Input::Quit);
        assert_eq!(read("/compact"), Input::Compact(None));
        assert_eq!(read("/compact the paths"), Input::Compact(Some("the paths".to_owned())));
        assert_eq!(read(""), Input::Nothing);
        assert_eq!(read("\n \n"), Input::Nothing);
        for pasted in ["/quit\nnow", "see:\n/agent rm it"] {
            assert_eq!(read(pasted), Input::Message(pasted.to_owned()));
        }
        assert_eq!(read("/plna x"), Input::Named("/plna".to_owned(), Some("x".to_owned())));
        assert_eq!(read("/release"), Input::Named("/release".to_owned(), None));
        assert!(matches!(read("/init"), Input::Switch(mode, Some(_)) if mode == plan));
        assert_eq!(read("say /plan to me"), Input::Message("say /plan to me".to_owned()));
        assert_eq!(
            read("/usr/bin/env is missing"),
            Input::Message("/usr/bin/env is missing".to_owned())
        );
    }
}
