//! The proof: walls put up around a scratch folder, everything forbidden tried from inside, and the
//! scratch folder compared from outside. What `doctor` shows.

use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use modes::{Containment, HostGate};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::io::FdFlags;
use serde::Serialize;

use crate::inside::{Attempt, Filter, Ground, Held, TRY, Worktree, attempts};
use crate::socket_path::with_room;
use crate::{Network, Places, Program, SandboxError, Spawn, SystemNames, Walls, WallsState, spawn};

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// Whether the worktree was writable when it was tried.
    pub writable: bool,
    /// What was tried.
    pub name: String,
    /// Whether the walls forbade it.
    pub held: bool,
    /// How: the kernel's answer, or what was seen from outside.
    pub detail: String,
}

/// What the walls of this host were seen to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// Every try, in order.
    pub probes: Vec<Probe>,
    /// Why the tries could not be made, if so.
    pub failure: Option<String>,
    /// Whether only the kernel's rules were tried, without namespaces.
    pub partial: bool,
}

impl Proof {
    /// Proven, or partial, if the tries were made and every one held.
    pub fn state(&self) -> WallsState {
        let fallen: Vec<&str> = self
            .probes
            .iter()
            .filter(|probe| !probe.held)
            .map(|probe| probe.name.as_str())
            .collect();
        match &self.failure {
            Some(why) => WallsState::Absent { why: why.clone() },
            None if fallen.is_empty() && self.partial => WallsState::Partial,
            None if fallen.is_empty() => WallsState::Proven,
            None => WallsState::Absent {
                why: format!("did not hold: {}", fallen.join(", ")),
            },
        }
    }
}

pub(crate) async fn prove(walls: &Walls, containments: &[Containment], scratch: &Path) -> Proof {
    let mut proof = Proof {
        probes: Vec::new(),
        failure: None,
        partial: walls.around.held() != Held::Namespaces,
    };
    for containment in containments {
        match prove_one(walls, *containment, scratch).await {
            Ok(probes) => proof.probes.extend(probes),
            Err(error) => {
                proof.failure = Some(error.to_string());
                break;
            }
        }
    }
    proof
}

async fn prove_one(walls: &Walls, containment: Containment, scratch: &Path) -> Result<Vec<Probe>, SandboxError> {
    let worktree = Worktree::under(containment);
    let writable = worktree == Worktree::Written;
    let filter = Filter {
        held: walls.around.held(),
        proxied: containment.network() == modes::Network::EgressGate,
    };
    let network = if filter.proxied { "-network" } else { "" };
    let folder = scratch.join(format!("proof-{}{network}", worktree.word()));
    let site = Site::prepare(&folder, worktree, filter).map_err(SandboxError::system("preparing the proof"))?;
    let before = site.picture();
    let mut places = Places::new(&site.ground.tree, folder.join("scratch"));
    places.hidden.push(site.ground.outside.clone());

    // A careless caller: a descriptor of the host, open for everybody who is started now.
    let foreign = fs::File::open(&site.ground.outside).map_err(SandboxError::system("opening a folder"))?;
    rustix::io::fcntl_setfd(foreign.as_fd(), FdFlags::empty()).map_err(|error| SandboxError::System {
        doing: "passing a folder on",
        source: error.into(),
    })?;
    let order = std::iter::once(TRY.into()).chain(attempts(&site.ground));
    let program = Program::Own(order.collect());
    let mut tries = Spawn::new(program, "/");
    tries.network = filter.proxied.then(|| Network {
        gate: HostGate::default(),
        names: Arc::new(SystemNames),
    });
    let finished = spawn(walls, containment, &places, tries)?.wait().await?;
    drop(foreign);

    let made: Vec<Attempt> = serde_json::from_slice(&finished.stdout.bytes)
        .map_err(|_| SandboxError::WallsFailed(format!("the tries ended early: {}", finished.stderr.text())))?;
    let mut probes: Vec<Probe> = made
        .into_iter()
        .map(|Attempt { name, held, detail }| Probe {
            writable,
            name,
            held,
            detail,
        })
        .collect();
    let mut seen = |name: &str, held: bool, detail: String| {
        probes.push(Probe {
            writable,
            name: name.to_owned(),
            held,
            detail,
        });
    };
    let changed: Vec<String> = before
        .iter()
        .zip(site.picture())
        .filter(|(then, now)| **then != *now)
        .map(|(then, _)| then.path.display().to_string())
        .collect();
    seen("seen from outside: files", changed.is_empty(), changed.join(", "));
    let arrivals = site.arrivals();
    seen(
        "seen from outside: connections",
        arrivals == 0,
        format!("{arrivals} arrived"),
    );
    drop(site);
    fs::remove_dir_all(&folder).map_err(SandboxError::system("removing the proof"))?;
    Ok(probes)
}

