//! MCP servers: a real other program over its pipes and over HTTP. What it was asked for is in its own log.

mod allowing;
mod ground;
mod login;
mod modes;
mod network;
