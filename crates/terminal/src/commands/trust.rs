//! `trust`: what of a project's files waits for an operator, and the operator's word on it. Nothing in
//! it is believed before: what no operator wrote is shown escaped, in quotes. It must not know how
//! settings are read.

use std::path::Path;

use engine::{Command, Engine, Problem, ProblemKind, ProjectPart, Standing};
use modes::{RuleText, Verdict};
use serde_json::{Value, json};

use super::{Opening, at_a_terminal, door};
use crate::arguments::TrustArguments;
use crate::ask;
use crate::door::Door;
use crate::exit::Exit;
use crate::house::House;
use crate::lines::{Lines, Typed};
use crate::print::{Mark, Printer};

pub(super) async fn trust(house: &House, arguments: TrustArguments) -> Result<Exit, Problem> {
    let named;
    let house = match &arguments.folder {
        Some(folder) => {
            named = house.elsewhere(house.stance_home.clone(), house.start.join(folder));
            &named
        }
        None => house,
    };
    let mut door = door(house, Opening::to_look(arguments.json)).await?;
    match (arguments.yes, arguments.list, arguments.forget) {
        (Some(digest), ..) => accept(&mut door, &digest).await,
        (None, true, _) => list(&mut door, arguments.json).await,
        (None, false, true) => forget(&mut door).await,
        (None, false, false) if arguments.json => {
            let parts: Vec<Value> = door.engine.parts().iter().map(as_json).collect();
            door.printer.json(&parts)?;
            Ok(waiting(&door.engine))
        }
        (None, false, false) => look(&mut door).await,
    }
}

/// Says first what does not count yet, once for each part, with the way to decide it.
pub(super) fn mention(printer: &mut Printer, engine: &Engine) {
    for (part, standing) in engine.parts() {
        match standing {
            Standing::Vouched(place) if place.starts_with('-') => {
                printer.line(Mark::Note, &format!("{place}: {} for this run", counted(part)));
                entries(printer, part);
            }
            _ if standing.holds() => {}
            _ => printer.line(
                Mark::Note,
                &format!(
                    "{} for your trust: stance trust",
                    if part.rules.len() == 1 {
                        format!("{} waits", counted(part))
                    } else {
                        format!("{} wait", counted(part))
                    }
                ),
            ),
        }
    }
}

/// Everything that needs trust, one part after the other; at a terminal each is asked about.
async fn look(door: &mut Door) -> Result<Exit, Problem> {
    let parts = door.engine.parts().to_vec();
    if parts.is_empty() {
        door.printer.line(Mark::Note, "nothing here needs your trust");
    }
    let mut lines = at_a_terminal().then(Lines::of_keyboard);
    let mut exit = Exit::FINE;
    for (part, standing) in &parts {
        show(&mut door.printer, part, standing);
        if standing.holds() {
            continue;
        }
        let digest = part.digest().short();
        let yes = match &mut lines {
            Some(lines) => confirmed(&mut door.printer, lines).await,
            None => false,
        };
        if yes {
            give(door, part, &digest).await?;
        } else {
            exit = Exit::WAITING;
            door.printer
                .line(Mark::Note, &format!("trust it with: stance trust --yes {digest}"));
        }
    }
    Ok(exit)
}

async fn confirmed(printer: &mut Printer, lines: &mut Lines) -> bool {
    loop {
        let Typed::Line(line) = lines.answer(printer, "trust exactly this? y / n > ").await else {
            return false;
        };
        match ask::verdict(line.trim()) {
            Ok((yes, _)) => return yes,
            Err(_) => printer.line(Mark::Note, "type y or n"),
        }
    }
}

/// Trusts the part that was shown with this digest, as it stands now.
async fn accept(door: &mut Door, digest: &str) -> Result<Exit, Problem> {
    let part = door
        .engine
        .parts()
        .iter()
        .map(|(part, _)| part)
        .find(|part| part.digest().matches(digest))
        .cloned();
    let Some(part) = part else {
        let changed = format!("Nothing here has the digest {digest}: it changed since it was shown, or is elsewhere.");
        return Err(Problem::new(ProblemKind::Stale, changed).hint("`stance trust` shows what there is now."));
    };
    give(door, &part, digest).await?;
    Ok(Exit::FINE)
}

async fn give(door: &mut Door, part: &ProjectPart, digest: &str) -> Result<(), Problem> {
    let command = Command::Trust {
        what: part.what.clone(),
        content: part.content.clone(),
        digest: digest.to_owned(),
    };
    door.act(command).await.map(drop)
}

async fn list(door: &mut Door, json: bool) -> Result<Exit, Problem> {
    let trusted = door.engine.trusted().await?;
    if json {
        door.printer.json(&trusted)?;
        return Ok(Exit::FINE);
    }
    if trusted.is_empty() {
        door.printer.line(Mark::Note, "nothing is trusted here");
    }
    for trust in trusted {
        let digest = modes::short_digest(&trust.digest);
        door.printer.line(
            Mark::Done,
            &format!("{} · {digest} · trusted by {}", trust.what, trust.who),
        );
        door.printer.foreign(&trust.content);
    }
    Ok(Exit::FINE)
}

