//! `use_skill`: the text of a skill, for the work it is for.

use std::path::Path;

use modes::{ProposedCall, Target};
use schemars::JsonSchema;
use serde::Deserialize;

use super::skill::{Skill, read, skills};
use crate::scope::Scope;
use crate::tool::{BadArguments, ToolResult};
use crate::typed::{Around, TypedTool};

/// Bytes of a skill that are told.
const LONGEST: usize = 64 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// As the list of skills names it.
    skill_name: String,
}

pub(crate) struct UseSkill;

impl TypedTool for UseSkill {
    const NAME: &'static str = "use_skill";
    const DESCRIPTION: &'static str =
        "Loads a skill: how people here want one kind of work done. Use it before such work, where skills are listed.";
    const EXAMPLE: &'static str = r#"{"skill_name": "release"}"#;
    type Arguments = Arguments;
    type Ready = (Skill, String);

    fn prepare(
        Arguments { skill_name }: Arguments,
        call: ProposedCall,
        scope: &Scope,
    ) -> Result<(ProposedCall, Self::Ready), BadArguments> {
        let mut skills = skills(scope);
        let Some(at) = skills.iter().position(|skill| skill.name == skill_name) else {
            let known: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
            return Err(BadArguments(match known.as_slice() {
                [] => "there are no skills here.".to_owned(),
                known => format!("there is no skill {skill_name:?}; there are: {}.", known.join(", ")),
            }));
        };
        let skill = skills.swap_remove(at);
        let path = Path::new(&skill.path);
        let text = read(scope, path).ok_or_else(|| BadArguments(format!("{} cannot be read any more.", skill.path)))?;
        let call = if path.is_relative() {
            call.with_target(Target::Read {
                path: skill.path.clone(),
            })
        } else {
            call
        };
        Ok((call, (skill, text)))
    }

    async fn act((skill, text): Self::Ready, _: Around<'_>) -> ToolResult {
        let end = text.floor_char_boundary(LONGEST);
        let cut = match text.len() - end {
            0 => String::new(),
            more => format!("\n[{more} more bytes are left out]"),
        };
        let told = text.get(..end).unwrap_or_default().trim_end();
        ToolResult::text(format!("{}\n\n{told}{cut}", skill.path))
    }
}
