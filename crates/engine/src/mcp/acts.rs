//! What an operator decides about MCP servers: to allow, to believe, to log in, and none of it any more. It must not
//! know how a run uses a server.

use std::sync::Arc;

use modes::{Mode, short_digest};
use tokio_util::sync::CancellationToken;
use tools::Scope;
use tools::mcp::{Login, NotUsable, look};

use super::{EVERY, Known, Standing, allowance, belief, believing, changes};
use crate::active::scope;
use crate::explain;
use crate::fact::Fact;
use crate::inner::Inner;
use crate::problem::{Problem, ProblemKind};
use crate::trust;

/// The scratch folder, named as one of a run, for looking at servers.
const LOOKED: &str = "mcp";

/// Allows a server as it was shown: starts it once, read-only unless the mode says otherwise, and keeps
/// what it offers. Says what was allowed.
pub(crate) async fn allow(inner: &Inner, name: &str, shown: &str, mode: Mode) -> Result<Vec<String>, Problem> {
    let known = shown_as(inner, name, shown)?;
    let scope = looking(inner, mode).await?;
    let (pinned, left_out) = look(&known.server, &scope, inner.home.server(name)?)
        .await
        .map_err(|why| not_allowed(inner, &known, &why))?;
    let before = last_allowed(inner, name).await?;
    let content = pinned.text();
    let what = allowance(name);
    let digest = trust::digest(&what, &content).hex();
    trust::trust(&inner.journal, &inner.config.operator, &what, &content, &digest).await?;
    let mut words = vec![format!("{name} is allowed, with {} tools:", pinned.offers.len())];
    words.extend(pinned.offers.iter().map(|offer| {
        let says = if offer.says_it_reads() {
            "says it only reads"
        } else {
            "may do anything"
        };
        format!("  {} · {says}", offer.name)
    }));
    words.extend(left_out.into_iter().map(|why| format!("  left out: {why}")));
    if let Some(before) = before.filter(|before| *before != content) {
        let now: Vec<String> = content.lines().map(str::to_owned).collect();
        words.push("changed since it was allowed before:".to_owned());
        words.extend(changes(&before, &now).into_iter().map(|line| format!("  {line}")));
    }
    if known.server.is_elsewhere() {
        words.push(format!(
            "`stance mcp trust {name} TOOL…` lets runs that only read have the tools you name."
        ));
    } else {
        words.push(format!(
            "`stance mcp trust {name}` believes what it says of its tools; no trust widens its walls."
        ));
    }
    inner.mcp.refresh(&inner.journal).await?;
    Ok(words)
}

/// The server, if it is what the person was shown.
fn shown_as(inner: &Inner, name: &str, shown: &str) -> Result<Known, Problem> {
    let known = inner.mcp.find(name)?;
    if let Standing::Unusable(why) = &known.standing {
        return Err(Problem::refused(format!("the MCP server {name} cannot be used: {why}")));
    }
    if !known.digest().matches(shown) {
        return Err(Problem::new(
            ProblemKind::Stale,
            format!("the MCP server {name} is not what was shown: it changed"),
        )
        .hint("look at it again: `stance mcp list`"));
    }
    Ok(known)
}

/// What servers are looked at with, as a run in this mode would.
async fn looking(inner: &Inner, mode: Mode) -> Result<Scope, Problem> {
    let spec = explain::specimen(inner, mode).await?;
    scope(inner, &spec, LOOKED, Arc::default(), CancellationToken::new()).await
}

fn not_allowed(inner: &Inner, known: &Known, why: &NotUsable) -> Problem {
    let name = &known.server.name;
    let problem = Problem::refused(format!(
        "the MCP server {name} could not be used, and is not allowed: {why}"
    ));
    if inner.mcp.lacks_login(&known.server) {
        let digest = known.digest().hex();
        return problem.hint(format!("stance mcp login {name}@{}", short_digest(&digest)));
    }
    if known.server.is_elsewhere() {
        return problem;
    }
    problem
        .hint("a program is started without a network; this one could write nothing but its own folder.")
        .hint(format!(
            "`stance mcp allow {name}@… --mode agent` starts it as Agent mode would."
        ))
}

/// The content that was allowed last, also when it was forgotten since.
async fn last_allowed(inner: &Inner, name: &str) -> Result<Option<String>, Problem> {
    let given = |fact| match fact {
        Fact::TrustGiven { what, content, .. } if what == allowance(name) => Some(content),
        _ => None,
    };
    let facts = inner.journal.facts(trust::STREAM).await?;
    Ok(facts.into_iter().rev().find_map(|(_, _, fact)| given(fact)))
}

/// Forgets a server, and what was believed of it.
pub(crate) async fn forget(inner: &Inner, name: &str) -> Result<Vec<String>, Problem> {
    let given = trust::given(&inner.journal).await?;
    if !given.contains_key(&allowance(name)) {
        return Err(
            Problem::usage(format!("the MCP server {name} is not allowed")).hint("`stance mcp list` shows which are.")
        );
    }
    for what in [allowance(name), belief(name)]
        .iter()
        .filter(|what| given.contains_key(*what))
    {
        trust::forget(&inner.journal, &inner.config.operator, what).await?;
    }
    inner.mcp.refresh(&inner.journal).await?;
    Ok(vec![format!("{name} is not allowed any more; no run starts it.")])
}

