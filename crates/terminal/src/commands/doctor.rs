//! `doctor`: what this machine, these settings and this workspace are like, each tried or read now.

use std::path::{Path, PathBuf};

use engine::{Attendance, Problem, SpaceView};
use modes::{Mode, WallsStanding};
use sandbox::{LARGEST_FILE, Limits, Probe, Walls, WallsState};
use serde::Serialize;

use super::space::repair;
use crate::exit::Exit;
use crate::held::Held;
use crate::house::{House, Proved};
use crate::models::Models;
use crate::print::{Mark, Printer, Reader};
use crate::settings::{Loaded, SandboxMode, Settings};

/// Everything that was found.
#[derive(Debug, Serialize)]
struct Findings {
    /// The version of this program.
    version: &'static str,
    /// Whether it ran as root.
    root: bool,
    walls: WallsFinding,
    throw_away: CopyFinding,
    /// The programs of ours, each taken from a folder of the system.
    programs: Vec<ProgramFinding>,
    settings: SettingsFinding,
    models: Vec<ModelFinding>,
    workspace: WorkspaceFinding,
}

#[derive(Debug, Serialize)]
struct WallsFinding {
    /// What the operator asked for.
    mode: &'static str,
    /// What runs are told.
    standing: WallsStanding,
    /// Whether every try was forbidden, with everything the walls are made of.
    proven: bool,
    /// Why not.
    why: Option<String>,
    /// What each command may take.
    limits: String,
    probes: Vec<Probe>,
}

/// The copy that commands are tried in.
#[derive(Debug, Serialize)]
struct CopyFinding {
    /// Why it does not hold.
    why: Option<String>,
    probes: Vec<Probe>,
}

#[derive(Debug, Serialize)]
struct ProgramFinding {
    name: &'static str,
    /// The one that is started.
    used: String,
    /// Another one that a shell would start; none when it would start the same.
    found_by_path: Option<String>,
}

#[derive(Debug, Serialize)]
struct SettingsFinding {
    /// Every file looked for, weakest layer last.
    files: Vec<FileFinding>,
    faults: Vec<String>,
}

#[derive(Debug, Serialize)]
struct FileFinding {
    path: String,
    read: bool,
}

#[derive(Debug, Serialize)]
struct ModelFinding {
    mode: String,
    /// The model, and where each of its settings was said.
    settings: Vec<String>,
    /// What is missing.
    problem: Option<String>,
    hints: Vec<String>,
}

#[derive(Debug, Serialize)]
struct WorkspaceFinding {
    /// Why it cannot be opened.
    problem: Option<String>,
    spaces: usize,
    /// Spaces whose mode cannot be read, with the command that sets it.
    unresolved: Vec<String>,
}

pub(super) async fn doctor(house: &House, json: bool) -> Result<Exit, Problem> {
    let mut printer = Printer::new(&house.environment, if json { Reader::Program } else { Reader::Person });
    let Loaded { settings, faults } = house.settings()?;
    let held = house.held(&settings.sandbox, Proved::Anew).await;
    let programs = held
        .walls
        .as_ref()
        .map(|walls| programs(walls, &house.environment.search_path()))
        .unwrap_or_default();
    let throw_away = throw_away(house, &held).await;
    let walls = walls_finding(settings.sandbox.mode, held);
    let findings = Findings {
        version: env!("CARGO_PKG_VERSION"),
        root: rustix::process::geteuid().is_root(),
        walls,
        throw_away,
        programs,
        models: models(&house.models(&settings, None)),
        workspace: workspace(house, &settings).await,
        settings: SettingsFinding {
            files: settings
                .files
                .iter()
                .map(|(path, read)| FileFinding {
                    path: path.display().to_string(),
                    read: *read,
                })
                .collect(),
            faults: faults.iter().map(ToString::to_string).collect(),
        },
    };
    if json {
        printer.json(&findings)?;
    } else {
        say(&mut printer, &findings, &house.stance_home);
    }
    Ok(if findings.sound() { Exit::FINE } else { Exit::ERROR })
}

impl Findings {
    /// A missing model is no fault: a script may answer.
    fn sound(&self) -> bool {
        self.walls.standing != WallsStanding::Absent
            && self.settings.faults.is_empty()
            && self.workspace.unresolved.is_empty()
    }
}

fn walls_finding(mode: SandboxMode, held: Held) -> WallsFinding {
    WallsFinding {
        mode: mode.word(),
        standing: held.standing,
        proven: held.standing == WallsStanding::Proven,
        why: (!held.warnings.is_empty()).then(|| held.warnings.join("\n")),
        limits: limits(),
        probes: held.proof.map(|proof| proof.probes).unwrap_or_default(),
    }
}

async fn throw_away(house: &House, held: &Held) -> CopyFinding {
    let walls = held.walls.as_ref().filter(|_| held.standing == WallsStanding::Proven);
    let Some(walls) = walls else {
        return CopyFinding {
            why: Some("it needs proven walls".to_owned()),
            probes: Vec::new(),
        };
    };
    let proof = walls.prove_throw_away_and_remember(&house.proofs()).await;
    CopyFinding {
        why: match proof.state() {
            WallsState::Absent { why } => Some(why),
            WallsState::Proven | WallsState::Partial => None,
        },
        probes: proof.probes,
    }
}

