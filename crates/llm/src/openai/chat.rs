//! `OpenAI`'s Chat Completions, and what many other servers made of it. It retries nothing and
//! knows no tool by name.

mod assembly;
mod body;
mod call;
mod frame;

use std::sync::Arc;

use super::{Place, family, fault};
use crate::repair::{Rules, word_letter};
use crate::wire::{CallIds, Outgoing, Remote, Wire};
use crate::{Fitted, Model, ModelError, ModelSettings, Provider, Request, SetupError};
use assembly::Answer;

/// A place that speaks Chat Completions. One serves every model there.
pub(crate) struct Chat {
    place: Place,
}

/// Prepares to talk to `provider`.
pub(crate) fn connect(provider: &Provider) -> Result<Arc<dyn Model>, SetupError> {
    let wire = Chat::of(provider)?;
    Ok(Arc::new(Remote::new(&wire.place.base.clone(), wire)?))
}

impl Chat {
    /// The wire to `provider`, without a client.
    pub(crate) fn of(provider: &Provider) -> Result<Self, SetupError> {
        Ok(Self {
            place: Place::of(provider)?,
        })
    }
}

impl Wire for Chat {
    type Assembly = Answer;

    fn provider(&self) -> &str {
        &self.place.provider
    }

    fn rules(&self) -> Rules {
        if self.place.dialect.short_ids {
            return Rules {
                id_letter: |letter| letter.is_ascii_alphanumeric(),
                shortest_id: 9,
                longest_id: 9,
            };
        }
        Rules {
            id_letter: word_letter,
            shortest_id: 1,
            longest_id: 40,
        }
    }

    fn fit(&self, settings: &ModelSettings) -> Fitted {
        family::fit(settings, &self.place.dialect)
    }

    fn outgoing(&self, request: &Request) -> Outgoing {
        let model = &request.settings.model;
        Outgoing {
            address: self
                .place
                .address("chat/completions", &format!("deployments/{model}/chat/completions")),
            headers: self.place.headers.clone(),
            body: body::body(request, &self.place.dialect).to_string(),
        }
    }

    fn assembly(&self, request: &Request) -> Answer {
        Answer::new(&self.place.provider, &request.settings.model, CallIds::of(request))
    }

    fn failure(&self, status: u16, body: &str) -> ModelError {
        fault::failed(status, body)
    }
}
