//! What a run would have before its model, part by part with its size. Asks nobody and records nothing.

use llm::{Block, Message};
use modes::{Mode, model_view};
use tools::{Instructions, Skill};

use crate::explain;
use crate::inner::Inner;
use crate::problem::Problem;
use crate::turn::assemble;

/// Everything loaded.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The parts, in the order of the request.
    pub parts: Vec<Part>,
    /// The skills that can be used.
    pub skills: Vec<Skill>,
}

/// One part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is, or where it was read.
    pub what: String,
    /// Estimated tokens.
    pub tokens: u64,
}

pub(crate) async fn loaded(inner: &Inner, mode: Mode, thread: Option<&str>) -> Result<Loaded, Problem> {
    let spec = explain::specimen(inner, mode).await?;
    let instructions = Instructions::of(&explain::nobodys(inner, &spec).await?);
    let messages = match thread {
        Some(thread) => assemble::of_thread(inner, thread, u64::MAX).await?.0,
        None => Vec::new(),
    };
    let settings = inner.config.models.choose(mode)?.settings;
    let view = model_view(&spec);
    let request = assemble::first(
        &inner.toolbox,
        &view,
        &Instructions::default(),
        &settings,
        messages,
        mode,
    );
    let size = request.size();
    let part = |what: &str, tokens| Part {
        what: what.to_owned(),
        tokens,
    };
    let mut parts = vec![part("the prompt of Stance and the mode", size.system.tokens)];
    for text in &instructions.texts {
        parts.push(part(&text.path, tokens(&text.text)));
    }
    for skill in &instructions.skills {
        let told = format!("{}: {}", skill.name, skill.description);
        parts.push(part(&format!("skill /{} ({})", skill.name, skill.path), tokens(&told)));
    }
    parts.push(part(&format!("{} tools", request.tools.len()), size.tools.tokens));
    parts.push(part("the conversation", size.messages.tokens));
    Ok(Loaded {
        parts,
        skills: instructions.skills,
    })
}

/// The estimated tokens of a text.
fn tokens(text: &str) -> u64 {
    llm::Size::of_messages(&[Message::user(vec![Block::Text(text.to_owned())])]).tokens
}
