//! The four modes: how one is stored, read, chosen and shown. What a mode permits is in `profile`.
//!
//! ```
//! // Two modes can be compared.
//! assert!(stance_modes::after_approval() != stance_modes::Mode::chosen("plan").unwrap());
//! ```
//! ```compile_fail,E0603
//! // No mode can be named, so nobody branches on one.
//! fn writes(mode: stance_modes::Mode) -> bool { matches!(mode, stance_modes::Mode(_)) }
//! ```
//! ```compile_fail,E0603
//! // Nor can one be made but from a word.
//! let mode = stance_modes::Mode("plan");
//! ```

use std::fmt;

use serde::{Deserialize, Serialize};

/// A mode of a space. Outside this crate a mode can be parsed, shown and compared, never named,
/// so that nobody can branch on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mode(pub(crate) Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Chat,
    Review,
    Plan,
    Orchestrate,
}

/// A stored text that is none of the four words. Nothing is dispatched in such a space.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("mode unresolved: the stored value {stored:?} is none of chat, review, plan, orchestrate")]
pub struct UnresolvedMode {
    /// The text found.
    pub stored: String,
}

/// A word that no person can choose as a mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModeChoiceRefused {
    /// `review` is set by opening a review.
    #[error("review cannot be chosen: it is set when a review is opened")]
    Review,
    /// Not a mode word.
    #[error("{word:?} is not a mode: choose agent, plan or orchestrate")]
    Unknown {
        /// The word given.
        word: String,
    },
}

impl Mode {
    /// All four, in the order they are shown.
    pub const fn all() -> [Mode; 4] {
        [
            Mode(Kind::Chat),
            Mode(Kind::Plan),
            Mode(Kind::Orchestrate),
            Mode(Kind::Review),
        ]
    }

    /// Decodes the stored column exactly. A missing value is `chat`; any other text than the four
    /// words is a stored fault.
    pub fn from_stored(stored: Option<&str>) -> Result<Mode, UnresolvedMode> {
        match stored {
            None => Ok(Mode(Kind::Chat)),
            Some(text) => Mode::all()
                .into_iter()
                .find(|mode| mode.stored() == text)
                .ok_or_else(|| UnresolvedMode {
                    stored: text.to_owned(),
                }),
        }
    }

    /// Decodes a word a person typed: `agent`, `act` and `chat` are one mode.
    pub fn chosen(word: &str) -> Result<Mode, ModeChoiceRefused> {
        match word {
            "agent" | "act" | "chat" => Ok(Mode(Kind::Chat)),
            "plan" => Ok(Mode(Kind::Plan)),
            "orchestrate" => Ok(Mode(Kind::Orchestrate)),
            "review" => Err(ModeChoiceRefused::Review),
            other => Err(ModeChoiceRefused::Unknown { word: other.to_owned() }),
        }
    }

    /// Decodes a word a person typed to look at a mode (`profile`, `explain`): review is fine too.
    pub fn named(word: &str) -> Result<Mode, ModeChoiceRefused> {
        match Mode::chosen(word) {
            Err(ModeChoiceRefused::Review) => Ok(Mode(Kind::Review)),
            other => other,
        }
    }

    /// The word in the space row.
    pub const fn stored(self) -> &'static str {
        match self.0 {
            Kind::Chat => "chat",
            Kind::Review => "review",
            Kind::Plan => "plan",
            Kind::Orchestrate => "orchestrate",
        }
    }

    /// The key of its settings table: `[models.agent]`.
    pub const fn settings_key(self) -> &'static str {
        match self.0 {
            Kind::Chat => "agent",
            other => Mode(other).stored(),
        }
    }
}

/// Shows the name people see: `Agent`, `Plan`, `Review`, `Orchestrate`.
impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.0 {
            Kind::Chat => "Agent",
            Kind::Review => "Review",
            Kind::Plan => "Plan",
            Kind::Orchestrate => "Orchestrate",
        })
    }
}

impl Serialize for Mode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.stored())
    }
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Mode::from_stored(Some(&text)).map_err(serde::de::Error::custom)
    }
}

/// The mode a space gets when a plan, an orchestration or a plan exit was approved.
pub const fn after_approval() -> Mode {
    Mode(Kind::Chat)
}

/// The mode of a dispatch that no space governs.
pub const fn without_space() -> Mode {
    Mode(Kind::Chat)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_words_are_decoded_exactly() {
        assert_eq!(Mode::from_stored(None), Ok(Mode(Kind::Chat)));
        for mode in Mode::all() {
            assert_eq!(Mode::from_stored(Some(mode.stored())), Ok(mode));
        }
        for fault in ["", "PLAN", "Plan", " plan", "plan ", "agent", "act", "admin", "plаn"] {
            let error = Mode::from_stored(Some(fault)).unwrap_err();
            assert!(error.to_string().starts_with("mode unresolved"), "{fault}: {error}");
        }
    }

    #[test]
    fn a_person_chooses_among_three() {
        assert_eq!(Mode::chosen("act"), Ok(Mode(Kind::Chat)));
        assert_eq!(Mode::chosen("agent").map(Mode::stored), Ok("chat"));
        assert_eq!(Mode::chosen("review"), Err(ModeChoiceRefused::Review));
        assert!(matches!(Mode::chosen("Plan"), Err(ModeChoiceRefused::Unknown { .. })));
        assert_eq!(Mode::named("review"), Ok(Mode(Kind::Review)));
    }

    #[test]
    fn chat_is_shown_as_agent() {
        assert_eq!(after_approval().to_string(), "Agent");
        assert_eq!(after_approval().settings_key(), "agent");
    }
}
