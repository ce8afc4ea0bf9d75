//! What shall happen: plans and how they are checked, approved, ordered and reported.
//!
//! Everything here is a function of its arguments. This room knows no runtime, file system, clock,
//! randomness, environment or database, and it never decides what a run may do: that is the job of
//! the `modes` room. It says what was asked for, in which order, and what came of it.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

pub mod approval;
pub mod digest;
mod graph;
pub mod orchestration;
pub mod pipeline;
pub mod plan;
pub mod text;
