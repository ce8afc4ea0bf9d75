//! A server on loopback that answers with scripted bytes, and can wait or break off between them;
//! and short ways to ask it, whatever protocol it plays.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, Uri};
use axum::routing::post;
use futures_util::{StreamExt, stream};
use secrecy::SecretString;
use serde_json::Value;
use stance_llm::{
    Block, Message, Model, ModelError, ModelSettings, Part, Preset, Provider, Request, RequestContext,
    Response as Answer, SetupError,
};
use tokio::sync::oneshot;

pub(crate) const KEY: &str = "sk-test-0123456789";

/// What happens next in an answer's body.
pub(crate) enum Step {
    Bytes(Vec<u8>),
    /// Waits until the other end is used or dropped.
    Wait(oneshot::Receiver<()>),
    /// The connection breaks.
    Break,
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) steps: Vec<Step>,
}

impl Reply {
    pub(crate) fn steps(steps: Vec<Step>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type", "text/event-stream; charset=utf-8".into())],
            steps,
        }
    }

    pub(crate) fn stream(text: &str) -> Self {
        Self::steps(vec![Step::Bytes(text.as_bytes().to_vec())])
    }

    pub(crate) fn failing(status: u16, body: &str) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json".into())],
            steps: vec![Step::Bytes(body.as_bytes().to_vec())],
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.into()));
        self
    }
}

/// A request as it arrived.
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

#[derive(Clone, Default)]
struct Shared {
    replies: Arc<Mutex<VecDeque<Reply>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

pub(crate) struct Server {
    pub(crate) url: String,
    shared: Shared,
}

impl Server {
    /// Serves `replies`, one for each request, in order.
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let shared = Shared::default();
        shared.replies.lock().unwrap().extend(replies);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/{*path}", post(serve)).with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, shared }
    }

    /// A model at this server, spoken to as `preset` says.
    pub(crate) fn model(&self, preset: &str) -> Arc<dyn Model> {
        model_at(preset, &self.url, KEY).unwrap()
    }

    pub(crate) fn seen(&self) -> Seen {
        self.shared.seen.lock().unwrap().remove(0)
    }
}

async fn serve(State(shared): State<Shared>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response<Body> {
    shared.seen.lock().unwrap().push(Seen {
        path: uri.path().into(),
        query: uri.query().map(Into::into),
        headers,
        body: serde_json::from_slice(&body).unwrap(),
    });
    let reply = shared.replies.lock().unwrap().pop_front().expect("a reply is left");
    let mut answer = Response::builder().status(reply.status);
    for (name, value) in reply.headers {
        answer = answer.header(name, value);
    }
    let pieces = stream::iter(reply.steps).filter_map(|step| async {
        match step {
            Step::Bytes(bytes) => Some(Ok(Bytes::from(bytes))),
            Step::Wait(signal) => {
                let _ = signal.await;
                None
            }
            Step::Break => Some(Err(std::io::Error::other("break"))),
        }
    });
    answer.body(Body::from_stream(pieces)).unwrap()
}

/// A model of `preset` at another address than its own.
pub(crate) fn model_at(preset: &str, base_url: &str, key: &str) -> Result<Arc<dyn Model>, SetupError> {
    let provider = Provider {
        name: preset.into(),
        preset: Preset::named(preset).unwrap().clone(),
        base_url: base_url.into(),
        key: Some(SecretString::from(key)),
        credentials: None,
    };
    provider.connect()
}

pub(crate) fn request(model: &str) -> Request {
    Request {
        system: "You are terse.".into(),
        tools: Vec::new(),
        messages: vec![Message::user(vec![Block::Text("hi".into())])],
        settings: ModelSettings::new("any", model),
        cursor: None,
        entering: None,
        context: RequestContext::default(),
    }
}

/// Everything a stream gives, checked to end exactly once.
pub(crate) async fn parts(model: &dyn Model, request: Request) -> Vec<Result<Part, ModelError>> {
    let parts = model.stream(request).collect::<Vec<_>>().await;
    let (last, before) = parts.split_last().expect("a stream is never empty");
    assert!(matches!(last, Ok(Part::Done(_)) | Err(_)), "ends with {last:?}");
    for part in before {
        assert!(!matches!(part, Ok(Part::Done(_)) | Err(_)), "ended early with {part:?}");
    }
    parts
}

/// What a model of `preset` makes of one reply.
pub(crate) async fn answer_to(preset: &str, reply: Reply) -> Result<Answer, ModelError> {
    let server = Server::start([reply]).await;
    match parts(server.model(preset).as_ref(), request("some-model")).await.pop() {
        Some(Ok(Part::Done(answer))) => Ok(answer),
        Some(Err(error)) => Err(error),
        other => panic!("{other:?}"),
    }
}

/// The request a model of `preset` sends; `reply` is a whole answer of its protocol.
pub(crate) async fn sent(preset: &str, reply: Reply, request: Request) -> Seen {
    let server = Server::start([reply]).await;
    parts(server.model(preset).as_ref(), request).await;
    server.seen()
}
