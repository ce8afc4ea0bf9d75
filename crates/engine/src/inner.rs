//! What the parts of the engine share: one workspace, opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use modes::{RunSpec, WallsStanding};
use sandbox::Violation;
use store::{Holder, Store, Table};
use tools::Toolbox;

use crate::clock;
use crate::config::EngineConfig;
use crate::fact::Fact;
use crate::home::WorkspaceHome;
use crate::journal::Journal;
use crate::mcp::Mcp;
use crate::problem::{Problem, ProblemKind};
use crate::projection::HOLDS_SECRETS;
use crate::run_state::RunState;
use crate::trust::{self, ProjectPart, Standing};
use crate::view::FeedItem;

/// The scratch folder, named as one of a run, for what killed processes planted.
const RECOVERED: &str = "recovered";

/// One workspace, opened by this process.
pub(crate) struct Inner {
    pub config: EngineConfig,
    pub journal: Journal,
    pub home: WorkspaceHome,
    /// The checkout this process was started in; resolved.
    pub worktree: PathBuf,
    pub git: Option<repo::Git>,
    pub checkout: Option<repo::Checkout>,
    /// What the repository of the checkout has recorded.
    pub recorded: repo::Recorded,
    pub toolbox: Toolbox,
    pub holder: Holder,
    /// The configured MCP servers.
    pub mcp: Mcp,
    /// The configured parts, as they stood when this engine was opened.
    pub parts: Vec<(ProjectPart, Standing)>,
}

impl Inner {
    pub(crate) async fn open(mut config: EngineConfig) -> Result<Inner, Problem> {
        let start = config.start.canonicalize().map_err(|error| {
            Problem::usage(format!("{}: {error}", config.start.display())).hint("name a folder that is there.")
        })?;
        config.start.clone_from(&start);
        let git_scratch = config.home.join("git");
        let git = config
            .walls
            .as_ref()
            .map(|walls| repo::Git::new(Arc::clone(walls), git_scratch));
        let checkout = match &git {
            Some(git) => match repo::Checkout::discover(git, &start).await {
                Ok(checkout) => Some(checkout),
                Err(repo::RepoError::NoRepository(_) | repo::RepoError::Bare(_)) => None,
                Err(error) => return Err(error.into()),
            },
            None => None,
        };
        let (worktree, shared) = match &checkout {
            Some(checkout) => (checkout.worktree.clone(), checkout.common_dir.clone()),
            None => places_without_git(&start),
        };
        if config.home.starts_with(&worktree) {
            return Err(Problem::usage(format!(
                "the home of Stance ({}) lies inside the checkout ({})",
                config.home.display(),
                worktree.display()
            ))
            .hint("set STANCE_HOME to a folder outside of it."));
        }
        let home = WorkspaceHome::of(&config.home, &shared)?;
        let store = Store::open(&home.database(), home.journal_key()?).await?;
        let journal = Journal::new(store);
        let mut parts = Vec::new();
        for part in std::mem::take(&mut config.parts) {
            let standing = trust::standing(&journal, &part).await?;
            if standing.holds() {
                config.rules.extend(part.rules.iter().cloned());
            }
            parts.push((part, standing));
        }
        let servers = std::mem::take(&mut config.servers);
        let logins = tools::mcp::Logins::new(config.home.join("logins"));
        let mcp = Mcp::of(&journal, servers, logins, &worktree, config.walls.as_deref()).await?;
        let toolbox = tools::toolbox().map_err(|error| Problem::new(ProblemKind::Machine, error.to_string()))?;
        let toolbox = if config.search.is_some() {
            tools::with_search(&toolbox)
        } else {
            toolbox
        };
        Ok(Inner {
            holder: clock::holder("stance"),
            journal,
            mcp,
            parts,
            config,
            home,
            worktree,
            git,
            checkout,
            recorded: repo::Recorded::default(),
            toolbox,
        })
    }

