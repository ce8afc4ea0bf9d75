//! One conversation with one server, from the handshake to its end. It must not know what was allowed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientConfig, Implementation, JsonObject,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResult, Resource,
};
use rmcp::service::{RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, RoleClient, serve_client};
use sandbox::{Keep, Limits, Network, Places, Program, Running, Spawn, converse};

use super::offer::{MOST_TOOLS, Offer};
use super::server::{Launch, Server, Template, program};
use super::servers::NotUsable;
use super::{http, login, offer};
use crate::scope::Scope;

/// How long a server may take until it is ready.
const HANDSHAKE: Duration = Duration::from_secs(30);
/// How long one call may take.
const CALL: Duration = Duration::from_mins(1);
/// No server of a run lives longer.
const LIFE: Duration = Duration::from_hours(24);
/// Bytes kept of what a program writes beside the protocol.
const COMPLAINTS: usize = 16 * 1024;
/// Characters shown of it, and of what a server answers as an error.
const LONGEST_COMPLAINT: usize = 2_000;
/// Most parts of a list.
const MOST_PAGES: usize = 64;
/// Most resources listed.
const MOST_RESOURCES: usize = 500;

/// The variable by which a run's processes are told.
const MARKER: &str = "STANCE_RUN";

/// A server that answers.
pub(super) struct Connection {
    service: RunningService<RoleClient, Listener>,
    process: Option<Running>,
}

/// How it failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    #[error("it did not answer within {} s; the call was given up, and what it did is unknown", CALL.as_secs())]
    Silent,
    #[error("it went away during the call; what the call did is unknown")]
    Gone,
    #[error("it asks for a login")]
    Unwelcome,
    #[error("{0}")]
    Answered(String),
}

/// What a server asks of us is declined.
struct Listener;

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.client_info = Implementation::new("stance", env!("CARGO_PKG_VERSION"));
        info
    }
}

impl Connection {
    /// Starts or reaches a server and shakes hands; why that failed. `places` are those of the run.
    pub(super) async fn open(server: &Server, scope: &Scope, places: &Places) -> Result<Connection, Failed> {
        match &server.launch {
            Launch::Unusable { why } => Err(Failed::Answered(why.clone())),
            Launch::Address { url, headers, .. } => reached(server, scope, url, headers).await,
            Launch::Program { .. } => {
                let (process, stream) = start(server, scope, places).map_err(Failed::Answered)?;
                let why = match tokio::time::timeout(HANDSHAKE, serve_client(Listener, stream)).await {
                    Ok(Ok(service)) => {
                        return Ok(Connection {
                            service,
                            process: Some(process),
                        });
                    }
                    Ok(Err(error)) => said(&error),
                    Err(_) => late(),
                };
                Err(Failed::Answered(with_complaints(why, process).await))
            }
        }
    }

    /// Whether the server is still there.
    pub(super) fn lives(&self) -> bool {
        !self.service.is_closed() && !self.service.is_transport_closed()
    }

    /// Its tools by name, and for each that cannot be offered why.
    pub(super) async fn offers(&self) -> Result<(Vec<Offer>, Vec<String>), Failed> {
        let mut offers: Vec<Offer> = Vec::new();
        let mut left_out = Vec::new();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = within(
                HANDSHAKE,
                self.service
                    .list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor))),
            )
            .await?;
            for tool in &page.tools {
                let again = |offer: &Offer| offers.iter().any(|known| known.name == offer.name);
                let name = offer::shown(&tool.name, 80);
                match Offer::read(tool) {
                    Ok(offer) if again(&offer) => left_out.push(format!("{name}: it is offered twice")),
                    Ok(_) if offers.len() == MOST_TOOLS => {
                        left_out.push(format!("{name}: at most {MOST_TOOLS} tools of a server are taken"));
                    }
                    Ok(offer) => offers.push(offer),
                    Err(why) => left_out.push(format!("{name}: {why}")),
                }
            }
            cursor = page.next_cursor;
            if cursor.is_none() || left_out.len() > MOST_TOOLS {
                break;
            }
        }
        offers.sort_by(|one, other| one.name.cmp(&other.name));
        Ok((offers, left_out))
    }

    /// Calls a tool.
    pub(super) async fn call(&self, tool: &str, arguments: JsonObject) -> Result<CallToolResult, Failed> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        match within(CALL, self.service.call_tool_once(params)).await? {
            CallToolResponse::Complete(result) => Ok(result),
            _ => Err(Failed::Answered(
                "it wants to ask something or to go on later, which a call from here does not do".to_owned(),
            )),
        }
    }

    /// Reads a resource.
    pub(super) async fn read(&self, uri: &str) -> Result<ReadResourceResult, Failed> {
        within(CALL, self.service.read_resource(ReadResourceRequestParams::new(uri))).await
    }

    /// Its resources, as far as they are listed.
    pub(super) async fn resources(&self) -> Result<Vec<Resource>, Failed> {
        let mut resources = Vec::new();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = within(
                CALL,
                self.service
                    .list_resources(Some(PaginatedRequestParams::default().with_cursor(cursor))),
            )
            .await?;
            resources.extend(page.resources);
            cursor = page.next_cursor;
            if cursor.is_none() || resources.len() > MOST_RESOURCES {
                break;
            }
        }
        resources.truncate(MOST_RESOURCES);
        Ok(resources)
    }

    /// What it says about its own use.
    pub(super) fn instructions(&self) -> Option<String> {
        self.service.peer_info()?.instructions.clone()
    }

    /// Ends it; what its program complained about.
    pub(super) async fn end(self) -> String {
        drop(self.service);
        match self.process {
            Some(process) => complaints(process).await,
            None => String::new(),
        }
    }
}