async fn forget(door: &mut Door) -> Result<Exit, Problem> {
    let trusted = door.engine.trusted().await?;
    if trusted.is_empty() {
        door.printer.line(Mark::Note, "nothing is trusted here");
    }
    for trust in trusted {
        door.act(Command::ForgetTrust { what: trust.what }).await?;
    }
    Ok(Exit::FINE)
}

fn waiting(engine: &Engine) -> Exit {
    if engine.parts().iter().all(|(_, standing)| standing.holds()) {
        Exit::FINE
    } else {
        Exit::WAITING
    }
}

fn show(printer: &mut Printer, part: &ProjectPart, standing: &Standing) {
    let mark = if standing.holds() { Mark::Done } else { Mark::Asks };
    printer.line(
        mark,
        &format!("{} · {} · {}", counted(part), part.digest().short(), words(standing)),
    );
    entries(printer, part);
    if let Standing::Changed(trust) = standing {
        printer.line(Mark::Note, "what changed since:");
        printer.foreign(&difference(&trust.content, &part.content));
    }
}

/// `2 rules of FILE`.
fn counted(part: &ProjectPart) -> String {
    match part.rules.len() {
        1 => format!("1 rule of {}", part.what),
        count => format!("{count} rules of {}", part.what),
    }
}

fn words(standing: &Standing) -> String {
    match standing {
        Standing::Trusted(trust) => format!("trusted by {}", trust.who),
        Standing::Vouched(place) => format!("trusted by {place}"),
        Standing::New => "not trusted".to_owned(),
        Standing::Changed(trust) => format!("not what {} trusted", trust.who),
        Standing::OfRun(run) => format!("changed while {run} was under way, so not trusted"),
    }
}

fn entries(printer: &mut Printer, part: &ProjectPart) {
    for rule in &part.rules {
        printer.line(Mark::Note, &entry(rule));
    }
}

/// One rule: its place, its words, and what it would do.
fn entry(rule: &RuleText) -> String {
    let place = Path::new(&rule.place)
        .file_name()
        .map_or_else(|| rule.place.clone(), |name| name.to_string_lossy().into_owned());
    let effect = match rule.verdict {
        Verdict::Plan => "goes ahead unasked in an approved step that names the path",
        _ => "goes ahead unasked, where the mode lets it",
    };
    format!("{place}: {:?} {effect}", rule.text)
}

/// Lines that went and lines that came.
fn difference(before: &str, after: &str) -> String {
    let only = |these: &str, those: &str, sign: &str| -> Vec<String> {
        these
            .lines()
            .filter(|line| !those.lines().any(|other| other == *line))
            .map(|line| format!("{sign} {line}"))
            .collect()
    };
    [only(before, after, "-"), only(after, before, "+")].concat().join("\n")
}

fn as_json((part, standing): &(ProjectPart, Standing)) -> Value {
    let entries: Vec<Value> = part
        .rules
        .iter()
        .map(|rule| json!({"place": rule.place, "verdict": rule.verdict, "text": rule.text}))
        .collect();
    let changes = match standing {
        Standing::Changed(trust) => Some(difference(&trust.content, &part.content)),
        _ => None,
    };
    json!({
        "what": part.what,
        "digest": part.digest().hex(),
        "holds": standing.holds(),
        "standing": words(standing),
        "entries": entries,
        "changes": changes,
    })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use modes::Scope;

    use super::*;
    use crate::print::tests::on_paper;

    fn part() -> ProjectPart {
        let rule = |verdict, text: &str, line| RuleText {
            scope: Scope::Workspace,
            verdict,
            text: text.to_owned(),
            place: format!("/repo/.stance/settings.toml:{line}"),
        };
        ProjectPart {
            what: "/repo/.stance/settings.toml".to_owned(),
            content: "allow \"npm run *\"\nplan \"edit(src/**)\"".to_owned(),
            rules: vec![
                rule(Verdict::Allow, "npm run *\u{202e}", 2),
                rule(Verdict::Plan, "edit(src/**)", 3),
            ],
            vouched: None,
            changed_ms: 0,
        }
    }

    #[test]
    fn each_entry_is_shown_with_its_place_and_what_it_would_do_and_a_change_with_its_difference() {
        let (mut printer, [words, ..]) = on_paper(usize::MAX);
        let earlier = engine::Trust {
            what: part().what,
            digest: "d".repeat(64),
            content: "allow \"ls\"\nplan \"edit(src/**)\"".to_owned(),
            who: "ada".to_owned(),
            time_ms: 0,
        };
        show(&mut printer, &part(), &Standing::Changed(earlier));
        assert_snapshot!(words.text().replace(&part().digest().short(), "DIGEST"), @r#"
        ? 2 rules of /repo/.stance/settings.toml · DIGEST · not what ada trusted
        · settings.toml:2: "npm run *\u{202e}" goes ahead unasked, where the mode lets it
        · settings.toml:3: "edit(src/**)" goes ahead unasked in an approved step that names the path
        · what changed since:
        │ - allow "ls"
        │ + allow "npm run *"
        "#);
    }
}
