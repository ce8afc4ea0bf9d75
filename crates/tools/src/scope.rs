//! Where a call acts: the run's checkout, its private scratch folder, its walls. Built by the
//! engine for one run; a tool reaches nothing beyond it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use modes::{Containment, HostGate};
use sandbox::Places;
use tokio_util::sync::CancellationToken;

use crate::mcp::{Logins, Servers};
use crate::web::Search;

/// The scope of one run's calls.
#[derive(Clone)]
pub struct Scope {
    /// The run, for the marker its processes carry.
    pub run_id: String,
    /// The checkout's root: absolute, resolved.
    pub worktree: PathBuf,
    /// The folder worked in: the root, or one beneath it.
    pub folder: PathBuf,
    /// The home of Stance, where the person's own instructions and skills lie.
    pub own: PathBuf,
    /// The private scratch folder of the run: spill files, `/tmp` of its processes.
    pub scratch: PathBuf,
    /// Where the repositories of the checkout are kept in mind while a process of a run writes there:
    /// one file for all runs of the checkout, out of their processes' reach.
    pub repositories: PathBuf,
    /// Folders nothing may be read from, whatever the roots say: the home of Stance, credential stores.
    pub hidden: Vec<PathBuf>,
    /// The secret-shaped files of the checkout that processes of the run see without a further yes.
    pub secrets: sandbox::Secrets,
    /// What processes of the run cannot write of the checkout without a further yes.
    pub guards: sandbox::Guards,
    /// The person's home folder, to know start-up files and credential stores by.
    pub home: PathBuf,
    /// The repository of the worktree, when it is one.
    pub checkout: Option<repo::Checkout>,
    /// The proven walls; none when they are absent.
    pub walls: Option<Arc<sandbox::Walls>>,
    /// Whether they hold what is started: whether a program sees less than its user does.
    pub walled: bool,
    /// Where packages and builds of the workspace are kept for its processes; a folder that is there.
    pub caches: PathBuf,
    /// What MCP servers of the run reach, where its containment has a network at all.
    pub hosts: HostGate,
    /// Where names of hosts lead.
    pub names: Arc<dyn sandbox::Names>,
    /// What processes of the run may touch.
    pub containment: Containment,
    /// What a command that is only tried may touch; none when the run tries nothing.
    pub inspection: Option<Containment>,
    /// The MCP servers of the run.
    pub servers: Arc<Servers>,
    /// Where logins to them are kept.
    pub logins: Logins,
    /// The search engine of the web, where an operator chose one.
    pub search: Option<Arc<Search>>,
    /// Who commits are by: name and mail.
    pub committer: (String, String),
    /// Ends when a person stops the run.
    pub cancel: CancellationToken,
}

impl Scope {
    /// Whether a checkpoint made now would hold this path beneath the worktree, so that deleting it
    /// can be undone. What is judged by it is held before it is deleted, or not deleted.
    pub fn checkpoint_holds(&self, path: &Path) -> bool {
        repo::checkpoint::would_hold(&self.worktree, path)
    }

    /// What a process of the run sees and writes.
    pub(crate) fn places(&self) -> Places {
        let mut places = Places::new(&self.worktree, &self.scratch);
        places.hidden.clone_from(&self.hidden);
        places.secrets = self.secrets.clone();
        places.guards = self.guards.clone();
        places.record.clone_from(&self.repositories);
        places.home = Some(self.home.clone());
        places.sealed = self.checkout.as_ref().map(repo::Checkout::sealed).unwrap_or_default();
        places
    }
}
