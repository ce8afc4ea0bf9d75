//! The secret that makes the journal's links unforgeable, and what is computed with it.
//! Does not know where the key is kept or how events are stored.

use std::fmt;

use crate::error::StoreError;
use crate::event::Provenance;

/// A link, a payload hash or a key: 32 bytes.
pub(crate) type Digest = [u8; blake3::OUT_LEN];

/// The secret key of one journal. Lies outside the database; never printed.
#[derive(Clone)]
pub struct JournalKey {
    link: Digest,
    payload: Digest,
    check: Digest,
}

/// The fields of an event that its link seals.
pub(crate) struct Sealed<'a> {
    pub(crate) number: u64,
    pub(crate) stream: &'a str,
    pub(crate) version: u64,
    pub(crate) kind: &'a str,
    pub(crate) provenance: &'a Provenance,
    pub(crate) time_ms: i64,
    pub(crate) payload_hash: &'a Digest,
}

impl JournalKey {
    /// Takes 32 secret random bytes.
    pub fn new(secret: [u8; 32]) -> Self {
        let derive = |purpose: &[u8]| *blake3::keyed_hash(&secret, purpose).as_bytes();
        Self {
            link: derive(b"stance journal: links"),
            payload: derive(b"stance journal: payloads"),
            check: derive(b"stance journal: key check"),
        }
    }

    /// Reads the 64 hexadecimal digits of a key file; space around them does not count.
    pub fn from_hex(text: &str) -> Result<Self, StoreError> {
        let mut secret = [0; 32];
        hex::decode_to_slice(text.trim(), &mut secret).map_err(|_| StoreError::MalformedKey)?;
        Ok(Self::new(secret))
    }

    /// Tells journals of different keys apart without revealing the key.
    pub(crate) fn check(&self) -> &Digest {
        &self.check
    }

    /// What stands in place of a link before the first event.
    pub(crate) fn genesis(&self) -> Digest {
        *blake3::keyed_hash(&self.link, b"genesis").as_bytes()
    }

    /// The hash a payload is stored under. Keyed, so that a short payload that retention removed
    /// cannot be guessed from the hash that stays behind.
    pub(crate) fn payload_hash(&self, body: &[u8]) -> Digest {
        *blake3::keyed_hash(&self.payload, body).as_bytes()
    }

    /// Seals one event to the one before it.
    pub(crate) fn link(&self, previous: &Digest, event: &Sealed<'_>) -> Digest {
        let mut seal = blake3::Hasher::new_keyed(&self.link);
        let mut field = |bytes: &[u8]| {
            seal.update(&(bytes.len() as u64).to_le_bytes());
            seal.update(bytes);
        };
        field(previous);
        field(&event.number.to_le_bytes());
        field(event.stream.as_bytes());
        field(&event.version.to_le_bytes());
        field(event.kind.as_bytes());
        match event.provenance {
            Provenance::Observed => field(b"observed"),
            Provenance::ReportedBy(reporter) => {
                field(b"reported by");
                field(reporter.as_bytes());
            }
        }
        field(&event.time_ms.to_le_bytes());
        field(event.payload_hash);
        *seal.finalize().as_bytes()
    }
}

impl fmt::Debug for JournalKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JournalKey(secret)")
    }
}
