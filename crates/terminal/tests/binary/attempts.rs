//! What a read-only mode holds against whatever a model tries: nothing changes, and every attempt
//! has its decision in the journal. Beside it, that the mode shown, the mode told to the model and
//! the mode that decides are one.

mod ground;
mod keyboard;
mod leaks;
mod read_only;
mod spellings;
mod watch;
