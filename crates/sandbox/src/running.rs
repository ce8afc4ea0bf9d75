//! Following a process to its end: output, time, death. Knows nothing of how the walls are made.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use modes::Containment;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::bare::{self, Prepared};
use crate::captured::Capture;
use crate::ending::{Ended, Enders, Excess, Tree, kill};
use crate::inside::{GO, Held, PROVEN, REFUSED};
use crate::overlay::Overlays;
use crate::proxy::{Handover, Proxy};
use crate::scratch::private_folder;
use crate::walls::Around;
use crate::{
    Captured, Limits, Network, Places, Reached, SandboxError, Spawn, ThrownAway, Violation, Walls, record, start,
    survey, view,
};

/// Chunks waiting for a reader that is slow; beyond this many they are only in the final record.
const WAITING_CHUNKS: usize = 64;
/// Bytes of a failed start's explanation.
const LONGEST_REASON: usize = 4096;

/// What a process reads.
#[derive(Debug)]
pub(crate) enum Input {
    /// These bytes, and then the end.
    Whole(Vec<u8>),
    /// What is said on a stream, on which it also answers.
    Stream(DuplexStream),
}

/// Which output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// A piece of output, as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Where it was written.
    pub stream: Stream,
    /// The bytes; a character may be cut.
    pub bytes: Vec<u8>,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// The program's exit code; 128 + N for one ended by signal N, 127 for one that could not be
    /// started inside. `None` if we killed it.
    pub exit: Option<i32>,
    /// Standard output, bounded.
    pub stdout: Captured,
    /// Standard error, bounded.
    pub stderr: Captured,
    /// The limit it was killed for.
    pub excess: Option<Excess>,
    /// Secret-shaped files of the worktree that it could not open.
    pub hidden: Vec<PathBuf>,
    /// Whether secret-shaped files of the worktree were in its view.
    pub saw_secrets: bool,
    /// Hosts it reached through the proxy, or was refused; a host is here once for each.
    pub reached: Vec<Reached>,
    /// What it did that could only be undone afterwards.
    pub violations: Vec<Violation>,
    /// What it wrote in a throw-away view; gone by now.
    pub thrown_away: Option<ThrownAway>,
}

/// A process inside the walls. Dropping it kills the process and all its descendants.
#[derive(Debug)]
pub struct Running {
    supervisor: JoinHandle<Result<Finished, SandboxError>>,
    output: Option<mpsc::Receiver<Chunk>>,
    process: Option<oneshot::Receiver<u32>>,
    killer: watch::Sender<bool>,
}

impl Running {
    /// The live output, once. It ends with the process; a slow reader loses chunks, the record does
    /// not.
    pub fn take_output(&mut self) -> Option<mpsc::Receiver<Chunk>> {
        self.output.take()
    }

    /// The number by which the host knows the walls around the process, once: when it ends, all of
    /// them end. None when they were never put up.
    pub async fn process(&mut self) -> Option<u32> {
        self.process.take()?.await.ok()
    }

    /// Kills the process and all its descendants; `wait` then tells what it had written.
    pub fn kill(&self) {
        self.killer.send_replace(true);
    }

    /// Waits for the end, and kills when `stop` comes first: the end is then what was left to see.
    pub async fn wait_unless(self, stop: impl Future<Output = ()>) -> Result<Finished, SandboxError> {
        let killer = self.killer.clone();
        let ended = self.wait();
        tokio::pin!(ended);
        tokio::select! {
            biased;
            () = stop => {
                killer.send_replace(true);
                ended.await
            }
            finished = &mut ended => finished,
        }
    }

    /// Waits for the end. Cancelling this future kills the process.
    pub async fn wait(mut self) -> Result<Finished, SandboxError> {
        self.output = None;
        (&mut self.supervisor)
            .await
            .unwrap_or_else(|failure| Err(SandboxError::WallsFailed(failure.to_string())))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The supervisor goes on by itself: what the process did must still be looked at.
        self.kill();
    }
}

