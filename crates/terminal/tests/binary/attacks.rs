//! Ways by which agents were made to do what nobody allowed, each tried on the whole product: a
//! hostile repository, a hostile model, a hostile place, an agent that answers for the person.

mod approvals;
mod arguments;
mod bytes;
mod caches;
mod changed;
pub(crate) mod evidence;
mod fakes;
mod layout;
mod lines;
mod places;
mod plants;
mod repository;
mod schemas;
mod unasked;
mod words;
