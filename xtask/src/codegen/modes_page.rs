//! `docs/modes.md`, from the profiles that `modes` enforces. Says nothing that is not asked from there.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use modes::{
    AllowList, Approver, Autonomy, Built, Effect, Inspection, Mode, Network, Posture, Profile, Role, RunRecipe,
    RunSpec, Tier, WallsStanding, descriptors, profile, run_spec,
};

const HEAD: &str = "\
<!-- Rendered by `cargo xtask codegen` from the table of crates/modes: change the table, not this page. -->

# What each mode may do

What stands here is asked from the code that enforces it: the same profile decides which tools a run is shown, which \
calls are let through, what its processes can touch and what its prompt says. A tool counts as present here even if \
it is not built yet; `stance explain TOOL` says how it stands in your copy.

A switch of the mode never changes a run that has started.
";

/// The whole page.
pub(crate) fn render() -> anyhow::Result<String> {
    let mut sections = vec![HEAD.to_owned(), overview(), effects()];
    for mode in Mode::all() {
        sections.push(tools(mode)?);
    }
    Ok(sections.join("\n"))
}

/// A run that a person started in the mode, with everything standing that can stand.
fn spec(mode: Mode) -> anyhow::Result<RunSpec> {
    let recipe = RunRecipe {
        mode,
        chain: Vec::new(),
        role: Role::Main,
        read_only_once: false,
        autonomy: Autonomy::default(),
        approver: Approver::Person,
        walls: WallsStanding::Proven,
        inspection: Inspection::On,
        rules: Vec::new(),
        hosts: Vec::new(),
        answers: Vec::new(),
    };
    Ok(run_spec(recipe, &Built::everything())?)
}

/// What a row is called, and what it says of a profile.
type Fact = (&'static str, fn(&Profile) -> String);

fn overview() -> String {
    let facts: [Fact; 12] = [
        ("is for", |profile| profile.intent.to_owned()),
        ("delivers", |profile| profile.deliverable.to_owned()),
        ("chosen by", |profile| {
            if profile.selectable {
                "a person"
            } else {
                "opening a review"
            }
            .to_owned()
        }),
        ("own verbs", |profile| names(profile.verbs.iter().copied())),
        ("required before it is done", |profile| names(profile.required)),
        ("asks to leave with", |profile| names(profile.exit)),
        ("highest tier of tools", |profile| {
            tier(profile.capability.max_tier()).to_owned()
        }),
        ("listed above read tier", |profile| match profile.capability.allow() {
            AllowList::Everything => "every tool".to_owned(),
            AllowList::Only(listed) => names(listed.iter().copied()),
        }),
        ("worktree, for its processes", |profile| {
            match profile.capability.worktree() {
                Posture::ReadOnly => "read-only".to_owned(),
                Posture::Writable => "writable, `.git` read-only".to_owned(),
            }
        }),
        ("network, for its processes", |profile| {
            match profile.capability.network() {
                Network::None => "none".to_owned(),
                Network::EgressGate => "hosts the egress gate lets through".to_owned(),
            }
        }),
        ("may try commands in a throw-away view", |profile| {
            yes(profile.capability.inspection()).to_owned()
        }),
        ("an outside agent counts as stalled after", |profile| {
            format!("{} minutes", profile.silence_limit_minutes)
        }),
    ];
    let mut text = "## The modes side by side\n\n".to_owned() + &header("");
    text += &row("stored as", &Mode::all().map(|mode| format!("`{}`", mode.stored())));
    for (fact, of) in facts {
        text += &row(fact, &Mode::all().map(|mode| of(&profile(mode))));
    }
    text
}

fn effects() -> String {
    let mut text = "\
## Effects

A refused effect is refused whatever a rule, a flag or an earlier answer says. The others are decided by the rules \
and by the person.

"
    .to_owned()
        + &header("effect");
    for effect in Effect::ALL {
        let standing = Mode::all().map(|mode| {
            if profile(mode).capability.refused().contains(effect) {
                "refused"
            } else {
                "by rule"
            }
            .to_owned()
        });
        text += &row(&format!("{} (`{}`)", effect.phrase(), effect.name()), &standing);
    }
    text
}

fn tools(mode: Mode) -> anyhow::Result<String> {
    let surface = spec(mode)?.surface();
    let (present, all) = (surface.tools().len(), descriptors().len());
    let mut text = format!("## {}: {present} of {all} tools\n\n", profile(mode).label);
    for of in [Tier::Read, Tier::Write, Tier::Exec] {
        let mut present = surface
            .tools()
            .iter()
            .filter(|tool| tool.tier == of)
            .map(|tool| tool.name)
            .peekable();
        if present.peek().is_some() {
            let _ = writeln!(text, "* {} tier: {}", tier(of), names(present));
        }
    }
    let mut absent: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (tool, absence) in surface.absent() {
        absent.entry(absence.to_string()).or_default().push(tool.name);
    }
    text += "\n| absent | why |\n| --- | --- |\n";
    for (why, tools) in absent {
        let _ = writeln!(text, "| {} | {why} |", names(tools));
    }
    Ok(text)
}

fn header(corner: &str) -> String {
    row(corner, &Mode::all().map(|mode| mode.to_string())) + "| --- |" + &" --- |".repeat(Mode::all().len()) + "\n"
}

fn row(name: &str, cells: &[String]) -> String {
    format!("| {name} | {} |\n", cells.join(" | "))
}

fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() {
        "–".to_owned()
    } else {
        quoted.join(", ")
    }
}

fn yes(fact: bool) -> &'static str {
    if fact { "yes" } else { "no" }
}

fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Read => "read",
        Tier::Write => "write",
        Tier::Exec => "exec",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(page: &str, start: &str) -> String {
        page.lines()
            .find(|line| line.starts_with(start))
            .unwrap_or_else(|| panic!("no line {start:?}"))
            .to_owned()
    }

    #[test]
    fn the_page_says_what_the_profiles_say() {
        let page = render().unwrap();
        assert_eq!(line(&page, "|  |"), "|  | Agent | Plan | Orchestrate | Review |");
        assert_eq!(
            line(&page, "| stored as"),
            "| stored as | `chat` | `plan` | `orchestrate` | `review` |"
        );
        assert_eq!(
            line(&page, "| required"),
            "| required before it is done | – | `submit_plan` | `propose_orchestration` | – |"
        );
        assert_eq!(
            line(&page, "| push ("),
            "| push (`git_push`) | by rule | refused | refused | refused |"
        );
        assert_eq!(
            line(&page, "| use the network"),
            "| use the network (`network_egress`) | by rule | by rule | by rule | by rule |"
        );
    }

    #[test]
    fn every_tool_stands_once_in_the_section_of_each_mode() {
        let page = render().unwrap();
        for mode in Mode::all() {
            let start = page.find(&format!("## {}: ", profile(mode).label)).unwrap();
            let section = page[start + 3..].split("\n## ").next().unwrap();
            for tool in descriptors() {
                assert_eq!(
                    section.matches(&format!("`{}`", tool.name)).count(),
                    1,
                    "{mode}: {}",
                    tool.name
                );
            }
        }
    }

    #[test]
    fn the_page_is_the_same_every_time() {
        assert_eq!(render().unwrap(), render().unwrap());
    }
}
