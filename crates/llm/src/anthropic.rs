//! Anthropic's Messages protocol. It retries nothing and knows no tool by name.

mod assembly;
mod body;
mod family;
mod frame;

use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret;

use crate::repair::{Rules, word_letter};
use crate::wire::{CallIds, Outgoing, Remote, Wire, secret_header};
use crate::{Fitted, Model, ModelError, ModelSettings, Provider, Request, SetupError, http};
use assembly::Answer;
pub(crate) use body::thinking_fields;
pub(crate) use family::fit;

const VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");
const VERSION_HEADER: HeaderName = HeaderName::from_static("anthropic-version");
const KEY_HEADER: HeaderName = HeaderName::from_static("x-api-key");
const BETA_HEADER: HeaderName = HeaderName::from_static("anthropic-beta");
/// Lets a model with a thinking budget think between tool calls too.
pub(crate) const INTERLEAVED: &str = "interleaved-thinking-2025-05-14";

/// A place that speaks the Messages protocol. One serves every model there.
pub(crate) struct Anthropic {
    provider: String,
    address: reqwest::Url,
    headers: HeaderMap,
}

/// Prepares to talk to `provider`, whose address may end with `/v1` or not.
pub(crate) fn connect(provider: &Provider) -> Result<Arc<dyn Model>, SetupError> {
    let base = http::base(&provider.base_url)?;
    let path = match base.path().trim_end_matches('/').rsplit_once('/') {
        Some((_, "v1")) => "messages",
        _ => "v1/messages",
    };
    let mut headers = HeaderMap::from_iter([(VERSION_HEADER, VERSION)]);
    if let Some(key) = &provider.key {
        headers.insert(KEY_HEADER, secret_header(&provider.name, key.expose_secret())?);
    }
    let wire = Anthropic {
        provider: provider.name.clone(),
        address: http::beneath(&base, path),
        headers,
    };
    Ok(Arc::new(Remote::new(&base, wire)?))
}

impl Wire for Anthropic {
    type Assembly = Answer;

    fn provider(&self) -> &str {
        &self.provider
    }

    fn rules(&self) -> Rules {
        Rules {
            id_letter: word_letter,
            shortest_id: 1,
            longest_id: 128,
        }
    }

    fn fit(&self, settings: &ModelSettings) -> Fitted {
        fit(settings)
    }

    fn outgoing(&self, request: &Request) -> Outgoing {
        let body = body::body(request);
        let mut headers = self.headers.clone();
        if body.pointer("/thinking/budget_tokens").is_some() {
            headers.insert(BETA_HEADER, HeaderValue::from_static(INTERLEAVED));
        }
        Outgoing {
            address: self.address.clone(),
            headers,
            body: body.to_string(),
        }
    }

    fn assembly(&self, request: &Request) -> Answer {
        Answer::new(self.provider.clone(), CallIds::of(request))
    }

    fn failure(&self, status: u16, body: &str) -> ModelError {
        frame::failure(status, body)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A wire that nothing is sent over.
    pub(crate) fn wire() -> Anthropic {
        Anthropic {
            provider: "anthropic".into(),
            address: reqwest::Url::parse("http://localhost").unwrap(),
            headers: HeaderMap::new(),
        }
    }
}
