//! `git_read`: questions to the repository. Nothing changes, the index included.

use std::fmt::Write as _;

use modes::ProposedCall;
use repo::Read;
use schemars::JsonSchema;
use serde::Deserialize;

use super::patch::without_secrets;
use super::paths::judged;
use crate::scope::Scope;
use crate::tool::{BadArguments, ToolResult};
use crate::typed::{Around, TypedTool};

/// Bytes of an answer.
const BYTES: usize = 64 * 1024;

const MOST_COMMITS: u32 = 500;

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Op {
    Status,
    Log,
    Diff,
    Show,
    Blame,
    Branches,
    MergeBase,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    op: Op,
    /// For log, show, blame, `merge_base`: a commit, branch or tag.
    #[serde(default)]
    revision: Option<String>,
    /// For `merge_base`: the other one.
    #[serde(default)]
    other: Option<String>,
    /// diff: the older side. log: leave out what this has.
    #[serde(default)]
    from: Option<String>,
    /// diff: the newer side; the worktree without it.
    #[serde(default)]
    to: Option<String>,
    /// diff: the index instead of the worktree.
    #[serde(default)]
    staged: bool,
    /// blame, show: a file.
    #[serde(default)]
    path: Option<String>,
    /// log, diff: only these.
    #[serde(default)]
    paths: Vec<String>,
    /// log: how many commits; 20 without it.
    #[serde(default)]
    count: Option<u32>,
    /// blame: first line.
    #[serde(default)]
    start_line: Option<u32>,
    /// blame: last line.
    #[serde(default)]
    end_line: Option<u32>,
}

pub(crate) struct Ready {
    question: Read,
    /// Whether files that look like secrets are left out of the patch.
    omitting: bool,
}

pub(crate) struct GitRead;

impl TypedTool for GitRead {
    const NAME: &'static str = "git_read";
    const DESCRIPTION: &'static str = "Asks the git repository: status, log, diff, show, blame, branches, merge_base. Changes nothing. Use it instead of git on the command line.";
    const EXAMPLE: &'static str = r#"{"op": "diff", "from": "main", "paths": ["src"]}"#;
    type Arguments = Arguments;
    type Ready = Ready;

    fn prepare(
        mut arguments: Arguments,
        call: ProposedCall,
        scope: &Scope,
    ) -> Result<(ProposedCall, Ready), BadArguments> {
        only_its_own(&arguments)?;
        let asked: Vec<String> = arguments.path.iter().chain(&arguments.paths).cloned().collect();
        let (call, mut paths, secret) = judged(&asked, call, scope)?;
        let path = arguments.path.is_some().then(|| paths.remove(0));
        let need = |value: Option<String>, name: &str| {
            value.ok_or_else(|| BadArguments(format!("this op needs `{name}`. Example: {}", Self::EXAMPLE)))
        };
        let question = match arguments.op {
            Op::Status => Read::Status,
            Op::Branches => Read::Branches,
            Op::Log => Read::Log {
                revision: arguments.revision,
                since: arguments.from,
                paths,
                count: arguments.count.unwrap_or(20).clamp(1, MOST_COMMITS),
            },
            Op::Diff if arguments.to.is_some() && arguments.staged => {
                return Err(BadArguments(
                    "`to` and `staged` both name the newer side: give one of them.".to_owned(),
                ));
            }
            Op::Diff => Read::Diff {
                from: if arguments.to.is_some() {
                    Some(need(arguments.from, "from")?)
                } else {
                    arguments.from
                },
                to: arguments.to,
                staged: arguments.staged,
                paths,
            },
            Op::Show => Read::Show {
                revision: arguments.revision.take().unwrap_or_else(|| "HEAD".to_owned()),
                path,
            },
            Op::Blame => Read::Blame {
                path: path.ok_or_else(|| {
                    BadArguments(r#"blame needs `path`. Example: {"op": "blame", "path": "src/main.rs"}"#.to_owned())
                })?,
                revision: arguments.revision,
                lines: lines(arguments.start_line, arguments.end_line)?,
            },
            Op::MergeBase => Read::MergeBase {
                left: need(arguments.revision, "revision")?,
                right: need(arguments.other, "other")?,
            },
        };
        let makes_patch = matches!(question, Read::Diff { .. } | Read::Show { path: None, .. });
        Ok((
            call,
            Ready {
                question,
                omitting: makes_patch && !secret,
            },
        ))
    }

    async fn act(ready: Ready, around: Around<'_>) -> ToolResult {
        let (git, checkout) = match super::ready(around.scope) {
            Ok(ready) => ready,
            Err(why) => return ToolResult::error(why),
        };
        let answer = match repo::read(&git, checkout, &ready.question, BYTES).await {
            Ok(answer) => answer,
            Err(error) => return ToolResult::error(format!("git_read: {error}.")),
        };
        let (mut text, omitted) = if ready.omitting {
            without_secrets(&answer.text)
        } else {
            (answer.text, 0)
        };
        if text.trim().is_empty() && omitted == 0 {
            "[empty: nothing to show]".clone_into(&mut text);
        }
        if omitted > 0 {
            let _ = write!(
                text,
                "\n[{omitted} files that look like secrets are left out; name one in `paths` to ask for it]"
            );
        }
        if answer.dropped > 0 {
            let _ = write!(
                text,
                "\n[{} more bytes; narrow the question with paths or count]",
                answer.dropped
            );
        }
        ToolResult::text(text)
    }
}

fn lines(first: Option<u32>, last: Option<u32>) -> Result<Option<(u32, u32)>, BadArguments> {
    match (first, last) {
        (None, None) => Ok(None),
        (first, Some(last)) if first.unwrap_or(1) >= 1 && first.unwrap_or(1) <= last => {
            Ok(Some((first.unwrap_or(1), last)))
        }
        _ => Err(BadArguments(
            "`start_line` counts from 1 and `end_line` is not before it; give both or only `end_line`.".to_owned(),
        )),
    }
}

/// Refuses an argument that the op has no use for: it would be dropped in silence.
fn only_its_own(arguments: &Arguments) -> Result<(), BadArguments> {
    use Op::{Blame, Diff, Log, MergeBase, Show};
    let uses: [(&str, bool, &[Op]); 10] = [
        ("revision", arguments.revision.is_some(), &[Log, Show, Blame, MergeBase]),
        ("other", arguments.other.is_some(), &[MergeBase]),
        ("from", arguments.from.is_some(), &[Diff, Log]),
        ("to", arguments.to.is_some(), &[Diff]),
        ("staged", arguments.staged, &[Diff]),
        ("path", arguments.path.is_some(), &[Blame, Show]),
        ("paths", !arguments.paths.is_empty(), &[Log, Diff]),
        ("count", arguments.count.is_some(), &[Log]),
        ("start_line", arguments.start_line.is_some(), &[Blame]),
        ("end_line", arguments.end_line.is_some(), &[Blame]),
    ];
    match uses
        .iter()
        .find(|(_, given, ops)| *given && !ops.contains(&arguments.op))
    {
        Some((name, _, _)) => Err(BadArguments(format!(
            "`{name}` means nothing to this op; leave it out."
        ))),
        None => Ok(()),
    }
}
