//! The Anthropic wire against a server of our own on loopback, one file for each quirk of the
//! protocol.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod cut_and_broken_streams;
mod failing_answers;
mod fixture;
mod interleaved_thinking;
mod oversized_answers;
mod parallel_calls;
mod replayed_conversations;
mod request_bodies;
mod stop_reasons_and_usage;
mod streams_in_any_pieces;
mod thinking_by_model;
