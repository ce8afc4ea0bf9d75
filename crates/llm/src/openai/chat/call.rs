//! Calls put together out of pieces. Servers agree on little here: pieces may have no index, every
//! call the same index, no id, or the same id in every piece.

use super::frame::CallPiece;
use crate::wire::{CallIds, shown};
use crate::{Block, Part, ToolCall};

/// The calls of one answer, in the order they began.
#[derive(Debug)]
pub(super) struct Calls {
    ids: CallIds,
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    index: Option<u64>,
    /// The id the server gave, if any.
    given: String,
    id: String,
    name: String,
    text: String,
    /// It has been shown that the call began.
    announced: bool,
}

impl Calls {
    pub(super) fn new(ids: CallIds) -> Self {
        Self { ids, calls: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Takes a piece and returns what there is to show.
    pub(super) fn accept(&mut self, piece: &CallPiece) -> Vec<Part> {
        let begun = self
            .calls
            .iter()
            .rposition(|call| piece.index.is_none() || call.index == piece.index);
        let place = begun
            .filter(|place| self.calls.get(*place).is_some_and(|call| call.goes_on(piece)))
            .unwrap_or_else(|| self.begin(piece));
        self.calls
            .get_mut(place)
            .map(|call| call.grow(piece))
            .unwrap_or_default()
    }

    fn begin(&mut self, piece: &CallPiece) -> usize {
        let given = piece.id.clone().unwrap_or_default();
        self.calls.push(Call {
            index: piece.index,
            id: self.ids.take(&given),
            given,
            name: String::new(),
            text: String::new(),
            announced: false,
        });
        self.calls.len() - 1
    }

    pub(super) fn blocks(&self) -> impl Iterator<Item = Block> {
        self.calls.iter().map(|call| {
            Block::ToolCall(ToolCall {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments_text: if call.text.trim().is_empty() {
                    "{}".into()
                } else {
                    call.text.clone()
                },
            })
        })
    }
}

impl Call {
    /// Whether a piece with the same index, or none, belongs to this call. Only a piece with a name
    /// can begin another one.
    fn goes_on(&self, piece: &CallPiece) -> bool {
        if piece.name().is_empty() {
            return true;
        }
        match piece.id.as_deref().unwrap_or_default() {
            "" => piece.arguments().is_empty() || !self.is_whole(),
            id => self.given == id || self.given.is_empty() && self.text.is_empty(),
        }
    }

    fn is_whole(&self) -> bool {
        matches!(serde_json::from_str(&self.text), Ok(serde_json::Value::Object(_)))
    }

    fn grow(&mut self, piece: &CallPiece) -> Vec<Part> {
        let name = piece.name();
        if self.name != name {
            self.name.push_str(name);
        }
        let mut more = piece.arguments();
        self.text.push_str(&more);
        let mut parts = Vec::new();
        if !self.announced && !self.name.is_empty() {
            self.announced = true;
            parts.push(Part::CallStarted {
                id: self.id.clone(),
                name: self.name.clone(),
            });
            more.clone_from(&self.text);
        }
        if self.announced {
            let id = self.id.clone();
            parts.extend(shown(more, |text| Part::CallArguments { id, text }));
        }
        parts
    }
}