/// Believes what an allowed server says of these tools, or of all.
pub(crate) async fn believe(inner: &Inner, name: &str, tools: Vec<String>) -> Result<Vec<String>, Problem> {
    let known = inner.mcp.find(name)?;
    let Standing::Allowed { trust, pinned, .. } = &known.standing else {
        return Err(
            Problem::refused(format!("the MCP server {name} is not allowed as it is"))
                .hint(format!("`stance mcp allow {name}` shows it.")),
        );
    };
    let reading: Vec<&str> = pinned
        .offers
        .iter()
        .filter(|offer| offer.says_it_reads())
        .map(|offer| offer.name.as_str())
        .collect();
    if let Some(other) = tools.iter().find(|tool| !reading.contains(&tool.as_str())) {
        return Err(Problem::usage(format!(
            "{name} has no tool {other} of which it says that it only reads"
        ))
        .hint(match reading.as_slice() {
            [] => "it says so of none: there is nothing to believe.".to_owned(),
            names => format!("it says so of: {}", names.join(", ")),
        }));
    }
    if tools.is_empty() && known.server.is_elsewhere() {
        return Err(Problem::usage(format!(
            "{name} is reached over the network, where no walls stand around it: name the tools"
        ))
        .hint(format!("stance mcp trust {name} {}", reading.join(" "))));
    }
    let tools = if tools.is_empty() {
        vec![EVERY.to_owned()]
    } else {
        tools
    };
    let (what, content) = (belief(name), believing(&trust.digest, &tools));
    let digest = trust::digest(&what, &content).hex();
    trust::trust(&inner.journal, &inner.config.operator, &what, &content, &digest).await?;
    inner.mcp.refresh(&inner.journal).await?;
    let which = if tools == [EVERY] {
        reading.join(", ")
    } else {
        tools.join(", ")
    };
    Ok(vec![format!(
        "{name} is believed where it says that it only reads ({which}); its walls stay as they are, and a change asks \
         again."
    )])
}

/// A login at a server that waits for the person's browser.
pub struct ServerLogin {
    name: String,
    allowed: bool,
    login: Login,
}

impl ServerLogin {
    /// The page where the person logs in.
    pub fn address(&self) -> &str {
        self.login.address()
    }

    /// Who gives the tokens, as it calls itself.
    pub fn issuer(&self) -> &str {
        self.login.issuer()
    }

    /// Waits for the browser and keeps what it brings. Says what was done.
    pub async fn finish(self) -> Result<Vec<String>, Problem> {
        let ServerLogin { name, allowed, login } = self;
        login
            .finish()
            .await
            .map_err(|why| Problem::refused(format!("nobody is logged in at the MCP server {name}: {why}")))?;
        let mut words = vec![format!("logged in at {name}; runs use it with your login.")];
        if !allowed {
            words.push(format!("It is not allowed yet: `stance mcp allow {name}` shows it."));
        }
        Ok(words)
    }
}

/// Begins a login at a server: one that is allowed, or that is what the person was shown.
pub(crate) async fn begin_login(inner: &Inner, name: &str, shown: Option<&str>) -> Result<ServerLogin, Problem> {
    let known = match shown {
        Some(shown) => shown_as(inner, name, shown)?,
        None => inner.mcp.find(name)?,
    };
    let allowed = matches!(known.standing, Standing::Allowed { .. });
    if shown.is_none() && !allowed {
        return Err(Problem::refused(format!(
            "the MCP server {name} is not allowed, and nothing is sent to it"
        ))
        .hint(format!(
            "stance mcp login {name}@{}",
            short_digest(&known.digest().hex())
        ))
        .hint("`stance mcp list` shows what it would ask."));
    }
    let scope = looking(inner, modes::without_space()).await?;
    let login = Login::begin(&known.server, &scope)
        .await
        .map_err(|why| Problem::refused(format!("nobody can log in at the MCP server {name}: {why}")))?;
    Ok(ServerLogin {
        name: name.to_owned(),
        allowed,
        login,
    })
}

/// Forgets the login at a server.
pub(crate) fn log_out(inner: &Inner, name: &str) -> Result<Vec<String>, Problem> {
    let forgotten = inner.mcp.logins().forget(name).map_err(|error| {
        Problem::new(
            ProblemKind::Machine,
            format!("the login at the MCP server {name} could not be forgotten: {error}"),
        )
    })?;
    if !forgotten {
        return Err(
            Problem::usage(format!("nobody is logged in at an MCP server called {name}"))
                .hint("`stance mcp list` shows which are."),
        );
    }
    Ok(vec![format!(
        "the login at {name} is forgotten here; who gave it may let it hold until it ends."
    )])
}
