//! The `generateContent` protocol, as Gemini's own service and Vertex speak it.

mod cut_and_broken_streams;
mod failing_answers;
mod fixture;
mod oversized_answers;
mod parallel_calls;
mod refusals_and_stop_reasons;
mod replayed_conversations;
mod request_bodies;
mod thinking_by_model;
mod thought_signatures;
mod usage;
mod vertex;
