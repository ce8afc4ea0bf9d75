//! The scripted model: answers from a file instead of a language model, for demonstrations, tests
//! and dry runs.
//!
//! It keeps nothing in memory between requests. Its place in the script travels in the cursor of
//! each answer and error, so that a run resumed by another process goes on where it was. It does
//! not read the file either: the bytes are handed in.

mod cursor;
mod expectation;
mod format;

use futures_util::{StreamExt, stream};

use crate::{
    Block, ErrorKind, Model, ModelError, ModelIdentity, Part, PartStream, Partial, Request, Response, SetupError,
    StopReason, ToolCall, failure,
};
use cursor::Cursor;
use format::{Entry, Turn};

pub use format::schema;

/// The provider's name in settings and identities.
pub const PROVIDER: &str = "scripted";

/// A script, checked and ready to answer.
#[derive(Debug, Clone)]
pub struct Scripted {
    entries: Vec<Entry>,
    digest: String,
}

impl Scripted {
    /// Checks a script. `file` is what errors call it; `bytes` is its content.
    pub fn new(file: &str, bytes: &[u8]) -> Result<Self, SetupError> {
        Ok(Self {
            entries: format::parse(file, bytes)?,
            digest: blake3::hash(bytes).to_hex().to_string(),
        })
    }

    /// The name its answers carry: `scripted:` and the first 12 hex digits of the file's BLAKE3.
    pub fn actual_model(&self) -> String {
        format!("{PROVIDER}:{}", self.digest.get(..12).unwrap_or_default())
    }

    fn answer(&self, request: &Request) -> Vec<Result<Part, ModelError>> {
        let mut cursor = Cursor::resume(request.cursor.as_deref(), &self.digest);
        cursor.enter(request.entering.as_deref(), &request.context, &self.entries);
        let Some((place, entry)) = cursor.current.and_then(|place| Some((place, self.entries.get(place)?))) else {
            return vec![Err(ModelError {
                cursor: Some(cursor.save()),
                ..expectation::no_entry(&request.context, &self.entries)
            })];
        };
        let number = cursor.next;
        let turn = entry.turns.get(number).cloned().unwrap_or_default();
        let differences = [&entry.expect, &turn.expect]
            .into_iter()
            .flatten()
            .flat_map(|expected| expectation::differences(expected, request))
            .collect::<Vec<_>>();
        if !differences.is_empty() {
            return vec![Err(ModelError {
                cursor: Some(cursor.save()),
                ..expectation::mismatch(place, number, &differences)
            })];
        }
        cursor.next = number.saturating_add(1);
        self.play(turn, (place, number), cursor.save())
    }

    fn play(&self, turn: Turn, (place, number): (usize, usize), cursor: String) -> Vec<Result<Part, ModelError>> {
        let digest = self.digest.get(..6).unwrap_or_default();
        let calls = turn
            .tool_calls
            .into_iter()
            .enumerate()
            .map(|(index, call)| ToolCall {
                id: format!("call_{digest}_{place}_{number}_{index}"),
                name: call.name,
                arguments_text: call.arguments.into_text(),
            })
            .collect::<Vec<_>>();
        let stop = if calls.is_empty() {
            StopReason::EndTurn
        } else {
            StopReason::ToolUse
        };
        let text = turn.text.filter(|text| !text.is_empty()).map(Block::Text);
        let blocks = text
            .into_iter()
            .chain(calls.into_iter().map(Block::ToolCall))
            .collect::<Vec<_>>();
        let mut parts = Part::of(&blocks).into_iter().map(Ok).collect::<Vec<_>>();
        let usage = turn.usage.unwrap_or_default();
        parts.push(match turn.error {
            None => Ok(Part::Done(Response {
                blocks,
                stop,
                usage,
                actual_model: self.actual_model(),
                cursor: Some(cursor),
            })),
            Some(error) => {
                let message = error.message.unwrap_or_else(|| match error.status {
                    Some(status) => format!("the script answers with status {status}"),
                    None => "the script drops the connection".into(),
                });
                Err(ModelError {
                    kind: error
                        .status
                        .map_or(ErrorKind::Dropped, |status| failure::kind_of_status(status, &message)),
                    message,
                    status: error.status,
                    retry_after: error.retry_after.map(std::time::Duration::from_secs),
                    partial: Box::new(Partial { blocks, usage }),
                    cursor: Some(cursor),
                })
            }
        });
        parts
    }
}

impl Model for Scripted {
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
