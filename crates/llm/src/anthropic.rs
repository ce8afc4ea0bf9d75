//! Anthropic's Messages protocol: one streamed request, one streamed answer. It retries nothing
//! and knows no tool by name.

mod assembly;
mod body;
mod family;
mod frame;

use std::collections::VecDeque;

use futures_util::stream::BoxStream;
use futures_util::{StreamExt, stream};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use crate::{
    ErrorKind, Fitted, Model, ModelError, ModelIdentity, ModelSettings, Part, PartStream, Request, SetupError, events,
    failure, http,
};
use assembly::Assembly;

/// The provider's name in settings, identities and native blocks.
pub const PROVIDER: &str = "anthropic";
/// Where Anthropic itself answers.
pub const BASE_URL: &str = "https://api.anthropic.com";

const VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");
const VERSION_HEADER: HeaderName = HeaderName::from_static("anthropic-version");
const KEY_HEADER: HeaderName = HeaderName::from_static("x-api-key");
const BETA_HEADER: HeaderName = HeaderName::from_static("anthropic-beta");
/// Lets a model with a thinking budget think between tool calls too.
const INTERLEAVED: HeaderValue = HeaderValue::from_static("interleaved-thinking-2025-05-14");
/// A place that speaks the Messages protocol. One serves every model there.
#[derive(Debug, Clone)]
pub struct Anthropic {
    client: reqwest::Client,
    address: reqwest::Url,
    headers: HeaderMap,
}

impl Anthropic {
    /// Prepares to talk to `base_url` (with or without `/v1`), [`BASE_URL`] for Anthropic itself.
    /// Nothing is sent yet.
    pub fn new(base_url: &str, key: &SecretString) -> Result<Self, SetupError> {
        let mut key = HeaderValue::from_str(key.expose_secret()).map_err(|_| SetupError::Key {
            provider: PROVIDER.into(),
        })?;
        key.set_sensitive(true);
        let address = http::address(base_url, "v1", "messages")?;
        Ok(Self {
            client: http::client(&address)?,
            address,
            headers: HeaderMap::from_iter([(VERSION_HEADER, VERSION), (KEY_HEADER, key)]),
        })
    }

    fn prepare(&self, request: Request) -> reqwest::RequestBuilder {
        let settings = family::fit(&request.settings).settings;
        let body = body::body(&Request { settings, ..request });
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if body.pointer("/thinking/budget_tokens").is_some() {
            headers.insert(BETA_HEADER, INTERLEAVED);
        }
        self.client
            .post(self.address.clone())
            .headers(headers)
            .body(body.to_string())
    }
}

impl Model for Anthropic {
    fn identity(&self) -> ModelIdentity {
        ModelIdentity {
            provider: PROVIDER.into(),
            actual_model: None,
            simulated: false,
        }
    }

    fn fit(&self, settings: &ModelSettings) -> Fitted {
        family::fit(settings)
    }

    fn stream(&self, request: Request) -> PartStream {
        let prepared = self.prepare(request);
        stream::once(open(prepared))
            .flat_map(|opened| match opened {
                Ok(answer) => read(answer),
                Err(error) => stream::once(std::future::ready(Err(error))).boxed(),
            })
            .boxed()
    }
}

/// Sends a request and returns the answer, if it is a stream of events.
async fn open(prepared: reqwest::RequestBuilder) -> Result<reqwest::Response, ModelError> {
    let answer = prepared.send().await.map_err(http::dropped)?;
    let status = answer.status();
    let retry_after = failure::retry_after(answer.headers());
    let is_stream = answer
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"));
    if status.is_success() && is_stream {
        return Ok(answer);
    }
    let text = http::beginning(answer).await;
    let (kind, message) = if status.is_success() {
        let shown = text.chars().take(200).collect::<String>();
        (
            ErrorKind::Malformed,
            format!("expected a stream of events, found `{shown}`"),
        )
    } else {
        frame::failure(status.as_u16(), &text)
    };
    Err(ModelError {
        status: Some(status.as_u16()),
        retry_after,
        ..ModelError::new(kind, message)
    })
}

/// An answer being read.
struct Reading {
    events: BoxStream<'static, Result<String, ModelError>>,
    assembly: Assembly,
    status: u16,
    ready: VecDeque<Part>,
    ended: bool,
}

fn read(answer: reqwest::Response) -> PartStream {
    let status = answer.status().as_u16();
    let pieces = http::bounded(answer.bytes_stream());
    let reading = Reading {
        events: events::events(pieces).boxed(),
        assembly: Assembly::default(),
        status,
        ready: VecDeque::new(),
        ended: false,
    };
    stream::unfold(reading, |mut reading| async { Some((reading.next().await?, reading)) }).boxed()
}

impl Reading {
    /// The next part, the error that ends the stream, or `None` after either end.
    async fn next(&mut self) -> Option<Result<Part, ModelError>> {
        while !self.ended && self.ready.is_empty() {
            let accepted = match self.events.next().await {
                Some(Ok(data)) => self.assembly.accept(&data),
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
