//! What a process of a run may touch, as a posture. Knows no path and no operating system:
//! the `sandbox` room turns this into walls.

use serde::Serialize;

/// Whether the worktree can be written through the walls. `ReadOnly` is the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Posture {
    /// Nothing of the host but the private scratch folder can be written.
    ReadOnly,
    /// The worktree can be written, its `.git` never.
    Writable,
}

/// What network a process of a run has. `None` is the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// No interface but an empty loopback of its own.
    None,
    /// Hosts the egress gate lets through, by our proxy alone.
    EgressGate,
}

/// The containment of one process: projected from a run's profile, never written by hand elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Containment {
    worktree: Posture,
    network: Network,
    thrown_away: bool,
}

impl Containment {
    pub(crate) const fn new(worktree: Posture, network: Network) -> Self {
        Self {
            worktree,
            network,
            thrown_away: false,
        }
    }

    /// The strictest containment: Stance's own git reads, and the proof that the walls hold.
    pub const fn read_only() -> Self {
        Self::new(Posture::ReadOnly, Network::None)
    }

    /// A throw-away view: as strict for the host as the strictest, while what the process writes to the
    /// worktree lands in a layer that is gone afterwards.
    pub const fn throw_away() -> Self {
        Self {
            thrown_away: true,
            ..Self::read_only()
        }
    }

    /// Git of Stance itself writing a repository because a judged call or an approval asked for it.
    pub const fn repository_write() -> Self {
        Self::new(Posture::Writable, Network::None)
    }

    /// A process that writes the worktree and has the network of the egress gate: what the proof tries
    /// beside the others.
    pub const fn gated() -> Self {
        Self::new(Posture::Writable, Network::EgressGate)
    }

    /// Whether the worktree of the host can be written.
    pub const fn worktree(self) -> Posture {
        self.worktree
    }

    /// The network inside.
    pub const fn network(self) -> Network {
        self.network
    }

    /// Whether the process writes into a layer that is thrown away.
    pub const fn is_thrown_away(self) -> bool {
        self.thrown_away
    }
}
