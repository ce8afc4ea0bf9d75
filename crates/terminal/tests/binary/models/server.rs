//! A provider on loopback: it answers in the Messages protocol what a story prepared, and keeps
//! every request as it arrived.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::support::Place;

/// The variable the key is in, and the key.
pub(crate) const KEY: (&str, &str) = ("ACME_KEY", "acme-0123456789-secret");

/// What one request is answered with.
pub(crate) struct Answer {
    status: u16,
    body: Reply,
    /// Whether the output limit cut it off.
    cut: bool,
    /// Whether the answer waits for this first.
    held: Option<oneshot::Receiver<()>>,
}

enum Reply {
    /// The blocks of a whole streamed message.
    Blocks(Vec<Value>),
    /// A body of its own.
    Text(String),
    /// A stream of events in another protocol.
    Events(String),
}

/// One request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) key: String,
    pub(crate) body: Value,
}

/// The server; it ends with the story.
pub(crate) struct Server {
    pub(crate) url: String,
    shared: Shared,
    arrivals: Receiver<()>,
    _runtime: Runtime,
}

#[derive(Clone)]
struct Shared {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    requests: Arc<Mutex<Vec<Request>>>,
    arrived: Sender<()>,
}

impl Answer {
    /// A whole message of these blocks.
    pub(crate) fn of(blocks: &[Value]) -> Answer {
        Answer {
            status: 200,
            body: Reply::Blocks(blocks.to_vec()),
            cut: false,
            held: None,
        }
    }

    /// A chat completion in the manner of OpenAI: these deltas, one after the other.
    pub(crate) fn chat(deltas: &[Value]) -> Answer {
        let choice = |choice: Value| format!("data: {}\n\n", json!({"model": "house-1", "choices": [choice]}));
        let mut events: String = deltas
            .iter()
            .map(|delta| choice(json!({"index": 0, "delta": delta})))
            .collect();
        events += &choice(json!({"index": 0, "delta": {}, "finish_reason": "stop"}));
        let usage = json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10}});
        Answer {
            status: 200,
            body: Reply::Events(format!("{events}data: {usage}\n\ndata: [DONE]\n\n")),
            cut: false,
            held: None,
        }
    }

    /// The beginning of a message that the output limit cut off.
    pub(crate) fn cut(blocks: &[Value]) -> Answer {
        Answer {
            cut: true,
            ..Answer::of(blocks)
        }
    }

    /// A refusal in the provider's words.
    pub(crate) fn failing(status: u16, kind: &str, words: &str) -> Answer {
        let body = json!({"type": "error", "error": {"type": kind, "message": words}});
        Answer {
            status,
            body: Reply::Text(body.to_string()),
            cut: false,
            held: None,
        }
    }

    /// The same answer, given only once the sender is used.
    pub(crate) fn held(mut self) -> (Answer, oneshot::Sender<()>) {
        let (sender, receiver) = oneshot::channel();
        self.held = Some(receiver);
        (self, sender)
    }
}

impl Server {
    /// Serves these answers, one for each request, in order; then it has nothing more to say.
    pub(crate) fn start(answers: impl IntoIterator<Item = Answer>) -> Server {
        let (arrived, arrivals) = channel();
        let shared = Shared {
            answers: Arc::new(Mutex::new(answers.into_iter().collect())),
            requests: Arc::default(),
            arrived,
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(serve).with_state(shared.clone());
        runtime.spawn(async move { axum::serve(listener, router).await });
        Server {
            url,
            shared,
            arrivals,
            _runtime: runtime,
        }
    }

    /// Everything that arrived, in order.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The bodies of everything that arrived, in order.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.requests().into_iter().map(|request| request.body).collect()
    }

    /// Waits for the next request that was not waited for yet.
    pub(crate) fn wait_for_request(&self) {
        self.arrivals.recv().unwrap();
    }

    /// The person's settings that ask this server, with `more` behind them; the key is in its variable.
    pub(crate) fn configure(&self, place: &mut Place, more: &str) {
        let provider = format!(
            "[providers.anthropic]\nbase_url = \"{}\"\nkey_env = \"{}\"\n",
            self.url, KEY.0
        );
        place.settings(&format!("{provider}\n{more}"));
        place.variables.push((KEY.0.to_owned(), KEY.1.to_owned()));
    }

