//! Commands that only look: `profile`, `explain`, `audit`, `completions`.

use clap::CommandFactory as _;
use clap_complete::Shell;
use engine::{Explanation, Problem, ShellAnswer};
use modes::{Decision, Layer};
use serde_json::Value;

use super::{Opening, door, mode_of};
use crate::arguments::{Arguments, AuditAct, ExplainArguments, ProfileArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::house::{House, Proved};
use crate::near::near;
use crate::print::{Mark, Printer, Reader};

pub(super) async fn profile(house: &House, arguments: ProfileArguments) -> Result<Exit, Problem> {
    let opening = Opening {
        proved: Proved::Now,
        ..Opening::to_look(arguments.json)
    };
    let mut door = door(house, opening).await?;
    let mode = match arguments.mode {
        Some(mode) => mode,
        None => mode_of(&door.engine, None).await?,
    };
    let profile = door.engine.profile(mode);
    if arguments.json {
        door.printer.json(&profile)?;
    } else {
        door.printer.line(Mark::Note, &format!("profile of {mode}"));
        lines(&profile, "", &mut |line| door.printer.line(Mark::Note, line));
    }
    Ok(Exit::FINE)
}

/// A JSON value as lines of `path: value`; lists of plain values stand in one line.
fn lines(value: &Value, path: &str, say: &mut impl FnMut(&str)) {
    let plain = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => Some("none".to_owned()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    };
    let beneath = |key: &str| {
        if path.is_empty() {
            key.to_owned()
        } else {
            format!("{path}.{key}")
        }
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| lines(value, &beneath(key), say)),
        Value::Array(items) => match items.iter().map(plain).collect::<Option<Vec<_>>>() {
            Some(words) => say(&format!(
                "{path}: {}",
                if words.is_empty() {
                    "none".to_owned()
                } else {
                    words.join(", ")
                }
            )),
            None => items
                .iter()
                .enumerate()
                .for_each(|(place, item)| lines(item, &beneath(&place.to_string()), say)),
        },
        plain_value => say(&format!("{path}: {}", plain(plain_value).unwrap_or_default())),
    }
}

pub(super) async fn explain(house: &House, arguments: ExplainArguments) -> Result<Exit, Problem> {
    let opening = Opening {
        proved: Proved::Now,
        ..Opening::to_look(arguments.json)
    };
    let mut door = door(house, opening).await?;
    let mode = match arguments.mode {
        Some(mode) => mode,
        None => mode_of(&door.engine, arguments.space.as_deref()).await?,
    };
    // What a shell leaves out as well, and nothing else: a line is judged as it is.
    let what = arguments.what.trim_matches([' ', '\t', '\n']);
    if what.is_empty() {
        return Err(Problem::usage("nothing is named to explain").hint("`stance explain --help` shows what can be."));
    }
    let explanation = door.engine.explain(mode, what).await?;
    let no_tool = explanation.shell.as_ref().and_then(|_| tool_meant(what));
    if let Some(name) = no_tool.filter(|name| name.contains('_')) {
        return Err(Problem::usage(format!("no tool is called `{name}`")).hint(meant_instead(name)));
    }
    if arguments.json {
        door.printer.json(&explanation)?;
    } else {
        if let Some(name) = no_tool {
            let line = format!("no tool is called `{name}`: this is read as a shell line");
            door.printer.line(Mark::Note, &line);
        }
        explained(&mut door.printer, &explanation);
    }
    Ok(Exit::FINE)
}

/// The name in what may have been meant as a tool, or as a tool and its arguments.
fn tool_meant(what: &str) -> Option<&str> {
    let (word, rest) = what.split_once(char::is_whitespace).unwrap_or((what, ""));
    let rest = rest.trim_start();
    (rest.is_empty() || rest.starts_with('{')).then_some(word)
}

