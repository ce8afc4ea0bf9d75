//! Which command does what, and which of them only an operator may give. It must not know how any
//! of them is spelled.

mod checkpoint;
mod conformance;
mod demo;
mod doctor;
mod inbox;
mod look;
mod mcp;
mod models;
mod plan;
mod policy;
mod run;
mod space;
mod thread;
mod told;
mod trust;
mod trying;

use std::io::IsTerminal as _;

use engine::{Attendance, Engine, Problem};
use modes::Mode;

use crate::arguments::{
    Act, Approvals, Arguments, CheckpointAct, McpAct, ModelArguments, ModelsAct, PlanAct, PolicyAct, SpaceAct,
};
use crate::descent::ProcessTable;
use crate::door::{Door, Output};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::house::{House, Proved};
use crate::lines::Lines;
use crate::models::NamedModel;
use crate::print::{Mark, Printer, Reader};
use crate::settings::Settings;

/// Carries out one command.
pub(crate) async fn carry_out(arguments: Arguments, environment: Environment) -> Result<Exit, Problem> {
    if decides(arguments.act.as_ref()) {
        ProcessTable::of_machine().refuse_runs(&environment, std::process::id())?;
    }
    if let Some(Act::Completions { shell }) = arguments.act {
        return Ok(look::completions(&environment, shell));
    }
    let house = House::find(environment)?;
    match arguments.act {
        None => thread::talk(&house, &arguments.model).await,
        Some(Act::Run(run)) => run::run(&house, *run).await,
        Some(Act::Plan(act)) => plan::plan(&house, act).await,
        Some(Act::Inbox(inbox)) => inbox::inbox(&house, inbox).await,
        Some(Act::Space(act)) => space::space(&house, act).await,
        Some(Act::Thread(act)) => told::thread(&house, act).await,
        Some(Act::Mode(mode)) => space::mode(&house, mode).await,
        Some(Act::Checkpoint(act)) => checkpoint::checkpoint(&house, act).await,
        Some(Act::Profile(profile)) => look::profile(&house, profile).await,
        Some(Act::Explain(explain)) => look::explain(&house, explain).await,
        Some(Act::Policy(act)) => policy::policy(&house, act).await,
        Some(Act::Mcp(act)) => mcp::mcp(&house, act).await,
        Some(Act::Models(act)) => models::models(&house, act).await,
        Some(Act::Audit(act)) => look::audit(&house, act).await,
        Some(Act::Conformance(arguments)) => conformance::conformance(&house, arguments).await,
        Some(Act::Demo) => demo::demo(&house).await,
        Some(Act::Trust(arguments)) => trust::trust(&house, arguments).await,
        Some(Act::Try(it)) => trying::try_line(&house, it).await,
        Some(Act::Doctor(doctor)) => doctor::doctor(&house, doctor.json).await,
        Some(Act::Completions { shell }) => Ok(look::completions(&house.environment, shell)),
    }
}

/// Whether the command is an operator's act: a message, a decision, a change of mode. The others
/// only look.
fn decides(act: Option<&Act>) -> bool {
    match act {
        None | Some(Act::Run(_) | Act::Demo | Act::Conformance(_)) => true,
        Some(Act::Plan(act)) => !matches!(act, PlanAct::List { .. } | PlanAct::Show { .. }),
        Some(Act::Inbox(inbox)) => inbox.act.is_some() || inbox::is_gone_through(inbox),
        Some(Act::Policy(act)) => matches!(act, PolicyAct::Set { .. } | PolicyAct::Unset { .. }),
        Some(Act::Space(act)) => !matches!(act, SpaceAct::List { .. }),
        Some(Act::Mode(mode)) => mode.mode.is_some(),
        Some(Act::Trust(trust)) => !trust.list,
        Some(Act::Models(act)) => matches!(act, ModelsAct::Test { .. }),
        Some(Act::Mcp(act)) => !matches!(act, McpAct::List { .. } | McpAct::Tools { .. }),
        Some(
            Act::Profile(_)
            | Act::Explain(_)
            | Act::Audit(_)
            | Act::Doctor(_)
            | Act::Try(_)
            | Act::Thread(_)
            | Act::Completions { .. },
        ) => false,
        Some(Act::Checkpoint(act)) => matches!(act, CheckpointAct::Restore(_)),
    }
}

/// Whether somebody sits at both ends: types and reads.
fn at_a_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Who answers, given what was asked for.
fn attendance(attended: bool, approvals: Option<Approvals>) -> Attendance {
    match approvals {
        Some(Approvals::Wait) => Attendance::Later,
        None if attended => Attendance::Person,
        Some(Approvals::Deny) | None => Attendance::Nobody,
    }
}

