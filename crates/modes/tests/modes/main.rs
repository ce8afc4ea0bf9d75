//! The laws of modes, and their tables as they were reviewed. Speaks to the crate from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod digests;
mod drawn;
mod endings;
mod judging;
mod lines;
mod narrowing;
mod projections;
mod rules;
mod tables;
