//! What the model can ask for: one folder a tool family. A tool proposes and performs; it never
//! judges, and it knows neither the store nor a mode.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic))]

mod desk;
mod scope;
mod tool;

pub use desk::{
    Desk, DeskAnswer, DeskRefusal, ExitRequest, PlanReceipt, PlanReply, QuestionOption, Said, TodoItem, TodoStatus,
    UserQuestion,
};
pub use scope::Scope;
pub use tool::{BadArguments, Content, Incoming, Tool, ToolResult, Toolbox, Then};
