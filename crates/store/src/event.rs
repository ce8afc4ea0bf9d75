//! What an event is, before and after it is stored. Does not know what any kind means.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::StoreError;

/// Who vouches for an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// We did or saw it ourselves.
    Observed,
    /// Somebody else says so; the text names who.
    ReportedBy(String),
}

/// An event to be appended. Number, version and link are given by the store.
#[derive(Clone, Debug)]
pub struct NewEvent {
    /// The stream it belongs to, such as one run.
    pub stream: String,
    /// What happened, in the caller's vocabulary.
    pub kind: String,
    /// Who vouches for it.
    pub provenance: Provenance,
    /// When, in milliseconds since 1970; the store has no clock.
    pub time_ms: i64,
    /// The details.
    pub payload: Value,
}

/// A stored event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Position in the journal: 1, 2, 3, … without a gap.
    pub number: u64,
    /// The stream it belongs to.
    pub stream: String,
    /// Position in its stream: 1, 2, 3, … without a gap.
    pub version: u64,
    /// What happened.
    pub kind: String,
    /// Who vouches for it.
    pub provenance: Provenance,
    /// When, in milliseconds since 1970.
    pub time_ms: i64,
    /// The hash the payload is stored under, in hexadecimal.
    pub payload_hash: String,
    /// The details; `None` once retention has removed them.
    pub payload: Option<Value>,
    /// The seal over this event and, through the one before it, all earlier ones, in hexadecimal.
    pub link: String,
}

/// The end of the journal at some moment. Printed as `NUMBER:LINK` and kept somewhere else, it lets
/// [`Store::verify`](crate::Store::verify) notice that the journal was cut or rewritten later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The number of the last event; 0 when there is none.
    pub number: u64,
    /// The link of the last event, in hexadecimal.
    pub link: String,
}

impl fmt::Display for Head {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.number, self.link)
    }
}

impl FromStr for Head {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let malformed = || StoreError::MalformedHead(text.to_owned());
        let (number, link) = text.trim().split_once(':').ok_or_else(malformed)?;
        let mut bytes = [0; blake3::OUT_LEN];
        hex::decode_to_slice(link, &mut bytes).map_err(|_| malformed())?;
        Ok(Self {
            number: number.parse().map_err(|_| malformed())?,
            link: hex::encode(bytes),
        })
    }
}
