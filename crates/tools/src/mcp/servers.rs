//! The servers of one run: started when first used, held to what was allowed, started again when they
//! crash, ended with the run. It must not know who allowed them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex as Plain, PoisonError};
use std::time::Duration;

use modes::ForeignTool;
use sandbox::Places;
use tokio::sync::Mutex;

use super::connection::{Connection, Failed};
use super::offer::{Offer, Pinned};
use super::server::Server;
use super::tool::McpTool;
use super::{LoadMcpDocumentation, ReadMcpResource};
use crate::scope::Scope;
use crate::tool::Tool;

/// A server that crashed so often is not started again in this run.
const MOST_CRASHES: u32 = 4;
/// The pause before the first further start; it doubles.
const PAUSE: Duration = Duration::from_millis(250);

/// Why a server is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotUsable(pub String);

/// A server that an operator allowed.
#[derive(Debug, Clone)]
pub struct Allowed {
    /// The server.
    pub server: Server,
    /// As what it was allowed.
    pub pinned: Pinned,
    /// Whether the operator believes what it says of its tools.
    pub trusted: bool,
    /// The tools of it that the run has.
    pub tools: Vec<ForeignTool>,
    /// Its own folder: home and `/tmp` of its program.
    pub folder: PathBuf,
}

/// The servers of one run.
#[derive(Default)]
pub struct Servers {
    held: BTreeMap<String, Held>,
    /// Servers whose tools are not those that were allowed.
    changed: Plain<Vec<String>>,
}

struct Held {
    allowed: Allowed,
    line: Mutex<Line>,
}

#[derive(Default)]
struct Line {
    connection: Option<Arc<Connection>>,
    crashes: u32,
    /// Why it is not used any more in this run.
    out: Option<NotUsable>,
}

/// Starts a server to see what it offers, and ends it. Tools that cannot be offered come with the reason.
pub async fn look(server: &Server, scope: &Scope, folder: PathBuf) -> Result<(Pinned, Vec<String>), NotUsable> {
    let launched = server.launched(&scope.worktree, scope.walls.as_deref());
    let connection = Connection::open(server, scope, &places(scope, &server.name, folder))
        .await
        .map_err(|failed| NotUsable(why(&failed, server, scope)))?;
    let listed = connection.offers().await;
    let said = connection.end().await;
    let (offers, left_out) = listed.map_err(|failed| {
        let why = why(&failed, server, scope);
        NotUsable(if said.is_empty() {
            why
        } else {
            format!("{why}; it wrote: {said}")
        })
    })?;
    Ok((Pinned { launched, offers }, left_out))
}

/// In words, how a server failed. That it asks for a login is kept in mind.
fn why(failed: &Failed, server: &Server, scope: &Scope) -> String {
    match failed {
        Failed::Unwelcome if server.names_token() => "it does not take the token that its settings name".to_owned(),
        Failed::Unwelcome => match scope.logins.need(server) {
            Ok(()) => format!("it asks for a login, with `stance mcp login {}`", server.name),
            Err(error) => format!("it asks for a login, and that could not be kept in mind: {error}"),
        },
        failed => failed.to_string(),
    }
}

/// What its program sees and writes: what every process of the run does, but a home of its own.
fn places(scope: &Scope, name: &str, folder: PathBuf) -> Places {
    let mut places = scope.places();
    places.scratch = folder;
    places.record = scope
        .repositories
        .with_extension(format!("mcp-{}-{name}.json", scope.run_id));
    places
}

impl Servers {
    /// These servers; none is started yet.
    pub fn new(allowed: Vec<Allowed>) -> Servers {
        Servers {
            held: allowed
                .into_iter()
                .map(|allowed| {
                    let name = allowed.server.name.clone();
                    let line = Mutex::default();
                    (name, Held { allowed, line })
                })
                .collect(),
            changed: Plain::default(),
        }
    }

