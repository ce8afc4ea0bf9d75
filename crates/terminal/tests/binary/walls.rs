//! The walls around a run's processes, tried by a model that does nothing else: what must fail, what
//! must work, for the system's owner and for an ordinary user; and what happens where none stand.

mod absent;
mod attempts;
mod doctor;
mod ending;
mod layouts;
mod secrets;
pub(crate) mod site;
mod standing;
mod working;
