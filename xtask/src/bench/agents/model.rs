//! A model on loopback that answers at once: it asks for one file after the other, then ends. What it
//! was asked is kept. Knows the agents by the tools they offer.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt as _;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::answer::{Answer, Protocol};
use super::peers::Call;

/// One request, as it came.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) path: String,
    pub(super) body: Bytes,
}

/// What the model does until it is told otherwise.
#[derive(Debug, Clone, Default)]
pub(super) struct Story {
    /// How many files it asks for, one after the other.
    pub(super) calls: usize,
    /// How agents read a file: the first whose tool is offered is used.
    pub(super) reads: &'static [Call],
    /// How a run ends where a text does not end it.
    pub(super) ends: Option<Call>,
    /// Where the files lie: `0.txt` and so on.
    pub(super) folder: String,
}

/// The running model.
pub(super) struct Mock {
    pub(super) address: SocketAddr,
    state: Arc<Mutex<Told>>,
    _runtime: tokio::runtime::Runtime,
}

#[derive(Default)]
struct Told {
    story: Story,
    asked: Vec<Asked>,
}

impl Mock {
    /// Starts it on a free port, in a thread of its own.
    pub(super) fn start() -> io::Result<Mock> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0)))?;
        let address = listener.local_addr()?;
        let state: Arc<Mutex<Told>> = Arc::default();
        let app = Router::new().fallback(answer).with_state(Arc::clone(&state));
        let listener = listener.tap_io(|stream| {
            // A stream that cannot be told so is only slower, and is measured as it is.
            stream.set_nodelay(true).ok();
        });
        runtime.spawn(async move { axum::serve(listener, app).await });
        Ok(Mock {
            address,
            state,
            _runtime: runtime,
        })
    }

    /// Begins a story; what was asked before is forgotten.
    pub(super) fn tell(&self, story: Story) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Told {
            story,
            asked: Vec::new(),
        };
    }

    /// The requests for answers since the story began.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).asked.clone()
    }
}

async fn answer(State(state): State<Arc<Mutex<Told>>>, uri: Uri, body: Bytes) -> Response {
    let path = uri.to_string();
    let Some(protocol) = Protocol::of(&path) else {
        let models = json!({"object": "list", "data": [{"id": "mock", "object": "model"}], "models": []});
        return (
            StatusCode::OK,
            [(header::CONTENT_TYPE, "application/json")],
            models.to_string(),
        )
            .into_response();
    };
    let Ok(request) = serde_json::from_slice::<Value>(&body) else {
        return (StatusCode::BAD_REQUEST, "not JSON").into_response();
    };
    let (said, number) = {
        let mut told = state.lock().unwrap_or_else(PoisonError::into_inner);
        told.asked.push(Asked {
            path: path.clone(),
            body,
        });
        (told.story.answer(protocol, &request), told.asked.len())
    };
    let streamed = path.contains("stream") || request.get("stream") == Some(&Value::Bool(true));
    let (kind, body) = protocol.body(&said, number, streamed);
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

impl Story {
    fn answer(&self, protocol: Protocol, request: &Value) -> Answer {
        let offered = protocol.tools(request);
        let text = |text: &str| Answer::Text(text.to_owned());
        if offered.is_empty() {
            return text("A title");
        }
        let done = protocol.results(request);
        let offers = |call: &&Call| offered.iter().any(|name| name == call.tool);
        if done < self.calls {
            return match self.reads.iter().find(offers) {
                Some(call) => call.answer(&format!("{}/{done}.txt", self.folder)),
                None => text(&format!("no tool to read with among {}", offered.join(", "))),
            };
        }
        match self.ends.as_ref().filter(offers) {
            Some(call) => call.answer(""),
            None => text("Hello."),
        }
    }
}
