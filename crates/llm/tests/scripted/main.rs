//! The scripted model: which turn answers, what survives between requests, and how a script's
//! faults read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod entries_and_cursors;
mod expectations;
mod script_files;
mod turns;

use futures_util::StreamExt;
use serde_json::Value;
use stance_llm::scripted::Scripted;
use stance_llm::{Block, Message, Model, ModelError, ModelSettings, Part, Request, RequestContext, Response};

fn scripted(script: &Value) -> Scripted {
    Scripted::new("script.json", script.to_string().as_bytes()).unwrap()
}

fn request() -> Request {
    Request {
        system: "You plan.".into(),
        tools: Vec::new(),
        messages: vec![Message::user(vec![Block::Text("Fix the parser.".into())])],
        settings: ModelSettings::new("scripted", "script.json"),
        cursor: None,
        entering: None,
        context: RequestContext::default(),
    }
}

fn entering(id: &str, mode: &str, agent: Option<&str>, step: Option<&str>) -> Request {
    Request {
        entering: Some(id.into()),
        context: RequestContext {
            mode: mode.into(),
            agent: agent.map(Into::into),
            step: step.map(Into::into),
        },
        ..request()
    }
}

async fn parts(model: &Scripted, request: Request) -> Vec<Result<Part, ModelError>> {
    model.stream(request).collect().await
}

async fn ask(model: &Scripted, request: Request) -> Result<Response, ModelError> {
    match parts(model, request).await.pop() {
        Some(Ok(Part::Done(response))) => Ok(response),
        Some(Err(error)) => Err(error),
        other => panic!("{other:?}"),
    }
}

/// A conversation that hands the cursor on, like a run does.
struct Conversation<'a> {
    script: &'a Value,
    cursor: Option<String>,
}

impl<'a> Conversation<'a> {
    fn new(script: &'a Value) -> Self {
        let cursor = None;
        Self { script, cursor }
    }

    /// Asks a model made anew, as after a restart. Gives the text, `!` and the words of an error.
    async fn ask(&mut self, request: Request) -> String {
        let request = Request {
            cursor: self.cursor.clone(),
            ..request
        };
        match ask(&scripted(self.script), request).await {
            Ok(answer) => {
                self.cursor = answer.cursor;
                assert!(answer.blocks.len() < 2);
                match answer.blocks.into_iter().next() {
                    Some(Block::Text(text)) => text,
                    None => String::new(),
                    other => panic!("{other:?}"),
                }
            }
            Err(error) => {
                self.cursor = error.cursor;
                format!("!{}", error.message)
            }
        }
    }
}
