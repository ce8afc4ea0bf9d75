//! A model that answers as a recording has it. Like a script, it keeps its place in the cursor alone.

use futures_util::{StreamExt, stream};
use serde_json::json;

use super::difference::differences;
use super::format::{self, Answered, Asked, Exchange};
use crate::{ErrorKind, Model, ModelError, ModelIdentity, Part, PartStream, Request, Response, Secrets, SetupError};

/// The provider's name in settings and identities.
pub const PROVIDER: &str = "replay";

/// A recording, checked and ready to answer.
#[derive(Clone)]
pub struct Replay {
    exchanges: Vec<Exchange>,
    digest: String,
    secrets: Secrets,
}

impl Replay {
    /// Checks a recording. `file` is what errors call it, `bytes` is its content, `secrets` are what
    /// was taken out of it where it was made.
    pub fn new(file: &str, bytes: &[u8], secrets: Secrets) -> Result<Self, SetupError> {
        Ok(Self {
            exchanges: format::parse(file, bytes)?,
            digest: blake3::hash(bytes).to_hex().chars().take(12).collect(),
            secrets,
        })
    }

    /// The name its answers carry: `replay:` and the first 12 hex digits of the file's BLAKE3.
    pub fn actual_model(&self) -> String {
        format!("{PROVIDER}:{}", self.digest)
    }

    /// The number of the exchange a conversation has come to.
    fn resumed(&self, cursor: Option<&str>) -> usize {
        let place = cursor.and_then(|cursor| cursor.split_once(':'));
        place
            .filter(|(digest, _)| *digest == self.digest)
            .and_then(|(_, number)| number.parse().ok())
            .unwrap_or_default()
    }

    /// The next exchange of a run with these labels that was asked the same; others of other runs may
    /// lie between.
    fn answer(&self, request: &Request) -> Vec<Result<Part, ModelError>> {
        let next = self.resumed(request.cursor.as_deref());
        let asked = Asked::of(request);
        let mut found = json!(asked);
        self.secrets.take_out_of(&mut found);
        let mut ahead = self
            .exchanges
            .iter()
            .enumerate()
            .skip(next)
            .filter(|(_, exchange)| exchange.asked.run == asked.run)
            .map(|(number, exchange)| (number, exchange, json!(exchange.asked)))
            .peekable();
        let Some((first, _, recorded)) = ahead.peek() else {
            return vec![Err(differs(&format!(
                "nothing more is recorded in mode `{}` after exchange {next} of {}",
                asked.run.mode,
                self.exchanges.len()
            )))];
        };
        let told = format!("exchange {}: {}", first + 1, differences(recorded, &found).join("; "));
        match ahead.find(|(.., recorded)| *recorded == found) {
            Some((number, exchange, _)) => self.given(exchange, format!("{}:{}", self.digest, number + 1)),
            None => vec![Err(differs(&told))],
        }
    }

    fn given(&self, exchange: &Exchange, cursor: String) -> Vec<Result<Part, ModelError>> {
        let (blocks, last) = match &exchange.answer {
            Answered::Whole(recorded) => {
                let response = Response {
                    actual_model: self.actual_model(),
                    cursor: Some(cursor),
                    ..recorded.clone()
                };
                (&recorded.blocks, Ok(Part::Done(response)))
            }
            Answered::Failed(failure) => {
                let error = ModelError {
                    kind: failure.kind,
                    message: failure.message.clone(),
                    status: failure.status,
                    retry_after: Some(std::time::Duration::ZERO),
                    partial: Box::new(failure.partial.clone()),
                    cursor: Some(cursor),
                };
                (&failure.partial.blocks, Err(error))
            }
        };
        Part::of(blocks).into_iter().map(Ok).chain([last]).collect()
    }
}

fn differs(how: &str) -> ModelError {
    ModelError::new(
        ErrorKind::Recording,
        format!("this request is not the recorded one: {how}"),
    )
}

impl Model for Replay {
    fn identity(&self) -> ModelIdentity {
        ModelIdentity {
            provider: PROVIDER.into(),
            actual_model: Some(self.actual_model()),
            simulated: true,
        }
    }

    fn stream(&self, request: Request) -> PartStream {
        stream::iter(self.answer(&request)).boxed()
    }
}
