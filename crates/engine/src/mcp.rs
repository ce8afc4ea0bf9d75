//! How the configured MCP servers stand: what an operator allowed, believed, and what a run has of it. An
//! allowance is trust in one content: what is started, and what it offered then. It must not know the
//! protocol.

mod acts;

pub use acts::ServerLogin;
pub(crate) use acts::{allow, begin_login, believe, forget, log_out};

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use modes::{Built, ForeignTool, Mode, WallsStanding, descriptor};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tools::Toolbox;
use tools::mcp::{Allowed, Launch, LoginStanding, Logins, Offer, Pinned, Server, Servers};

use crate::active::Active;
use crate::clock;
use crate::fact::Fact;
use crate::inner::Inner;
use crate::journal::Journal;
use crate::problem::Problem;
use crate::trust::{self, Trust};
use crate::view::{McpServerView, McpToolView, Pending};

/// Who forgets trust in a server that changed what it offers.
const CHANGED: &str = "Stance: the server's tools changed";

/// The word for every tool that says it only reads.
const EVERY: &str = "*";

/// What a run has of one server, as it stood when the run started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunServer {
    pub name: String,
    /// The digest of the allowance.
    pub digest: String,
    /// Whether the operator believed its word.
    pub trusted: bool,
    pub tools: Vec<ForeignTool>,
}

/// The configured servers, as they stand, and those that are up.
pub(crate) struct Mcp {
    known: Mutex<Vec<Known>>,
    logins: Logins,
    up: Mutex<BTreeMap<String, Arc<Servers>>>,
}

#[derive(Clone)]
struct Known {
    server: Server,
    /// What would be started or asked now.
    launched: Vec<String>,
    standing: Standing,
}

#[derive(Clone)]
enum Standing {
    /// It cannot be used as it is configured.
    Unusable(String),
    /// Nobody allowed it.
    New,
    /// Another content was allowed, or what was allowed is no more offered: its lines then.
    Changed(String),
    /// It is allowed as it is.
    Allowed {
        trust: Trust,
        pinned: Pinned,
        believed: Believed,
    },
}

/// Whose word about its effects is believed.
#[derive(Clone, Default)]
struct Believed(Vec<String>);

impl Believed {
    fn believes(&self, tool: &str) -> bool {
        self.0.iter().any(|believed| believed == EVERY || believed == tool)
    }
}

fn allowance(name: &str) -> String {
    format!("mcp:{name}")
}

fn belief(name: &str) -> String {
    format!("mcp:{name}:reads")
}

/// What is believed, as content: bound to the allowance it was given with.
fn believing(allowance: &str, tools: &[String]) -> String {
    json!([allowance, tools]).to_string()
}

impl Mcp {
    /// How the configured servers stand to the journal.
    pub(crate) async fn of(
        journal: &Journal,
        servers: Vec<Server>,
        logins: Logins,
        worktree: &std::path::Path,
        walls: Option<&sandbox::Walls>,
    ) -> Result<Mcp, Problem> {
        let given = trust::given(journal).await?;
        let known = servers
            .into_iter()
            .map(|server| {
                let launched = server.launched(worktree, walls);
                let standing = standing(&server, &launched, &given);
                Known {
                    server,
                    launched,
                    standing,
                }
            })
            .collect();
        Ok(Mcp {
            known: Mutex::new(known),
            logins,
            up: Mutex::default(),
        })
    }

    /// Where logins to servers are kept.
    pub(crate) fn logins(&self) -> &Logins {
        &self.logins
    }

    fn lacks_login(&self, server: &Server) -> bool {
        self.logins.standing(server, clock::now_ms()) == LoginStanding::Needed
    }

    fn known(&self) -> Vec<Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn find(&self, name: &str) -> Result<Known, Problem> {
        let known = self.known();
        let names: Vec<&str> = known.iter().map(|known| known.server.name.as_str()).collect();
        let near = names.join(", ");
        known
            .iter()
            .find(|known| known.server.name == name)
            .cloned()
            .ok_or_else(|| {
                let problem = Problem::usage(format!("no MCP server is called {name}"));
                if near.is_empty() {
                    problem
                        .hint("servers stand in `.mcp.json` of the project, or under [mcp.servers] of your settings.")
                } else {
                    problem.hint(format!("there is: {near}"))
                }
            })
    }