/// Everything of an entry that a try could change.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    path: PathBuf,
    facts: Option<(u32, i64, i64, i64, i64, u64)>,
    content: Option<Vec<u8>>,
}

/// The prepared folder, with listeners that must never hear anything.
struct Site {
    ground: Ground,
    loopback: TcpListener,
    sockets: [UnixListener; 3],
}

impl Site {
    fn prepare(folder: &Path, worktree: Worktree, filter: Filter) -> std::io::Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        let folder = folder.canonicalize()?;
        let (tree, outside) = (folder.join("tree"), folder.join("outside"));
        for path in [&tree.join(".git"), &tree.join("folder"), &outside] {
            fs::create_dir_all(path)?;
        }
        for path in [&tree, &tree.join(".git"), &outside] {
            fs::write(path.join("file"), "as it was\n")?;
        }
        fs::write(tree.join("folder/within"), "as it was\n")?;
        mknodat(CWD, tree.join("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        let loopback = TcpListener::bind(("127.0.0.1", 0))?;
        let port = loopback.local_addr()?.port();
        let abstract_name = format!("stance-proof-{}-{port}", std::process::id());
        let sockets = [
            with_room(&tree.join("socket"), UnixListener::bind)?,
            with_room(&outside.join("socket"), UnixListener::bind)?,
            UnixListener::bind_addr(&SocketAddr::from_abstract_name(&abstract_name)?)?,
        ];
        loopback.set_nonblocking(true)?;
        for socket in &sockets {
            socket.set_nonblocking(true)?;
        }
        Ok(Self {
            ground: Ground {
                tree,
                outside,
                port,
                abstract_name,
                worktree,
                filter,
            },
            loopback,
            sockets,
        })
    }

    fn picture(&self) -> Vec<Entry> {
        let Ground {
            tree,
            outside,
            worktree,
            ..
        } = &self.ground;
        let mut paths = vec![
            tree.join(".git"),
            tree.join(".git/file"),
            outside.clone(),
            outside.join("file"),
        ];
        if *worktree != Worktree::Written {
            paths.extend([
                tree.clone(),
                tree.join("file"),
                tree.join("folder"),
                tree.join("folder/within"),
                tree.join("fifo"),
            ]);
        }
        paths.into_iter().map(picture_of).collect()
    }

    fn arrivals(&self) -> usize {
        let quiet = |kind| kind == ErrorKind::WouldBlock;
        let network = self
            .loopback
            .accept()
            .map_or_else(|error| !quiet(error.kind()), |_| true);
        let local = self
            .sockets
            .iter()
            .filter(|socket| socket.accept().map_or_else(|error| !quiet(error.kind()), |_| true));
        usize::from(network) + local.count()
    }
}

fn picture_of(path: PathBuf) -> Entry {
    let facts = path.symlink_metadata().ok();
    let content = facts
        .as_ref()
        .filter(|facts| facts.is_file())
        .and_then(|_| fs::read(&path).ok());
    let facts = facts.map(|facts| {
        (
            facts.mode(),
            facts.mtime(),
            facts.mtime_nsec(),
            facts.ctime(),
            facts.ctime_nsec(),
            facts.ino(),
        )
    });
    Entry { path, facts, content }
}
