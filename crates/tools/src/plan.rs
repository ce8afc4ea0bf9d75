//! Delivering plans and steps. Whether a plan is sound is the desk's judgement.

mod exit_plan_mode;
mod submit_output;
mod submit_plan;

pub(crate) use exit_plan_mode::ExitPlanMode;
pub(crate) use submit_output::SubmitOutput;
pub(crate) use submit_plan::SubmitPlan;
