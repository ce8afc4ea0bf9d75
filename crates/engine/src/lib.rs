//! Spaces, runs, the turn, approvals and the carrying out of plans. The one room that wires the
//! others; it knows no protocol, no screen and no settings file.
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::disallowed_methods,
        clippy::disallowed_types
    )
)]

mod active;
mod aside;
mod checkpoint;
mod checks;
mod clock;
mod command;
mod config;
mod conversation;
mod desk;
mod drive;
mod engine;
mod explain;
mod fact;
mod home;
mod inbox;
mod inner;
mod intake;
mod journal;
mod lease;
mod loaded;
mod look;
mod mcp;
mod orchestrate;
mod problem;
mod projection;
mod proposal;
mod recorded;
#[cfg(test)]
mod refold;
mod report;
mod rules;
mod run_state;
mod thread;
mod trust;
mod trying;
mod turn;
mod view;
mod worktree;

pub use clock::now_ms;
pub use command::{About, Address, Command, Done, Extent, PersonAnswer, PersonDecision};
pub use config::{
    Attendance, ChosenModel, EngineConfig, Limits, ModelSource, RunOptions, UNATTENDED_MINUTES, UNATTENDED_TOKENS,
};
pub use engine::{DryRun, Engine, Explanation, Measure, ShellAnswer, ShellAnswers, ToolMeasure, ToolsMeasure};
pub use fact::{LeftOut, Moment};
pub use loaded::{Loaded, Part};
pub use mcp::ServerLogin;
pub use problem::{Problem, ProblemKind};
pub use repo::checkpoint::{Change, Why};
pub use rules::keepable;
#[cfg(feature = "faults")]
pub use store::{FaultMoment, FaultPoint};
pub use tools::mcp::{Launch, Server, Template};
#[cfg(feature = "faults")]
pub use tools::read_no_lines;
pub use tools::{SEARCH_ENGINES, Search, SearchEngine, Skill, outline_if_asked};
pub use trust::{ProjectPart, Standing, Trust};
pub use view::{
    AskedIn, CheckRun, CheckpointChanges, CheckpointView, Cost, Denial, Details, EventView, FeedItem, FileChange,
    HostRefused, KeptView, LandingReport, McpServerView, McpToolView, ModelUsed, OrchestrationReport, Pending,
    PlanBrief, PlanView, RuleView, RunReport, RunView, SpaceView, StepReport, ThreadTook, ThreadView,
};