/// Shakes hands with a server at an address, with the login it has or without one.
async fn reached(
    server: &Server,
    scope: &Scope,
    url: &str,
    headers: &BTreeMap<String, Template>,
) -> Result<Connection, Failed> {
    let config = http::config(url, headers).map_err(Failed::Answered)?;
    let plain = http::client(url).map_err(Failed::Answered)?;
    let shaken = async {
        let login = login::client(server, url, scope, &plain).await;
        let login = login.map_err(|NotUsable(why)| Failed::Answered(why))?;
        if let Some(client) = login {
            let transport = StreamableHttpClientTransport::with_client(client, config);
            Ok(serve_client(Listener, transport).await)
        } else {
            let transport = StreamableHttpClientTransport::with_client(plain, config);
            Ok(serve_client(Listener, transport).await)
        }
    };
    match tokio::time::timeout(HANDSHAKE, shaken).await {
        Err(_) => Err(Failed::Answered(late())),
        Ok(Err(failed)) => Err(failed),
        Ok(Ok(Ok(service))) => Ok(Connection { service, process: None }),
        Ok(Ok(Err(error))) => Err(refused(&error)),
    }
}

/// What a server at an address, or who gave its login, came to.
fn refused(error: &(dyn std::error::Error + 'static)) -> Failed {
    if login::is_wanted(error) {
        return Failed::Unwelcome;
    }
    Failed::Answered(login::unrenewed(error).map_or_else(|| said(error), str::to_owned))
}

fn said(error: &dyn std::error::Error) -> String {
    offer::shown(&error.to_string(), LONGEST_COMPLAINT)
}

fn late() -> String {
    format!("it was not ready within {} s", HANDSHAKE.as_secs())
}

async fn within<T>(time: Duration, answer: impl Future<Output = Result<T, ServiceError>>) -> Result<T, Failed> {
    match tokio::time::timeout(time, answer).await {
        Err(_) => Err(Failed::Silent),
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(ServiceError::TransportClosed | ServiceError::Cancelled { .. })) => Err(Failed::Gone),
        Ok(Err(ServiceError::McpError(error))) => Err(Failed::Answered(format!(
            "it answered with an error: {}",
            offer::shown(&error.message, LONGEST_COMPLAINT)
        ))),
        Ok(Err(error)) => Err(refused(&error)),
    }
}

fn start(server: &Server, scope: &Scope, places: &Places) -> Result<(Running, tokio::io::DuplexStream), String> {
    let Launch::Program {
        command,
        arguments,
        environment,
    } = &server.launch
    else {
        return Err("it is no program".to_owned());
    };
    let Some(walls) = &scope.walls else {
        return Err("programs run only inside proven walls, and this machine has none".to_owned());
    };
    let found = program(command, &scope.worktree, Some(walls.as_ref()))
        .ok_or_else(|| format!("the program {command} was not found where programs of the walls are"))?;
    let mut spawn = Spawn::new(
        Program::Argv {
            program: found.into(),
            arguments: arguments.iter().map(Into::into).collect(),
        },
        &scope.worktree,
    );
    for (name, text) in environment {
        let value = text
            .value()
            .map_err(|variable| format!("the variable {variable} is not set"))?;
        spawn.environment.push((name.clone(), value));
    }
    spawn.environment.push((MARKER.to_owned(), scope.run_id.clone()));
    spawn.network = Some(Network {
        gate: scope.hosts.clone(),
        names: Arc::clone(&scope.names),
    });
    spawn.limits = Limits {
        wall_time: LIFE,
        output_bytes: COMPLAINTS,
        keep: Keep::Tail,
        ..Limits::default()
    };
    converse(walls, scope.containment, places, spawn).map_err(|error| error.to_string())
}

async fn with_complaints(why: String, process: Running) -> String {
    match complaints(process).await {
        said if said.is_empty() => why,
        said => format!("{why}; it wrote: {said}"),
    }
}

/// Ends a program and everything it started; what it wrote beside the protocol.
async fn complaints(process: Running) -> String {
    match process.wait_unless(std::future::ready(())).await {
        Ok(finished) => offer::shown(finished.stderr.text().trim(), LONGEST_COMPLAINT),
        Err(error) => error.to_string(),
    }
}
