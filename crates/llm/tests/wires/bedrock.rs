//! Amazon Bedrock's `ConverseStream` protocol.

mod cut_and_broken_streams;
mod failing_answers;
mod fixture;
mod oversized_answers;
mod parallel_calls;
mod reasoning;
mod replayed_conversations;
mod request_bodies;
mod signed_requests;
mod stop_reasons_and_usage;
mod thinking_by_model;
