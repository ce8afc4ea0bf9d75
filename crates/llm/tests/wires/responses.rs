//! Responses, one file for each quirk.

mod broken_streams;
mod encrypted_thoughts;
mod fixture;
mod request_bodies;
mod stop_reasons_and_usage;
