//! The Messages protocol, one file for each quirk of it.

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