fn meant_instead(name: &str) -> String {
    let near = near(name, modes::descriptors().iter().map(|row| row.name));
    if near.is_empty() {
        "`stance profile` lists the tools of a mode.".to_owned()
    } else {
        format!("near: {}", near.join(", "))
    }
}

fn explained(printer: &mut Printer, explanation: &Explanation) {
    let (what, mode) = (&explanation.what, &explanation.mode);
    let heading = match &explanation.shell {
        Some(_) => format!("{what} in {mode}, through {}", explanation.tool),
        None => format!("{what} in {mode}"),
    };
    decided(
        printer,
        &heading,
        &ShellAnswer {
            decision: explanation.decision,
            layer: explanation.layer,
            reason: explanation.reason.clone(),
        },
    );
    for thing in &explanation.things {
        let rule = thing
            .rule
            .as_ref()
            .map_or_else(|| "no rule speaks of it".to_owned(), |rule| format!("the rule {rule}"));
        printer.line(Mark::Note, &format!("it would {}: {rule}", thing.what));
    }
    if let Some(shell) = &explanation.shell {
        decided(printer, "in the shell of an outside agent", &shell.foreign_shell);
        return;
    }
    let alone = !what.contains(char::is_whitespace);
    let effects = match (alone, explanation.effects.is_empty()) {
        (true, true) => "no effect is common to all its calls".to_owned(),
        (true, false) => format!("each call would {}", explanation.effects.phrase()),
        (false, true) => "this call has no effects".to_owned(),
        (false, false) => format!("this call would {}", explanation.effects.phrase()),
    };
    if explanation.layer != Layer::Arguments {
        printer.line(Mark::Note, &effects);
    }
    let seen = if explanation.in_surface {
        "the model sees it"
    } else {
        "the model does not see it"
    };
    printer.line(Mark::Note, seen);
}

fn decided(printer: &mut Printer, what: &str, answer: &ShellAnswer) {
    let (mark, decision) = match answer.decision {
        Decision::Allow => (Mark::Done, "runs"),
        Decision::Ask => (Mark::Asks, "asks first"),
        Decision::Deny => (Mark::Refused, "is refused"),
    };
    printer.line(mark, &format!("{what}: {decision}, decided by {}", answer.layer.word()));
    if !answer.reason.is_empty() {
        printer.line(Mark::Note, &answer.reason);
    }
}

pub(super) async fn audit(house: &House, act: AuditAct) -> Result<Exit, Problem> {
    let mut door = door(house, Opening::to_look(false)).await?;
    let AuditAct::Verify { head } = act else {
        let head = door.engine.audit_head().await?;
        door.printer.raw(format!("{head}\n").as_bytes());
        return Ok(Exit::FINE);
    };
    let found = door.engine.verify(head.as_deref()).await?;
    if let Some(fault) = &found.fault {
        door.printer.line(
            Mark::Refused,
            &format!("{} events are as they were appended; then: {fault}", found.events),
        );
        return Ok(Exit::ERROR);
    }
    let removed = found.removed_payloads;
    door.printer.line(
        Mark::Done,
        &format!(
            "{} events, each as it was appended; {removed} payloads removed by retention",
            found.events
        ),
    );
    door.printer.line(Mark::Note, &format!("head {}", found.head));
    Ok(Exit::FINE)
}

pub(super) fn completions(environment: &Environment, shell: Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "stance", &mut script);
    Printer::new(environment, Reader::Program).raw(&script);
    Exit::FINE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_line_by_line() {
        let value = serde_json::json!({"label": "Plan", "capability": {"deny": ["a", "b"], "allow": []}, "exit": null, "x": [{"y": 1}]});
        let mut shown = Vec::new();
        lines(&value, "", &mut |line| shown.push(line.to_owned()));
        assert_eq!(
            shown,
            [
                "label: Plan",
                "capability.deny: a, b",
                "capability.allow: none",
                "exit: none",
                "x.0.y: 1"
            ]
        );
    }
}
