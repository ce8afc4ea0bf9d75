//! The life of an approval: one row for one digest, moved once.
//!
//! It must not know who may decide or where the row is kept.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// What a person is asked to approve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalKind {
    /// Carrying out a plan.
    Plan,
    /// Leaving plan mode.
    PlanExit,
    /// Starting a team.
    Orchestration,
    /// Publishing a review.
    PublishReview,
    /// A step that may not act by itself.
    Step,
    /// Anything a service or pipeline asks for.
    Custom,
}

/// Where an approval stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// Nobody has decided.
    Pending,
    /// Granted and not yet used.
    Approved,
    /// Refused.
    Rejected,
    /// Sent back with wishes; the next revision opens a new row.
    RevisionRequested,
    /// No longer about anything: its content was replaced or withdrawn.
    Void,
    /// Granted and used. It cannot be used again.
    Consumed,
}

/// What may happen to an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMove {
    /// Grant it.
    Approve,
    /// Refuse it.
    Reject,
    /// Send it back with wishes.
    RequestRevision,
    /// Its content was replaced or withdrawn.
    Void,
    /// Use a grant, once.
    Consume,
}

/// Why an approval was not moved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApprovalRefused {
    /// The row has moved already, or was never granted.
    #[error("this approval is {status}: it cannot be {}", done(*.attempted))]
    Moved {
        /// Where it stands.
        status: ApprovalStatus,
        /// What was tried.
        attempted: ApprovalMove,
    },
    /// The decision names another digest than the row's.
    #[error("it changed, look again: the decision is about {displayed}, this approval is about {}", .actual.short())]
    Changed {
        /// The digest the decision named, made printable.
        displayed: String,
        /// The digest of the row.
        actual: Digest,
    },
}

impl ApprovalStatus {
    /// The status after a move, or why there is none.
    pub fn advance(self, attempted: ApprovalMove) -> Result<ApprovalStatus, ApprovalRefused> {
        match (self, attempted) {
            (Self::Pending, ApprovalMove::Approve) => Ok(Self::Approved),
            (Self::Pending, ApprovalMove::Reject) => Ok(Self::Rejected),
            (Self::Pending, ApprovalMove::RequestRevision) => Ok(Self::RevisionRequested),
            (Self::Pending, ApprovalMove::Void) => Ok(Self::Void),
            (Self::Approved, ApprovalMove::Consume) => Ok(Self::Consumed),
            (status, attempted) => Err(ApprovalRefused::Moved { status, attempted }),
        }
    }

    /// A move by somebody who looked at the content: `displayed` is the digest their surface showed
    /// (in full or at least its short form), `actual` the row's.
    pub fn decide(
        self,
        attempted: ApprovalMove,
        displayed: &str,
        actual: &Digest,
    ) -> Result<ApprovalStatus, ApprovalRefused> {
        if !actual.matches(displayed) {
            return Err(ApprovalRefused::Changed {
                displayed: crate::text::printable(displayed),
                actual: *actual,
            });
        }
        self.advance(attempted)
    }
}

impl fmt::Display for ApprovalStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::RevisionRequested => "sent back for changes",
            Self::Void => "void",
            Self::Consumed => "used",
        })
    }
}

fn done(attempted: ApprovalMove) -> &'static str {
    match attempted {
        ApprovalMove::Approve => "approved",
        ApprovalMove::Reject => "rejected",
        ApprovalMove::RequestRevision => "sent back for changes",
        ApprovalMove::Void => "made void",
        ApprovalMove::Consume => "used",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const STATUSES: [ApprovalStatus; 6] = [
        ApprovalStatus::Pending,
        ApprovalStatus::Approved,
        ApprovalStatus::Rejected,
        ApprovalStatus::RevisionRequested,
        ApprovalStatus::Void,
        ApprovalStatus::Consumed,
    ];
    const MOVES: [ApprovalMove; 5] = [
        ApprovalMove::Approve,
        ApprovalMove::Reject,
        ApprovalMove::RequestRevision,
        ApprovalMove::Void,
        ApprovalMove::Consume,
    ];

    #[test]
    fn an_approval_moves_once_and_a_grant_is_used_once() {
        use ApprovalStatus::{Approved, Consumed, Pending, Rejected, RevisionRequested, Void};
        let mut allowed = Vec::new();
        for status in STATUSES {
            for attempted in MOVES {
                match status.advance(attempted) {
                    Ok(next) => allowed.push((status, attempted, next)),
                    Err(refusal) => {
                        assert_eq!(refusal, ApprovalRefused::Moved { status, attempted });
                    }
                }
            }
        }
        assert_eq!(
            allowed,
            [
                (Pending, ApprovalMove::Approve, Approved),
                (Pending, ApprovalMove::Reject, Rejected),
                (Pending, ApprovalMove::RequestRevision, RevisionRequested),
                (Pending, ApprovalMove::Void, Void),
                (Approved, ApprovalMove::Consume, Consumed),
            ]
        );
    }

    #[test]
    fn a_decision_about_something_else_moves_nothing() {
        let shown = Digest::of("p", &json!(1));
        let now = Digest::of("p", &json!(2));
        let refusal = ApprovalStatus::Pending
            .decide(ApprovalMove::Approve, &shown.hex(), &now)
            .unwrap_err();
        assert!(refusal.to_string().starts_with("it changed, look again"), "{refusal}");
        assert!(refusal.to_string().contains(&now.short()));
        for displayed in ["", "yes", &now.hex()[..11]] {
            assert!(
                ApprovalStatus::Pending
                    .decide(ApprovalMove::Approve, displayed, &now)
                    .is_err()
            );
        }
        assert_eq!(
            ApprovalStatus::Pending.decide(ApprovalMove::Approve, &now.short(), &now),
            Ok(ApprovalStatus::Approved)
        );
        assert_eq!(
            ApprovalStatus::Approved
                .decide(ApprovalMove::Approve, &now.hex(), &now)
                .unwrap_err()
                .to_string(),
            "this approval is approved: it cannot be approved"
        );
    }

    #[test]
    fn kinds_are_stored_in_snake_case() {
        assert_eq!(
            serde_json::to_value(ApprovalKind::PublishReview).unwrap(),
            "publish_review"
        );
        assert_eq!(
            serde_json::to_value(ApprovalStatus::RevisionRequested).unwrap(),
            "revision_requested"
        );
    }
}
