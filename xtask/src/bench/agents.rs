//! Stance beside other agents, each in its plan or read-only mode, in one run on one machine: they ask a
//! model of ours that answers at once, in a network that holds nothing else. Figures of one such run mean
//! nothing beside another's.

mod answer;
mod measure;
mod model;
mod peers;
mod table;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use self::measure::{bare, median};
use self::model::{Mock, Story};
use self::peers::{PEERS, Peer};
use self::table::{First, Measured, Report};
use crate::checkout::Checkout;
use crate::program;

/// How many files each agent reads in the longer story.
const CALLS: usize = 20;

/// How often memory is looked at: the looking costs time, so these runs are not timed.
const MEMORY_ROUNDS: usize = 3;

/// What is to be measured.
#[derive(Debug, clap::Args)]
pub(crate) struct Asked {
    /// Write the figures to a file too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// How often each agent runs each story.
    #[arg(long, default_value_t = 20)]
    rounds: usize,
    /// Measure these alone.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    only: Vec<String>,
    /// Everything is built, installed, and cut off from the network.
    #[arg(long, hide = true)]
    inside: bool,
}

impl Asked {
    fn peers(&self) -> impl Iterator<Item = &'static Peer> {
        PEERS
            .iter()
            .filter(|peer| self.only.is_empty() || self.only.iter().any(|name| name == peer.name))
    }
}

/// Installs the agents, builds ours, and measures them.
pub(crate) fn run(checkout: &Checkout, asked: &Asked) -> anyhow::Result<()> {
    let folder = checkout.root().join("target/agents");
    if asked.inside {
        return measure_all(checkout, asked, &folder);
    }
    if let Some(unknown) = asked
        .only
        .iter()
        .find(|name| PEERS.iter().all(|peer| peer.name != **name))
    {
        let known: Vec<&str> = PEERS.iter().map(|peer| peer.name).collect();
        bail!("{unknown} is none of {}", known.join(", "));
    }
    for peer in asked.peers() {
        install(peer, &folder)?;
    }
    program::show(
        program::cargo()
            .args([
                "build",
                "--release",
                "--package",
                "stance-terminal",
                "--package",
                "xtask",
            ])
            .current_dir(checkout.root()),
    )?;
    // Nothing but this machine's loopback, for any of them.
    let mut again = Command::new("bwrap");
    again
        .args(["--dev-bind", "/", "/", "--unshare-net", "--die-with-parent"])
        .arg(checkout.root().join("target/release/xtask"))
        .args(std::env::args_os().skip(1))
        .arg("--inside")
        .current_dir(checkout.root());
    program::show(&mut again)
}

fn install(peer: &Peer, folder: &Path) -> anyhow::Result<()> {
    let Some((package, version)) = peer.package else {
        return Ok(());
    };
    let own = folder.join(peer.name);
    let manifest = own.join("node_modules").join(package).join("package.json");
    let installed = std::fs::read_to_string(&manifest).unwrap_or_default();
    if installed.contains(&format!("\"version\": \"{version}\"")) {
        return Ok(());
    }
    std::fs::create_dir_all(&own)?;
    program::show(
        Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--prefix", "."])
            .arg(format!("{package}@{version}"))
            .current_dir(&own),
    )
    .with_context(|| format!("{} could not be installed; leave it out with --only", peer.name))
}

fn measure_all(checkout: &Checkout, asked: &Asked, folder: &Path) -> anyhow::Result<()> {
    let mock = Mock::start()?;
    let stands: Vec<Stand> = asked
        .peers()
        .map(|peer| Stand::new(peer, checkout, folder, &mock))
        .collect::<anyhow::Result<_>>()?;
    let mut measured: Vec<Measured> = stands
        .iter()
        .map(|stand| {
            let first = stand
                .run(&mock, 0)
                .with_context(|| format!("the first run of {}", stand.peer.name))?;
            Ok(Measured::new(
                stand.peer.name,
                stand.peer.package.map(|(_, version)| version),
                first.wall,
            ))
        })
        .collect::<anyhow::Result<_>>()?;
    for round in 0..asked.rounds {
        eprintln!("round {} of {}", round + 1, asked.rounds);
        for (stand, measured) in stands.iter().zip(&mut measured) {
            measured.hello.add(stand.run(&mock, 0)?);
            if round == 0 {
                measured.hello.asked = First::of(&mock.asked());
                measured.hello.requests = mock.asked().len();
            }
            measured.calls.add(stand.run(&mock, CALLS)?);
            if round == 0 {
                let requests = mock.asked();
                stand.all_called(&requests)?;
                let many: Vec<f64> = (0..10)
                    .map(|_| bare(mock.address, &requests))
                    .collect::<Result<Vec<_>, _>>()?
                    .concat();
                measured.calls.bare = median(&many);
            }
        }
    }
    for _ in 0..MEMORY_ROUNDS {
        for (stand, measured) in stands.iter().zip(&mut measured) {
            stand.tell(&mock, 0);
            measured.hello.memory.push(measure::memory(&mut stand.command())?);
        }
    }
    let report = Report::of(measured, asked.rounds);
    report.print();
    if let Some(file) = &asked.json {
        std::fs::write(file, report.json()?).with_context(|| format!("{} cannot be written", file.display()))?;
    }
    report.verdict()
}

