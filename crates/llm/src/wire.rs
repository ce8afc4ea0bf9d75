//! What every wire shares: the request is fitted, repaired and sent once, the answer read piece by
//! piece, and a failure is the last item. What the pieces mean is the business of each protocol,
//! which says it through [`Wire`] and [`Assembly`].
//!
//! A new protocol is a folder beside `anthropic`: `body.rs` (our request as theirs), `frame.rs`
//! (their events), `assembly.rs` (events to parts), `family.rs` (what its models take), a variant
//! of [`Protocol`](crate::Protocol) and a table in `data/presets.toml`.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryFutureExt, stream};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

use crate::repair::{self, Rules};
use crate::{
    Block, ErrorKind, Fitted, Model, ModelError, ModelIdentity, ModelSettings, Part, PartStream, Partial, Request,
    Response, SetupError, event_stream, events, http, wait,
};

/// One protocol at one place. Pure: it writes requests and reads answers, and sends nothing.
pub(crate) trait Wire: Send + Sync + 'static {
    /// An answer so far.
    type Assembly: Assembly;

    /// The provider's name in settings, identities and native blocks.
    fn provider(&self) -> &str;

    /// What the protocol accepts of a conversation.
    fn rules(&self) -> Rules;

    /// The settings as the protocol will carry them; see [`Model::fit`].
    fn fit(&self, settings: &ModelSettings) -> Fitted;

    /// The request to send. `request` has been fitted and repaired.
    fn outgoing(&self, request: &Request) -> Outgoing;

    /// The answer to `request` before anything of it has come.
    fn assembly(&self, request: &Request) -> Self::Assembly;

    /// What an answer with a failing `status` says; how long to wait only where `body` says it,
    /// since headers are read for all wires alike and count more.
    fn failure(&self, status: u16, body: &str) -> ModelError;
}

/// An answer so far. Text in, parts out.
pub(crate) trait Assembly: Send + 'static {
    /// How events lie in the body of an answer.
    const FRAMING: Framing = Framing::ServerSentEvents;

    /// Takes the data of one event. The last part of a whole answer is [`Part::Done`].
    fn accept(&mut self, data: &str) -> Result<Vec<Part>, ModelError>;

    /// The whole answer, when nothing more comes.
    fn end(&mut self) -> Result<Response, ModelError>;

    /// What of an answer that failed can be carried on with.
    fn partial(&self) -> Partial;
}

/// How events lie in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `text/event-stream`.
    ServerSentEvents,
    /// `application/vnd.amazon.eventstream`.
    AmazonEventStream,
}

impl Framing {
    fn content_type(self) -> &'static str {
        match self {
            Self::ServerSentEvents => "text/event-stream",
            Self::AmazonEventStream => "application/vnd.amazon.eventstream",
        }
    }

    fn events(self, answer: reqwest::Response) -> BoxStream<'static, Result<String, ModelError>> {
        let pieces = http::bounded(answer.bytes_stream());
        match self {
            Self::ServerSentEvents => events::events(pieces).boxed(),
            Self::AmazonEventStream => event_stream::events(pieces).boxed(),
        }
    }
}

/// A request ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing {
    pub(crate) address: reqwest::Url,
    /// All but the content type. Keys are marked sensitive.
    pub(crate) headers: HeaderMap,
    /// JSON.
    pub(crate) body: String,
}

/// A header value that is never printed.
pub(crate) fn secret_header(provider: &str, text: &str) -> Result<HeaderValue, SetupError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| SetupError::Key {
        provider: provider.into(),
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// A wire with the client that carries it.
pub(crate) struct Remote<W> {
    client: reqwest::Client,
    wire: Arc<W>,
}

impl<W: Wire> Remote<W> {
    /// `address` is where the wire will send to. Nothing is sent yet.
    pub(crate) fn new(address: &reqwest::Url, wire: W) -> Result<Self, SetupError> {
        Ok(Self {
            client: http::client(address)?,
            wire: Arc::new(wire),
        })
    }
}

impl<W: Wire> Model for Remote<W> {
    fn identity(&self) -> ModelIdentity {
        ModelIdentity {
            provider: self.wire.provider().into(),
            actual_model: None,
            simulated: false,
        }
    }

    fn fit(&self, settings: &ModelSettings) -> Fitted {
        self.wire.fit(settings)
    }

    fn stream(&self, request: Request) -> PartStream {
        let request = readied(self.wire.as_ref(), request);
        let Outgoing { address, headers, body } = self.wire.outgoing(&request);
        let prepared = self
            .client
            .post(address)
            .header(CONTENT_TYPE, "application/json")
            .headers(headers)
            .body(body);
        let assembly = self.wire.assembly(&request);
        let wire = self.wire.clone();
        async move { Ok(read(open(wire.as_ref(), prepared).await?, assembly)) }
            .try_flatten_stream()
            .boxed()
    }
}

/// A request as [`Wire::outgoing`] wants it.
pub(crate) fn readied(wire: &impl Wire, request: Request) -> Request {
    Request {
        settings: wire.fit(&request.settings).settings,
        messages: repair::repaired(&request.messages, wire.provider(), &wire.rules()),
        ..request
    }
}

/// Sends a request and returns the answer, if it is a stream of events.
async fn open<W: Wire>(wire: &W, prepared: reqwest::RequestBuilder) -> Result<reqwest::Response, ModelError> {
    let answer = prepared.send().await.map_err(http::dropped)?;
    let status = answer.status();
    let asked_to_wait = wait::retry_after(status.as_u16(), answer.headers());
    let is_stream = answer
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.trim_start().starts_with(W::Assembly::FRAMING.content_type()));
    if status.is_success() && is_stream {
        return Ok(answer);
    }
    let text = http::beginning(answer).await;
    let error = if status.is_success() {
        let shown = text.chars().take(200).collect::<String>();
        malformed(format!("expected a stream of events, found `{shown}`"))
    } else {
        wire.failure(status.as_u16(), &text)
    };
    let in_words = || wait::asked_in_words(&error.message).filter(|_| error.kind.retryable());
    Err(ModelError {
        status: Some(status.as_u16()),
        retry_after: asked_to_wait.or(error.retry_after).or_else(in_words),
        ..error
    })
}

