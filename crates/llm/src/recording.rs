//! Exchanges with a model, kept line by line without secrets ([`Recorder`]), and a model that gives
//! the kept answers again ([`Replay`]). It opens no file: lines are handed on, bytes handed in.

mod difference;
mod format;
mod replay;

use std::sync::Arc;

use futures_util::{StreamExt, stream};

use crate::secrets::kinds;
use crate::{
    ErrorKind, Fitted, Model, ModelError, ModelIdentity, ModelSettings, Part, PartStream, Partial, Request, Secrets,
};
use format::{Answered, Asked, Asker, Exchange};

pub use format::BEGINNING;
pub use replay::{PROVIDER, Replay};

/// Adds a line to a recording that has [`BEGINNING`] already, or says why it cannot.
pub type Keep = Arc<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// A model whose exchanges are recorded. An exchange in which something looks like a secret that is
/// not known is not recorded, and ends with an error: before anything is asked where the request has it.
pub struct Recorder {
    model: Arc<dyn Model>,
    secrets: Secrets,
    keep: Keep,
}

impl Recorder {
    /// Records what `model` answers. `secrets` are taken out of what is kept, and of nothing else.
    pub fn new(model: Arc<dyn Model>, secrets: Secrets, keep: Keep) -> Self {
        Self { model, secrets, keep }
    }
}

impl Model for Recorder {
    fn identity(&self) -> ModelIdentity {
        self.model.identity()
    }

    fn fit(&self, settings: &ModelSettings) -> Fitted {
        self.model.fit(settings)
    }

    fn stream(&self, request: Request) -> PartStream {
        let by = Asker::of(&request.settings);
        let asked = match without_secrets(&Asked::of(&request), &self.secrets) {
            Ok(asked) => asked,
            Err(error) => return stream::iter([Err(error)]).boxed(),
        };
        let (secrets, keep) = (self.secrets.clone(), self.keep.clone());
        let record = move |answer: Answered| {
            let answer = without_secrets(&answer, &secrets)?;
            let exchange = Exchange {
                by: by.clone(),
                asked: asked.clone(),
                answer,
            };
            let line = serde_json::to_string(&exchange).map_err(|error| not_recorded(&error.to_string()))?;
            keep(&line).map_err(|why| not_recorded(&why))
        };
        let part = move |part: Result<Part, ModelError>| match part {
            Ok(Part::Done(response)) => match record(Answered::whole(&response)) {
                Ok(()) => Ok(Part::Done(response)),
                Err(error) => Err(ModelError {
                    partial: Box::new(Partial {
                        blocks: response.blocks,
                        usage: response.usage,
                    }),
                    cursor: response.cursor,
                    ..error
                }),
            },
            Err(failure) => Err(record(Answered::failed(&failure)).err().unwrap_or(failure)),
            more => more,
        };
        self.model.stream(request).map(part).boxed()
    }
}

/// `part` of an exchange as it may be kept.
fn without_secrets<T: serde::Serialize + serde::de::DeserializeOwned>(
    part: &T,
    secrets: &Secrets,
) -> Result<T, ModelError> {
    let mut value = serde_json::to_value(part).map_err(|error| not_recorded(&error.to_string()))?;
    secrets.take_out_of(&mut value);
    if let Some((kind, place)) = kinds::in_value(&value) {
        return Err(not_recorded(&format!(
            "at `{place}` stands what looks like {kind}, which is not known here and so cannot be taken out"
        )));
    }
    serde_json::from_value(value).map_err(|error| not_recorded(&error.to_string()))
}

fn not_recorded(why: &str) -> ModelError {
    ModelError::new(ErrorKind::Recording, format!("the exchange is not recorded: {why}"))
}
