//! `policy`: the rules in force, setting and unsetting them. It must not know how a rule is matched.

use engine::{Command, Done, KeptView, Problem, RuleView};
use modes::{RuleText, Scope, Verdict};

use super::{Opening, door, look};
use crate::arguments::{Kept, PolicyAct};
use crate::exit::Exit;
use crate::house::{House, Proved};
use crate::print::{Mark, Printer};
use crate::settings;

pub(super) async fn policy(house: &House, act: PolicyAct) -> Result<Exit, Problem> {
    match act {
        PolicyAct::List { json } => list(house, json).await,
        PolicyAct::Set { rule, verdict, kept } => set(house, rule, verdict, &kept).await,
        PolicyAct::Unset { rule, kept } => unset(house, rule, &kept).await,
        PolicyAct::Probe(probe) => look::explain(house, probe).await,
    }
}

async fn list(house: &House, json: bool) -> Result<Exit, Problem> {
    let opening = Opening {
        proved: Proved::Now,
        ..Opening::to_look(json)
    };
    let mut door = door(house, opening).await?;
    let rules = door.engine.rules().await?;
    if json {
        door.printer.json(&rules)?;
        return Ok(Exit::FINE);
    }
    for rule in &rules {
        shown(&mut door.printer, rule);
    }
    door.printer.line(
        Mark::Note,
        "asked in this order; of one scope's rules the closest holds, then the strictest. No rule lifts what a mode \
         refuses: `stance profile`",
    );
    Ok(Exit::FINE)
}

fn shown(printer: &mut Printer, rule: &RuleView) {
    let mark = match rule.verdict {
        Verdict::Allow => Mark::Done,
        Verdict::Ask | Verdict::Plan => Mark::Asks,
        Verdict::Deny => Mark::Refused,
    };
    let mut parts = vec![
        format!("{} {}", rule.layer, rule.rule),
        rule.verdict.participle().to_owned(),
    ];
    if !rule.place.is_empty() {
        parts.push(rule.place.clone());
    }
    if let Some(KeptView { who, bound, .. }) = &rule.kept {
        parts.push(format!("kept by {who}"));
        if *bound {
            parts.push("while the files that decide what it does stay the same".to_owned());
        }
    }
    if !rule.names.is_empty() {
        parts.push(rule.names.join(" "));
    }
    printer.line(mark, &parts.join(" · "));
}

async fn set(house: &House, rule: String, verdict: Verdict, kept: &Kept) -> Result<Exit, Problem> {
    if kept.person {
        engine::keepable(RuleText {
            scope: Scope::Person,
            verdict,
            text: rule.clone(),
            place: "stance policy set".to_owned(),
        })?;
        house.settings()?.sound()?;
        settings::keep_rule(&house.places.person, &rule, verdict)?;
        let file = house.places.person.display();
        return said(house, format!("{file}: {rule} is {}.", verdict.participle())).await;
    }
    carried_out(house, Command::KeepRule { text: rule, verdict }).await
}

async fn unset(house: &House, rule: String, kept: &Kept) -> Result<Exit, Problem> {
    if kept.person {
        house.settings()?.sound()?;
        settings::forget_rule(&house.places.person, &rule)?;
        return said(house, format!("{}: {rule} is gone.", house.places.person.display())).await;
    }
    carried_out(house, Command::ForgetRule { text: rule }).await
}

async fn said(house: &House, line: String) -> Result<Exit, Problem> {
    let mut door = door(house, Opening::to_look(false)).await?;
    door.printer.line(Mark::Done, &line);
    Ok(Exit::FINE)
}

async fn carried_out(house: &House, command: Command) -> Result<Exit, Problem> {
    let mut door = door(house, Opening::to_look(false)).await?;
    if let Done::Said(words) = door.carry_out(command).await? {
        for line in &words {
            door.printer.line(Mark::Done, line);
        }
    }
    Ok(Exit::FINE)
}
