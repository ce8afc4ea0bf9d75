//! The tools against real files, links, repositories and processes, judged by the real judge.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types
)]

mod desk;
mod editing;
mod escaping;
mod fetching;
mod git;
mod ground;
mod instructing;
mod outlining;
mod patching;
mod racing;
mod reading;
mod searching;
mod shell;
mod surface;
mod talking;
mod writing;
