//! Starting bubblewrap. Its parent must be a thread that lives as long as this process: the kernel
//! sends "your parent died" when the starting *thread* ends, and a runtime ends idle threads.

use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

use rustix::io::FdFlags;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;

use crate::SandboxError;
use crate::bare::Prepared;

type Job = Box<dyn FnOnce() + Send>;

static STARTER: OnceLock<Sender<Job>> = OnceLock::new();

fn starter() -> &'static Sender<Job> {
    STARTER.get_or_init(|| {
        let (sender, jobs) = channel::<Job>();
        std::thread::spawn(move || jobs.into_iter().for_each(|job| job()));
        sender
    })
}

/// Every process is started by this one thread, so nobody else inherits what is open for a moment here.
fn pass_on(passed: Option<&OwnedFd>) -> std::io::Result<()> {
    passed.map_or(Ok(()), |passed| {
        rustix::io::fcntl_setfd(passed, FdFlags::empty()).map_err(Into::into)
    })
}

/// Starts a program with three fresh pipes, exactly these variables, its death tied to ours, and one
/// more descriptor under the number it has here if one is to be passed on. Its death: bubblewrap asks
/// the kernel for that, and a watcher sees that nobody reads its output any more.
pub(crate) fn start(prepared: Prepared, passed: Option<OwnedFd>) -> Result<Child, SandboxError> {
    let mut command = Command::new(prepared.program);
    command
        .args(prepared.arguments)
        .env_clear()
        .envs(prepared.variables)
        .current_dir(prepared.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A group of its own, so that what bubblewrap has begun and not tied to itself yet dies too.
        .process_group(0);
    let runtime = Handle::current();
    let (answer, started) = channel();
    let job: Job = Box::new(move || {
        let _entered = runtime.enter();
        // Nobody listening means the caller is gone: the pipes are closed, which ends the child.
        drop(answer.send(pass_on(passed.as_ref()).and_then(|()| command.spawn())));
    });
    let gone = || SandboxError::WallsFailed("the starting thread is gone".into());
    starter().send(job).map_err(|_| gone())?;
    started
        .recv()
        .map_err(|_| gone())?
        .map_err(SandboxError::system("starting the walls"))
}