pub(crate) fn run(
    walls: Walls,
    containment: Containment,
    places: Places,
    spawn: Spawn,
    variables: Vec<(OsString, OsString)>,
    input: Input,
) -> Running {
    let (chunks, output) = mpsc::channel(WAITING_CHUNKS);
    let (killer, kill_asked) = watch::channel(false);
    let held = walls.around.held();
    let (number, process) = oneshot::channel();
    let supervisor = tokio::spawn(async move {
        let limits = spawn.limits;
        let writes = places.worktree_is_written(containment);
        // What others are allowed to write while it is spoken with is nothing that it made.
        let takes_back = matches!(input, Input::Whole(_));
        let network = spawn.network.clone();
        let handover = network.is_some().then(Handover::new).transpose()?;
        let (ours, theirs) = handover.map(|handover| (handover.ours, handover.theirs)).unzip();
        let (begun, before, guarded, recovered, hidden, places) = blocking(move || {
            make_private(&places)?;
            let recovered = if writes { record::recover(&places)? } else { Vec::new() };
            let survey = survey::survey(&places, writes)?;
            let passed = theirs.as_ref().map(AsRawFd::as_raw_fd);
            let overlays = view::overlays(&walls, containment, &places)?;
            let prepared = match &walls.around {
                Around::Namespaces { bwrap } => {
                    let arguments =
                        view::build(&walls, containment, &places, &spawn, &survey, passed, overlays.as_ref())?;
                    let (program, arguments) = match &overlays {
                        None => (bwrap, arguments),
                        Some(overlays) => (&walls.helper, overlays.arguments(bwrap, arguments)?),
                    };
                    Prepared {
                        program: program.clone(),
                        arguments,
                        variables,
                        folder: "/".into(),
                    }
                }
                Around::Kernel | Around::Nothing => {
                    bare::prepare(&walls, containment, &places, &spawn, &survey, variables)?
                }
            };
            let hidden = view::hidden_secrets(&places, &survey);
            let saw_secrets = hidden.len() < survey.secrets.len();
            let guarded = survey.guarded;
            let before: BTreeSet<_> = survey.git.into_values().collect();
            if writes {
                record::keep(&places.record, &before)?;
            }
            let child = start::start(prepared, theirs).inspect_err(|_| record::drop_unused(&places))?;
            let begun = Begun { child, held, overlays };
            Ok((begun, before, guarded, recovered, (hidden, saw_secrets), places))
        })
        .await?;
        let way_out = ours.zip(network);
        // Whoever started it may not want to know.
        if let Some(id) = begun.child.id() {
            number.send(id).ok();
        }
        let followed = follow(begun, input, limits, chunks, kill_asked, way_out).await;
        if matches!(followed, Err(SandboxError::Undying)) {
            return followed;
        }
        let planted = if writes {
            blocking(move || record::settle(&places, &before, takes_back.then_some(&guarded))).await?
        } else {
            Vec::new()
        };
        let mut finished = followed?;
        (finished.hidden, finished.saw_secrets) = hidden;
        finished.violations = recovered.into_iter().chain(planted).collect();
        Ok(finished)
    });
    Running {
        supervisor,
        output: Some(output),
        process: Some(process),
        killer,
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SandboxError> + Send + 'static,
) -> Result<T, SandboxError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|failure| Err(SandboxError::WallsFailed(failure.to_string())))
}

/// The folders that are `/tmp` and HOME inside, and the generated files; for nobody else to read.
fn make_private(places: &Places) -> Result<(), SandboxError> {
    for name in ["tmp", "home", view::GENERATED] {
        private_folder(&places.scratch.join(name))?;
    }
    for (number, file) in places.files.iter().enumerate() {
        let source = view::generated(places, number);
        std::fs::write(source, &file.content).map_err(SandboxError::system("making a private file"))?;
    }
    Ok(())
}

/// A process that was started, and what of it outlives the start.
struct Begun {
    child: Child,
    held: Held,
    overlays: Option<Overlays>,
}

