//! `run`: one message, one run, one report.

use std::io::{IsTerminal as _, Read as _};

use engine::{Address, Attendance, Command, Limits, Problem, RunOptions, UNATTENDED_MINUTES, UNATTENDED_TOKENS};
use modes::{Rule, RuleText, Scope, Verdict};

use super::{Opening, at_a_terminal, attendance, mode_of, open};
use crate::arguments::{Budget, RunArguments};
use crate::door::{Door, Output};
use crate::exit::Exit;
use crate::house::{House, Proved};
use crate::print::Mark;
use crate::settings::Locks;

/// No message is larger, in bytes.
const LARGEST_MESSAGE: u64 = 4 * 1024 * 1024;

/// Where the text of a message comes from.
#[derive(Debug, PartialEq, Eq)]
enum Text {
    Given(String),
    StandardInput,
    None,
}

pub(super) async fn run(house: &House, arguments: RunArguments) -> Result<Exit, Problem> {
    let source = source(&arguments, std::io::stdin().is_terminal())?;
    let output = output(&arguments);
    let attended = at_a_terminal() && output == Output::Words && source != Text::StandardInput;
    let attendance = attendance(attended, arguments.approvals);
    let options = RunOptions {
        piped: source == Text::StandardInput,
        ..options(&arguments, attendance)?
    };
    let mut settings = house.settings()?.sound()?;
    refuse_locked(&arguments, &options, &settings.locks)?;
    if let Some(mode) = arguments.sandbox {
        settings.sandbox.mode = mode;
    }
    if arguments.trust_project {
        for part in &mut settings.parts {
            part.vouched = Some("--trust-project".to_owned());
        }
    }
    let text = match source {
        Text::Given(text) => Some(text),
        Text::StandardInput => Some(standard_input()?),
        Text::None => None,
    };
    let limit_notice =
        (attendance != Attendance::Person && !arguments.dry_run).then(|| limit_notice(&options, &settings.limits));
    let opening = Opening {
        model: &arguments.model,
        output,
        attendance,
        proved: Proved::Now,
    };
    let mut door = open(house, &settings, opening).await?;
    if arguments.dry_run {
        return dry_run(&mut door, &arguments, text.unwrap_or_default(), &options).await;
    }
    let command = command(&arguments, text, options);
    if let Some(notice) = limit_notice {
        door.printer.line(Mark::Note, &notice);
    }
    Ok(door.act(command).await?.exit)
}

/// Refuses flags whose keys the administrator locked.
fn refuse_locked(arguments: &RunArguments, options: &RunOptions, locks: &Locks) -> Result<(), Problem> {
    for (given, flag, key) in [
        (arguments.yolo, "--yolo", "autonomy.default"),
        (arguments.sandbox.is_some(), "--sandbox", "sandbox.mode"),
        (arguments.trust_project, "--trust-project", "trust.folders"),
        (options.tokens.is_some(), "--budget", "limits.tokens"),
        (options.minutes.is_some(), "--budget", "limits.minutes"),
    ] {
        if given {
            locks.refuse(flag, key)?;
        }
    }
    Ok(())
}

const fn output(arguments: &RunArguments) -> Output {
    match (arguments.json, arguments.stream_json) {
        (true, _) => Output::Json,
        (_, true) => Output::StreamJson,
        _ => Output::Words,
    }
}

fn source(arguments: &RunArguments, typed: bool) -> Result<Text, Problem> {
    match arguments
        .prompt
        .as_ref()
        .or(arguments.prompt_flag.as_ref())
        .map(String::as_str)
    {
        Some("-") => Ok(Text::StandardInput),
        Some(text) if text.trim().is_empty() => {
            Err(Problem::usage("The prompt is empty.").hint("stance run \"what to do\""))
        }
        Some(text) => Ok(Text::Given(text.to_owned())),
        None if arguments.resume.is_some() => Ok(Text::None),
        None if typed => Err(Problem::usage("There is no prompt.").hint("stance run \"what to do\", or pipe it in.")),
        None => Ok(Text::StandardInput),
    }
}

