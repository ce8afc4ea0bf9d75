//! Speaking to people. What is said and waited for is the desk's matter; these tools only turn its
//! answers into what the model reads.

mod ask_user;
mod complete;
mod plan_reply;
mod progress;
mod propose;

pub(crate) use ask_user::AskUser;
pub(crate) use complete::AttemptCompletion;
pub(crate) use plan_reply::PlanModeRespond;
pub(crate) use progress::ActModeRespond;
pub(crate) use propose::{Condense, NewTask};
