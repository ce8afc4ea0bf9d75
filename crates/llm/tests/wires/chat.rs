//! Chat Completions and its dialects, one file for each quirk.

mod azure_addresses;
mod calls_in_pieces;
mod failing_answers;
mod fixture;
mod request_bodies;
mod stop_reasons_and_usage;
mod thoughts_by_dialect;
