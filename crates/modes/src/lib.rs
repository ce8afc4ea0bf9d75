//! What may happen. Pure: no clock, no randomness, no file, no environment, no runtime.

mod containment;

pub use containment::{Containment, Network, Posture};
