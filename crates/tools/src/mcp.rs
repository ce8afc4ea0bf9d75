//! Tools of other programs: MCP servers that an operator allowed, each inside the walls of the run that
//! uses it. The types of the protocol stay in this folder. What a server may do is settled elsewhere.
//!
//! *Invariant*: a server is used as it was allowed, or not at all: what is started, and what it offers.

mod connection;
mod http;
mod login;
mod offer;
mod resource;
mod result;
mod server;
mod servers;
mod tool;

pub use login::{Login, LoginStanding, Logins};
pub use offer::{Offer, Pinned};
pub(crate) use resource::{LoadMcpDocumentation, ReadMcpResource};
pub use server::{Launch, Server, Template};
pub use servers::{Allowed, NotUsable, Servers, look};