/// An agent at its place: a home folder and a repository of its own.
struct Stand {
    peer: &'static Peer,
    program: PathBuf,
    url: String,
    folder: tempfile::TempDir,
}

impl Stand {
    fn new(peer: &'static Peer, checkout: &Checkout, folder: &Path, mock: &Mock) -> anyhow::Result<Stand> {
        let program = match peer.package {
            Some(_) => folder.join(peer.name).join("node_modules/.bin").join(peer.program),
            None => checkout.root().join("target/release").join(peer.program),
        };
        let stand = Stand {
            peer,
            program,
            url: format!("http://{}", mock.address),
            folder: tempfile::tempdir()?,
        };
        for (name, text) in peer.files {
            let file = stand.home().join(name);
            std::fs::create_dir_all(file.parent().unwrap_or(&file))?;
            std::fs::write(&file, text.replace("{URL}", &stand.url))?;
        }
        std::fs::create_dir_all(stand.home())?;
        std::fs::create_dir_all(stand.sources())?;
        for number in 0..CALLS {
            std::fs::write(
                stand.sources().join(format!("{number}.txt")),
                "A line of a file that is read again and again.\n".repeat(40),
            )?;
        }
        for arguments in [
            &["init", "--quiet"][..],
            &["add", "."],
            &[
                "-c",
                "user.name=Ada",
                "-c",
                "user.email=ada@example.org",
                "commit",
                "--quiet",
                "--message",
                "first",
            ],
        ] {
            program::text(Command::new("git").args(arguments).current_dir(stand.repository()))?;
        }
        if !peer.prepares.is_empty() {
            measure::run(&mut stand.program(peer.prepares))?;
        }
        Ok(stand)
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn repository(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    fn sources(&self) -> PathBuf {
        self.repository().join("src")
    }

    fn tell(&self, mock: &Mock, calls: usize) {
        mock.tell(Story {
            calls,
            reads: self.peer.reads,
            ends: self.peer.ends,
            folder: self.sources().display().to_string(),
        });
    }

    fn run(&self, mock: &Mock, calls: usize) -> anyhow::Result<measure::Cost> {
        self.tell(mock, calls);
        let cost = measure::run(&mut self.command())?;
        if mock.asked().len() <= calls {
            bail!("{} asked the model {} times", self.peer.name, mock.asked().len());
        }
        Ok(cost)
    }

    /// Whether the last request carries every result.
    fn all_called(&self, requests: &[model::Asked]) -> anyhow::Result<()> {
        let results = requests.iter().filter_map(|asked| {
            let protocol = answer::Protocol::of(&asked.path)?;
            Some(protocol.results(&serde_json::from_slice(&asked.body).ok()?))
        });
        let most = results.max().unwrap_or(0);
        if most < CALLS {
            bail!("{} gave back {most} results of {CALLS} calls", self.peer.name);
        }
        Ok(())
    }

    /// A run that is told something.
    fn command(&self) -> Command {
        let mut command = self.program(self.peer.arguments);
        command.arg("Say hi.");
        command
    }

    fn program(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments.iter().map(|argument| argument.replace("{URL}", &self.url)))
            .current_dir(self.repository())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .env("LANG", "C.UTF-8")
            .env("TERM", "dumb")
            .envs(
                self.peer
                    .variables
                    .iter()
                    .map(|(name, value)| (name, value.replace("{URL}", &self.url))),
            );
        command
    }
}

impl Drop for Stand {
    /// Ends the daemons it left behind: whoever has its home folder in the environment.
    fn drop(&mut self) {
        let home = format!("HOME={}", self.home().display());
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment
                .split(|byte| *byte == 0)
                .any(|variable| variable == home.as_bytes())
            {
                program::succeeds(Command::new("kill").arg("-KILL").arg(entry.file_name()));
            }
        }
    }
}
