//! What a read-only mode holds against whatever a model tries: nothing changes, and every attempt
//! has its decision in the journal. Beside it, that the mode shown, the mode told to the model and
//! the mode that decides are one.

mod autonomy;
mod denied;
mod ground;
mod history;
pub(crate) mod keyboard;
mod leaks;
mod lines;
mod one_mode;
mod reach;
mod read_only;
mod services;