/// The model named on the command line.
fn named(house: &House, model: &ModelArguments) -> Result<Option<NamedModel>, Problem> {
    NamedModel::read(
        model.model.as_deref(),
        model.provider.as_deref(),
        model.base_url.as_deref(),
        &house.start,
    )
}

/// The mode of a space, or of the current one.
async fn mode_of(engine: &Engine, space: Option<&str>) -> Result<Mode, Problem> {
    let space = match space {
        Some(id) => Some(engine.space(id).await?),
        None => engine.known_space().await?,
    };
    let Some(space) = space else {
        return Ok(modes::without_space());
    };
    Mode::from_stored(Some(&space.mode))
        .map_err(|error| Problem::refused(format!("space {}: {error}", space.id)).hint(space::repair(&space)))
}

/// How a door is opened.
struct Opening<'a> {
    model: &'a ModelArguments,
    output: Output,
    attendance: Attendance,
    proved: Proved,
}

impl Opening<'_> {
    /// A door for looking only.
    fn to_look(json: bool) -> Opening<'static> {
        static NO_MODEL: ModelArguments = ModelArguments {
            model: None,
            provider: None,
            base_url: None,
        };
        Opening {
            model: &NO_MODEL,
            output: if json { Output::Json } else { Output::Words },
            attendance: Attendance::Nobody,
            proved: Proved::NotNeeded,
        }
    }
}

/// Opens a door.
async fn door(house: &House, opening: Opening<'_>) -> Result<Door, Problem> {
    let settings = house.settings()?.sound()?;
    open(house, &settings, opening).await
}

/// Opens a door under these settings. One where something will be judged says first what of the
/// project's files does not count.
async fn open(house: &House, settings: &Settings, opening: Opening<'_>) -> Result<Door, Problem> {
    let named = named(house, opening.model)?;
    let held = house.held(&settings.sandbox, opening.proved).await;
    let (walls, warnings) = (held.standing, held.warnings.clone());
    let engine = house.engine(settings, named.as_ref(), opening.attendance, held).await?;
    let attended = opening.attendance == Attendance::Person;
    let reader = if opening.output == Output::Words {
        Reader::Person
    } else {
        Reader::Program
    };
    let mut printer = Printer::new(&house.environment, reader);
    if opening.proved == Proved::Now {
        trust::mention(&mut printer, &engine);
    }
    for warning in warnings {
        printer.line(Mark::Refused, &warning);
    }
    Ok(Door {
        engine,
        walls,
        printer,
        lines: if attended {
            Lines::of_keyboard()
        } else {
            Lines::of_nobody()
        },
        output: opening.output,
        attended,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn act(line: &[&str]) -> Option<Act> {
        Arguments::read(line.iter().map(Into::into)).unwrap().act
    }

    #[test]
    fn whatever_decides_is_for_operators_alone() {
        for line in [
            &[][..],
            &["run", "x"],
            &["run", "x", "--yolo"],
            &["plan", "approve", "p@d"],
            &["plan", "reject", "p@d"],
            &["plan", "comment", "p", "x"],
            &["plan", "run", "p"],
            &["inbox", "approve", "a@d"],
            &["inbox", "deny", "a"],
            &["policy", "set", "git log *", "allow"],
            &["policy", "unset", "git log *", "--person"],
            &["inbox", "answer", "a", "x"],
            &["mode", "agent"],
            &["space", "mode", "s", "agent"],
            &["space", "new"],
            &["trust"],
            &["trust", "--yes", "d"],
            &["trust", "--forget"],
            &["checkpoint", "restore", "last", "--yes"],
            &["mcp", "allow", "notes@d"],
            &["mcp", "trust", "notes"],
            &["mcp", "forget", "notes"],
            &["mcp", "login", "notes"],
            &["mcp", "logout", "notes"],
        ] {
            assert!(decides(act(line).as_ref()), "{line:?}");
        }
        for line in [
            &["plan", "list"][..],
            &["plan", "show", "p"],
            &["inbox"],
            &["mode"],
            &["space", "list"],
            &["trust", "--list"],
            &["checkpoint", "list"],
            &["checkpoint", "diff", "last"],
            &["mcp", "list"],
            &["mcp", "tools", "notes"],
            &["profile"],
            &["explain", "read_file"],
            &["policy", "list"],
            &["policy", "probe", "git log"],
            &["audit", "head"],
            &["doctor"],
            &["try", "make"],
            &["completions", "bash"],
        ] {
            assert!(!decides(act(line).as_ref()), "{line:?}");
        }
    }

    #[test]
    fn nobody_is_asked_where_nobody_sits() {
        assert_eq!(attendance(true, None), Attendance::Person);
        assert_eq!(attendance(false, None), Attendance::Nobody);
        assert_eq!(attendance(true, Some(Approvals::Deny)), Attendance::Nobody);
        assert_eq!(attendance(false, Some(Approvals::Wait)), Attendance::Later);
    }
}
