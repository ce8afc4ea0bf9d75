//! Running a process inside walls built from a containment view: bubblewrap, then Landlock, then
//! seccomp, proved by trying them. The only room that starts processes. Knows paths and postures;
//! never a mode, a tool, a run's history or a setting.
//!
//! *Invariant*: nothing is started outside of the walls. When they cannot stand, starting is an
//! error. *Invariant*: this room reads no environment variable; whoever composes the program hands
//! in what a process may know.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

mod bare;
mod caches;
mod captured;
mod credentials;
mod ending;
mod environment;
mod error;
mod guards;
mod inside;
mod lay;
mod load;
mod network;
mod overlay;
mod places;
mod programs;
mod proof;
mod proxy;
mod record;
mod remembered;
mod running;
mod scratch;
mod seatbelt;
mod socket_path;
mod spawn;
mod start;
mod survey;
mod toolchains;
mod view;
mod walk;
mod walls;

pub use caches::share_caches;
pub use captured::{Captured, Keep};
pub use credentials::credential_stores;
pub use ending::Excess;
pub use error::SandboxError;
pub use guards::Guards;
pub use inside::enter_if_asked;
pub use network::{Lookup, Names, Network, SystemNames, Unreachable, globally_routable};
pub use overlay::{ThrownAway, ThrownChange};
pub use places::{Access, Generated, Mount, Places, Secrets};
pub use proof::{Probe, Proof};
pub use proxy::Reached;
pub use record::recover;
pub use running::{Chunk, Finished, Running, Stream};
pub use scratch::{Scratch, private_folder};
pub use seatbelt::seatbelt;
pub use spawn::{LARGEST_FILE, Limits, Program, Spawn, converse, spawn};
pub use survey::Violation;
pub use toolchains::{Cache, Toolchains};
pub use view::arguments;
pub use walls::{Backend, LOST, Walls, WallsState};
