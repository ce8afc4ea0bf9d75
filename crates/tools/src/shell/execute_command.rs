//! `execute_command`: one line for bash, inside the walls of the run's own containment.

use std::io::Read as _;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

use modes::{Effect, LinePlace, LineReading, ProposedCall, Target, parse_host};
use rustix::fs::FileType;
use sandbox::{Excess, Finished, Keep, Limits, Network, Program, SandboxError, Spawn, ThrownAway, Violation, spawn};
use schemars::JsonSchema;
use serde::Deserialize;

use super::families::{LONGEST, usual};
use super::hints::hints;
use super::spill::tail;
use crate::place::{Roots, hold_entry, reopen};
use crate::scope::Scope;
use crate::tool::{BadArguments, ToolResult};
use crate::typed::{Around, TypedTool};

/// Bytes kept of an output, shown or spilled: what `read_file` can read.
const KEPT: usize = 10 * 1024 * 1024;

/// Both streams go one way, so that they stay in the order they were written.
pub const TOGETHER: &str = "exec 2>&1; ";

/// So many files are named that a command could not open.
const MOST_HIDDEN: usize = 5;

/// So many changes are named that were thrown away.
const MOST_THROWN_AWAY: usize = 10;

/// The variable by which a run's processes are told.
const MARKER: &str = "STANCE_RUN";

/// With these git reads without writing its index and without asking repositories within the
/// repository, whose configuration nobody looked at.
const QUIET_GIT: &[(&str, &str)] = &[
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "diff.ignoreSubmodules"),
    ("GIT_CONFIG_VALUE_0", "dirty"),
    // `git diff` refreshes the index whatever is said of locks.
    ("GIT_CONFIG_KEY_1", "diff.autoRefreshIndex"),
    ("GIT_CONFIG_VALUE_1", "false"),
];

/// More of a file that decides what a line does is not looked at.
const LONGEST_DECIDING: u64 = 64 * 1024 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// A line for bash.
    command: String,
    /// Seconds, up to 600. Without it 30; 300 for builds, tests and installs.
    #[serde(default)]
    timeout_s: Option<NonZeroU64>,
    /// A folder, relative to the project.
    #[serde(default)]
    cwd: Option<String>,
    /// Hosts the line needs beside the open ones, such as example.org. Only for this call.
    #[serde(default)]
    hosts: Vec<String>,
}

pub(crate) struct Ready {
    line: String,
    time: Duration,
    folder: PathBuf,
    /// Whether it is proven that the line only reads.
    reads_only: bool,
}

pub(crate) struct ExecuteCommand;

impl TypedTool for ExecuteCommand {
    const NAME: &'static str = "execute_command";
    const DESCRIPTION: &'static str = "Runs a bash line in the project: builds, tests, scripts. The network is open to package registries and documentation, else name `hosts`; only the project and /tmp can be written, .git cannot. To read, search or edit files use their own tools.";
    const EXAMPLE: &'static str = r#"{"command": "cargo test", "timeout_s": 300, "cwd": "crates/core"}"#;
    type Arguments = Arguments;
    type Ready = Ready;

    fn prepare(arguments: Arguments, call: ProposedCall, scope: &Scope) -> Result<(ProposedCall, Ready), BadArguments> {
        let line = arguments.command;
        if line.trim().is_empty() || line.contains('\0') {
            return Err(BadArguments(format!(
                "`command` is empty or holds a NUL. Example: {}",
                Self::EXAMPLE
            )));
        }
        let time = arguments
            .timeout_s
            .map_or_else(|| usual(&line), |seconds| Duration::from_secs(seconds.get()));
        if time > LONGEST {
            return Err(BadArguments(format!(
                "`timeout_s` is {} and at most {} are given; split the work.",
                time.as_secs(),
                LONGEST.as_secs()
            )));
        }
        let folder = folder(arguments.cwd.as_deref(), scope)?;
        let reading = reading(&line, &folder, scope)?;
        if let Some(command) = reading.writes_repository() {
            return Err(BadArguments(format!(
                "`{command}` would write the repository's own records, which no command can: use git_write to stage and commit."
            )));
        }
        let call = reading.decided_by().iter().fold(call, |call, file| {
            call.with_evidence(format!("file {file}"), content(file, scope))
        });
        let call = match &scope.checkout {
            Some(checkout) if reading.effects().contains(Effect::GitPush) => call
                .with_evidence("where a push goes", checkout.destinations())
                .with_standing("what a push sends", checkout.references()),
            _ => call,
        };
        let reads_only = reading.only_reads();
        let mut call = call.with_line(reading);
        for named in arguments.hosts {
            let host = parse_host(&named).ok_or_else(|| {
                BadArguments(format!(
                    "`hosts` names {named:?}, which is no host. Example: [\"example.org\", \"example.org:8443\"]"
                ))
            })?;
            call = call.with_target(Target::Host { host });
        }
        Ok((
            call,
            Ready {
                line,
                time,
                folder,
                reads_only,
            },
        ))
    }

