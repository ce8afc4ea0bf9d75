//! One tool of a server as the model calls it. It must not know whether a call may happen.

use futures_util::future::BoxFuture;
use modes::{ForeignTool, Permit, ProposedCall, Target};
use serde_json::{Map, Value};

use super::offer::Offer;
use super::result;
use super::servers::Allowed;
use crate::desk::Desk;
use crate::scope::Scope;
use crate::tool::{BadArguments, Incoming, Tool, ToolResult};

/// Problems named of arguments that do not fit.
const MOST_PROBLEMS: usize = 3;

/// A tool of a server.
pub(crate) struct McpTool {
    name: &'static str,
    description: String,
    server: String,
    tool: String,
    host: Option<String>,
    schema: Value,
    validator: Option<jsonschema::Validator>,
    /// The server as it was allowed; an answer is about a call of exactly that.
    allowed: String,
}

/// The arguments, ready to be sent.
struct Ready(Map<String, Value>);

impl McpTool {
    /// The tool of an offer.
    pub(super) fn new(tool: &ForeignTool, offer: &Offer, allowed: &Allowed) -> McpTool {
        McpTool {
            name: tool.row().name,
            description: format!(
                "Tool `{}` of the MCP server `{}`, which says of it: {}",
                offer.name, tool.server, offer.description
            ),
            server: tool.server.clone(),
            tool: tool.tool.clone(),
            host: allowed.server.host(),
            validator: jsonschema::validator_for(&offer.schema).ok(),
            schema: offer.schema.clone(),
            allowed: blake3::hash(allowed.pinned.text().as_bytes()).to_hex().to_string(),
        }
    }

    fn check(&self, arguments: &Value) -> Result<(), BadArguments> {
        let Some(validator) = &self.validator else {
            return Err(BadArguments("the schema of this tool cannot be read.".to_owned()));
        };
        let problems: Vec<String> = validator
            .iter_errors(arguments)
            .take(MOST_PROBLEMS)
            .map(|error| match error.instance_path().to_string() {
                place if place.is_empty() => error.to_string(),
                place => format!("{place}: {error}"),
            })
            .collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(BadArguments(format!(
            "the arguments of {} do not fit its schema: {}.",
            self.name,
            problems.join("; ")
        )))
    }
}

impl Tool for McpTool {
    fn name(&self) -> &'static str {
        self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn schema(&self) -> Value {
        self.schema.clone()
    }

    fn propose(&self, incoming: Incoming, _scope: &Scope) -> Result<ProposedCall, BadArguments> {
        let Incoming {
            descriptor,
            call_id,
            arguments,
        } = incoming;
        self.check(&arguments)?;
        let fields = arguments.as_object().cloned().unwrap_or_default();
        let mut call = ProposedCall::new(descriptor, call_id, arguments)
            .with_target(Target::Mcp {
                tool: format!("{}/{}", self.server, self.tool),
            })
            .with_evidence("server", &self.allowed)
            .with_handle(Ready(fields));
        if let Some(host) = &self.host {
            call = call.with_target(Target::Host { host: host.clone() });
        }
        Ok(call)
    }

    fn execute<'a>(&'a self, mut permit: Permit, scope: &'a Scope, _desk: &'a dyn Desk) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let Some(Ready(fields)) = permit.take_handle::<Ready>() else {
                return ToolResult::error(format!(
                    "{} was not prepared by its own proposal; nothing was done.",
                    self.name
                ));
            };
            let called = scope
                .servers
                .with(&self.server, scope, |connection| async move {
                    connection.call(&self.tool, fields).await
                })
                .await;
            match called {
                Ok(answer) => result::of_call(&self.server, &answer),
                Err(why) => ToolResult::error(format!("{why}.")),
            }
        })
    }
}
