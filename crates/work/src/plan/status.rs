//! Where a plan stands and the only ways it can move.
//!
//! It must not know who moves it or why.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a plan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Handed in; waits for a decision.
    Proposed,
    /// Sent back; waits for the next revision.
    RevisionRequested,
    /// Granted, not begun.
    Approved,
    /// Being carried out.
    Executing,
    /// Carried out.
    Completed,
    /// Carried out in part or not at all.
    Failed,
    /// Stopped by the operator.
    Cancelled,
    /// Refused.
    Rejected,
    /// Replaced by another thread's plan.
    Superseded,
}

/// What may happen to a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanMove {
    /// A revision is appended, by a submit or an operator's edit.
    Revise,
    /// It is sent back with wishes.
    RequestRevision,
    /// It is granted.
    Approve,
    /// It is refused.
    Reject,
    /// Another thread's plan replaces it.
    Supersede,
    /// The operator stops it.
    Cancel,
    /// Its first step begins.
    Execute,
    /// All of it was carried out.
    Complete,
    /// Not all of it could be carried out.
    Fail,
}

/// The plan does not move this way from where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a plan that is {from} cannot be {}", done(*.attempted))]
pub struct MoveRefused {
    /// Where it stands.
    pub from: PlanStatus,
    /// What was tried.
    pub attempted: PlanMove,
}

impl PlanStatus {
    /// The status after a move, or why there is none. A revision of a proposed plan leaves it proposed.
    pub fn advance(self, attempted: PlanMove) -> Result<PlanStatus, MoveRefused> {
        match (self, attempted) {
            (Self::Proposed | Self::RevisionRequested, PlanMove::Revise) => Ok(Self::Proposed),
            (Self::Proposed, PlanMove::RequestRevision) => Ok(Self::RevisionRequested),
            (Self::Proposed | Self::RevisionRequested, PlanMove::Reject) => Ok(Self::Rejected),
            (Self::Proposed | Self::RevisionRequested, PlanMove::Supersede) => Ok(Self::Superseded),
            (Self::Proposed | Self::RevisionRequested | Self::Approved | Self::Executing, PlanMove::Cancel) => {
                Ok(Self::Cancelled)
            }
            (Self::Proposed, PlanMove::Approve) => Ok(Self::Approved),
            (Self::Approved, PlanMove::Execute) => Ok(Self::Executing),
            (Self::Executing, PlanMove::Complete) => Ok(Self::Completed),
            (Self::Executing, PlanMove::Fail) => Ok(Self::Failed),
            (from, attempted) => Err(MoveRefused { from, attempted }),
        }
    }

    /// Whether a later submit of the same thread appends to this plan.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Proposed | Self::RevisionRequested)
    }

    /// Whether nothing can happen to this plan any more.
    pub fn is_final(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Cancelled | Self::Rejected | Self::Superseded
        )
    }
}

impl fmt::Display for PlanStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Proposed => "proposed",
            Self::RevisionRequested => "sent back for changes",
            Self::Approved => "approved",
            Self::Executing => "executing",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Rejected => "rejected",
            Self::Superseded => "superseded",
        })
    }
}

fn done(attempted: PlanMove) -> &'static str {
    match attempted {
        PlanMove::Revise => "revised",
        PlanMove::RequestRevision => "sent back for changes",
        PlanMove::Approve => "approved",
        PlanMove::Reject => "rejected",
        PlanMove::Supersede => "superseded",
        PlanMove::Cancel => "cancelled",
        PlanMove::Execute => "begun",
        PlanMove::Complete => "completed",
        PlanMove::Fail => "marked as failed",
    }
}

#[cfg(test)]
mod tests {
    use super::PlanMove as M;
    use super::PlanStatus as S;
    use super::*;

    const STATUSES: [S; 9] = [
        S::Proposed,
        S::RevisionRequested,
        S::Approved,
        S::Executing,
        S::Completed,
        S::Failed,
        S::Cancelled,
        S::Rejected,
        S::Superseded,
    ];
    const MOVES: [M; 9] = [
        M::Revise,
        M::RequestRevision,
        M::Approve,
        M::Reject,
        M::Supersede,
        M::Cancel,
        M::Execute,
        M::Complete,
        M::Fail,
    ];

    #[test]
    fn these_moves_and_no_others() {
        let mut allowed = Vec::new();
        for from in STATUSES {
            for attempted in MOVES {
                match from.advance(attempted) {
                    Ok(next) => allowed.push((from, attempted, next)),
                    Err(refusal) => assert_eq!(refusal, MoveRefused { from, attempted }),
                }
            }
        }
        assert_eq!(
            allowed,
            [
                (S::Proposed, M::Revise, S::Proposed),
                (S::Proposed, M::RequestRevision, S::RevisionRequested),
                (S::Proposed, M::Approve, S::Approved),
                (S::Proposed, M::Reject, S::Rejected),
                (S::Proposed, M::Supersede, S::Superseded),
                (S::Proposed, M::Cancel, S::Cancelled),
                (S::RevisionRequested, M::Revise, S::Proposed),
                (S::RevisionRequested, M::Reject, S::Rejected),
                (S::RevisionRequested, M::Supersede, S::Superseded),
                (S::RevisionRequested, M::Cancel, S::Cancelled),
                (S::Approved, M::Cancel, S::Cancelled),
                (S::Approved, M::Execute, S::Executing),
                (S::Executing, M::Cancel, S::Cancelled),
                (S::Executing, M::Complete, S::Completed),
                (S::Executing, M::Fail, S::Failed),
            ]
        );
    }

    #[test]
    fn what_is_final_moves_nowhere_and_what_is_open_takes_revisions() {
        for status in STATUSES {
            let moves = MOVES.iter().filter(|&&m| status.advance(m).is_ok()).count();
            assert_eq!(status.is_final(), moves == 0, "{status}");
            assert_eq!(status.is_open(), status.advance(M::Revise).is_ok(), "{status}");
        }
    }

    #[test]
    fn a_refusal_says_what_stands_in_the_way() {
        assert_eq!(
            S::Executing.advance(M::Supersede).unwrap_err().to_string(),
            "a plan that is executing cannot be superseded"
        );
        assert_eq!(
            S::RevisionRequested.advance(M::Approve).unwrap_err().to_string(),
            "a plan that is sent back for changes cannot be approved"
        );
    }
}
