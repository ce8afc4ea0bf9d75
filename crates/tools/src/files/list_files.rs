//! `list_files`: what a folder holds.

use modes::ProposedCall;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::place::{Roots, not_a_file};
use crate::scope::Scope;
use crate::source::start;
use crate::tool::{BadArguments, ToolResult};
use crate::typed::{Around, TypedTool};
use crate::walk::{Entry, Kind, Start, Walk};

/// Entries shown.
const SHOWN: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// A folder, relative to the project; `.` is the project.
    path: String,
    /// Whether folders beneath are listed too.
    #[serde(default)]
    recursive: bool,
}

pub(crate) struct ListFiles;

impl TypedTool for ListFiles {
    const NAME: &'static str = "list_files";
    const DESCRIPTION: &'static str = "Lists a folder, at most 200 entries; ignored files are left out. Use it to find your way; to find text use search_files.";
    const EXAMPLE: &'static str = r#"{"path": "src", "recursive": true}"#;
    type Arguments = Arguments;
    type Ready = (Option<Start>, bool);

    fn prepare(
        arguments: Arguments,
        call: ProposedCall,
        scope: &Scope,
    ) -> Result<(ProposedCall, Self::Ready), BadArguments> {
        let roots = Roots::of(scope)?;
        let place = roots.find(&arguments.path)?;
        let in_worktree = place.in_worktree();
        let (call, held) = place.for_reading(call)?;
        let Some(held) = held else {
            return Ok((call, (None, arguments.recursive)));
        };
        match not_a_file(&held.stat) {
            Some("a folder") => {}
            kind => {
                let kind = kind.unwrap_or("a file");
                return Err(BadArguments(format!("{} is {kind}, not a folder.", held.path)));
            }
        }
        let start = start(&roots, held, in_worktree)?;
        Ok((call, (Some(start), arguments.recursive)))
    }

    async fn act((start, recursive): Self::Ready, _: Around<'_>) -> ToolResult {
        let Some(start) = start else {
            return ToolResult::error("nothing was opened.");
        };
        let listed = tokio::task::spawn_blocking(move || ToolResult::text(list(Walk::new(start, recursive))));
        listed
            .await
            .unwrap_or_else(|_| ToolResult::error("listing was interrupted."))
    }
}

fn list(mut walk: Walk) -> String {
    let mut lines: Vec<String> = walk.by_ref().take(SHOWN).map(|entry| line(&entry)).collect();
    let more = walk.by_ref().count();
    if lines.is_empty() {
        lines.push("[nothing here that is not ignored]".to_owned());
    }
    if more > 0 {
        let least = if walk.cut() { "at least " } else { "" };
        lines.push(format!("[{least}{more} more; list a folder beneath]"));
    }
    if walk.unreadable() > 0 {
        lines.push(format!("[{} folders could not be read]", walk.unreadable()));
    }
    lines.join("\n")
}

fn line(entry: &Entry) -> String {
    match entry.kind {
        Kind::Folder => format!("{}/", entry.path),
        Kind::File => entry.path.clone(),
        Kind::Link => format!("{} (link)", entry.path),
        Kind::Other => format!("{} (special)", entry.path),
    }
}