/// The whole of standard input, taken literally: nothing in it is a command.
fn standard_input() -> Result<String, Problem> {
    let mut bytes = Vec::new();
    let unreadable = |why: String| Problem::usage(format!("Standard input cannot be the prompt: {why}."));
    std::io::stdin()
        .take(LARGEST_MESSAGE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > LARGEST_MESSAGE {
        return Err(unreadable(format!("it is larger than {LARGEST_MESSAGE} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is no UTF-8 text".to_owned()))?;
    if text.trim().is_empty() {
        return Err(unreadable("it is empty".to_owned()).hint("stance run \"what to do\""));
    }
    Ok(text)
}

fn options(arguments: &RunArguments, attendance: Attendance) -> Result<RunOptions, Problem> {
    let mut options = RunOptions {
        read_only_once: arguments.read_only,
        yolo: arguments.yolo,
        attendance,
        check: arguments.check.clone(),
        expect_changes: arguments.expect_changes,
        ..RunOptions::default()
    };
    for (flag, verdict, texts) in [
        ("--allow", Verdict::Allow, &arguments.allow),
        ("--deny", Verdict::Deny, &arguments.deny),
    ] {
        for text in texts {
            let rule = RuleText {
                scope: Scope::Run,
                verdict,
                text: text.clone(),
                place: flag.to_owned(),
            };
            Rule::parse(rule.clone()).map_err(|refused| {
                Problem::usage(format!("{refused}.")).hint(
                    "A rule reads `npm run *`, `edit(src/**)`, `read(.env*)`, `net(host)`, `mcp(server/tool)` or \
                           `effect(git_push)`.",
                )
            })?;
            options.rules.push(rule);
        }
    }
    for budget in &arguments.budget {
        let (slot, amount) = match budget {
            Budget::Tokens(tokens) => (&mut options.tokens, *tokens),
            Budget::Minutes(minutes) => (&mut options.minutes, *minutes),
        };
        if slot.replace(amount).is_some() {
            return Err(Problem::usage("`--budget` is given twice for the same thing.")
                .hint("Give tokens and minutes once each."));
        }
    }
    for (key, value) in &arguments.label {
        if options.labels.insert(key.clone(), value.clone()).is_some() {
            return Err(Problem::usage(format!("The label {key} is given twice.")));
        }
    }
    Ok(options)
}

/// What an unattended run may use, said before it begins.
fn limit_notice(options: &RunOptions, limits: &Limits) -> String {
    let tokens = options.tokens.or(limits.tokens).unwrap_or(UNATTENDED_TOKENS);
    let minutes = options.minutes.or(limits.minutes).unwrap_or(UNATTENDED_MINUTES);
    format!("nobody is here to stop it: at most {tokens} tokens and {minutes} minutes")
}

fn command(arguments: &RunArguments, text: Option<String>, options: RunOptions) -> Command {
    if let Some(id) = &arguments.resume {
        return Command::Resume {
            id: id.clone(),
            text,
            options,
        };
    }
    let to = match (&arguments.space, arguments.mode) {
        (Some(space), _) => Address::Space(space.clone()),
        (None, Some(mode)) => Address::FreshSpace(mode),
        (None, None) => Address::Wherever,
    };
    Command::Send {
        to,
        text: text.unwrap_or_default(),
        options,
    }
}

async fn dry_run(
    door: &mut Door,
    arguments: &RunArguments,
    text: String,
    options: &RunOptions,
) -> Result<Exit, Problem> {
    let mode = match arguments.mode {
        Some(mode) => mode,
        None => mode_of(&door.engine, arguments.space.as_deref()).await?,
    };
    let sizes = door.engine.dry_run(mode, text, options).await?;
    if door.output != Output::Words {
        door.printer.json(&sizes)?;
        return Ok(Exit::FINE);
    }
    let mut note = |line: &str| door.printer.line(Mark::Note, line);
    note(&format!(
        "mode {} · model {} · nothing was sent or stored; tokens are estimated",
        sizes.mode, sizes.model
    ));
    for (part, size) in [
        ("system", sizes.system),
        ("tools", sizes.tools.all),
        ("messages", sizes.messages),
        ("total", sizes.total),
    ] {
        note(&format!("{part}: {} bytes, about {} tokens", size.bytes, size.tokens));
    }
    for tool in &sizes.tools.each {
        note(&format!(
            "tool {}: {} bytes, about {} tokens",
            tool.name, tool.size.bytes, tool.size.tokens
        ));
    }
    note("system prompt:");
    for paragraph in sizes.system_text.lines() {
        door.printer.foreign(paragraph);
    }
    Ok(Exit::FINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Act, Arguments};

    fn arguments(line: &[&str]) -> RunArguments {
        let words = ["run"].iter().chain(line).map(Into::into);
        match Arguments::read(words).unwrap().act {
            Some(Act::Run(arguments)) => *arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_text_comes_from_where_it_was_said() {
        let check = |line: &[&str], typed| source(&arguments(line), typed);
        assert_eq!(check(&["fix"], true), Ok(Text::Given("fix".to_owned())));
        assert_eq!(check(&["-p", "fix"], false), Ok(Text::Given("fix".to_owned())));
        assert_eq!(check(&["-"], true), Ok(Text::StandardInput));
        assert_eq!(check(&[], false), Ok(Text::StandardInput));
        assert_eq!(check(&["--resume", "last"], false), Ok(Text::None));
        assert!(check(&[], true).unwrap_err().message.contains("no prompt"));
        assert!(check(&["  "], true).unwrap_err().message.contains("empty"));
    }

    #[test]
    fn flags_become_options() {
        let line = [
            "x",
            "--yolo",
            "--allow",
            "npm run *",
            "--deny",
            "effect(git_push)",
            "--check",
            "true",
            "--expect-changes",
        ];
        let more = [
            "--budget", "200k", "--budget", "30min", "--label", "team=a", "--label", "x=y=z",
        ];
        let all: Vec<&str> = line.into_iter().chain(more).collect();
        let options = options(&arguments(&all), Attendance::Later).unwrap();
        assert!(options.yolo && options.expect_changes && !options.read_only_once);
        assert_eq!(options.attendance, Attendance::Later);
        assert_eq!((options.tokens, options.minutes), (Some(200_000), Some(30)));
        assert_eq!(options.labels.get("x").map(String::as_str), Some("y=z"));
        let rules: Vec<_> = options
            .rules
            .iter()
            .map(|rule| (rule.scope, rule.verdict, rule.text.as_str()))
            .collect();
        assert_eq!(
            rules,
            [
                (Scope::Run, Verdict::Allow, "npm run *"),
                (Scope::Run, Verdict::Deny, "effect(git_push)")
            ]
        );
    }

    #[test]
    fn a_rule_a_budget_or_a_label_that_cannot_stand_is_a_wrong_command() {
        for line in [
            &["x", "--allow", "effect(gti_push)"][..],
            &["x", "--budget", "1k", "--budget", "2k"],
            &["x", "--label", "a=1", "--label", "a=2"],
        ] {
            let problem = options(&arguments(line), Attendance::Nobody).unwrap_err();
            assert_eq!(Exit::of_problem(&problem), Exit::USAGE, "{problem}");
        }
    }

    #[test]
    fn an_unattended_run_says_its_limits() {
        let limits = Limits {
            tokens: Some(5),
            ..Limits::default()
        };
        assert!(
            limit_notice(&RunOptions::default(), &Limits::default()).ends_with("at most 2000000 tokens and 60 minutes")
        );
        assert!(limit_notice(&RunOptions::default(), &limits).contains("at most 5 tokens"));
        let options = RunOptions {
            tokens: Some(7),
            minutes: Some(2),
            ..RunOptions::default()
        };
        assert!(limit_notice(&options, &limits).ends_with("at most 7 tokens and 2 minutes"));
    }

    #[test]
    fn the_message_goes_where_it_was_addressed() {
        let to = |line: &[&str]| match command(&arguments(line), Some("t".to_owned()), RunOptions::default()) {
            Command::Send { to, .. } => to,
            other => panic!("{other:?}"),
        };
        assert_eq!(to(&["x"]), Address::Wherever);
        assert_eq!(to(&["x", "--space", "s1"]), Address::Space("s1".to_owned()));
        assert_eq!(
            to(&["x", "--mode", "plan"]),
            Address::FreshSpace(modes::Mode::chosen("plan").unwrap())
        );
        let resumed = command(
            &arguments(&["--resume", "last", "go on"]),
            Some("go on".to_owned()),
            RunOptions::default(),
        );
        assert!(matches!(resumed, Command::Resume { id, text: Some(text), .. } if id == "last" && text == "go on"));
    }
}
