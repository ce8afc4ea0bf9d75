//! `git_write`: staging and committing. Both change the repository, so both are judged as that.

use std::path::PathBuf;

use modes::{Effect, ProposedCall, Target};
use repo::{Identity, RepoError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::paths::judged;
use crate::scope::Scope;
use crate::tool::{BadArguments, ToolResult};
use crate::typed::{Around, TypedTool};

/// Staged paths named in the result.
const NAMED: usize = 50;

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Op {
    Stage,
    Commit,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    op: Op,
    /// commit: subject line, blank line, body.
    #[serde(default)]
    message: Option<String>,
    /// stage: files or folders. commit: only these as they are now; the index without it.
    #[serde(default)]
    paths: Option<Vec<String>>,
}

pub(crate) enum Ready {
    Stage(Vec<PathBuf>),
    Commit {
        message: String,
        paths: Option<Vec<PathBuf>>,
    },
}

pub(crate) struct GitWrite;

impl TypedTool for GitWrite {
    const NAME: &'static str = "git_write";
    const DESCRIPTION: &'static str = "Stages files or makes a commit on the current branch. Use it when a commit was asked for; git on the command line cannot write the repository.";
    const EXAMPLE: &'static str = r#"{"op": "commit", "message": "Round half up", "paths": ["src/price.rs"]}"#;
    type Arguments = Arguments;
    type Ready = Ready;

    fn prepare(arguments: Arguments, call: ProposedCall, scope: &Scope) -> Result<(ProposedCall, Ready), BadArguments> {
        let asked = arguments.paths.as_deref().unwrap_or_default();
        let (call, paths, _) = judged(asked, call.with_effect(Effect::GitCommit), scope)?;
        let fault = |what: &str| Err(BadArguments(format!("{what}. Example: {}", Self::EXAMPLE)));
        let ready = match (arguments.op, arguments.message) {
            (Op::Stage, Some(_)) => return fault("stage takes no `message`"),
            (Op::Stage, None) if paths.is_empty() => return fault("stage needs `paths`"),
            (Op::Stage, None) => Ready::Stage(paths),
            (Op::Commit, Some(message)) if !message.trim().is_empty() => Ready::Commit {
                message,
                paths: (!paths.is_empty()).then_some(paths),
            },
            (Op::Commit, _) => return fault("commit needs a `message`"),
        };
        let call = match ready {
            Ready::Commit { .. } => call.with_target(Target::Branch { name: branch(scope) }),
            Ready::Stage(_) => call,
        };
        Ok((call, ready))
    }

    async fn act(ready: Ready, around: Around<'_>) -> ToolResult {
        match change(ready, around.scope).await {
            Ok(result) => result,
            Err(error) => ToolResult::error(format!("git_write: {error}.")),
        }
    }
}

/// The branch that is checked out, as the repository's own HEAD names it.
fn branch(scope: &Scope) -> String {
    let head = scope
        .checkout
        .as_ref()
        .and_then(|checkout| std::fs::read_to_string(checkout.git_dir.join("HEAD")).ok());
    head.as_deref()
        .and_then(|head| head.trim().strip_prefix("ref: refs/heads/"))
        .unwrap_or("HEAD")
        .to_owned()
}

async fn change(ready: Ready, scope: &Scope) -> Result<ToolResult, RepoError> {
    let (git, checkout) = match super::ready(scope) {
        Ok(ready) => ready,
        Err(why) => return Ok(ToolResult::error(why)),
    };
    match ready {
        Ready::Stage(paths) => {
            let staged = repo::stage(&git, checkout, &paths).await?;
            Ok(ToolResult::text(match staged.len() {
                0 => "Nothing to stage: the index already has these as they are.".to_owned(),
                count => {
                    let named: Vec<_> = staged
                        .iter()
                        .take(NAMED)
                        .map(|path| path.display().to_string())
                        .collect();
                    let files = if count == 1 {
                        "1 file".to_owned()
                    } else {
                        format!("{count} files")
                    };
                    format!("Staged {files}:\n{}", named.join("\n"))
                }
            }))
        }
        Ready::Commit { message, paths } => {
            let (name, mail) = &scope.committer;
            let author = Identity::new(name.as_str(), mail.as_str())?;
            let head = repo::head(&git, checkout).await?;
            let made = repo::commit(&git, checkout, &message, paths.as_deref(), &author, head.id.as_deref()).await?;
            Ok(ToolResult::text(format!("Committed {} on {}.", made.id, made.branch)))
        }
    }
}