async fn follow(
    begun: Begun,
    given: Input,
    limits: Limits,
    chunks: mpsc::Sender<Chunk>,
    kill_asked: watch::Receiver<bool>,
    way_out: Option<(OwnedFd, Network)>,
) -> Result<Finished, SandboxError> {
    let Begun {
        mut child,
        held,
        overlays,
    } = begun;
    let (Some(mut input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(SandboxError::WallsFailed("a pipe is missing".into()));
    };
    let mut errors = BufReader::new(errors);
    let mut enders = Enders::new(&child, held, limits, kill_asked);
    let verdict = enders.over(&mut child, first_line(&mut errors)).await;
    if verdict != PROVEN && enders.ended().is_none() {
        drop(input);
        return Err(not_started(&mut enders, &mut child, held, verdict, errors).await);
    }
    // Taken while the helper waits: a short program would be gone before.
    let goes = enders.ended().is_none();
    let proxy = match way_out {
        Some((ours, network)) if goes => Some(Proxy::serve(&ours, network)?),
        _ => None,
    };
    let tree = if goes && held == Held::Namespaces {
        Some(Tree::beneath(&child)?)
    } else {
        None
    };
    let layers = match (overlays, child.id()) {
        (Some(overlays), Some(layer)) if tree.is_some() => Some(overlays.hold(layer)?),
        _ => None,
    };

    // Ended already, the helper is never let go: bubblewrap may have died before it tied the helper's
    // life to its own.
    let mut stdout = Capture::new(limits.keep, limits.output_bytes);
    let mut stderr = Capture::new(limits.keep, limits.output_bytes);
    let talk = async {
        // A program may well end without reading everything.
        let lets_go = goes && input.write_all(GO).await.is_ok();
        match given {
            Input::Whole(stdin) => {
                let write = async move {
                    if lets_go {
                        drop(input.write_all(&stdin).await);
                    }
                };
                tokio::join!(write, copy(output, Stream::Output, &mut stdout, &chunks));
            }
            Input::Stream(stream) => converse(stream, input, output).await,
        }
    };
    let streams = async { tokio::join!(talk, copy(&mut errors, Stream::Error, &mut stderr, &chunks)) };
    enders.over(&mut child, streams).await;
    let status = enders.child(&mut child).await?;
    if let Some(tree) = tree {
        blocking(move || tree.gone()).await?;
    }
    let thrown_away = match layers {
        Some(layers) => Some(blocking(move || Ok(layers.report())).await?),
        None => None,
    };
    Ok(Finished {
        exit: status.code().filter(|_| enders.ended().is_none()),
        stdout: stdout.finish(),
        stderr: stderr.finish(),
        excess: enders.ended().and_then(|ended| match ended {
            Ended::Over(excess) => Some(excess),
            Ended::Killed => None,
        }),
        hidden: Vec::new(),
        saw_secrets: false,
        reached: proxy.as_ref().map(Proxy::report).unwrap_or_default(),
        violations: Vec::new(),
        thrown_away,
    })
}

/// Passes on what both sides say until the program says nothing more, or nobody listens.
async fn converse(stream: DuplexStream, mut input: ChildStdin, mut output: ChildStdout) {
    let (mut from, mut to) = tokio::io::split(stream);
    let listens = async move {
        drop(tokio::io::copy(&mut from, &mut input).await);
        drop(input);
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = listens => {}
        _ = tokio::io::copy(&mut output, &mut to) => {}
    }
}

async fn not_started(
    enders: &mut Enders,
    child: &mut Child,
    held: Held,
    verdict: String,
    errors: impl AsyncRead + Unpin,
) -> SandboxError {
    let mut rest = Vec::new();
    let mut errors = errors.take(LONGEST_REASON as u64);
    drop(enders.over(child, errors.read_to_end(&mut rest)).await);
    kill(child, held);
    let reason = verdict + &String::from_utf8_lossy(&rest);
    match reason.strip_prefix(REFUSED) {
        Some(reason) => SandboxError::BoundaryNotProven(reason.trim().to_owned()),
        None if reason.is_empty() => SandboxError::WallsFailed("bubblewrap said nothing".into()),
        None => SandboxError::WallsFailed(reason.trim().to_owned()),
    }
}

/// The helper's verdict: written before the program exists, so the program cannot forge it.
async fn first_line(errors: &mut (impl AsyncBufRead + Unpin)) -> String {
    let mut line = Vec::new();
    drop(errors.take(LONGEST_REASON as u64).read_until(b'\n', &mut line).await);
    String::from_utf8_lossy(&line).into_owned()
}

async fn copy(mut from: impl AsyncRead + Unpin, stream: Stream, record: &mut Capture, chunks: &mpsc::Sender<Chunk>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let bytes = buffer.get(..length).unwrap_or_default();
        record.push(bytes);
        drop(chunks.try_send(Chunk {
            stream,
            bytes: bytes.to_vec(),
        }));
    }
}
