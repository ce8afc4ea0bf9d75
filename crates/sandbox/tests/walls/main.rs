//! The real walls of this host, tried from inside and looked at from outside.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types
)]

mod conversing;
mod ending;
mod escapes;
mod ground;
mod guarding;
mod limits;
mod ordinary;
mod planted;
mod proving;
mod proxying;
mod repository;
mod sabotage;
mod secrets;
mod throwing_away;
mod unviewed;
