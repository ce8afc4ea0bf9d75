//! Pages of the web, one at a time and only read. Knows hosts by the gate of its permit alone.

mod charset;
mod client;
mod markdown;
mod web_fetch;

pub(crate) use web_fetch::WebFetch;
