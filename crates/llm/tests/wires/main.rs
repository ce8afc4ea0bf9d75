//! The wires against a server of our own on loopback: a folder for each protocol, in it a file for
//! each quirk.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod anthropic;
mod bedrock;
mod changed_provider;
mod chat;
mod gemini;
mod laws;
mod responses;
mod server;
