//! `OpenAI`'s Responses. Nothing is kept at the provider: the whole conversation goes with every
//! request, and thoughts come and go encrypted. It retries nothing and knows no tool by name.

mod assembly;
mod body;
mod frame;

use std::sync::Arc;

use super::{Place, family, fault};
use crate::repair::{Rules, word_letter};
use crate::wire::{CallIds, Outgoing, Remote, Wire};
use crate::{Fitted, Model, ModelError, ModelSettings, Provider, Request, SetupError};
use assembly::Answer;

/// A place that speaks Responses. One serves every model there.
pub(crate) struct Responses {
    place: Place,
}

/// Prepares to talk to `provider`.
pub(crate) fn connect(provider: &Provider) -> Result<Arc<dyn Model>, SetupError> {
    let wire = Responses::of(provider)?;
    Ok(Arc::new(Remote::new(&wire.place.base.clone(), wire)?))
}

impl Responses {
    /// The wire to `provider`, without a client.
    pub(crate) fn of(provider: &Provider) -> Result<Self, SetupError> {
        Ok(Self {
            place: Place::of(provider)?,
        })
    }
}

impl Wire for Responses {
    type Assembly = Answer;

    fn provider(&self) -> &str {
        &self.place.provider
    }

    fn rules(&self) -> Rules {
        Rules {
            id_letter: word_letter,
            shortest_id: 1,
            longest_id: 64,
        }
    }

    fn fit(&self, settings: &ModelSettings) -> Fitted {
        family::fit(settings, &self.place.dialect)
    }

    fn outgoing(&self, request: &Request) -> Outgoing {
        Outgoing {
            address: self.place.address("responses", "responses"),
            headers: self.place.headers.clone(),
            body: body::body(request).to_string(),
        }
    }

    fn assembly(&self, request: &Request) -> Answer {
        Answer::new(&self.place.provider, &request.settings.model, CallIds::of(request))
    }

    fn failure(&self, status: u16, body: &str) -> ModelError {
        fault::failed(status, body)
    }
}