    /// Git and the checkout, when there are both.
    pub(crate) fn repository(&self) -> Option<(&repo::Git, &repo::Checkout)> {
        self.git.as_ref().zip(self.checkout.as_ref())
    }

    /// Hosts that need no question, beside the shipped ones: those of the settings, and of the repository's
    /// remotes where no process of a run could have written them.
    pub(crate) fn hosts(&self) -> Vec<String> {
        let sealed = self.walls_standing() == WallsStanding::Proven;
        let remotes = self
            .checkout
            .iter()
            .filter(|_| sealed)
            .flat_map(repo::Checkout::remotes);
        let remotes = remotes.flat_map(|address| modes::hosts_of_remote(address));
        let mut hosts: Vec<String> = self.config.hosts.iter().cloned().chain(remotes).collect();
        hosts.sort();
        hosts.dedup();
        hosts
    }

    pub(crate) fn walls_standing(&self) -> WallsStanding {
        if self.config.walls.is_some() {
            self.config.walls_standing
        } else {
            WallsStanding::Absent
        }
    }

    pub(crate) fn notice(&self, text: impl Into<String>) {
        self.journal.show(FeedItem::Notice(text.into()));
    }

    /// Refuses to go on with a journal that is shorter than it was: events were removed.
    pub(crate) async fn refuse_shortened(&self) -> Result<(), Problem> {
        let now = self.journal.store().head().await?;
        match self.home.remembered_head() {
            Some(kept) if kept.number > now.number => Err(Problem::new(
                ProblemKind::Store,
                format!(
                    "the journal of this workspace ends at event {}, but it had {}: events were removed",
                    now.number, kept.number
                ),
            )
            .hint("`stance audit verify` shows what is left.")
            .hint(format!(
                "to begin a new journal all the same, remove {}.",
                self.home.head_file().display()
            ))),
            _ => Ok(()),
        }
    }

    /// Keeps the end of the journal outside of it.
    pub(crate) async fn remember_head(&self) -> Result<(), Problem> {
        self.home.remember_head(&self.journal.store().head().await?)
    }

    /// Whether secrets were read in a thread, or in one that it belongs to.
    pub(crate) async fn thread_holds_secrets(&self, thread: &str) -> Result<bool, Problem> {
        let mut next = Some(thread.to_owned());
        while let Some(id) = next {
            let Some(row) = self.journal.store().get(Table::Thread, &id).await? else {
                return Ok(false);
            };
            if row.body.get(HOLDS_SECRETS) == Some(&true.into()) {
                return Ok(true);
            }
            next = row.text("parent").map(str::to_owned);
        }
        Ok(false)
    }

    /// A run as its journal has it.
    pub(crate) async fn run(&self, run: &str) -> Result<RunState, Problem> {
        let facts = self.journal.facts(&format!("run/{run}")).await?;
        RunState::fold(facts).ok_or_else(|| {
            Problem::usage(format!("there is no run {run} in this workspace"))
                .hint("`stance space list` shows what is here.")
        })
    }

    /// Appends facts of a run in one change and folds them into its state.
    pub(crate) async fn record(&self, state: &mut RunState, facts: Vec<Fact>) -> Result<(), Problem> {
        let lasting = facts.iter().any(Fact::lasts);
        let run = state.start.run.clone();
        let mut change = if lasting {
            self.journal.lasting_change(&run).await?
        } else {
            self.journal.change(&run).await?
        };
        let mut numbered = Vec::with_capacity(facts.len());
        for fact in facts {
            numbered.push((change.record(&fact).await?, fact));
        }
        change.commit().await?;
        // A run that follows this one starts in the same change; what comes then is its own.
        for (number, fact) in numbered
            .iter()
            .take_while(|(_, fact)| !matches!(fact, Fact::RunStarted(_)))
        {
            state.apply(*number, fact);
        }
        Ok(())
    }
}

