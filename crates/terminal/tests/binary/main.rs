//! What the real binary does, story by story: one hermetic home, one real repository, one scripted
//! model each.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test fails by panicking and acts on real files and processes"
)]

mod answers;
mod attacks;
mod attempts;
mod checkpoints;
mod compaction;
mod conformance;
mod egress;
mod instructions;
mod journal;
mod kills;
mod mcp;
mod mistyped;
mod models;
mod outcomes;
mod plans;
mod races;
mod searching;
mod streams;
mod support;
mod switching;
mod trust;
mod trying;
mod walls;
