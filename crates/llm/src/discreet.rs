//! Keys taken out of what a provider says: some repeat the key they refuse, and their words are
//! shown and remembered. Nothing else of an answer is changed.

use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt};

use crate::{Fitted, Model, ModelError, ModelIdentity, ModelSettings, PartStream, Request, Secrets};

/// A model whose failures name no key.
pub(crate) struct Discreet {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) secrets: Secrets,
}

impl Model for Discreet {
    fn identity(&self) -> ModelIdentity {
        self.model.identity()
    }

    fn fit(&self, settings: &ModelSettings) -> Fitted {
        self.model.fit(settings)
    }

    fn stream(&self, request: Request) -> PartStream {
        let secrets = self.secrets.clone();
        self.model
            .stream(request)
            .map_err(move |error| ModelError {
                message: secrets.taken_out(&error.message),
                ..error
            })
            .boxed()
    }
}
