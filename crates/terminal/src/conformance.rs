//! Measuring what the modes guarantee: a list of attempts to change the world is made by a scripted
//! model on scratch ground, through the engine that serves people, and everything that changed is
//! seen. It must not know how results are shown.

mod attempts;
mod ground;
mod measure;
mod spellings;
mod watch;
mod world;

pub(crate) use attempts::AttemptList;
pub(crate) use measure::{Measurement, Outcome, Part, measure};
pub(crate) use world::World;