    fn set(&self, name: &str, standing: &Standing) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for known in known.iter_mut().filter(|known| known.server.name == name) {
            known.standing = standing.clone();
        }
    }

    /// What a run that starts now in this mode has. One that asks for a login and has none would answer nothing.
    pub(crate) fn of_run(&self, mode: Mode, walls: WallsStanding) -> Vec<RunServer> {
        let here = |known: &Known| known.is_for(mode) && !self.lacks_login(&known.server);
        let runs = self.known().into_iter().filter(here);
        runs.filter_map(|known| known.for_run(walls)).collect()
    }

    /// What a person should know of servers that a run in this mode does not have.
    fn missing(&self, mode: Mode) -> Vec<String> {
        let missing = |known: Known| {
            let name = &known.server.name;
            match &known.standing {
                Standing::Unusable(why) => Some(format!("the MCP server {name} cannot be used: {why}")),
                Standing::New => Some(format!(
                    "the MCP server {name} is not started: nobody allowed it. `stance mcp list` shows it."
                )),
                Standing::Changed(_) => Some(format!(
                    "the MCP server {name} is not started: it is not what was allowed. `stance mcp list` shows what \
                     changed."
                )),
                Standing::Allowed { .. } if self.lacks_login(&known.server) => Some(format!(
                    "the MCP server {name} asks for a login, and the run goes on without it: `stance mcp login {name}`"
                )),
                Standing::Allowed { .. } => None,
            }
        };
        let here = |known: &Known| known.is_for(mode);
        self.known().into_iter().filter(here).filter_map(missing).collect()
    }

    /// The servers of a run, kept while it waits.
    fn servers(&self, run: &str, make: impl FnOnce() -> Result<Servers, Problem>) -> Result<Arc<Servers>, Problem> {
        let mut up = self.up.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(servers) = up.get(run) {
            return Ok(Arc::clone(servers));
        }
        let servers = Arc::new(make()?);
        up.insert(run.to_owned(), Arc::clone(&servers));
        Ok(servers)
    }

    /// Ends the servers of a run.
    pub(crate) async fn end(&self, run: &str) {
        let servers = self.up.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
        if let Some(servers) = servers {
            servers.end().await;
        }
    }
}

impl Known {
    fn is_for(&self, mode: Mode) -> bool {
        self.server.modes.is_empty() || self.server.modes.contains(&mode)
    }

    /// Whose word no proven walls hold is not believed.
    fn for_run(self, walls: WallsStanding) -> Option<RunServer> {
        let Standing::Allowed {
            trust,
            pinned,
            believed,
        } = self.standing
        else {
            return None;
        };
        let held = self.server.is_elsewhere() || walls == WallsStanding::Proven;
        let believed = if held { believed } else { Believed::default() };
        let name = self.server.name;
        let tools = pinned
            .offers
            .iter()
            .map(|offer| ForeignTool {
                server: name.clone(),
                tool: offer.name.clone(),
                reads: offer.says_it_reads() && believed.believes(&offer.name),
            })
            .collect();
        Some(RunServer {
            digest: trust.digest,
            trusted: !believed.0.is_empty(),
            tools,
            name,
        })
    }

    fn content(&self) -> String {
        self.launched.join("\n")
    }

    /// What an operator allows before it was ever started.
    fn digest(&self) -> work::digest::Digest {
        trust::digest(&allowance(&self.server.name), &self.content())
    }

    fn view(&self, logins: &Logins) -> McpServerView {
        let (standing, then, tools) = match &self.standing {
            Standing::Unusable(why) => (format!("cannot be used: {why}"), None, Vec::new()),
            Standing::New => ("not allowed".to_owned(), None, Vec::new()),
            Standing::Changed(then) => (
                "changed since it was allowed".to_owned(),
                Some(then.as_str()),
                Vec::new(),
            ),
            Standing::Allowed {
                trust,
                pinned,
                believed,
            } => (
                format!("allowed by {}", trust.who),
                None,
                pinned.offers.iter().map(|offer| tool_view(offer, believed)).collect(),
            ),
        };
        McpServerView {
            name: self.server.name.clone(),
            place: self.server.place.clone(),
            login: match logins.standing(&self.server, clock::now_ms()) {
                LoginStanding::NotAsked => None,
                LoginStanding::Needed => Some("needs login".to_owned()),
                LoginStanding::Here => Some("logged in".to_owned()),
            },
            allowed: matches!(self.standing, Standing::Allowed { .. }),
            digest: self.digest().hex(),
            standing,
            launched: self.launched.clone(),
            changes: then.map(|then| changes(then, &self.launched)).unwrap_or_default(),
            tools,
        }
    }
}

fn tool_view(offer: &Offer, believed: &Believed) -> McpToolView {
    McpToolView {
        name: offer.name.clone(),
        description: offer.description.clone(),
        says_it_reads: offer.says_it_reads(),
        reads: offer.says_it_reads() && believed.believes(&offer.name),
    }
}

/// Lines that went and lines that came. What a server offers is compared only where it was asked now.
fn changes(then: &str, now: &[String]) -> Vec<String> {
    let asked = now.iter().any(|line| line.starts_with("tool "));
    let then: Vec<&str> = then
        .lines()
        .filter(|line| asked || !line.starts_with("tool "))
        .collect();
    let went = then.iter().filter(|line| !now.iter().any(|other| other == *line));
    let came = now.iter().filter(|line| !then.contains(&line.as_str()));
    went.map(|line| format!("- {line}"))
        .chain(came.map(|line| format!("+ {line}")))
        .collect()
}

