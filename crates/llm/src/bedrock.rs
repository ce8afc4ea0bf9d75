//! Amazon Bedrock's `ConverseStream` protocol. It retries nothing and knows no tool by name.

mod assembly;
mod body;
mod family;
mod frame;
mod signature;

use std::sync::Arc;

use reqwest::header::{AUTHORIZATION, HeaderMap};
use secrecy::ExposeSecret;

use crate::repair::{Rules, word_letter};
use crate::wire::{CallIds, Outgoing, Remote, Wire, secret_header};
use crate::{Fitted, Model, ModelError, ModelSettings, Provider, Request, SetupError, http};
use assembly::Answer;
pub use signature::{Clock, Credentials};

/// The name of the service in signatures.
const SERVICE: &str = "bedrock";

/// A place that speaks the protocol. One serves every model there.
struct Bedrock {
    provider: String,
    base: reqwest::Url,
    headers: HeaderMap,
    /// What signs each request where no key goes with it.
    credentials: Option<Credentials>,
}

/// Prepares to talk to `provider`, whose address is that of a region. A key goes along; credentials
/// sign.
pub(crate) fn connect(provider: &Provider) -> Result<Arc<dyn Model>, SetupError> {
    let base = http::base(&provider.base_url)?;
    let mut headers = HeaderMap::new();
    if let Some(key) = &provider.key {
        let value = format!("Bearer {}", key.expose_secret());
        headers.insert(AUTHORIZATION, secret_header(&provider.name, &value)?);
    }
    let wire = Bedrock {
        provider: provider.name.clone(),
        base: base.clone(),
        headers,
        credentials: provider.credentials.clone().filter(|_| provider.key.is_none()),
    };
    Ok(Arc::new(Remote::new(&base, wire)?))
}

impl Wire for Bedrock {
    type Assembly = Answer;

    fn provider(&self) -> &str {
        &self.provider
    }

    fn rules(&self) -> Rules {
        Rules {
            id_letter: word_letter,
            shortest_id: 1,
            longest_id: 64,
        }
    }

    fn fit(&self, settings: &ModelSettings) -> Fitted {
        family::fit(settings)
    }

    fn outgoing(&self, request: &Request) -> Outgoing {
        let model = http::segment(&request.settings.model);
        let address = http::beneath(&self.base, &format!("model/{model}/converse-stream"));
        let body = body::body(request).to_string();
        let mut headers = self.headers.clone();
        if let Some(credentials) = &self.credentials {
            credentials.sign(SERVICE, "POST", &address, &mut headers, &body);
        }
        Outgoing { address, headers, body }
    }

    fn assembly(&self, request: &Request) -> Answer {
        let model = request.settings.model.clone();
        Answer::new(self.provider.clone(), model, CallIds::of(request))
    }

    fn failure(&self, status: u16, body: &str) -> ModelError {
        frame::failure(status, body)
    }
}
