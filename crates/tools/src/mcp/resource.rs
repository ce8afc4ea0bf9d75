//! `read_mcp_resource` and `load_mcp_documentation`: what a server that the operator trusts has to read.

use modes::{ProposedCall, Target};
use schemars::JsonSchema;
use serde::Deserialize;

use super::result;
use super::servers::Allowed;
use crate::scope::Scope;
use crate::tool::{BadArguments, ToolResult};
use crate::typed::{Around, TypedTool};

/// Longest address of a resource, in bytes.
const LONGEST_ADDRESS: usize = 4_096;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResourceArguments {
    /// The name of an MCP server.
    server: String,
    /// The address of a resource, as the server lists it.
    uri: String,
}

pub(crate) struct ReadMcpResource;

impl TypedTool for ReadMcpResource {
    const NAME: &'static str = "read_mcp_resource";
    const DESCRIPTION: &'static str =
        "Reads a resource of an MCP server. `load_mcp_documentation` lists the resources a server has.";
    const EXAMPLE: &'static str = r#"{"server": "notes", "uri": "notes://today"}"#;
    type Arguments = ResourceArguments;
    type Ready = ResourceArguments;

    fn prepare(
        arguments: ResourceArguments,
        call: ProposedCall,
        scope: &Scope,
    ) -> Result<(ProposedCall, ResourceArguments), BadArguments> {
        if arguments.uri.is_empty() || arguments.uri.len() > LONGEST_ADDRESS {
            return Err(BadArguments(format!(
                "`uri` is empty or longer than {LONGEST_ADDRESS} bytes. Example: {}",
                Self::EXAMPLE
            )));
        }
        let call = of_server(&arguments.server, Self::NAME, call, scope)?;
        Ok((call, arguments))
    }

    async fn act(ready: ResourceArguments, around: Around<'_>) -> ToolResult {
        let servers = &around.scope.servers;
        let uri = ready.uri;
        let read = servers
            .with(&ready.server, around.scope, |connection| async move {
                connection.read(&uri).await
            })
            .await;
        match read {
            Ok(answer) => result::of_resource(&ready.server, &answer),
            Err(why) => ToolResult::error(format!("{why}.")),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DocumentationArguments {
    /// The name of an MCP server.
    server: String,
}

pub(crate) struct LoadMcpDocumentation;

impl TypedTool for LoadMcpDocumentation {
    const NAME: &'static str = "load_mcp_documentation";
    const DESCRIPTION: &'static str = "Shows what an MCP server says about its use, and the resources it has.";
    const EXAMPLE: &'static str = r#"{"server": "notes"}"#;
    type Arguments = DocumentationArguments;
    type Ready = DocumentationArguments;

    fn prepare(
        arguments: DocumentationArguments,
        call: ProposedCall,
        scope: &Scope,
    ) -> Result<(ProposedCall, DocumentationArguments), BadArguments> {
        let call = of_server(&arguments.server, Self::NAME, call, scope)?;
        Ok((call, arguments))
    }

    async fn act(ready: DocumentationArguments, around: Around<'_>) -> ToolResult {
        let servers = &around.scope.servers;
        let documented = servers
            .with(&ready.server, around.scope, |connection| async move {
                let instructions = connection.instructions();
                // A server without resources answers that it knows no such list.
                let resources = connection.resources().await.unwrap_or_default();
                Ok((instructions, resources))
            })
            .await;
        match documented {
            Ok((instructions, resources)) => {
                let mut lines = vec![instructions.unwrap_or_else(|| "It says nothing about its use.".to_owned())];
                lines.extend(resources.iter().map(|resource| {
                    let about = resource.description.as_deref().unwrap_or(&resource.name);
                    format!("resource {}: {about}", resource.uri)
                }));
                result::words(&ready.server, &lines.join("\n"))
            }
            Err(why) => ToolResult::error(format!("{why}.")),
        }
    }
}

/// The call, bound to a server whose word is believed.
fn of_server(server: &str, tool: &str, call: ProposedCall, scope: &Scope) -> Result<ProposedCall, BadArguments> {
    let trusted: Vec<&Allowed> = scope.servers.trusted().collect();
    let Some(found) = trusted.iter().find(|allowed| allowed.server.name == server) else {
        let names: Vec<&str> = trusted.iter().map(|allowed| allowed.server.name.as_str()).collect();
        return Err(BadArguments(format!(
            "`server` {server:?} is none that is trusted here: {}.",
            names.join(", ")
        )));
    };
    let call = call.with_target(Target::Mcp {
        tool: format!("{server}/{tool}"),
    });
    Ok(match found.server.host() {
        Some(host) => call.with_target(Target::Host { host }),
        None => call,
    })
}
