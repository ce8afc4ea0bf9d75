//! Ways by which agents were made to do what nobody allowed, each tried on the whole product: a
//! hostile repository, a hostile model, a hostile place, an agent that answers for the person.

mod approvals;
mod arguments;
pub(crate) mod evidence;
mod fakes;
mod layout;
mod places;
mod plants;
mod repository;
mod schemas;
