//! Google's `generateContent` protocol, as Gemini's own service and Vertex speak it. It retries
//! nothing and knows no tool by name.

mod assembly;
mod body;
mod family;
mod frame;

use std::sync::Arc;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName};
use secrecy::ExposeSecret;

use crate::repair::Rules;
use crate::wire::{CallIds, Outgoing, Remote, Wire, secret_header};
use crate::{Fitted, Model, ModelError, ModelSettings, Provider, Request, SetupError, http};
use assembly::Pieces;

const KEY_HEADER: HeaderName = HeaderName::from_static("x-goog-api-key");

/// A place that speaks the protocol. One serves every model there.
struct Gemini {
    provider: String,
    /// Beneath it lies `models/NAME:streamGenerateContent`.
    base: reqwest::Url,
    headers: HeaderMap,
}

/// Prepares to talk to Gemini's own service, or one like it: `provider`'s address may end with
/// `/v1beta` or not.
pub(crate) fn connect(provider: &Provider) -> Result<Arc<dyn Model>, SetupError> {
    let base = http::base(&provider.base_url)?;
    let base = match base.path().trim_end_matches('/').rsplit_once('/') {
        Some((_, "v1" | "v1beta" | "v1alpha")) => base,
        _ => http::beneath(&base, "v1beta"),
    };
    let mut headers = HeaderMap::new();
    if let Some(key) = &provider.key {
        headers.insert(KEY_HEADER, secret_header(&provider.name, key.expose_secret())?);
    }
    connect_to(provider, &base, headers)
}

/// Prepares to talk to Vertex: `provider`'s address ends with a project's location.
pub(crate) fn connect_vertex(provider: &Provider) -> Result<Arc<dyn Model>, SetupError> {
    // The location of all locations is the only one whose host has no name of its own.
    let address = provider.base_url.replacen("//global-", "//", 1);
    let base = http::beneath(&http::base(&address)?, "publishers/google");
    let mut headers = HeaderMap::new();
    if let Some(token) = &provider.key {
        let value = format!("Bearer {}", token.expose_secret());
        headers.insert(AUTHORIZATION, secret_header(&provider.name, &value)?);
    }
    connect_to(provider, &base, headers)
}

fn connect_to(provider: &Provider, base: &reqwest::Url, headers: HeaderMap) -> Result<Arc<dyn Model>, SetupError> {
    let wire = Gemini {
        provider: provider.name.clone(),
        base: base.clone(),
        headers,
    };
    Ok(Arc::new(Remote::new(base, wire)?))
}

/// A model's name without the collection some places write before it.
fn model_name(model: &str) -> &str {
    model.strip_prefix("models/").unwrap_or(model)
}

impl Wire for Gemini {
    type Assembly = Pieces;

    fn provider(&self) -> &str {
        &self.provider
    }

    fn rules(&self) -> Rules {
        Rules {
            id_letter: |letter| letter.is_ascii_graphic(),
            shortest_id: 1,
            longest_id: 256,
        }
    }

    fn fit(&self, settings: &ModelSettings) -> Fitted {
        family::fit(settings)
    }

    fn outgoing(&self, request: &Request) -> Outgoing {
        let name = http::segment(model_name(&request.settings.model));
        let mut address = http::beneath(&self.base, &format!("models/{name}:streamGenerateContent"));
        address.set_query(Some("alt=sse"));
        Outgoing {
            address,
            headers: self.headers.clone(),
            body: body::body(request).to_string(),
        }
    }

    fn assembly(&self, request: &Request) -> Pieces {
        let model = request.settings.model.clone();
        Pieces::new(self.provider.clone(), model, CallIds::of(request))
    }

    fn failure(&self, status: u16, body: &str) -> ModelError {
        frame::failure(status, body)
    }
}
