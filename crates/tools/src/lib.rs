//! What the model can ask for: one folder a tool family. A tool proposes and performs; it never
//! judges, and it knows neither the store nor a mode.
//!
//! *Invariant*: what a proposal opened is what the act uses. Paths are opened beneath a root's
//! handle, the handle travels inside the call, and nothing is looked up by name a second time.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

mod arguments;
mod code;
mod desk;
mod files;
mod git;
mod https;
mod instructions;
pub mod mcp;
mod place;
mod plan;
mod scope;
mod search;
mod shell;
mod source;
mod talk;
mod todo;
mod tool;
mod toolbox;
mod typed;
mod walk;
mod web;

pub use arguments::parse_arguments;
pub use code::outline_if_asked;
pub use desk::{
    Desk, DeskAnswer, DeskRefusal, ExitRequest, PlanReceipt, PlanReply, Proposal, QuestionOption, Said, TodoItem,
    TodoStatus, UserQuestion,
};
pub use instructions::{InstructionText, Instructions, Skill};
pub use scope::Scope;
pub use shell::TOGETHER;
#[cfg(feature = "faults")]
pub use shell::read_no_lines;
pub use tool::{BadArguments, Content, Incoming, Then, Tool, ToolResult, Toolbox};
pub use toolbox::{canonical_name, toolbox};
pub use web::{SEARCH_ENGINES, Search, SearchEngine, with_search};