    /// The tools a run has of them.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        for held in self.held.values() {
            for tool in &held.allowed.tools {
                let offer = held.allowed.pinned.offers.iter().find(|offer| offer.name == tool.tool);
                if let Some(offer) = offer {
                    tools.push(Arc::new(McpTool::new(tool, offer, &held.allowed)));
                }
            }
        }
        if self.trusted().next().is_some() {
            tools.push(Arc::new(ReadMcpResource));
            tools.push(Arc::new(LoadMcpDocumentation));
        }
        tools
    }

    /// Servers whose word the operator believes.
    pub(super) fn trusted(&self) -> impl Iterator<Item = &Allowed> {
        self.held
            .values()
            .map(|held| &held.allowed)
            .filter(|allowed| allowed.trusted)
    }

    /// Servers found since this was asked last to offer something else than was allowed.
    pub fn take_changed(&self) -> Vec<String> {
        std::mem::take(&mut self.changed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends all of them.
    pub async fn end(&self) {
        for held in self.held.values() {
            held.line.lock().await.end().await;
        }
    }

    /// Does something with a server that is up and offers what was allowed.
    pub(super) async fn with<T, Work: Future<Output = Result<T, Failed>>>(
        &self,
        name: &str,
        scope: &Scope,
        work: impl FnOnce(Arc<Connection>) -> Work,
    ) -> Result<T, NotUsable> {
        let held = self
            .held
            .get(name)
            .ok_or_else(|| NotUsable(format!("the MCP server {name} is not allowed any more")))?;
        let used = async {
            let mut line = held.line.lock().await;
            self.ready(held, &mut line, scope).await?;
            let Some(connection) = line.connection.clone() else {
                return Err(NotUsable(format!("the MCP server {name} is not there")));
            };
            let done = work(Arc::clone(&connection)).await;
            let died = !connection.lives() || matches!(done, Err(Failed::Gone));
            drop(connection);
            if died {
                line.crashed().await;
            }
            done.map_err(|failed| line.failed(held, &failed, scope))
        };
        tokio::select! {
            done = used => done,
            () = scope.cancel.cancelled() => Err(NotUsable("a person stopped the run".to_owned())),
        }
    }

    async fn ready(&self, held: &Held, line: &mut Line, scope: &Scope) -> Result<(), NotUsable> {
        if let Some(why) = &line.out {
            return Err(why.clone());
        }
        if line.connection.as_ref().is_some_and(|connection| !connection.lives()) {
            line.crashed().await;
        }
        let name = &held.allowed.server.name;
        let connection = if let Some(connection) = &line.connection {
            Arc::clone(connection)
        } else {
            let connection = Arc::new(connected(held, line, scope).await?);
            Arc::clone(line.connection.insert(connection))
        };
        // Before each call: a notice that they changed could come too late.
        let offers = connection.offers().await;
        drop(connection);
        match offers {
            Ok((offers, _)) if same(&offers, &held.allowed.pinned.offers) => Ok(()),
            Ok(_) => {
                line.end().await;
                self.changed
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(name.clone());
                Err(line.out(format!(
                    "the MCP server {name} does not offer what was allowed: its tools changed. It is not used until \
                     a person allows it again, with `stance mcp allow {name}`"
                )))
            }
            Err(failed) => {
                line.crashed().await;
                Err(line.failed(held, &failed, scope))
            }
        }
    }
}

async fn connected(held: &Held, line: &mut Line, scope: &Scope) -> Result<Connection, NotUsable> {
    let Allowed {
        server, pinned, folder, ..
    } = &held.allowed;
    let name = &server.name;
    if server.launched(&scope.worktree, scope.walls.as_deref()) != pinned.launched {
        return Err(line.out(format!(
            "the MCP server {name} is not started: what would be started is not what was allowed. A person can \
             look at it and allow it again, with `stance mcp allow {name}`"
        )));
    }
    if line.crashes > MOST_CRASHES {
        return Err(line.out(format!(
            "the MCP server {name} crashed {} times and is not started again in this run",
            line.crashes
        )));
    }
    if line.crashes > 0 {
        tokio::time::sleep(PAUSE * 2_u32.pow(line.crashes - 1)).await;
    }
    match Connection::open(server, scope, &places(scope, name, folder.clone())).await {
        Ok(connection) => Ok(connection),
        Err(failed) => {
            line.crashes += 1;
            Err(line.failed(held, &failed, scope))
        }
    }
}

impl Line {
    /// It went away: it may be started once more, after a pause.
    async fn crashed(&mut self) {
        self.crashes += 1;
        self.end().await;
    }

    async fn end(&mut self) {
        // Nobody else holds it: who used it had the line.
        if let Some(connection) = self.connection.take().and_then(Arc::into_inner) {
            connection.end().await;
        }
    }

    /// Why a call was not done. One that asks for a login is not asked again in this run.
    fn failed(&mut self, held: &Held, failed: &Failed, scope: &Scope) -> NotUsable {
        let server = &held.allowed.server;
        let why = format!("the MCP server {}: {}", server.name, why(failed, server, scope));
        match failed {
            Failed::Unwelcome => self.out(why),
            _ => NotUsable(why),
        }
    }

    fn out(&mut self, why: String) -> NotUsable {
        let why = NotUsable(why);
        self.out = Some(why.clone());
        why
    }
}

fn same(offered: &[Offer], allowed: &[Offer]) -> bool {
    let text = |offers: &[Offer]| {
        let launched = Vec::new();
        let offers = offers.to_vec();
        Pinned { launched, offers }.text()
    };
    text(offered) == text(allowed)
}
