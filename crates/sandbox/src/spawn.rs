//! What to start inside the walls, and starting it. The one door to processes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use modes::Containment;
use tokio::io::DuplexStream;

use crate::running::Input;
use crate::walls::Around;
use crate::{Keep, Network, Places, Running, SandboxError, Walls, environment, load, running};

/// The kernel takes no longer single argument.
const LONGEST_LINE: usize = 120 * 1024;

/// Bytes that wait in each direction of a conversation.
const CONVERSED: usize = 64 * 1024;

/// No file grows beyond so many bytes.
pub const LARGEST_FILE: u64 = 8 << 30;

/// The program of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// One line for bash, which reads no start-up file. At most 120 KiB.
    Shell(String),
    /// Git of the system with these arguments.
    Git(Vec<OsString>),
    /// A program by absolute path or by its name in the inner PATH, with its arguments.
    Argv {
        /// Path or name.
        program: OsString,
        /// The arguments after the name.
        arguments: Vec<OsString>,
    },
    /// Our own executable, for a job of its own that its first argument asks for.
    Own(Vec<OsString>),
}

/// How long and how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// After this the process and all its descendants are killed.
    pub wall_time: Duration,
    /// Processes at a time; beyond them all are killed.
    pub processes: u32,
    /// Bytes of memory of all processes together; without it three quarters of the machine's.
    pub memory: Option<u64>,
    /// Bytes kept of standard output, and again of standard error.
    pub output_bytes: usize,
    /// Which end of each is kept.
    pub keep: Keep,
}

impl Default for Limits {
    /// Two minutes, a thousand processes, most of the memory; the last 256 KiB of each stream.
    fn default() -> Self {
        Self {
            wall_time: Duration::from_mins(2),
            processes: 1000,
            memory: None,
            output_bytes: 256 * 1024,
            keep: Keep::Tail,
        }
    }
}

impl Limits {
    /// The bound on memory in bytes; none where the machine does not tell how much it has.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.memory.or_else(|| Some(load::machine_memory()? / 4 * 3))
    }
}

/// A process to be started.
#[derive(Debug, Clone)]
pub struct Spawn {
    /// The program.
    pub program: Program,
    /// Working folder: a path of the view.
    pub cwd: PathBuf,
    /// Variables beside the fixed ones (PATH, HOME, TMPDIR, LANG, TERM, …), which they override.
    /// Nothing of this process's own environment is added.
    pub environment: Vec<(String, String)>,
    /// Everything the process reads from standard input.
    pub stdin: Vec<u8>,
    /// Its limits.
    pub limits: Limits,
    /// What it reaches, when its containment has the network of the egress gate; none: nothing.
    pub network: Option<Network>,
}

impl Spawn {
    /// A program in a folder, with nothing on standard input, no variables and default limits.
    pub fn new(program: Program, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program,
            cwd: cwd.into(),
            environment: Vec::new(),
            stdin: Vec::new(),
            limits: Limits::default(),
            network: None,
        }
    }
}

/// Starts a process inside the walls. Contradictory places or variables are refused at once; what
/// fails later (walls that cannot be put up, a boundary that does not hold) comes out of
/// `Running::wait`, and then the program was not started. The network of every
/// process is an empty one of its own; where the containment has the egress gate and a network is handed
/// in, our proxy listens there.
///
/// Must be called within a tokio runtime. Dropping the `Running` kills every descendant.
pub fn spawn(walls: &Walls, containment: Containment, places: &Places, spawn: Spawn) -> Result<Running, SandboxError> {
    let input = Input::Whole(spawn.stdin.clone());
    begin(walls, containment, places, spawn, input)
}

/// Starts a process to talk with: what is written to the stream is what it reads, and what it writes is
/// read from the stream. Dropping the stream ends its input. Otherwise as `spawn`; of its output only
/// standard error is recorded.
pub fn converse(
    walls: &Walls,
    containment: Containment,
    places: &Places,
    spawn: Spawn,
) -> Result<(Running, DuplexStream), SandboxError> {
    let (theirs, ours) = tokio::io::duplex(CONVERSED);
    let running = begin(walls, containment, places, spawn, Input::Stream(theirs))?;
    Ok((running, ours))
}

fn begin(
    walls: &Walls,
    containment: Containment,
    places: &Places,
    mut spawn: Spawn,
    input: Input,
) -> Result<Running, SandboxError> {
    places.check(containment)?;
    walls.check(containment, places)?;
    let own_network = matches!(walls.around, Around::Namespaces { .. });
    if containment.network() == modes::Network::None || !own_network {
        spawn.network = None;
    }
    let variables = environment::rebuild(&walls.toolchains, spawn.network.is_some(), &spawn.environment)?;
    // Refuses what cannot be passed before anything is done.
    program_arguments(walls, &spawn.program)?;
    Ok(running::run(
        walls.clone(),
        containment,
        places.clone(),
        spawn,
        variables,
        input,
    ))
}

/// The program's own argument list, its name first.
pub(crate) fn program_arguments(walls: &Walls, program: &Program) -> Result<Vec<OsString>, SandboxError> {
    Ok(match program {
        Program::Shell(line) if line.len() > LONGEST_LINE => {
            return Err(SandboxError::Arguments("the shell line is longer than 120 KiB"));
        }
        Program::Shell(line) => {
            let mut arguments: Vec<OsString> = vec![walls.bash.clone().into()];
            arguments.extend(["--noprofile", "--norc", "-c"].map(OsString::from));
            arguments.push(line.into());
            arguments
        }
        Program::Git(rest) => {
            let git = walls.git.clone().ok_or_else(|| SandboxError::ProgramMissing {
                name: "git",
                searched: "the system's folders".into(),
            })?;
            std::iter::once(git.into()).chain(rest.iter().cloned()).collect()
        }
        Program::Argv { program, arguments } => std::iter::once(program.clone())
            .chain(arguments.iter().cloned())
            .collect(),
        Program::Own(rest) => std::iter::once(helper(walls)).chain(rest.iter().cloned()).collect(),
    })
}

/// Our own executable, as the program's process finds it.
fn helper(walls: &Walls) -> OsString {
    match walls.around {
        Around::Namespaces { .. } => crate::view::HELPER.into(),
        Around::Kernel | Around::Nothing => walls.helper.clone().into(),
    }
}