    async fn act(ready: Ready, around: Around<'_>) -> ToolResult {
        let scope = around.scope;
        let Some(walls) = &scope.walls else {
            return ToolResult::error(
                "programs run only inside proven walls, and this machine has none; `stance doctor` shows why.",
            );
        };
        let mut places = scope.places();
        places.secrets = scope.secrets.and(reads(around.targets));
        places.guards = scope.guards.answered(writes(around.targets));
        let mut process = Spawn::new(Program::Shell(format!("{TOGETHER}{}", ready.line)), ready.folder);
        process.environment.push((MARKER.to_owned(), scope.run_id.clone()));
        sandbox::share_caches(&scope.caches, scope.containment, &mut places, &mut process);
        process.network = Some(Network {
            gate: around.hosts.clone(),
            names: scope.names.clone(),
        });
        if ready.reads_only {
            let quiet = QUIET_GIT
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            process.environment.extend(quiet);
        }
        process.limits = Limits {
            wall_time: ready.time,
            output_bytes: KEPT,
            keep: Keep::Tail,
            ..Limits::default()
        };
        let running = match spawn(walls, scope.containment, &places, process) {
            Ok(running) => running,
            Err(error) => return ToolResult::error(format!("the command was not started: {error}.")),
        };
        // Also a stopped command is waited for: what it planted is looked for when it is dead.
        match running.wait_unless(scope.cancel.cancelled()).await {
            Err(error @ SandboxError::Planted { .. }) => {
                ToolResult::error(format!("the command was carried out, but {error}."))
            }
            _ if scope.cancel.is_cancelled() => {
                ToolResult::error("a person stopped the run; the command and all it started were ended.")
            }
            Ok(finished) => report(&finished, ready.time, scope),
            Err(error) => ToolResult::error(format!("the command was not carried out: {error}.")),
        }
    }
}

/// The paths a judged call reads.
fn reads(targets: &[Target]) -> Vec<String> {
    targets
        .iter()
        .filter_map(|target| match target {
            Target::Read { path } | Target::Recorded { path } => Some(path.clone()),
            _ => None,
        })
        .collect()
}

/// The paths a judged call writes or deletes.
fn writes(targets: &[Target]) -> Vec<String> {
    targets
        .iter()
        .filter_map(|target| match target {
            Target::Write { path, .. } | Target::Delete { path, .. } => Some(path.clone()),
            _ => None,
        })
        .collect()
}

/// What the line does, each of its paths looked at.
fn reading(line: &str, folder: &Path, scope: &Scope) -> Result<LineReading, BadArguments> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let hidden: Vec<String> = scope.hidden.iter().map(|path| text(path)).collect();
    let starts_nothing = |folder: &str| {
        let checkout = scope.checkout.as_ref();
        checkout.is_some_and(|checkout| checkout.starts_nothing(Path::new(folder)))
    };
    let place = LinePlace {
        cwd: &text(folder),
        worktree: &text(&scope.worktree),
        home: &text(&scope.home),
        hidden: &hidden,
        walled: scope.walled,
        git_starts_nothing: &starts_nothing,
    };
    #[cfg(feature = "faults")]
    if super::unread::lines_are_unread() {
        return Ok(LineReading::unread(line, &place));
    }
    let roots = Roots::of(scope)?;
    let looked_at = LineReading::read(line, &place).looked_at(|target| match &target {
        Target::Write { path, .. } | Target::Read { path } | Target::Delete { path, .. } => match roots.find(path) {
            Ok(place) => place.behind(target, |path| scope.checkpoint_holds(path)),
            Err(_) => target,
        },
        _ => target,
    });
    Ok(if scope.guards.deny() {
        looked_at.changing_within(|path| scope.guards.denied_beneath(&scope.worktree, path))
    } else {
        looked_at
    })
}

/// The content hash of a file that decides what the line does.
fn content(file: &str, scope: &Scope) -> String {
    let hash = || {
        let place = Roots::of(scope).ok()?.find(file).ok()?;
        if !place.may_be_looked_at() || place.kind() != Some(FileType::RegularFile) {
            return None;
        }
        let held = hold_entry(place.folder(), place.name()).ok()?;
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(reopen(held).ok()?.take(LONGEST_DECIDING)).ok()?;
        Some(hasher.finalize().to_hex().to_string())
    };
    hash().unwrap_or_else(|| "not a file that can be read".to_owned())
}