fn limits() -> String {
    const GIBIBYTE: u64 = 1 << 30;
    let limits = Limits::default();
    let memory = limits.memory_bytes().map_or_else(String::new, |bytes| {
        format!("{} GiB of memory together, ", bytes / GIBIBYTE)
    });
    format!(
        "each command: {} processes, {memory}{} GiB for a file",
        limits.processes,
        LARGEST_FILE / GIBIBYTE
    )
}

/// Whether PATH would lead elsewhere, perhaps into a folder of the repository.
fn programs(walls: &Walls, search_path: &[PathBuf]) -> Vec<ProgramFinding> {
    let shown = |path: PathBuf| path.display().to_string();
    walls
        .programs()
        .map(|(name, used)| {
            let found = search_path
                .iter()
                .map(|folder| folder.join(name))
                .find(|path| path.is_file());
            ProgramFinding {
                name,
                used: shown(used.to_owned()),
                found_by_path: found
                    .filter(|found| found.canonicalize().ok().as_deref() != Some(used))
                    .map(shown),
            }
        })
        .collect()
}

fn models(models: &Models) -> Vec<ModelFinding> {
    Mode::all()
        .into_iter()
        .map(|mode| {
            let mut finding = ModelFinding {
                mode: mode.to_string(),
                settings: Vec::new(),
                problem: None,
                hints: Vec::new(),
            };
            match models.described(mode) {
                Ok(settings) => finding.settings = settings,
                Err(problem) => (finding.problem, finding.hints) = (Some(problem.message), problem.hints),
            }
            finding
        })
        .collect()
}

async fn workspace(house: &House, settings: &Settings) -> WorkspaceFinding {
    let held = house.held(&settings.sandbox, Proved::NotNeeded).await;
    let spaces = match house.engine(settings, None, Attendance::Nobody, held).await {
        Ok(engine) => engine.spaces().await,
        Err(problem) => Err(problem),
    };
    match spaces {
        Ok(spaces) => WorkspaceFinding {
            problem: None,
            spaces: spaces.len(),
            unresolved: unresolved(&spaces),
        },
        Err(problem) => WorkspaceFinding {
            problem: Some(problem.message),
            spaces: 0,
            unresolved: Vec::new(),
        },
    }
}

fn unresolved(spaces: &[SpaceView]) -> Vec<String> {
    spaces
        .iter()
        .filter(|space| space.unresolved)
        .map(|space| format!("space {}: {}; {}", space.id, space.shown, repair(space)))
        .collect()
}

fn say(printer: &mut Printer, findings: &Findings, home: &Path) {
    let who = if findings.root {
        "as root"
    } else {
        "as an ordinary user"
    };
    printer.line(
        Mark::Note,
        &format!("stance {} · state in {}", findings.version, home.display()),
    );
    let tries = findings.walls.probes.len();
    if findings.walls.proven {
        let line = format!("walls on: {tries} tries, each forbidden, {who}");
        printer.line(Mark::Done, &line);
    }
    for why in findings.walls.why.iter().flat_map(|why| why.lines()) {
        printer.line(Mark::Refused, why);
    }
    if findings.walls.standing == WallsStanding::Absent && findings.walls.mode == SandboxMode::Required.word() {
        let hint = "  install bubblewrap, or let `mode` of [sandbox] in your settings be `preferred`, `outer` or `off`";
        printer.line(Mark::Note, hint);
    }
    for probe in findings.walls.probes.iter().filter(|probe| !probe.held) {
        let tree = if probe.writable {
            "writable worktree"
        } else {
            "read-only worktree"
        };
        printer.line(
            Mark::Refused,
            &format!("  {} ({tree}) was possible: {}", probe.name, probe.detail),
        );
    }
    printer.line(Mark::Note, &findings.walls.limits);
    match &findings.throw_away.why {
        None => printer.line(
            Mark::Done,
            &format!(
                "a throw-away copy holds: {} tries; `stance try LINE` runs one in it",
                findings.throw_away.probes.len()
            ),
        ),
        Some(why) => printer.line(Mark::Note, &format!("no throw-away copy {who}: {why}")),
    }
    printer.line(Mark::Note, "`stance doctor --json` lists every try");
    for program in &findings.programs {
        if let Some(found) = &program.found_by_path {
            printer.line(
                Mark::Refused,
                &format!(
                    "PATH finds {} at {found}, which is not run: {} is",
                    program.name, program.used
                ),
            );
        }
    }
    for file in &findings.settings.files {
        let state = if file.read { "read" } else { "not there" };
        printer.line(Mark::Note, &format!("settings {}: {state}", file.path));
    }
    for fault in &findings.settings.faults {
        printer.line(Mark::Refused, fault);
    }
    for model in &findings.models {
        match &model.problem {
            None => printer.line(Mark::Done, &format!("{}: {}", model.mode, model.settings.join(" · "))),
            Some(problem) => printer.line(Mark::Note, &format!("{}: {problem}", model.mode)),
        }
    }
    // The same words for each mode: they are said once.
    for hint in findings
        .models
        .iter()
        .find(|model| model.problem.is_some())
        .iter()
        .flat_map(|model| &model.hints)
    {
        printer.line(Mark::Note, &format!("  {hint}"));
    }
    match &findings.workspace.problem {
        None => printer.line(Mark::Done, &format!("workspace: {} spaces", findings.workspace.spaces)),
        Some(problem) => printer.line(Mark::Note, &format!("no workspace here: {problem}")),
    }
    for space in &findings.workspace.unresolved {
        printer.line(Mark::Refused, space);
    }
}
