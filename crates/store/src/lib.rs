//! Remembering: append-only event streams, read tables and leases in one database file.
//!
//! The store knows nothing of the house: no mode, no run, no meaning of an event kind or of a
//! column. It has no clock, no randomness and no view of other processes; times, identifiers and
//! the judgement whether a lease holder lives are handed in.
//!
//! There is one way to change anything: [`Store::begin`] opens a [`Writer`], everything done through
//! it becomes visible together at [`Writer::commit`], or not at all.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

mod error;
mod event;
#[cfg(feature = "faults")]
mod faults;
mod journal;
mod key;
mod lease;
mod retention;
mod row;
mod scratch;
mod sqlite;
mod store;
mod table;
mod verify;
mod writer;

pub use error::StoreError;
pub use event::{Event, Head, NewEvent, Provenance};
#[cfg(feature = "faults")]
pub use faults::{FaultMoment, FaultPoint};
pub use key::JournalKey;
pub use lease::{Holder, Lease, LeaseOutcome};
pub use retention::{Pruned, RETENTION_KIND, RETENTION_STREAM};
pub use row::{Cell, Query, Row};
pub use sqlite::Durability;
pub use store::Store;
pub use table::{CellKind, Column, Table};
pub use verify::{Fault, Verification};
pub use writer::Writer;
