//! The capability part of a profile, and the one way two of them meet: `narrow`. There is no widen.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::containment::{Network, Posture};
use crate::effect::EffectSet;
use crate::tool::{Descriptor, Tier};

/// Names of tools above read tier that a profile lets through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AllowList {
    /// No list: every tool under the ceiling.
    Everything,
    /// These alone.
    Only(BTreeSet<&'static str>),
}

impl AllowList {
    /// Whether the list lets a tool above read tier through.
    pub fn admits(&self, name: &str) -> bool {
        match self {
            AllowList::Everything => true,
            AllowList::Only(names) => names.contains(name),
        }
    }

    fn intersect(&self, other: &AllowList) -> AllowList {
        match (self, other) {
            (AllowList::Everything, list) | (list, AllowList::Everything) => list.clone(),
            (AllowList::Only(a), AllowList::Only(b)) => AllowList::Only(a.intersection(b).copied().collect()),
        }
    }
}

/// What runs may do. Built by `profile` and `narrow` alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capability {
    pub(crate) max_tier: Tier,
    pub(crate) allow: AllowList,
    pub(crate) deny: BTreeSet<&'static str>,
    pub(crate) refused: EffectSet,
    pub(crate) worktree: Posture,
    pub(crate) network: Network,
    /// Whether a throw-away view may be used.
    pub(crate) inspection: bool,
}

impl Capability {
    /// The highest tier.
    pub fn max_tier(&self) -> Tier {
        self.max_tier
    }

    /// Effects that nothing lets through.
    pub fn refused(&self) -> EffectSet {
        self.refused
    }

    /// What processes may do to the worktree.
    pub fn worktree(&self) -> Posture {
        self.worktree
    }

    /// The network of processes.
    pub fn network(&self) -> Network {
        self.network
    }

    /// Whether a throw-away view may be used.
    pub fn inspection(&self) -> bool {
        self.inspection
    }

    /// Tools above read tier that are let through.
    pub fn allow(&self) -> &AllowList {
        &self.allow
    }

    /// Tools that are stripped.
    pub fn deny(&self) -> &BTreeSet<&'static str> {
        &self.deny
    }

    /// Whether a tool passes the capability part alone, and the first reason it does not.
    pub(crate) fn admits(&self, tool: &Descriptor) -> Result<(), Shut> {
        if self.deny.contains(tool.name) {
            Err(Shut::DenyListed)
        } else if tool.tier > self.max_tier {
            Err(Shut::AboveCeiling)
        } else if tool.tier > Tier::Read && !self.allow.admits(tool.name) {
            Err(Shut::NotOnAllowList)
        } else if !tool.effects.intersection(self.refused).is_empty() {
            Err(Shut::RefusedEffect(tool.effects.intersection(self.refused)))
        } else {
            Ok(())
        }
    }

    /// Whether `self` permits nothing that `other` does not.
    pub fn within(&self, other: &Capability) -> bool {
        let allow_within = match (&self.allow, &other.allow) {
            (_, AllowList::Everything) => true,
            (AllowList::Everything, AllowList::Only(_)) => false,
            (AllowList::Only(a), AllowList::Only(b)) => a.is_subset(b),
        };
        self.max_tier <= other.max_tier
            && allow_within
            && self.deny.is_superset(&other.deny)
            && self.refused.contains_all(other.refused)
            && self.worktree <= other.worktree
            && self.network <= other.network
            && (!self.inspection || other.inspection)
    }
}

/// Why the capability part shuts a tool out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shut {
    DenyListed,
    AboveCeiling,
    NotOnAllowList,
    RefusedEffect(EffectSet),
}

/// The capability that both permit: tier minimum, allow-lists intersected, deny-lists and refused
/// effects united, posture, network and inspection the stricter.
#[must_use]
pub fn narrow(a: &Capability, b: &Capability) -> Capability {
    Capability {
        max_tier: a.max_tier.min(b.max_tier),
        allow: a.allow.intersect(&b.allow),
        deny: a.deny.union(&b.deny).copied().collect(),
        refused: a.refused.union(b.refused),
        worktree: a.worktree.min(b.worktree),
        network: a.network.min(b.network),
        inspection: a.inspection && b.inspection,
    }
}
