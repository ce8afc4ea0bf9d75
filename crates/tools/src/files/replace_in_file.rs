//! `replace_in_file`: SEARCH/REPLACE blocks on one file, all or none. A file the model never read can
//! be edited, because lines that stand in it once are known well enough; one that changed since it
//! was read cannot.

use modes::ProposedCall;
use schemars::JsonSchema;
use serde::Deserialize;

use super::blocks::{Block, blocks};
use super::edit::{Edited, apply};
use super::read_file::hash;
use super::replace::standing;
use super::write_to_file::{finish, stale, written};
use crate::place::{Place, Roots};
use crate::scope::Scope;
use crate::tool::{BadArguments, Content, ToolResult};
use crate::typed::{Around, TypedTool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Relative to the project.
    path: String,
    /// Blocks, applied in order: `------- SEARCH`, lines, `=======`, lines, `+++++++ REPLACE`.
    diff: String,
}

pub(crate) struct ReplaceInFile;

impl TypedTool for ReplaceInFile {
    const NAME: &'static str = "replace_in_file";
    const DESCRIPTION: &'static str = "Changes parts of a file. Each SEARCH is whole lines as they stand in the file, without line numbers, and must match in exactly one place; else nothing changes and the nearest text is shown.";
    const EXAMPLE: &'static str =
        r#"{"path": "src/a.rs", "diff": "------- SEARCH\nlet x = 1;\n=======\nlet x = 2;\n+++++++ REPLACE"}"#;
    type Arguments = Arguments;
    type Ready = (Place, Vec<Block>);

    fn prepare(
        Arguments { path, diff }: Arguments,
        call: ProposedCall,
        scope: &Scope,
    ) -> Result<(ProposedCall, Self::Ready), BadArguments> {
        let blocks = blocks(&diff).map_err(BadArguments)?;
        let place = Roots::of(scope)?.find(&path)?;
        Ok((written(call, &place)?, (place, blocks)))
    }

    async fn act((place, blocks): Self::Ready, around: Around<'_>) -> ToolResult {
        let seen = around.desk.last_seen(place.path());
        let changed = tokio::task::spawn_blocking(move || replace(&place, &blocks, seen.as_deref()));
        changed
            .await
            .unwrap_or_else(|_| ToolResult::error("writing was interrupted."))
    }
}

fn replace(place: &Place, blocks: &[Block], seen: Option<&str>) -> ToolResult {
    let path = place.path();
    let old = match standing(place) {
        Ok(Some(old)) => old,
        Ok(None) => return ToolResult::error(format!("{path} does not exist; create it with write_to_file.")),
        Err(why) => return ToolResult::error(why),
    };
    if seen.is_some_and(|seen| seen != hash(&old.bytes)) {
        return stale(place, &old, "changed since you last saw it");
    }
    let Ok(text) = std::str::from_utf8(&old.bytes) else {
        return ToolResult::error(format!("{path} is not valid UTF-8 text; it cannot be edited this way."));
    };
    match apply(text, blocks) {
        Err(why) if place.may_be_shown() => ToolResult::error(format!("{path} was not changed: {why}.")),
        Err(_) => ToolResult::error(format!(
            "{path} was not changed: a SEARCH does not stand in exactly one place."
        )),
        Ok(Edited { text: new, .. }) if new == text => ToolResult::error(format!(
            "{path} was not changed: the blocks put in what already stands there."
        )),
        Ok(Edited { text: new, found }) => {
            let mut result = finish(place, &new, Some(&old), "changed");
            if seen.is_none() {
                // Parts were known, not the whole.
                result.seen.clear();
            }
            let forgiven: Vec<String> = found
                .iter()
                .filter_map(|(line, rung)| Some(format!("line {line}: {}", rung.forgave()?)))
                .collect();
            if !result.is_error && !forgiven.is_empty() {
                let text = format!(
                    "SEARCH matched only after forgiving ({}); check the result.",
                    forgiven.join("; ")
                );
                result.content.push(Content::Text { text });
            }
            result
        }
    }
}
