//! A server on loopback that answers with scripted bytes, and can wait or break off between them;
//! and short ways to ask it.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, Uri};
use axum::routing::post;
use futures_util::{StreamExt, stream};
use secrecy::SecretString;
use serde_json::{Value, json};
use stance_llm::anthropic::Anthropic;
use stance_llm::{Block, Message, Model, ModelError, ModelSettings, Part, Request, RequestContext, Response as Answer};
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

    pub(crate) fn model(&self) -> Anthropic {
        Anthropic::new(&self.url, &SecretString::from(KEY)).unwrap()
    }

    pub(crate) fn seen(&self) -> Seen {
        self.shared.seen.lock().unwrap().remove(0)
    }
}

async fn serve(State(shared): State<Shared>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response<Body> {
    shared.seen.lock().unwrap().push(Seen {
        path: uri.path().into(),
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

/// Frames as the protocol writes them.
pub(crate) fn frames(frames: &[Value]) -> String {
    let mut text = String::new();
    for frame in frames {
        let kind = frame["type"].as_str().unwrap();
        writeln!(text, "event: {kind}\ndata: {frame}\n").unwrap();
    }
    text
}

pub(crate) fn begin() -> Value {
    json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929",
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 25, "cache_creation_input_tokens": 300,
                  "cache_read_input_tokens": 4000, "output_tokens": 1},
    }})
}

#[allow(clippy::needless_pass_by_value, reason = "callers write the value in place")]
pub(crate) fn block(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

#[allow(clippy::needless_pass_by_value, reason = "callers write the value in place")]
pub(crate) fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

pub(crate) fn text(index: u64, text: &str) -> Value {
    delta(index, json!({"type": "text_delta", "text": text}))
}

pub(crate) fn input(index: u64, piece: &str) -> Value {
    delta(index, json!({"type": "input_json_delta", "partial_json": piece}))
}

pub(crate) fn call(index: u64, id: &str, name: &str) -> Value {
    block(index, json!({"type": "tool_use", "id": id, "name": name, "input": {}}))
}

pub(crate) fn close(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

pub(crate) fn ending(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
           "usage": {"output_tokens": 42}})
}

pub(crate) fn stop() -> Value {
    json!({"type": "message_stop"})
}

/// A whole answer that says `hello`, with the pings and unknown events a real one has.
pub(crate) fn hello() -> Vec<Value> {
    vec![
        begin(),
        block(0, json!({"type": "text", "text": ""})),
        json!({"type": "ping"}),
        text(0, "Grüße, "),
        json!({"type": "an_event_of_the_future", "index": {"odd": true}}),
        delta(0, json!({"type": "a_delta_of_the_future", "weight": 1})),
        text(0, "🌍"),
        close(0),
        ending("end_turn"),
        stop(),
    ]
}

pub(crate) fn hello_text() -> Block {
    Block::Text("Grüße, 🌍".into())
}

pub(crate) fn request(model: &str) -> Request {
    Request {
        system: "You are terse.".into(),
        tools: Vec::new(),
        messages: vec![Message::user(vec![Block::Text("hi".into())])],
        settings: ModelSettings::new("anthropic", model),
        cursor: None,
        entering: None,
        context: RequestContext::default(),
    }
}

/// Everything a stream gives, checked to end exactly once.
pub(crate) async fn parts(model: &impl Model, request: Request) -> Vec<Result<Part, ModelError>> {
    let parts = model.stream(request).collect::<Vec<_>>().await;
    let (last, before) = parts.split_last().expect("a stream is never empty");
    assert!(matches!(last, Ok(Part::Done(_)) | Err(_)), "ends with {last:?}");
    for part in before {
        assert!(!matches!(part, Ok(Part::Done(_)) | Err(_)), "ended early with {part:?}");
    }
    parts
}

pub(crate) async fn answer_to(reply: Reply) -> Result<Answer, ModelError> {
    let server = Server::start([reply]).await;
    match parts(&server.model(), request("claude-sonnet-4-5")).await.pop() {
        Some(Ok(Part::Done(answer))) => Ok(answer),
        Some(Err(error)) => Err(error),
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn answer(written: &[Value]) -> Answer {
    answer_to(Reply::stream(&frames(written))).await.unwrap()
}

pub(crate) async fn failure(written: &[Value]) -> ModelError {
    answer_to(Reply::stream(&frames(written))).await.unwrap_err()
}

/// The request a server sees.
pub(crate) async fn sent(request: Request) -> Seen {
    let server = Server::start([Reply::stream(&frames(&hello()))]).await;
    parts(&server.model(), request).await;
    server.seen()
}
