//! `write_to_file`: a whole file. A new file is always fine; an existing one only when the model
//! has seen what it replaces, as it now is. A refusal shows that text, unless reading it would have
//! been a matter of its own: a secret, or a file outside.

use modes::ProposedCall;
use schemars::JsonSchema;
use serde::Deserialize;

use super::edit::dressed;
use super::read_file::{hash, text};
use super::replace::{Standing, put, standing};
use crate::place::{Place, Roots};
use crate::scope::Scope;
use crate::tool::{BadArguments, ToolResult};
use crate::typed::{Around, TypedTool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Relative to the project; missing folders are made.
    path: String,
    /// The whole content.
    content: String,
}

pub(crate) struct WriteToFile;

impl TypedTool for WriteToFile {
    const NAME: &'static str = "write_to_file";
    const DESCRIPTION: &'static str = "Creates a file or replaces one whole. Use it for new files and rewrites; to change parts use replace_in_file. An existing file must have been read first.";
    const EXAMPLE: &'static str = r#"{"path": "docs/notes.md", "content": "Notes\n"}"#;
    type Arguments = Arguments;
    type Ready = (Place, String);

    fn prepare(
        Arguments { path, content }: Arguments,
        call: ProposedCall,
        scope: &Scope,
    ) -> Result<(ProposedCall, Self::Ready), BadArguments> {
        let place = Roots::of(scope)?.find(&path)?;
        Ok((written(call, &place)?, (place, content)))
    }

    async fn act((place, content): Self::Ready, around: Around<'_>) -> ToolResult {
        let seen = around.desk.last_seen(place.path());
        let wrote = tokio::task::spawn_blocking(move || write(&place, &content, seen.as_deref()));
        wrote
            .await
            .unwrap_or_else(|_| ToolResult::error("writing was interrupted."))
    }
}

/// The call with what writing at a place means, and with the content an answer is bound to.
pub(crate) fn written(call: ProposedCall, place: &Place) -> Result<ProposedCall, BadArguments> {
    bound(call.with_target(place.as_written()), place, "content")
}

/// The call, an answer to which is bound to what stands at a place.
pub(crate) fn bound(call: ProposedCall, place: &Place, name: &str) -> Result<ProposedCall, BadArguments> {
    if !place.may_be_looked_at() {
        return Ok(call);
    }
    Ok(match standing(place).map_err(BadArguments)? {
        Some(Standing { bytes, .. }) => call.with_evidence(name, hash(&bytes)),
        None => call.with_evidence(name, "none"),
    })
}

fn write(place: &Place, content: &str, seen: Option<&str>) -> ToolResult {
    let old = match standing(place) {
        Ok(old) => old,
        Err(why) => return ToolResult::error(why),
    };
    let Some(old) = old else {
        return finish(place, content, None, "created");
    };
    let now = hash(&old.bytes);
    match seen {
        Some(seen) if seen == now => {}
        Some(_) => return stale(place, &old, "changed since you last saw it"),
        None => return stale(place, &old, "exists and you have not read it"),
    }
    let new = match std::str::from_utf8(&old.bytes) {
        Ok(old) => dressed(old, content),
        Err(_) => content.to_owned(),
    };
    finish(place, &new, Some(&old), "replaced")
}

/// The refusal to write over what the model does not know, with the text as it is.
pub(crate) fn stale(place: &Place, old: &Standing, why: &str) -> ToolResult {
    let path = place.path();
    if !place.may_be_shown() {
        return ToolResult::error(format!(
            "{path} {why}; nothing was written. Read it with read_file first."
        ));
    }
    ToolResult::error(format!(
        "{path} {why}; nothing was written. It now reads:\n{}\nCall again if your change still fits.",
        text(&old.bytes, 1, None)
    ))
    .showing(path, hash(&old.bytes))
}

/// Puts the content and tells what became of it.
pub(crate) fn finish(place: &Place, content: &str, old: Option<&Standing>, what: &str) -> ToolResult {
    let path = place.path();
    if old.is_some_and(|old| old.bytes == content.as_bytes()) {
        return ToolResult::text(format!("{path} already reads so; nothing was written."));
    }
    if let Err(why) = put(place, content.as_bytes(), old) {
        return ToolResult::error(why);
    }
    let done = ToolResult::text(format!("{path} {what}: {} lines.", content.lines().count()))
        .showing(path, hash(content.as_bytes()));
    if place.in_worktree() { done.changing(path) } else { done }
}