    /// A fresh place whose settings ask this server.
    pub(crate) fn place(&self, settings: &str) -> Place {
        let mut place = Place::new();
        self.configure(&mut place, settings);
        place
    }
}

async fn serve(State(shared): State<Shared>, uri: axum::http::Uri, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let key = ["x-api-key", "authorization"]
        .iter()
        .find_map(|name| headers.get(*name)?.to_str().ok())
        .unwrap_or_default()
        .to_owned();
    let request = Request {
        path: uri.path().to_owned(),
        key,
        body: body.clone(),
    };
    shared.requests.lock().unwrap().push(request);
    let answer = shared.answers.lock().unwrap().pop_front();
    // Nobody may listen any more.
    shared.arrived.send(()).ok();
    let answer = answer.unwrap_or_else(|| Answer::of(&[]));
    if let Some(held) = answer.held {
        drop(held.await);
    }
    let (kind, text) = match answer.body {
        Reply::Blocks(blocks) => ("text/event-stream", streamed(&body, &blocks, answer.cut)),
        Reply::Text(text) => ("application/json", text),
        Reply::Events(text) => ("text/event-stream", text),
    };
    Response::builder()
        .status(answer.status)
        .header("content-type", kind)
        .body(Body::from(text))
        .unwrap()
}

/// What the model says.
pub(crate) fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

/// A call.
#[allow(clippy::needless_pass_by_value, reason = "callers write the value in place")]
pub(crate) fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

/// A signed thought.
pub(crate) fn thinking(words: &str, signature: &str) -> Value {
    json!({"type": "thinking", "thinking": words, "signature": signature})
}

/// A message as the protocol streams it: every block begun empty, filled in pieces, ended.
fn streamed(request: &Value, blocks: &[Value], cut: bool) -> String {
    let mut text = String::new();
    let mut event =
        |value: &Value| writeln!(text, "event: {}\ndata: {value}\n", value["type"].as_str().unwrap()).unwrap();
    let model = format!("{}-snapshot", request["model"].as_str().unwrap_or_default());
    event(&json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 40, "output_tokens": 1}}}));
    for (index, block) in blocks.iter().enumerate() {
        let (empty, deltas) = in_pieces(block);
        event(&json!({"type": "content_block_start", "index": index, "content_block": empty}));
        for delta in deltas {
            event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        event(&json!({"type": "content_block_stop", "index": index}));
    }
    let calls = blocks.iter().any(|block| block["type"] == "tool_use");
    let stop = match (cut, calls) {
        (true, _) => "max_tokens",
        (false, true) => "tool_use",
        (false, false) => "end_turn",
    };
    event(
        &json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null},
                  "usage": {"output_tokens": 20}}),
    );
    event(&json!({"type": "message_stop"}));
    text
}

/// A block as it begins, and the pieces that fill it.
fn in_pieces(block: &Value) -> (Value, Vec<Value>) {
    let halves = |words: &str| {
        let middle = words
            .char_indices()
            .nth(words.chars().count() / 2)
            .map_or(0, |(at, _)| at);
        let (first, second) = words.split_at(middle);
        [first.to_owned(), second.to_owned()]
    };
    match block["type"].as_str().unwrap() {
        "text" => {
            let pieces = halves(block["text"].as_str().unwrap());
            (
                text(""),
                pieces
                    .iter()
                    .map(|piece| json!({"type": "text_delta", "text": piece}))
                    .collect(),
            )
        }
        "tool_use" => {
            let mut empty = block.clone();
            empty["input"] = json!({});
            let pieces = halves(&block["input"].to_string());
            let delta = |piece: &String| json!({"type": "input_json_delta", "partial_json": piece});
            (empty, pieces.iter().map(delta).collect())
        }
        "thinking" => {
            let pieces = halves(block["thinking"].as_str().unwrap());
            let thoughts = pieces
                .iter()
                .map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
            let signature = json!({"type": "signature_delta", "signature": block["signature"]});
            (thinking("", ""), thoughts.chain([signature]).collect())
        }
        other => panic!("no pieces are known of a {other} block"),
    }
}
