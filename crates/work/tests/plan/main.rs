//! What a plan promises from submission to report, tried on the public functions of the room.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod difference;
mod digest;
mod fixtures;
mod order;
mod pipeline;
mod rendering;
mod report;
mod validation;