fn standing(server: &Server, launched: &[String], given: &BTreeMap<String, Trust>) -> Standing {
    if let Launch::Unusable { why } = &server.launch {
        return Standing::Unusable(why.clone());
    }
    let Some(trust) = given.get(&allowance(&server.name)) else {
        return Standing::New;
    };
    match Pinned::parse(&trust.content) {
        Some(pinned) if pinned.launched == launched => Standing::Allowed {
            believed: believed(server, trust, given),
            trust: trust.clone(),
            pinned,
        },
        _ => Standing::Changed(trust.content.clone()),
    }
}

fn believed(server: &Server, trust: &Trust, given: &BTreeMap<String, Trust>) -> Believed {
    let belief = given.get(&belief(&server.name));
    let said = belief.and_then(|belief| serde_json::from_str::<(String, Vec<String>)>(&belief.content).ok());
    match said {
        Some((about, tools)) if about == trust.digest => Believed(tools),
        _ => Believed::default(),
    }
}

/// The rows of the tools a run has: the built ones, and those of its servers.
pub(crate) fn built(toolbox: &Toolbox, servers: &[RunServer]) -> Built {
    let foreign = servers.iter().flat_map(|server| &server.tools).map(ForeignTool::row);
    let reading = servers
        .iter()
        .any(|server| server.trusted)
        .then_some(["read_mcp_resource", "load_mcp_documentation"])
        .into_iter()
        .flatten()
        .filter_map(descriptor);
    toolbox.built().clone().with(foreign.chain(reading))
}

/// The servers of a run. One that is not allowed any more as it was when the run started is left out: its
/// tools say so.
pub(crate) fn servers(inner: &Inner, run: &str, started: &[RunServer]) -> Result<Arc<Servers>, Problem> {
    inner.mcp.servers(run, || {
        let mut allowed = Vec::new();
        for known in inner.mcp.known() {
            let server = known.server.clone();
            let Standing::Allowed { pinned, .. } = known.standing.clone() else {
                continue;
            };
            let now = known.for_run(inner.walls_standing());
            let Some(now) = now.filter(|now| started.contains(now)) else {
                continue;
            };
            allowed.push(Allowed {
                folder: inner.home.server(&server.name)?,
                server,
                pinned,
                trusted: now.trusted,
                tools: now.tools,
            });
        }
        Ok(Servers::new(allowed))
    })
}

/// Says which servers a run does not have.
pub(crate) fn say_missing(inner: &Inner, mode: Mode) {
    inner
        .mcp
        .missing(mode)
        .into_iter()
        .for_each(|words| inner.notice(words));
}

/// Forgets trust in servers that were found to offer something else than was allowed.
pub(crate) async fn note_changed(run: &mut Active) -> Result<(), Problem> {
    for name in run.scope.servers.take_changed() {
        if let Standing::Allowed { trust, .. } = run.inner.mcp.find(&name)?.standing {
            run.inner.mcp.set(&name, &Standing::Changed(trust.content));
        }
        run.record(vec![Fact::TrustForgotten {
            what: allowance(&name),
            who: CHANGED.to_owned(),
        }])
        .await?;
    }
    Ok(())
}

/// Every configured server.
pub(crate) fn views(inner: &Inner) -> Vec<McpServerView> {
    let logins = inner.mcp.logins();
    inner.mcp.known().iter().map(|known| known.view(logins)).collect()
}

/// What waits for a person: servers that were allowed and changed, and those nobody allowed yet.
pub(crate) fn pending(inner: &Inner) -> Vec<Pending> {
    let waits = |known: &Known| matches!(known.standing, Standing::New | Standing::Changed(_));
    inner
        .mcp
        .known()
        .iter()
        .filter(|known| waits(known))
        .map(|known| {
            let view = known.view(inner.mcp.logins());
            Pending {
                kind: "mcp_server".to_owned(),
                id: view.name.clone(),
                digest: view.digest,
                title: format!("{}, named in {}", view.standing, view.place),
                run_id: None,
                plan_id: None,
                asked_in: None,
                rules: Vec::new(),
                lines: if view.changes.is_empty() {
                    view.launched
                } else {
                    view.changes
                },
            }
        })
        .collect()
}

impl Mcp {
    /// Looks again how the servers stand: something was decided.
    async fn refresh(&self, journal: &Journal) -> Result<(), Problem> {
        let given = trust::given(journal).await?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for known in known.iter_mut() {
            known.standing = standing(&known.server, &known.launched, &given);
        }
        Ok(())
    }
}