/// The secret-shaped files that processes of a run see: those it may read without asking. Whatever a
/// rule denies to be read they see neither.
pub(crate) fn secrets(spec: &RunSpec) -> sandbox::Secrets {
    let asked = spec.clone();
    let secrets = sandbox::Secrets::shown_if(move |path| asked.reads_unasked(path));
    if spec.denies_reads() {
        let spec = spec.clone();
        secrets.denying(move |path| spec.denies_reading(path))
    } else {
        secrets
    }
}

/// What processes of a run cannot write of the worktree: what a rule denies, and files that configure
/// agents, editors, git or CI which the run may not write without asking.
pub(crate) fn guards(spec: &RunSpec) -> sandbox::Guards {
    let asked = spec.clone();
    let guards = sandbox::Guards::asking(move |path| !asked.writes_unasked(path));
    if spec.denies_writes() {
        let spec = spec.clone();
        guards.denying(move |path| spec.denies_writing(path))
    } else {
        guards
    }
}

/// Worktree and shared folder where git cannot be asked: the nearest folder with a `.git`.
fn places_without_git(start: &Path) -> (PathBuf, PathBuf) {
    let worktree = start
        .ancestors()
        .find(|folder| folder.join(".git").exists())
        .unwrap_or(start);
    let dot_git = worktree.join(".git");
    let shared = if dot_git.is_dir() { dot_git } else { worktree.to_owned() };
    (worktree.to_owned(), shared)
}

impl Inner {
    /// What no tool and no process of a run may read: the home of Stance and credential stores.
    pub(crate) fn hidden(&self) -> Vec<PathBuf> {
        let mut hidden = vec![self.config.home.clone()];
        hidden.extend(sandbox::credential_stores(&self.config.person_home));
        hidden
    }

    /// What a process of a run, or of its check, sees and writes.
    pub(crate) fn places(&self, run: &str) -> Result<sandbox::Places, Problem> {
        let mut places = sandbox::Places::new(&self.worktree, self.home.scratch(run)?);
        places.sealed = self.checkout.as_ref().map(repo::Checkout::sealed).unwrap_or_default();
        places.hidden = self.hidden();
        places.record = self.home.repositories(&self.worktree);
        places.home = Some(self.config.person_home.clone());
        Ok(places)
    }

    /// Moves away what a process of a killed Stance planted in the checkout, and says so. Only for who
    /// has the checkout's turn.
    pub(crate) async fn recover(&self) -> Result<(), Problem> {
        let mut places = self.places(RECOVERED)?;
        let records = self.home.all_repositories(&self.worktree);
        let machine = |error: String| Problem::new(ProblemKind::Machine, error);
        let recovered = move || {
            let mut violations = Vec::new();
            for record in records {
                places.record = record;
                violations.extend(sandbox::recover(&places)?);
            }
            Ok::<_, sandbox::SandboxError>(violations)
        };
        let violations = tokio::task::spawn_blocking(recovered)
            .await
            .map_err(|failure| machine(failure.to_string()))?
            .map_err(|error| machine(error.to_string()))?;
        for Violation::GitCreated { path, moved_to } | Violation::Guarded { path, moved_to } in violations {
            self.notice(format!(
                "{} was made by a command that was cut off, and moved to {}.",
                path.display(),
                moved_to.display()
            ));
        }
        Ok(())
    }

    /// Who commits are by: what the person's and the repository's git settings name.
    pub(crate) async fn committer(&self) -> Result<Option<repo::Identity>, Problem> {
        let Some((git, checkout)) = self.repository() else {
            return Ok(None);
        };
        let home = &self.config.person_home;
        let personal: Vec<PathBuf> = [home.join(".config/git/config"), home.join(".gitconfig")]
            .into_iter()
            .filter(|file| file.is_file())
            .collect();
        Ok(repo::identity(git, checkout, &personal).await?)
    }
}