/// The working folder: a folder of the worktree, by its real path. Inside the walls the same path
/// leads nowhere else, whatever is put in its place meanwhile.
fn folder(cwd: Option<&str>, scope: &Scope) -> Result<PathBuf, BadArguments> {
    let asked = cwd.unwrap_or(".");
    let refused = |why: &str| BadArguments(format!("`cwd` {asked} {why}. Example: crates/core"));
    let place = Roots::of(scope)?.find(asked)?;
    if !place.in_worktree() {
        return Err(refused("lies outside the project"));
    }
    match place.kind() {
        Some(FileType::Directory) => Ok(scope.worktree.join(place.path())),
        Some(_) => Err(refused("is not a folder")),
        None => Err(refused("does not exist")),
    }
}

/// What a command took that it was ended for; its time is no violation.
fn taken(excess: Excess) -> Option<String> {
    match excess {
        Excess::Time => None,
        Excess::Processes => Some(format!(
            "it started more than {} processes at a time; find what starts them without end",
            Limits::default().processes
        )),
        Excess::Memory => {
            Some("its processes took more than three quarters of this machine's memory; work in smaller pieces".into())
        }
    }
}

fn planted(violation: &Violation) -> String {
    match violation {
        Violation::GitCreated { path, .. } => format!(
            "{} was made and moved away: a run makes no repositories",
            path.display()
        ),
        Violation::Guarded { path, .. } => format!(
            "{} was made and moved away: a rule denies it, or a person is to be asked; a line that names it asks",
            path.display()
        ),
    }
}

/// Which secret-shaped files the command could not open, and what shows them to it.
fn hidden(finished: &Finished, scope: &Scope) -> String {
    let paths: Vec<String> = finished
        .hidden
        .iter()
        .map(|path| path.strip_prefix(&scope.worktree).unwrap_or(path).display().to_string())
        .collect();
    let shown = paths.get(..MOST_HIDDEN).unwrap_or(&paths);
    let more = match paths.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let rule = shown.first().map_or("", String::as_str);
    format!(
        "commands cannot open {}{more}: by their names they hold secrets; a person shows one to them with the rule \
         read({rule})",
        shown.join(", ")
    )
}

/// What was written in a throw-away view, as one sentence.
fn thrown_away(thrown: &ThrownAway) -> String {
    format!("[{}]", thrown.words(MOST_THROWN_AWAY))
}

fn report(finished: &Finished, time: Duration, scope: &Scope) -> ToolResult {
    let mut output = finished.stdout.bytes.clone();
    // Only what bash says about a line it cannot read comes this way.
    output.extend(&finished.stderr.bytes);
    let tail = tail(
        &output,
        finished.stdout.dropped + finished.stderr.dropped,
        &scope.scratch,
    );
    let mut parts = Vec::new();
    if let Some(remark) = tail.remark {
        parts.push(format!("[{remark}]"));
    }
    let failed = finished.excess.is_some() || finished.exit != Some(0);
    let hints = if failed {
        hints(&tail.text, scope.containment)
    } else {
        Vec::new()
    };
    parts.push(if tail.text.trim().is_empty() {
        "[no output]".to_owned()
    } else {
        tail.text.trim_end().to_owned()
    });
    parts.push(match finished.excess {
        Some(Excess::Time) => format!(
            "[ended after {} s, its time limit; give a longer timeout_s, at most {}]",
            time.as_secs(),
            LONGEST.as_secs()
        ),
        Some(excess) => format!("[ended: {}]", taken(excess).unwrap_or_default()),
        None => finished.exit.map_or_else(
            || "[ended from outside]".to_owned(),
            |code| format!("[exit code {code}]"),
        ),
    });
    parts.extend(hints.into_iter().map(|hint| format!("[hint: {hint}]")));
    if failed && !finished.hidden.is_empty() {
        parts.push(format!("[hint: {}]", hidden(finished, scope)));
    }
    let planted: Vec<String> = finished.violations.iter().map(planted).collect();
    parts.extend(planted.iter().map(|planted| format!("[{planted}]")));
    parts.extend(finished.thrown_away.iter().map(thrown_away));
    parts.extend(refused_hosts(finished));
    let text = parts.join("\n");
    let result = if failed {
        ToolResult::error(text)
    } else {
        ToolResult::text(text)
    };
    ToolResult {
        reached: finished.reached.clone(),
        saw_secrets: finished.saw_secrets,
        violations: finished.excess.and_then(taken).into_iter().chain(planted).collect(),
        ..result
    }
}

/// Which hosts were not reached, and what may open them.
fn refused_hosts(finished: &Finished) -> impl Iterator<Item = String> {
    let refused = finished
        .reached
        .iter()
        .filter_map(|reached| Some((reached, reached.refused.as_ref()?)));
    refused.map(|(reached, why)| {
        let host = &reached.host;
        let instead = if reached.can_ask {
            format!(r#"; call again with "hosts": ["{host}"] if the line needs it"#)
        } else {
            String::new()
        };
        format!("[hint: {host} was not reached: {why}{instead}]")
    })
}
