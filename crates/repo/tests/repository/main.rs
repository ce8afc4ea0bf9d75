//! The room against real repositories, ordinary and hostile, inside the real walls.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types
)]

mod checkpoints;
mod discovering;
mod ground;
mod hints;
mod hostile;
mod layouts;
mod outside;
mod pushing;
mod reading;
mod recorded;
mod snapshots;
mod unreadable;
mod writing;
