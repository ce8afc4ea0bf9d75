//! A run being driven by this process: its specification, its state and what it acts with.

use std::sync::Arc;

use modes::{ModelView, RunSpec, ThreadReach, Tier, WallsStanding, model_view, run_spec};
use tokio_util::sync::CancellationToken;
use tools::mcp::Servers;
use tools::{Instructions, Scope, Toolbox};

use crate::checkpoint::Held;
use crate::config::ChosenModel;
use crate::fact::{Fact, RunStart};
use crate::inner::{self, Inner};
use crate::mcp;
use crate::problem::{Problem, ProblemKind};
use crate::run_state::RunState;
use crate::turn::assemble;

/// A run in hand.
pub(crate) struct Active {
    pub inner: Arc<Inner>,
    pub spec: RunSpec,
    pub view: ModelView,
    pub state: RunState,
    /// The conversation of the thread before this run.
    pub before: Vec<llm::Message>,
    /// The run that spoke last in it.
    pub previous: Option<RunStart>,
    /// Pages an operator named in the thread before this run.
    pub named: Vec<String>,
    pub scope: Scope,
    /// The tools it has.
    pub toolbox: Toolbox,
    pub chosen: ChosenModel,
    pub stop: CancellationToken,
    /// The checkpoint from before its first change.
    pub held: Held,
}

impl Active {
    /// Takes a run in hand. Its specification is computed again from its recipe and must be the
    /// one it was started with.
    pub(crate) async fn take(inner: Arc<Inner>, run: &str, stop: CancellationToken) -> Result<Active, Problem> {
        let mut state = inner.run(run).await?;
        let start = &state.start;
        let spec = run_spec(start.recipe.clone(), &mcp::built(&inner.toolbox, &start.servers))
            .map_err(|refused| Problem::refused(refused.to_string()))?;
        if spec.digest() != start.profile_digest {
            return Err(Problem::refused(format!(
                "run {run} was started under another profile than this version of Stance has"
            ))
            .hint("send a new message: a new run starts under the present one."));
        }
        let (then, now) = (start.recipe.walls, inner.walls_standing());
        if then != now && now != WallsStanding::Proven {
            return Err(Problem::refused(format!(
                "run {run} was started with walls {}, and here they are {}",
                then.shown(),
                now.shown()
            ))
            .hint("send a new message: a new run starts with the walls that are here.")
            .hint("`stance doctor` shows what they are."));
        }
        let mut chosen = inner.config.models.choose(start.recipe.mode)?;
        if chosen.settings.provider != start.model.provider {
            return Err(Problem::refused(format!(
                "run {run} was started with {}; {} cannot go on with it",
                words(&start.model),
                words(&chosen.settings)
            ))
            .hint("name the model it was started with, or send a new message."));
        }
        // Said as the run begins to be driven: before that nobody listens.
        if state.requests == 0 {
            chosen.notices.drain(..).for_each(|notice| inner.notice(notice));
            mcp::say_missing(&inner, start.recipe.mode);
        }
        if chosen.settings != start.model {
            if !chosen.model.identity().simulated {
                chosen.settings = start.model.clone();
            }
            inner.notice(format!(
                "this run was started with {} and goes on with {}",
                words(&start.model),
                words(&chosen.settings)
            ));
        }
        let (before, previous) = if start.fresh_context {
            (Vec::new(), None)
        } else {
            assemble::before(&inner, start).await?
        };
        let named = assemble::named(&inner, start).await?;
        let servers = mcp::servers(&inner, run, &start.servers)?;
        let toolbox = inner
            .toolbox
            .with(mcp::built(&inner.toolbox, &start.servers), servers.tools());
        let scope = scope(&inner, &spec, run, servers, stop.clone()).await?;
        if state.requests == 0 && state.instructions.is_empty() {
            let instructions = Instructions::of(&scope);
            if !instructions.is_empty() {
                inner.record(&mut state, vec![Fact::Instructed(instructions)]).await?;
            }
        }
        Ok(Active {
            view: model_view(&spec),
            inner,
            spec,
            state,
            before,
            previous,
            named,
            scope,
            toolbox,
            chosen,
            stop,
            held: Held::Unknown,
        })
    }

    /// The specification of the call in hand: bounded by the step in progress, with the rules that
    /// answers to earlier calls have become.
    pub(crate) fn spec_now(&self) -> Result<RunSpec, Problem> {
        let spec = match self.state.entry().and_then(|entry| entry.files.clone()) {
            Some(files) => self.spec.within_step(files),
            None => self.spec.clone(),
        };
        spec.remembering(&self.state.remembered)
            .map_err(|refused| Problem::new(ProblemKind::Store, refused.to_string()))
    }

    /// What the history of the thread decides about hosts, as it stands now.
    pub(crate) async fn reach(&self) -> Result<ThreadReach, Problem> {
        let thread = &self.state.start.thread;
        let mut urls = self.named.clone();
        urls.extend(assemble::pages_named(&self.state));
        urls.extend(self.state.found.iter().cloned());
        Ok(ThreadReach {
            flagged: self.inner.thread_holds_secrets(thread).await?,
            urls,
        })
    }

    /// Appends facts and folds them in.
    pub(crate) async fn record(&mut self, facts: Vec<Fact>) -> Result<(), Problem> {
        let inner = Arc::clone(&self.inner);
        inner.record(&mut self.state, facts).await
    }
}

/// Provider and model in one word.
pub(crate) fn words(settings: &llm::ModelSettings) -> String {
    format!("{}:{}", settings.provider, settings.model)
}

/// What tools work with in such a run.
pub(crate) async fn scope(
    inner: &Inner,
    spec: &RunSpec,
    run: &str,
    servers: Arc<Servers>,
    stop: CancellationToken,
) -> Result<Scope, Problem> {
    let committer = if spec.capability().max_tier() == Tier::Exec {
        inner.committer().await?
    } else {
        None
    };
    let nobody = || {
        (
            inner.config.operator.clone(),
            format!("{}@localhost", inner.config.operator),
        )
    };
    Ok(Scope {
        run_id: run.to_owned(),
        worktree: inner.worktree.clone(),
        folder: inner.config.start.clone(),
        own: inner.config.home.clone(),
        scratch: inner.home.scratch(run)?,
        repositories: inner.home.repositories(&inner.worktree),
        hidden: inner.hidden(),
        secrets: inner::secrets(spec),
        guards: inner::guards(spec),
        home: inner.config.person_home.clone(),
        checkout: inner.checkout.clone(),
        walls: inner.config.walls.clone(),
        walled: spec.recipe().walls.hold(),
        caches: inner.home.caches()?,
        hosts: spec.standing_hosts(),
        names: Arc::clone(&inner.config.names),
        containment: spec.containment(),
        inspection: spec.inspection().ok(),
        servers,
        logins: inner.mcp.logins().clone(),
        search: inner.config.search.clone(),
        committer: committer.map_or_else(nobody, |who| (who.name().to_owned(), who.mail().to_owned())),
        cancel: stop,
    })
}

impl From<repo::RepoError> for Problem {
    fn from(error: repo::RepoError) -> Problem {
        let problem = Problem::new(ProblemKind::Machine, error.to_string());
        match error.hint() {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }
}
