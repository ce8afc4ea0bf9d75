//! One question to the run's own model beside its conversation: about a text of strangers, with no tools and nothing
//! of what was said. It must not know what becomes of the answer.

use futures_util::StreamExt as _;
use llm::{Block, ErrorKind, Message, ModelError, Part, Request, RequestContext, Response};

use crate::active::{Active, words};
use crate::fact::Aside;
use crate::run_state::text_of;

const SYSTEM: &str = include_str!("prompt/aside.md");

/// Asks; what it cost is to be recorded, however it came out.
pub(crate) async fn ask(run: &Active, call: &str, about: &str, question: &str) -> (Aside, Result<String, String>) {
    let request = Request {
        // Every request states the mode it is made in.
        system: format!("{SYSTEM}\n# Mode: {}\n", run.spec.label()),
        tools: Vec::new(),
        messages: vec![Message::user(vec![
            Block::Text(about.to_owned()),
            Block::Text(format!("The question about the page above:\n\n{question}")),
        ])],
        settings: run.chosen.settings.clone(),
        cursor: run.state.cursor.clone(),
        entering: None,
        context: RequestContext {
            mode: run.spec.mode().settings_key().to_owned(),
            agent: None,
            step: None,
        },
    };
    let size = request.size().total();
    let mut aside = Aside {
        call: call.to_owned(),
        bytes: size.bytes,
        tokens: size.tokens,
        model: words(&run.chosen.settings),
        usage: llm::Usage::default(),
        cursor: None,
        failure: None,
    };
    let answered = tokio::select! {
        answered = answer(run, request) => answered,
        () = run.stop.cancelled() => Err(ModelError::new(ErrorKind::Dropped, "a person stopped the run")),
    };
    let text = match answered {
        Ok(response) => {
            aside.usage = response.usage;
            aside.cursor.clone_from(&response.cursor);
            Ok(text_of(&response.blocks).trim().to_owned())
        }
        Err(error) => {
            aside.usage = error.partial.usage;
            aside.cursor.clone_from(&error.cursor);
            aside.failure = Some(error.kind.to_string());
            Err(error.message)
        }
    };
    (aside, text)
}

async fn answer(run: &Active, request: Request) -> Result<Response, ModelError> {
    let mut parts = run.chosen.model.stream(request);
    while let Some(part) = parts.next().await {
        if let Part::Done(response) = part? {
            return Ok(response);
        }
    }
    Err(ModelError::new(ErrorKind::Dropped, "the answer ended without an end"))
}
