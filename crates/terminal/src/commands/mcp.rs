//! `mcp`: servers that offer tools, and what an operator lets them be.

use engine::{Command, McpServerView, Problem};
use modes::{Mode, short_digest};

use super::{Opening, door};
use crate::arguments::{McpAct, Named};
use crate::door::Door;
use crate::exit::Exit;
use crate::house::{House, Proved};
use crate::near::near;
use crate::print::{Mark, shortened};

pub(super) async fn mcp(house: &House, act: McpAct) -> Result<Exit, Problem> {
    match act {
        McpAct::List { json } => list(house, json).await,
        McpAct::Tools { name, json } => tools(house, &name, json).await,
        McpAct::Allow { named, mode } => allow(house, named, mode).await,
        McpAct::Login { named } => login(house, named).await,
        McpAct::Logout { name } => carry_out(house, Command::LogOutOfServer { name }).await,
        McpAct::Forget { name } => carry_out(house, Command::ForgetServer { name }).await,
        McpAct::Trust { name, tools } => carry_out(house, Command::TrustServer { name, tools }).await,
    }
}

async fn carry_out(house: &House, command: Command) -> Result<Exit, Problem> {
    let mut door = door(house, Opening::to_look(false)).await?;
    Ok(door.act(command).await?.exit)
}

async fn list(house: &House, json: bool) -> Result<Exit, Problem> {
    let mut door = door(house, Opening::to_look(json)).await?;
    let servers = door.engine.mcp_servers();
    if json {
        door.printer.json(&servers)?;
        return Ok(Exit::FINE);
    }
    if servers.is_empty() {
        door.printer.line(
            Mark::Note,
            "no MCP server is configured: neither in `.mcp.json` of the project, nor under [mcp.servers] of your settings",
        );
    }
    for server in &servers {
        show(&mut door, server);
    }
    Ok(Exit::FINE)
}

fn show(door: &mut Door, server: &McpServerView) {
    let login = server
        .login
        .as_ref()
        .map(|login| format!(" · {login}"))
        .unwrap_or_default();
    let head = format!("{} · {}{login} · {}", server.name, server.standing, server.place);
    door.printer.line(Mark::Note, &shortened(&head));
    let shown = if server.changes.is_empty() {
        &server.launched
    } else {
        door.printer.line(Mark::Note, "changed since it was allowed:");
        &server.changes
    };
    for line in shown {
        door.printer.foreign(line);
    }
    if server.allowed {
        let reads = server.tools.iter().filter(|tool| tool.reads).count();
        let words = format!(
            "{} tools, {reads} of them in every mode · stance mcp tools {}",
            server.tools.len(),
            server.name
        );
        door.printer.line(Mark::Note, &words);
    } else if !server.launched.is_empty() {
        door.printer.line(Mark::Note, &to_allow(server));
    }
}

fn to_allow(server: &McpServerView) -> String {
    format!("stance mcp allow {}@{}", server.name, short_digest(&server.digest))
}

fn find(door: &Door, name: &str) -> Result<McpServerView, Problem> {
    let servers = door.engine.mcp_servers();
    let names: Vec<String> = servers.iter().map(|server| server.name.clone()).collect();
    servers.into_iter().find(|server| server.name == name).ok_or_else(|| {
        let problem = Problem::usage(format!("No MCP server is called {name}."));
        match near(name, names.iter().map(String::as_str)).as_slice() {
            [] => problem.hint("`stance mcp list` shows which are configured."),
            alike => problem.hint(format!("near: {}", alike.join(", "))),
        }
    })
}

/// A door whose walls are proven first: what is allowed is said for them.
async fn proved(house: &House) -> Result<Door, Problem> {
    let opening = Opening {
        proved: Proved::Now,
        ..Opening::to_look(false)
    };
    door(house, opening).await
}

async fn allow(house: &House, named: Named, mode: Mode) -> Result<Exit, Problem> {
    let mut door = proved(house).await?;
    let server = find(&door, &named.id)?;
    let Some(digest) = named.digest else {
        show(&mut door, &server);
        return Err(Problem::usage("Allowing a server names the digest of what was shown.").hint(to_allow(&server)));
    };
    let command = Command::AllowServer {
        name: named.id,
        digest,
        mode,
    };
    Ok(door.act(command).await?.exit)
}

async fn login(house: &House, named: Named) -> Result<Exit, Problem> {
    let mut door = proved(house).await?;
    let login = door.engine.begin_login(&named.id, named.digest.as_deref()).await?;
    let whose = format!(
        "{:?} gives the login. Open this address in your browser:",
        login.issuer()
    );
    door.printer.line(Mark::Note, &whose);
    door.printer.address(login.address());
    door.printer
        .line(Mark::Note, "waiting for your answer there; Ctrl-C leaves it");
    for line in login.finish().await? {
        door.printer.line(Mark::Note, &line);
    }
    Ok(Exit::FINE)
}

async fn tools(house: &House, name: &str, json: bool) -> Result<Exit, Problem> {
    let mut door = door(house, Opening::to_look(json)).await?;
    let server = find(&door, name)?;
    if json {
        door.printer.json(&server.tools)?;
        return Ok(Exit::FINE);
    }
    if !server.allowed {
        show(&mut door, &server);
        return Ok(Exit::FINE);
    }
    for tool in &server.tools {
        let standing = match (tool.reads, tool.says_it_reads) {
            (true, _) => "reads, and is in every mode",
            (false, true) => "says it only reads, and is not believed",
            (false, false) => "may do anything: only in Agent mode, and it asks",
        };
        door.printer.line(Mark::Note, &format!("{} · {standing}", tool.name));
        door.printer.foreign(&shortened(&tool.description));
    }
    Ok(Exit::FINE)
}