/// An answer being read.
struct Reading<A> {
    events: BoxStream<'static, Result<String, ModelError>>,
    assembly: A,
    status: u16,
    ready: VecDeque<Part>,
    ended: bool,
}

fn read<A: Assembly>(answer: reqwest::Response, assembly: A) -> PartStream {
    let reading = Reading {
        status: answer.status().as_u16(),
        events: A::FRAMING.events(answer),
        assembly,
        ready: VecDeque::new(),
        ended: false,
    };
    stream::unfold(reading, |mut reading| async { Some((reading.next().await?, reading)) }).boxed()
}

impl<A: Assembly> Reading<A> {
    /// The next part, the error that ends the stream, or `None` after either end.
    async fn next(&mut self) -> Option<Result<Part, ModelError>> {
        while !self.ended && self.ready.is_empty() {
            let accepted = match self.events.next().await {
                Some(Ok(data)) => self.assembly.accept(&data),
                // What is whole already is no failure, or it would be asked for twice.
                Some(Err(error)) if error.kind == ErrorKind::Dropped => self
                    .assembly
                    .end()
                    .map(|whole| vec![Part::Done(whole)])
                    .map_err(|_| error),
                Some(Err(error)) => Err(error),
                None => self.assembly.end().map(|whole| vec![Part::Done(whole)]),
            };
            match accepted {
                Ok(parts) => self.ready.extend(parts),
                Err(error) => {
                    self.ended = true;
                    return Some(Err(ModelError {
                        status: Some(self.status),
                        partial: Box::new(self.assembly.partial()),
                        ..error
                    }));
                }
            }
        }
        let part = self.ready.pop_front()?;
        self.ended = matches!(part, Part::Done(_));
        Some(Ok(part))
    }
}

/// No honest answer comes near: the longest outputs are about half a megabyte of text.
const MOST_CONTENT_BYTES: usize = 8 * 1024 * 1024;

/// Bytes an answer holds so far.
#[derive(Debug, Default)]
pub(crate) struct Growth(usize);

impl Growth {
    /// Counts `bytes` more; an error once they are more than any honest answer has.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.0 = self.0.saturating_add(bytes);
        if self.0 > MOST_CONTENT_BYTES {
            return Err(malformed(format!(
                "the answer is larger than {MOST_CONTENT_BYTES} bytes"
            )));
        }
        Ok(())
    }
}

/// The ids of calls that a conversation has already, so that none is given twice: some servers
/// give none, and some begin anew with every answer.
#[derive(Debug)]
pub(crate) struct CallIds(BTreeSet<String>);

impl CallIds {
    /// The ids in a request.
    pub(crate) fn of(request: &Request) -> Self {
        let blocks = request.messages.iter().flat_map(|message| &message.blocks);
        Self(
            blocks
                .filter_map(|block| match block {
                    Block::ToolCall(call) => Some(call.id.clone()),
                    _ => None,
                })
                .collect(),
        )
    }

    /// `given`, or another like it where it is empty or taken. It is taken from now on.
    pub(crate) fn take(&mut self, given: &str) -> String {
        let stem = if given.is_empty() { "call" } else { given };
        let mut id = stem.to_owned();
        let mut number = 1_usize;
        while !self.0.insert(id.clone()) {
            number = number.saturating_add(1);
            id = format!("{stem}_{number}");
        }
        id
    }
}

/// A part for showing, unless there is nothing to show.
pub(crate) fn shown(text: String, part: impl FnOnce(String) -> Part) -> Option<Part> {
    (!text.is_empty()).then(|| part(text))
}

/// An answer that breaks its protocol.
pub(crate) fn malformed(words: impl Into<String>) -> ModelError {
    ModelError::new(ErrorKind::Malformed, words)
}

/// An answer that stopped coming before it was whole.
pub(crate) fn cut_off() -> ModelError {
    ModelError::new(ErrorKind::Dropped, "the stream ended before the answer did")
}
